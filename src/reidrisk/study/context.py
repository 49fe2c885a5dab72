"""The scene of a study: who is seen by whom with one setting of the parameters.

Everything is made when it is first needed and kept as long as the scene: rows, fitted attacks, what
searching them found. So analyses share it without knowing of each other.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks import Attack, View
from reidrisk.core.digest import sha256_json
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.estimates.crowds import ranks_for
from reidrisk.estimates.extrapolation import sizes_to_fit
from reidrisk.io.linked import Linked
from reidrisk.people.protocol import People, ids_of
from reidrisk.people.sampling import Rule, select
from reidrisk.people.subset import LazySubset, Subset
from reidrisk.people.synthetic import SyntheticTopics
from reidrisk.releases import AnyRelease, Release, observe
from reidrisk.releases._observe import KNOWN_SITES, Crowd, Hold, check_sides, first_of, observed
from reidrisk.releases.protocol import Reveals, asked, known_release
from reidrisk.risk import Fitted, Posterior, fitted, posterior
from reidrisk.risk._measure import Measured, measured
from reidrisk.risk.engine import Engine
from reidrisk.study.describe import describe
from reidrisk.study.result import Setting
from reidrisk.study.splits import crowd_in, empty_side, sides_of
from reidrisk.study.two_tables import TwoTables, targets_in_order

if TYPE_CHECKING:
    from reidrisk.study.study import Study

Named = TypeVar("Named", bound=AnyRelease)

MOST_SHOWN_TWICE = 200_000
"""Of so many users at most it is measured how much two sites share: more would tell hardly more."""

Source: TypeAlias = People | Linked
"""Of whom a study is: people whom a release shows, or two tables of what was shown."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A study, its source, and one setting of the parameters.

    Attributes:
        study: What is measured.
        source: Of whom.
        engine: Where it runs.
        release: What shows people, as the study names it; None for tables of unknown origin.
        setting: In what it differs from the study itself.
    """

    study: "Study"
    source: Source
    engine: Engine
    release: AnyRelease | None
    setting: Setting = field(default_factory=dict)
    _crowds: list[Crowd] = field(default_factory=list, repr=False)
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def with_release(self, release: AnyRelease, setting: Setting) -> "Scene":
        """The same people, shown otherwise: who is known and who is met does not change."""
        return replace(self, release=release, setting=setting)

    def with_source(self, source: Source, setting: Setting) -> "Scene":
        """Other people, shown in the same way."""
        return replace(self, source=source, setting=setting, _crowds=[])

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """Numbers of slots, ascending; the last is the headline."""
        most = slots_of(self.source, self.release)
        wanted = {most} if self.study.slots is None else set(self.study.slots)
        if self.setting:  # another release may show less than the study's own, or more
            if max(wanted) == slots_of(self.source, self.study.release):
                wanted.add(most)  # who is seen whole is seen whole there too
            wanted = {min(slots, most) for slots in wanted}
        return tuple(sorted(wanted))

    @property
    def headline(self) -> int:
        """The most slots."""
        return self.slots[-1]

    @property
    def people(self) -> People:
        """The source, if it is people."""
        if isinstance(self.source, Linked):
            raise InvalidInput(
                "two tables hold what was shown, not the people behind it", code="needs-people"
            )
        return self.source

    @cached_property
    def shows(self) -> Release | None:
        """The release once it has surveyed the people, if it must; None if nothing is known of it.

        Everybody is surveyed, training users too, and once in a scene.
        """
        return known_release(self.release, None if isinstance(self.source, Linked) else self.source)

    @cached_property
    def attacked_people(self) -> People:
        """The people behind the known rows, in their order."""
        known = self._crowd.known
        return self.people if known.before is None else LazySubset(self.people, known)

    @cached_property
    def seen(self) -> Observations:
        """What the attackers have."""
        if isinstance(self.source, Linked):
            return self._tables.seen
        return self._observed(self._crowd, KNOWN_SITES, self.engine.hold)

    @cached_property
    def present(self) -> float:
        """Share of visitors who are known: as the study says, else as in the data.

        There, every user comes as often as any other; in two tables, as often as there are rows.
        """
        if self.study.present is not None:
            return self.study.present
        if isinstance(self.source, Linked):
            return self._tables.present
        strangers = self._crowd.strangers
        return self.users / (self.users + (0 if strangers is None else strangers.users))

    @property
    def panel(self) -> Observations | None:
        """What attackers may learn from: training users, of whom both sides are known."""
        if not self.study.training:
            return None
        return self._tables.panel if isinstance(self.source, Linked) else self._panel

    @cached_property
    def view(self) -> View:
        """What attackers may use to fit."""
        known = self.source.interests if isinstance(self.source, SyntheticTopics) else None
        return View.of(self.seen, release=self.shows, panel=self.panel, population=known)

    @cached_property
    def revealed(self) -> Observations:
        """What a full-information attacker has of the same users."""
        asked(shown_by(self.shows), Reveals, "full information")
        return self._observed(self._crowd, None, self.engine.hold)

    @cached_property
    def shown_twice(self) -> Observations:
        """What two sites are shown of the same users, whoever is attacked; all slots they have.

        Users are chosen at random, and come in random order.
        """
        seed = self.study.seed
        if isinstance(self.source, Linked):
            rows = self.source.observations
            return rows.only(targets_in_order(self.source, seed)[:MOST_SHOWN_TWICE])
        some = self.source
        if some.users > MOST_SHOWN_TWICE:
            wanted = [(Rule(), MOST_SHOWN_TWICE)]
            (chosen,) = select(some, wanted, purpose="study/information", seed=seed)
            some = Subset.of(some, np.sort(chosen.first))
        return observe(shown_by(self.shows), some, seed=seed)

    @property
    def users(self) -> int:
        """How many users are known."""
        return self._tables.users if isinstance(self.source, Linked) else self._crowd.known.users

    def ids_of(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The users of some known rows, in this order."""
        if isinstance(self.source, Linked):
            return self._tables.ids_of(rows)
        return ids_of(self.source, self.rows_of_people(rows))

    def rows_of_people(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of known users as rows of the people they come from."""
        return self._crowd.known.rows(self.people, rows)

    def attack(self, attack: Attack) -> Attack:
        """The same attack; one that was given the study's release goes by that of the scene."""
        given = getattr(attack, "release", None)
        if given is not None and self.setting and given == self.study.release:
            return replace(attack, release=self.shows)  # type: ignore[type-var]
        return attack

    def fitted(self, attack: Attack) -> Fitted:
        """The attack with its score: attacks that are equal are fitted once."""
        key = "fitted", _key(attack)
        if key not in self._kept:
            self._kept[key] = fitted(self.attack(attack), self.seen, self.view)
        return self._kept[key]  # type: ignore[no-any-return]

    def measured(self, slots: tuple[int, ...]) -> list[Measured]:
        """How often each attack of the study names the right user."""
        study = self.study
        found = measured(
            self.seen,
            [self.fitted(one) for one in study.attacks],
            slots=slots,
            engine=self.engine,
            level=study.level,
            precision=study.precision,
            ranks=self.ranks,
        )
        for attack, one in zip(study.attacks, found, strict=True):
            self._kept["measured", _key(attack)] = one
        return found

    @cached_property
    def ranks(self) -> int | None:
        """Up to which rank the truth's is counted at the headline: as guesses and crowds need."""
        if self.setting:
            return 1
        ranks = ranks_for(self.seen.users, (*self.crowds, *self.crowds_to_fit))
        return None if ranks is None else max((ranks, *self.study.guesses))

    @cached_property
    def crowds(self) -> tuple[int, ...]:
        """Sizes of crowds to measure in, ascending; the last is everyone."""
        smaller = {size for size in self.study.sizes if size < self.seen.users}
        return tuple(sorted({*(smaller or self.crowds_to_fit), self.seen.users}))

    @property
    def crowds_to_fit(self) -> tuple[int, ...]:
        """Sizes of crowds from which larger ones are extrapolated, if any are."""
        return sizes_to_fit(self.seen.users) if self.beyond else ()

    @property
    def beyond(self) -> tuple[int, ...]:
        """Sizes of crowds to extrapolate to."""
        return tuple(size for size in self.study.beyond if size > self.seen.users)

    def headline_of(self, attack: Attack, targets: int) -> Measured:
        """What an attack of the study found at the headline; searched now if it was not before.

        Args:
            attack: Which.
            targets: How many were attacked, the first of all.
        """
        found: Measured | None = self._kept.get(("measured", _key(attack)))
        if found is not None and len(found.matches) == targets:
            return found
        (again,) = measured(
            self.seen.only(slice(targets)),
            [self.fitted(attack)],
            slots=self.headline,
            engine=self.engine,
            level=self.study.level,
            precision=None if self.study.precision is None else 0.0,  # all, with such an interval
            ranks=self.ranks,
        )
        return again

    def matches(self, attack: Attack) -> Matches | None:
        """What a search of the headline found for all targets, if there was one."""
        found: Measured | None = self._kept.get(("measured", _key(attack)))
        if found is None or len(found.matches) < len(self.seen.anonymous):
            return None
        return found.matches

    def posterior(self, attack: Attack) -> Posterior:
        """How sure an attacker is, at the headline."""
        key = "posterior", _key(attack)
        if key not in self._kept:
            self._kept[key] = posterior(
                self.seen,
                self.fitted(attack),
                slots=self.headline,
                matches=self.matches(attack),
                engine=self.engine,
                level=self.study.level,
            )
        return self._kept[key]  # type: ignore[no-any-return]

    def believed(self, attack: Attack) -> Posterior | None:
        """The same if it was found before; None if not."""
        return self._kept.get(("posterior", _key(attack)))

    @cached_property
    def _tables(self) -> TwoTables:
        """The source, if it is two tables."""
        assert isinstance(self.source, Linked)
        return TwoTables(self.study, self.source, self.engine.hold)

    @property
    def _crowd(self) -> Crowd:
        """Who of the people is known, and who is met: chosen once for all releases."""
        if not self._crowds:
            crowd = crowd_in(self.study, self.people)
            if not self.study.training:
                check_sides(crowd, self.people, self.study.strangers)
            elif not crowd.known.users:
                raise empty_side()
            self._crowds.append(crowd)
        return self._crowds[0]

    @cached_property
    def _panel(self) -> Observations:
        """Training users, of whom both sites are known, in memory."""
        (group,) = first_of(self.people, [(sides_of(self.study).panel, None)], self.study.seed)
        if not group.users:
            raise empty_side()
        return self._observed(Crowd(group), KNOWN_SITES, None)

    def _observed(
        self, crowd: Crowd, sites: tuple[int, ...] | None, hold: Hold | None
    ) -> Observations:
        return observed(
            shown_by(self.shows), self.people, crowd, sites=sites, seed=self.study.seed, hold=hold
        )


def slots_of(source: Source, release: AnyRelease | None) -> int:
    """How many slots there are to be seen."""
    return source.slots if isinstance(source, Linked) else shown_by(release).slots(source)


def shown_by(release: Named | None) -> Named:
    """The release that shows people; a sentence if there is none."""
    if release is None:
        raise InvalidInput(
            "people are shown by a release, and this study names none; give it one, such as "
            "TopicsApi(), or run it on two tables of what was shown",
            code="missing-release",
        )
    return release


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
