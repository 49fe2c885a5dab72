"""The context of a step: a study, its source, and one setting of the parameters.

Rows, fitted attacks and what searches found are made when they are first needed and kept as long as
the context, so that analyses share them.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks import Attack, View, reads_times
from reidrisk.core.digest import sha256_json
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations, Tokens
from reidrisk.people.protocol import People
from reidrisk.releases import AnyRelease, Release
from reidrisk.releases.protocol import Reveals, asked, known_release
from reidrisk.risk import Fitted, Posterior, fitted, posterior
from reidrisk.risk._crossfit import is_refitted, search_refitted
from reidrisk.risk._measure import Measured, measured
from reidrisk.risk.arguments import SearchEngine, Subject
from reidrisk.study.analyses import ANALYSES
from reidrisk.study.analyses.protocol import require_release
from reidrisk.study.describe import describe
from reidrisk.study.result import Setting
from reidrisk.study.source import Source
from reidrisk.study.splits import Split, no_people

if TYPE_CHECKING:
    from reidrisk.study.study import Study


@dataclass(frozen=True, eq=False)
class Context:
    """A study, its source, and one setting of the parameters.

    Attributes:
        study: What is measured.
        source: Of whom.
        engine: Where it runs.
        release: What shows people, as the study names it; None for tables of unknown origin.
        split: Which users are known, strangers, or learned from.
        setting: In what it differs from the study itself.
    """

    study: "Study"
    source: Source
    engine: SearchEngine
    release: AnyRelease | None
    split: Split
    setting: Setting = field(default_factory=dict)
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, study: "Study", source: Source, engine: SearchEngine) -> "Context":
        """The context of the study itself.

        Args:
            study: What is measured.
            source: Of whom.
            engine: Where it runs.
        """
        return cls(study, source, engine, study.release, source.split(study))

    def with_release(self, release: AnyRelease, setting: Setting) -> "Context":
        """The same people in the same roles, shown by another release.

        Args:
            release: What shows them.
            setting: In what it differs from the study.
        """
        # The split stays, so the same users are targets. What was kept or cached stays behind: it
        # belongs to rows that the other release has not shown.
        return replace(self, release=release, setting=setting)

    def with_source(self, source: Source, setting: Setting) -> "Context":
        """Other people, shown by the same release.

        Args:
            source: The other people.
            setting: In what they differ from the study's.
        """
        return replace(self, source=source, split=source.split(self.study), setting=setting)

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """Numbers of slots, ascending; the last is the headline."""
        most = self.source.slots(self.release)
        wanted = {most} if self.study.slots is None else set(self.study.slots)
        if self.setting:  # another release may show less than the study's own, or more
            if max(wanted) == self.source.slots(self.study.release):
                wanted.add(most)  # all slots of the one are compared with all of the other
            wanted = {min(slots, most) for slots in wanted}
        return tuple(sorted(wanted))

    @property
    def headline(self) -> int:
        """The most slots."""
        return self.slots[-1]

    @property
    def people(self) -> People:
        """The people of the source; refused if it has only rows."""
        if self.source.people is None:
            raise no_people()
        return self.source.people

    @cached_property
    def shows(self) -> Release | None:
        """The release once it has surveyed the people, if it must; None if nothing is known of it.

        Everybody is surveyed, training users too, and once in a context.
        """
        return known_release(self.release, self.source.people)

    @property
    def attacked_people(self) -> People | None:
        """The people behind the known rows, in their order; None if there are only rows."""
        return self.split.attacked_people

    @cached_property
    def seen(self) -> Observations:
        """What the attackers have."""
        return self.split.observations(self.shows, self.engine.hold)

    @cached_property
    def present(self) -> float:
        """Share of visitors who are known: as the study says, else as in the data."""
        return self.split.present if self.study.present is None else self.study.present

    @cached_property
    def panel(self) -> Observations | None:
        """What attackers may learn from: training users, of whom both sides are known."""
        return self.split.panel(self.shows) if self.study.training else None

    @cached_property
    def view(self) -> View:
        """What attackers may use to fit."""
        return View.of(
            self.seen, release=self.shows, panel=self.panel, population=self.source.population,
            labels=self.source.labels, times=getattr(self.source, "times", None),
            columns=self.source.form == "columns",
        )  # fmt: skip

    @cached_property
    def _timed(self) -> "Context":
        """The same users and targets, with tokens of when items came; itself if nothing told."""
        source = getattr(self.source, "timed", None)
        if source is None:
            return self
        return replace(self, source=source, split=source.split(self.study))

    def beside(self, attack: Attack) -> "Context":
        """The context with the rows that an attack is shown: with times, or items alone.

        Args:
            attack: One of the study.
        """
        return self._timed if reads_times(attack) else self

    @cached_property
    def revealed(self) -> Observations:
        """What a full-information attacker has of the same users."""
        asked(require_release(self.shows), Reveals, "full information")
        return self.split.revealed(self.shows, self.engine.hold)

    @cached_property
    def pairs(self) -> Observations:
        """What two sites are shown of the same users, whoever is attacked; all slots they have."""
        return self.source.pairs(self.shows, self.study.seed)

    @property
    def users(self) -> int:
        """How many users are known."""
        return self.split.users

    def ids_of(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The users of some known rows, in this order.

        Args:
            rows: Places among the known rows.
        """
        return self.split.ids_of(rows)

    def repeated(self, rows: NDArray[np.int64], repeats: int) -> Tokens:
        """What else might have been shown of some known users: users x repeats x slots.

        Args:
            rows: Their known rows.
            repeats: How often it is drawn again.
        """
        return self.split.repeated(self.shows, rows, repeats)

    def attack(self, attack: Attack) -> Attack:
        """The same attack; one that was given the study's release goes by that of the context.

        Args:
            attack: One of the study.
        """
        # An attack with a release of its own choosing keeps it: its author asked for a mismatch.
        given = getattr(attack, "release", None)
        if given is not None and self.setting and given == self.study.release:
            return replace(attack, release=self.shows)  # type: ignore[type-var]
        return attack

    def fitted(self, attack: Attack) -> Fitted:
        """The attack with its score: attacks that are equal are fitted once.

        Args:
            attack: One of the study.
        """
        # Fitting may take minutes, and several analyses ask for the same attack.
        key = "fitted", _key(attack)
        if key not in self._kept:
            here = self.beside(attack)
            self._kept[key] = fitted(self.attack(attack), here.seen, here.view)
        return self._kept[key]  # type: ignore[no-any-return]

    def subject(self, attack: Attack) -> Subject:
        """What is measured of an attack: the fitted one, unless it is fitted anew for each search.

        Args:
            attack: One of the study.
        """
        return self.attack(attack) if is_refitted(attack) else self.fitted(attack)

    def search(self, attack: Attack, *, list_best: int) -> Matches:
        """What an attack finds for all targets at the headline, with its best rows listed.

        Args:
            attack: One of the study.
            list_best: How many rows are listed for each target.
        """
        here = self.beside(attack)
        seen = here.seen.prefix(self.headline)
        if is_refitted(attack):
            subject = self.attack(attack)
            return search_refitted(self.engine, seen, subject, here.view, list_best=list_best)
        return self.engine.search(seen, self.fitted(attack).score, list_best=list_best)

    def measured(self, slots: tuple[int, ...]) -> list[Measured]:
        """How often each attack of the study names the right user.

        Args:
            slots: After how many, ascending.
        """
        # Attacks that are shown the same rows share a pass over them.
        by_rows: dict[Context, list[Attack]] = {}
        for attack in self.study.attacks:
            by_rows.setdefault(self.beside(attack), []).append(attack)
        # A result tells of the same targets for each attack, so none may stop before the others.
        precision = self.study.precision
        precision = 0.0 if precision is not None and len(by_rows) > 1 else precision
        for here, attacks in by_rows.items():
            found = measured(
                here.seen,
                [self.subject(one) for one in attacks],
                view=here.view,
                slots=slots,
                engine=self.engine,
                level=self.study.level,
                precision=precision,
                ranks=self.ranks,
            )
            for attack, one in zip(attacks, found, strict=True):
                self._kept["measured", _key(attack)] = one
        return [self._kept["measured", _key(attack)] for attack in self.study.attacks]

    @cached_property
    def ranks(self) -> int | None:
        """Up to which rank the truth's is counted at the headline, as analyses need; None if all.

        Counting ranks slows the search, so it stops where no figure asks for more.
        """
        if self.setting:
            # Guesses and crowds are told of the study itself; elsewhere one guess is all.
            return 1
        needed = [one.ranks(self) for one in ANALYSES if hasattr(one, "ranks")]
        return None if None in needed else max(needed)

    def headline_of(self, attack: Attack, targets: int) -> Measured:
        """What an attack of the study found at the headline; searched now if it was not before.

        Args:
            attack: Which.
            targets: How many were attacked, the first of all.
        """
        found: Measured | None = self._kept.get(("measured", _key(attack)))
        # With a precision the search stops early, so what is kept may be of fewer targets.
        if found is not None and len(found.matches) == targets:
            return found
        here = self.beside(attack)
        (again,) = measured(
            here.seen.only(slice(targets)),
            [self.subject(attack)],
            view=here.view,
            slots=self.headline,
            engine=self.engine,
            level=self.study.level,
            precision=None if self.study.precision is None else 0.0,  # all, with such an interval
            ranks=self.ranks,
        )
        return again

    def matches(self, attack: Attack) -> Matches | None:
        """What a search of the headline found for all targets, if there was one.

        Args:
            attack: One of the study.
        """
        found: Measured | None = self._kept.get(("measured", _key(attack)))
        # Whoever needs all targets cannot use a search that a precision ended.
        if found is None or len(found.matches) < len(self.seen.anonymous):
            return None
        return found.matches

    def posterior(self, attack: Attack) -> Posterior:
        """How sure an attacker is, at the headline.

        Args:
            attack: One that is a likelihood.
        """
        key = "posterior", _key(attack)
        if key not in self._kept:
            self._kept[key] = posterior(
                self.beside(attack).seen,
                self.fitted(attack),
                slots=self.headline,
                matches=self.matches(attack),
                engine=self.engine,
                level=self.study.level,
            )
        return self._kept[key]  # type: ignore[no-any-return]

    def believed(self, attack: Attack) -> Posterior | None:
        """What `posterior` found before; None if it was not asked. Costs no search.

        Args:
            attack: One that is a likelihood.
        """
        return self._kept.get(("posterior", _key(attack)))


def _key(attack: Any) -> Hashable:
    """What attacks have in common that were made alike: their class and their fields."""
    if not is_dataclass(attack):
        return _value(attack)
    return type(attack), *(_value(getattr(attack, part.name)) for part in fields(attack))


def _value(thing: Any) -> Hashable:
    """The thing itself if it can be compared; arrays are known by their content."""
    try:
        hash(thing)
    except TypeError:
        return sha256_json(describe(thing))
    return thing  # type: ignore[no-any-return]
