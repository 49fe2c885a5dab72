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
from reidrisk.errors import InvalidInput
from reidrisk.estimates.crowds import ranks_for
from reidrisk.estimates.extrapolation import sizes_to_fit
from reidrisk.inputs.linked import Linked
from reidrisk.matches import Matches
from reidrisk.observations import Observations
from reidrisk.people.people import People
from reidrisk.people.population import SyntheticTopics
from reidrisk.people.some import Some
from reidrisk.randomness import uniforms
from reidrisk.releases import AnyRelease, Release, are_strangers, observe, reveal
from reidrisk.releases.release import known_release
from reidrisk.risk import Fitted, Posterior, fitted, posterior
from reidrisk.risk.engine import Engine
from reidrisk.risk.measuring import Measured, measured
from reidrisk.rows import one_after_other
from reidrisk.study.describe import describe, fingerprint
from reidrisk.study.result import Setting

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
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def with_release(self, release: AnyRelease, setting: Setting) -> "Scene":
        """The same people, shown otherwise."""
        return replace(self, release=release, setting=setting)

    def with_source(self, source: Source, setting: Setting) -> "Scene":
        """Other people, shown in the same way."""
        return replace(self, source=source, setting=setting)

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
            raise InvalidInput("two tables hold what was shown, and not of whom")
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
        if self._known is None:
            return self.people
        return Some.of(self.people, np.flatnonzero(self._known))

    @cached_property
    def seen(self) -> Observations:
        """What the attackers have."""
        study = self.study
        if study.training or (study.strangers and isinstance(self.source, Linked)):
            return self._split[1]
        if isinstance(self.source, Linked):
            some = _some(self.source.observations, study.targets, study.seed)
            return some.changed(strangers=self._strangers_among(some))
        return observe(
            shown_by(self.shows),
            self.source,
            targets=self._targets,
            strangers=study.strangers,
            seed=study.seed,
        )

    @cached_property
    def present(self) -> float:
        """Share of visitors who are known: as the study says, else as in the data.

        There, every user comes as often as any other; in two tables, as often as there are rows.
        """
        if self.study.present is not None:
            return self.study.present
        if not isinstance(self.source, Linked):
            users = self.source.users if self._known is None else int(self._known.sum())
            strangers = 0 if self._strange is None else int(self._strange.sum())
            return users / (users + strangers)
        truth = self.source.truth
        known = len(truth) if self._known is None else int(self._known[truth].sum())
        hidden = 0 if self._strange is None else int(self._strange[truth].sum())
        return known / (known + hidden + self.source.strangers)

    @property
    def panel(self) -> Observations | None:
        """What attackers may learn from: training users, of whom both sides are known."""
        return self._split[0] if self.study.training else None

    @cached_property
    def view(self) -> View:
        """What attackers may use to fit."""
        known = self.source.interests if isinstance(self.source, SyntheticTopics) else None
        return View.of(self.seen, release=self.shows, panel=self.panel, population=known)

    @cached_property
    def revealed(self) -> Observations:
        """What a full-information attacker has of the same users."""
        study, release = self.study, shown_by(self.shows)
        if study.training:
            return self._attacked(reveal(release, self.people, seed=study.seed))
        return reveal(
            release,
            self.people,
            targets=self._targets,
            strangers=study.strangers,
            seed=study.seed,
        )

    @cached_property
    def shown_twice(self) -> Observations:
        """What two sites are shown of the same users, whoever is attacked; all slots they have.

        Users are chosen at random, and come in random order.
        """
        study = self.study
        if isinstance(self.source, Linked):
            rows = self.source.observations
            return rows.only(_order(len(rows.anonymous), study.seed)[:MOST_SHOWN_TWICE])
        some = self.source
        if some.users > MOST_SHOWN_TWICE:
            order = _by_hash(some.ids, "study/information", study.seed)
            some = Some.of(some, np.sort(order[:MOST_SHOWN_TWICE]))
        return observe(shown_by(self.shows), some, seed=study.seed)

    @property
    def known_ids(self) -> NDArray[Any]:
        """The users of the known rows, in their order."""
        ids = self.source.ids
        return ids if self._known is None else ids[self._known]

    def rows_of_people(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of known users as rows of the people they come from."""
        return rows if self._known is None else np.flatnonzero(self._known)[rows]

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

    @property
    def _targets(self) -> int | None:
        """How many are attacked; never more than there are."""
        wanted = self.study.targets
        users = self.source.users if self._known is None else int(self._known.sum())
        return None if wanted is None else min(wanted, users)

    @cached_property
    def _known(self) -> NDArray[np.bool_] | None:
        """Whose rows are known: neither training users nor strangers; None if everybody's are."""
        others = [
            mask
            for mask in (self._training if self.study.training else None, self._strange)
            if mask is not None
        ]
        return ~np.logical_or.reduce(others) if others else None

    @cached_property
    def _strange(self) -> NDArray[np.bool_] | None:
        """Whom attackers meet and do not know; None if the study hides nobody."""
        return hidden_from(self.study, self.source) if self.study.strangers else None

    @cached_property
    def _training(self) -> NDArray[np.bool_]:
        """Who is a training user: by a hash of the id, so never the same in part."""
        return _training_of(self.study, self.source)

    @cached_property
    def _split(self) -> tuple[Observations | None, Observations]:
        """Training users, of whom all is seen, and the others with their targets and strangers."""
        seed = self.study.seed
        if isinstance(self.source, Linked):
            rows = self.source.observations
            everyone = rows.only(_order(len(rows.anonymous), seed))
        else:
            everyone = observe(shown_by(self.shows), self.source, seed=seed)
        panel = _part_of(everyone, self._training, None) if self.study.training else None
        return panel, self._attacked(everyone)

    def _attacked(self, everyone: Observations) -> Observations:
        """Of what would be seen if everybody were known: who is, and whom they meet."""
        assert self._known is not None
        others = _part_of(everyone, self._known, self.study.targets)
        return others.changed(strangers=self._strangers_among(everyone))

    def _strangers_among(self, everyone: Observations) -> Any:
        """Rows of the strangers, in random order, as many as targets at most; None if nobody is."""
        rows = self.source.stranger_rows if isinstance(self.source, Linked) else everyone.strangers
        if self._strange is not None:
            theirs = np.flatnonzero(self._strange[everyone.truth])
            if theirs.size:
                hidden = everyone.anonymous[theirs]
                rows = hidden if rows is None else one_after_other(hidden, rows)
        if rows is not None and isinstance(self.source, Linked):  # others come in such an order
            rows = rows[_order(len(rows), self.study.seed)]
        return None if rows is None else rows[: self.study.targets]


def hidden_from(study: "Study", source: Source) -> NDArray[np.bool_]:
    """Of all users of a source those whom attackers meet and do not know."""
    strange = are_strangers(source.ids, study.strangers, study.seed)
    return strange & ~_training_of(study, source) if study.training else strange


def _training_of(study: "Study", source: Source) -> NDArray[np.bool_]:
    hashes = uniforms(seed=study.seed, purpose="study/training", users=source.ids, count=1)
    return np.asarray(hashes[:, 0] < study.training)


def slots_of(source: Source, release: AnyRelease | None) -> int:
    """How many slots there are to be seen."""
    return source.slots if isinstance(source, Linked) else shown_by(release).slots(source)


def shown_by(release: Named | None) -> Named:
    """The release that shows people; a sentence if there is none."""
    if release is None:
        raise InvalidInput(
            "people are shown by a release, and this study names none; give it one, such as "
            "TopicsApi(), or run it on two tables of what was shown"
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
        return fingerprint(describe(thing))
    return thing  # type: ignore[no-any-return]


def _some(seen: Observations, targets: int | None, seed: int) -> Observations:
    """Some targets of all, at random; rows of tables come in any order."""
    if targets is None or targets >= len(seen.anonymous):
        return seen
    return seen.only(_order(len(seen.anonymous), seed)[:targets])


def _order(rows: int, seed: int) -> NDArray[np.int64]:
    return _by_hash(np.arange(rows), "study/targets", seed)


def _by_hash(users: NDArray[Any], purpose: str, seed: int) -> NDArray[np.int64]:
    hashes = uniforms(seed=seed, purpose=purpose, users=users, count=1)[:, 0]
    return np.argsort(hashes, kind="stable")


def _part_of(
    everyone: Observations, wanted: NDArray[np.bool_], targets: int | None
) -> Observations:
    """Only some users, with the first of their rows as targets."""
    place = np.cumsum(wanted) - 1
    mine = np.flatnonzero(wanted[everyone.truth])[:targets]
    if not mine.size:
        raise InvalidInput(
            "after the split into training users, strangers and others one side is empty; use "
            "another share for training or strangers, or more users"
        )
    return Observations(
        everyone.known.select(np.flatnonzero(wanted)),
        everyone.anonymous[mine],
        place[everyone.truth[mine]],
        tokens=everyone.tokens,
    )
