"""`check_attack`: what every attack must do."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidrisk.attacks.protocol import ALL_ROWS, NEEDS, ONE_ROW, Attack, View, uses_of
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.rows import Kind
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.errors import InvalidInput
from reidrisk.people.interests import Interests
from reidrisk.people.synthetic import synthetic_topics
from reidrisk.releases import Release, TopicsApi
from reidrisk.scores import GRID, Distribution, Score
from reidrisk.testing.check import promise

ROWS = 5
"""Known rows for which all outcomes of a slot are added up."""

CLOSE = 1e-6
"""How far from 1 the sum of all chances may be."""


@dataclass(frozen=True, eq=False, slots=True)
class _World:
    """What an attack is tried on: what is seen, and what a view may hold besides."""

    seen: Observations
    release: Release | None
    panel: Observations | None
    population: Interests | None
    labels: Any = None
    times: Any = None
    columns: bool = False

    def view(self, attack: Attack, seen: Observations | None = None) -> View:
        """What the attack says it needs, and nothing else."""
        told = {*attack.needs, "labels"} if self.columns else {*attack.needs}
        besides = {need: getattr(self, need) for need in told - {"anonymous"}}
        view = View.of(self.seen if seen is None else seen, **besides, columns=self.columns)
        return view if "anonymous" in attack.needs else replace(view, anonymous=None)


def check_attack(
    attack: Attack,
    seen: Observations | None = None,
    *,
    release: Release | None = None,
    panel: Observations | None = None,
    population: Interests | None = None,
    labels: Any = None,
    times: Any = None,
    columns: bool = False,
) -> None:
    """Check that an attack keeps the promises of `reidrisk.attacks.Attack`.

    It is a value: it can be hashed, and cannot be changed. It says what it knows, assumes and
    needs. Fitting it looks at nothing but what it needs, and so never at the truth; it gives the
    same score each time and in whatever order users and targets stand, and changes nothing. Its
    score works for every number of slots, on every engine alike. If it says that it uses one row,
    other anonymous rows change no score. A user of whom nothing is known is never rated above one
    who was shown the very same tokens as the target, but by an attack that says that its tables are
    `disjoint`. A likelihood says how likely gaps are, and its chances sum to one.

    Args:
        attack: The one to check.
        seen: Small observations that it can rate; if not given, 200 users who are shown topics of
            an alphabet of 349.
        release: What showed them, if the attack needs it from the view.
        panel: Other users, the same.
        population: How interests are spread over them, the same.
        labels: The value behind each token, the same.
        times: What each token tells of time, the same.
        columns: Whether slots are columns of a table, whose `labels` every attack knows.

    Raises:
        AssertionError: A promise is broken; the message says which.

    Example:
        >>> rr.testing.check_attack(rr.Hamming())
    """
    world = _small_world()
    if seen is not None:
        world = _World(seen, release, panel, population, labels, times, columns)
    _check_words(attack)
    _promise(_is_frozen(attack), "to be a value: frozen, and with a hash")
    before = _rows(world.seen)
    score = _fitted(attack, world)
    same = bool((_rows(world.seen) == before).all())
    _promise(same, "to leave what it is fitted on as it is")
    _check_fits(attack, score, world)
    if uses_of(attack) == ONE_ROW:
        _check_one_row(attack, world)
    for slots in {1, world.seen.slots}:
        _check_engines(score, world.seen.prefix(slots))
    if attack.likelihood:
        _check_chances(score, world.seen)
    disjoint = getattr(attack, "disjoint", False)
    if world.seen.known.kind is Kind.VECTORS:
        _check_nothing_known(attack, world)
    elif world.seen.known.kind is not Kind.BAGS and not disjoint:  # bags have no slots
        _check_gaps(attack, world)


def _promise(kept: bool, what: str) -> None:
    promise(kept, "an attack", what)


def _check_words(attack: Attack) -> None:
    named = isinstance(attack.name, str) and attack.name == attack.name.lower()
    _promise(named, "a name, lower case")
    texts = (attack.knows, attack.assumes)
    _promise(
        all(isinstance(text, str) and text for text in texts),
        "sentences on what it knows and assumes",
    )
    _promise(isinstance(attack.likelihood, bool), "whether its score is a likelihood")
    _promise(uses_of(attack) in {ONE_ROW, ALL_ROWS}, f'to use "{ONE_ROW}" or "{ALL_ROWS}"')
    needs = attack.needs
    _promise(
        isinstance(needs, tuple) and set(needs) <= set(NEEDS),
        f"to need nothing but what a view may hold: {', '.join(NEEDS)}",
    )


def _is_frozen(attack: Attack) -> bool:
    try:
        hash(attack)
    except TypeError:
        return False
    try:
        setattr(attack, "name", attack.name)  # noqa: B010  meant to fail
    except (AttributeError, TypeError):
        return True
    return False


def _small_world() -> _World:
    release, people = TopicsApi(), synthetic_topics(users=200, epochs=3, seed=1)
    others = synthetic_topics(users=100, epochs=3, seed=2)
    seen, panel = (release.observe(some, targets=40, seed=1) for some in (people, others))
    labels = np.arange(seen.tokens)
    times = np.where(labels % 2, "habit", "")
    return _World(seen, release, panel, people.interests, labels, times)


def _fitted(attack: Attack, world: _World) -> Score:
    try:
        return attack.fit(world.view(attack))
    except (AttributeError, TypeError, InvalidInput) as wrong:  # None where there is nothing
        raise AssertionError(
            "an attack promises to look at nothing but the known rows and what it needs "
            f"({', '.join(attack.needs) or 'nothing'}), never at the truth; this one asks for "
            f"more, or refuses them: {wrong}"
        ) from wrong


def _check_fits(attack: Attack, score: Score, world: _World) -> None:
    """The same score each time it is fitted, and in any order of users and targets."""
    seen = world.seen
    again = attack.fit(world.view(attack))
    _promise(_rates_alike(score, again, seen), "the same score each time it is fitted")
    random, nobody = np.random.default_rng(1), np.zeros_like(seen.truth)
    shuffled = seen.changed(
        known=seen.known.select(random.permutation(seen.known.users)),
        anonymous=seen.anonymous.select(random.permutation(len(seen.anonymous))),
        truth=nobody,
    )
    other = attack.fit(world.view(attack, shuffled))
    _promise(_rates_alike(score, other, seen), "the same score in whatever order users stand")


def _check_one_row(attack: Attack, world: _World) -> None:
    """The same scores of a target, for all known rows, whoever else is to be named."""
    seen = world.seen
    one, other = (
        attack.fit(replace(world.view(attack, some), anonymous=View.of(some).anonymous))
        for some in (seen, seen.only(slice(1)))
    )
    known, shown = seen.known.block(0, seen.known.users), np.asarray(seen.anonymous)[0]
    same = np.array_equal(one.of(known, shown), other.of(known, shown))
    _promise(same, "to use one row, whoever else is to be named")


def _rates_alike(one: Score, other: Score, seen: Observations) -> bool:
    known, shown = np.asarray(seen.true_rows), np.asarray(seen.anonymous)
    gains = (score.of(known, shown) for score in (one, other))
    return bool(np.equal(*gains).all())


def _rows(seen: Observations) -> Tokens:
    """A copy of all known rows."""
    return seen.known.block(0, seen.known.users).copy()


def _check_engines(score: Score, seen: Observations) -> None:
    slow, fast = (engine.search(seen, score) for engine in (ReferenceEngine(), LocalEngine()))
    credit = slow.credit
    _promise(bool(((credit >= 0) & (credit <= 1)).all()), "credits that are chances")
    same = all((getattr(fast, part) == getattr(slow, part)).all() for part in ("best", "ties"))
    _promise(same, "the same answer on every engine")


def _check_chances(score: Score, seen: Observations) -> None:
    """Beside each known slot, the chances of all that may be shown sum to one."""
    _promise(isinstance(score, Distribution), "a likelihood that can be normalised and drawn from")
    assert isinstance(score, Distribution)
    outcomes = np.arange(MISSING if score.gaps else 0, seen.tokens)[:, None]
    # The last row too, of which `_check_gaps` leaves nothing but gaps.
    for known in _rows(seen)[[*range(ROWS - 1), -1], :1]:
        rows = np.repeat(known[None], len(outcomes), axis=0)
        total = np.exp(score.normalised().of(rows, outcomes) / GRID).sum()
        _promise(abs(total - 1) < CLOSE, "a likelihood whose chances sum to one")


def _check_nothing_known(attack: Attack, world: _World) -> None:
    """The first and the last user become strangers, of whom no vector is known."""
    seen = world.seen
    known, codec = _rows(seen), seen.known.codec.certain(complete=False)
    known[[0, -1]] = np.iinfo(known.dtype).min
    rows: Any = codec.rows(known)  # type: ignore[attr-defined]
    score = attack.fit(world.view(attack, Observations(rows, seen.anonymous, seen.truth)))
    one, other = score.of(known[[0, -1]], np.asarray(seen.anonymous)[0])
    _promise(bool(one == other), "to rate users alike of whom nothing is known")


def _check_gaps(attack: Attack, world: _World) -> None:
    """The last user becomes a stranger, the first one is shown what the first target shows."""
    seen = world.seen
    known, target = _rows(seen), seen.anonymous[0]
    known[-1] = MISSING
    known[0] = target[:, None] if seen.known.kind is Kind.SETS else target
    with_stranger = Observations(known, seen.anonymous, seen.truth, tokens=seen.tokens)
    try:
        score = attack.fit(world.view(attack, with_stranger))
    except InvalidInput:  # nothing is known about gaps, and that is said
        return
    same, stranger = score.of(known[[0, -1]], target)
    _promise(
        bool(same >= stranger), "not to rate a stranger above a user who shows the same tokens"
    )
    if attack.likelihood:
        _check_chances(score, with_stranger)
        assert isinstance(score, Distribution)
        _promise(score.gaps, "a likelihood that says how likely gaps are, where slots are empty")
