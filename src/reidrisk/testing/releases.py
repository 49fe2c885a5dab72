"""`check_release`: what every release must do, checked on small worlds."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.io.assembly import make_profiles
from reidrisk.people.protocol import Cells, People
from reidrisk.people.subset import Subset
from reidrisk.people.vectors import VectorPeople, has_vectors, with_vectors
from reidrisk.releases import (
    AddsNoise,
    AnyRelease,
    Exact,
    ExactRows,
    KnowsWhoIsThere,
    Recodes,
    Release,
    Reveals,
    SaysGaps,
    ShowsVectors,
    Surveys,
    observe,
    parameters_of,
    prepared,
)
from reidrisk.releases.protocol import alphabet, codec_of
from reidrisk.risk.bounds import Setting, bounds_in
from reidrisk.risk.bounds.promises import CountedPeople
from reidrisk.scores import GRID
from reidrisk.testing.check import is_frozen, promise

USERS, TOKENS, EPOCHS = 12, 6, 2
REPEATS, PAIRS = 600, 4
_MOST_SQUARES = 60.0
"""Of a chi-square statistic per user: far beyond chance for the few outcomes of small worlds."""

_SIGNS = 2
"""Numbers of a vector whose signs are compared between sites."""

Rows = NDArray[np.integer[Any]]


class _Turned:
    """The same people, the last first."""

    def __init__(self, people: People) -> None:
        self.people, self.ids = people, people.ids[::-1]
        self.users, self.epochs, self.tokens = people.users, people.epochs, people.tokens
        self.complete, self.labels = people.complete, getattr(people, "labels", None)
        self.dimensions = getattr(people, "dimensions", None)

    def cells(self, start: int, stop: int) -> Cells:
        """Those of the people, in this order."""
        parts = [self.people.cells(row, row + 1) for row in self._rows(start, stop)]
        sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)])
        return Cells(
            np.cumsum(sizes),
            np.concatenate([part.members for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    def top_sets(self, start: int, stop: int, **how: Any) -> NDArray[np.int32]:
        """Those of the people, in this order."""
        rows = self._rows(start, stop)
        return np.concatenate([self.people.top_sets(row, row + 1, **how) for row in rows])

    def means(self, start: int, stop: int) -> NDArray[np.float64]:
        """Those of the people, in this order."""
        people = with_vectors(self.people, "this")
        return np.concatenate([people.means(row, row + 1) for row in self._rows(start, stop)])

    def _rows(self, start: int, stop: int) -> list[int]:
        return list(range(self.users - 1 - start, self.users - 1 - stop, -1))


def check_release(release: AnyRelease, people: People | None = None, *, seed: int = 1) -> None:
    """Check that a release keeps the promises of `reidrisk.releases.Release`.

    It is a value, whose fields are its parameters. What it shows of a user depends on that user,
    the site and the seed alone: not on chunks, order or company. If it surveys people first, that
    is true of what it is then, and surveying them again, or in another order, changes nothing. It
    shows tokens of its alphabet, or nothing. What it promises is not below what an attacker reaches
    who knows its chances, given whatever is shown. Where it can do more, that agrees: exact rows
    with what is shown, secrets with exact rows.

    Args:
        release: The one to check.
        people: Small people whom it can show. If not given, 12 users with 6 tokens in 2 epochs,
            once all there and once away at times; or, for a release that `ShowsVectors`, 12 users
            with vectors.
        seed: Of the draws.

    Raises:
        AssertionError: A promise is broken; the message says which.

    Example:
        >>> rr.testing.check_release(rr.TopicsApi(topics=6, top=2))
    """
    _keeps(is_frozen(release) and dataclasses.is_dataclass(release), "to be a frozen dataclass")
    name = getattr(release, "name", None)
    _keeps(isinstance(name, str) and name == name.lower(), "a name in lower case")
    parameters_of(release)
    usual = vector_worlds() if isinstance(release, ShowsVectors) else small_worlds()
    for world in usual if people is None else (people,):
        shows = prepared(release, world)
        if isinstance(release, Surveys):
            _check_survey(release, shows, world, seed)
        _check_rows(shows, world, seed)
        _check_promises(shows, world, seed)
        _check_capabilities(shows, world, seed)


def small_worlds() -> tuple[People, ...]:
    """A dozen people who are always there, and a dozen who are sometimes away."""
    random = np.random.default_rng(7)
    users, epochs, tokens = (part.ravel() for part in np.indices((USERS, EPOCHS, TOKENS)))
    weights = random.integers(0, 4, users.size)
    kept = weights > 0
    everyone = make_profiles(
        users[kept], epochs[kept], tokens[kept], weights[kept], taxonomy=np.arange(TOKENS),
        absent="pad",
    )  # fmt: skip
    kept &= random.random((USERS, EPOCHS)).repeat(TOKENS) < 0.7
    away = make_profiles(
        users[kept], epochs[kept], tokens[kept], weights[kept], taxonomy=np.arange(TOKENS)
    )
    return everyone, away


def vector_worlds() -> tuple[People, ...]:
    """A dozen people with a vector each, and a dozen with several."""
    random = np.random.default_rng(7)
    sizes = random.integers(1, 4, USERS)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ids = random.permutation(1000)[:USERS]
    return (
        VectorPeople(random.standard_normal((USERS, TOKENS)), ids),
        VectorPeople(random.standard_normal((starts[-1], TOKENS)), ids, starts),
    )


def _check_survey(release: Surveys, shows: Release, people: People, seed: int) -> None:
    """Surveyed again, and in another order, a release shows each user the same."""
    _keeps(not isinstance(shows, Surveys), "that one survey is enough")
    _keeps(release.name == shows.name, "to keep its name when it has surveyed people")
    _keeps(release.slots(people) == shows.slots(people), "the slots it says before a survey")
    rows = _show(shows, people, seed=seed)
    _keeps(_same(rows, _show(prepared(release, people), people, seed=seed)), "one survey each time")
    turned = _Turned(people)
    other = _show(prepared(release, turned), turned, seed=seed)
    _keeps(_same(rows, other[::-1]), "that the order of people changes no survey")


def _check_rows(release: Release, people: People, seed: int) -> None:
    slots = release.slots(people)
    _keeps(isinstance(slots, int) and slots >= 1, "a whole number of slots, at least 1")
    rows = _show(release, people, seed=seed)
    _keeps(rows.shape[:2] == (people.users, slots), "a row of slots for each user")
    _keeps(np.issubdtype(rows.dtype, np.integer), "whole numbers")
    check = _check_vectors if has_vectors(people) else _check_tokens
    check(release, people, rows, seed)
    _keeps(_same(rows, _show(release, people, seed=seed)), "the same rows each time")
    alone = [
        np.asarray(release.show(people, user, user + 1, site=2, seed=seed))
        for user in range(len(rows))
    ]
    _keeps(_same(rows, np.concatenate(alone)), "that chunks change nothing")
    some = np.arange(1, people.users, 2)
    few = Subset.of(people, some)
    _keeps(_same(rows[some], _show(release, few, seed=seed)), "that company changes nothing")
    seen = observe(release, people, targets=min(5, people.users), seed=seed)
    _keeps(_same(seen.anonymous, rows[seen.truth]), "that observing shows what showing shows")


def _check_tokens(release: Release, people: People, rows: Rows, seed: int) -> None:
    tokens = alphabet(release, people)
    _keeps(rows.ndim == 2, "a token in each slot")
    _keeps(bool(((rows >= -1) & (rows < tokens)).all()), "tokens of its alphabet, or -1")


def _check_vectors(release: Release, people: People, rows: Rows, seed: int) -> None:
    """The grid belongs to the release, and holds what is drawn."""
    shows: Any = release
    codec: Any = codec_of(release, people)
    _keeps(codec.kind is Kind.VECTORS, "to say that it shows vectors (codec)")
    _keeps(rows.shape[1:] == codec.shape and rows.dtype == codec.dtype, "vectors as it says")
    some = Subset.of(people, np.arange(1, people.users, 2))
    for again, crowd in ((1, people), (0, some)):
        found: Any = release.show(crowd, 0, crowd.users, site=1, seed=seed, again=again)
        _keeps(found.codec == codec, "one grid for all sites and people")
    if isinstance(release, ShowsVectors):
        drawn = shows.drawn(people, 0, people.users, site=2, seed=seed)
        _keeps(drawn.shape == rows.shape, "to draw as many vectors as it shows")
        off = np.abs(rows / codec.scale - drawn).max()
        _keeps(not hasattr(shows, "noise") or off <= 1 / codec.scale, "to show what it draws")
    if isinstance(release, AddsNoise):
        centres = release.centres(people, 0, people.users)
        _keeps(centres.shape == (people.users, rows.shape[2]), "a centre for each user")
        again_ = release.centres(some, 0, some.users)
        _keeps(bool((again_ == centres[1::2]).all()), "that company changes no centre")
        _keeps(1 <= release.draws(rows.shape[1]) <= rows.shape[1], "draws, at most one a slot")


def _check_promises(release: Release, people: People, seed: int) -> None:
    """After every number of slots, for everyone and for pairs: alike users hide a false promise."""
    for slots in range(1, release.slots(people) + 1):
        _check_bounds(release, people, slots, seed)
        for one in range(min(people.users - 1, PAIRS)):
            pair = Subset.of(people, np.array([one, one + 1]))
            _check_bounds(release, pair, slots, seed)
    if release.promises(people, release.slots(people)):
        _check_attacked(release, people, seed)
        _check_sites(release, people, seed)


def _check_bounds(release: Release, people: People, slots: int, seed: int) -> None:
    # As the bound asks it: with how many people there are, and none of them to look at.
    crowd = CountedPeople(people.users, people.complete, getattr(people, "dimensions", None))
    bounds = release.promises(crowd, slots)
    _keeps(isinstance(bounds, tuple), "a tuple of bounds")
    if not bounds:
        return
    seen = observe(release, people, seed=seed)
    setting = Setting(seen, slots, release=release, people=people, seed=seed)
    exact = bounds_in(setting, ["exact-optimum"])
    for bound in bounds:
        _keeps(bound.side == "upper", "bounds that are upper ones")
        _keeps(bool(bound.name and bound.assumes), "bounds with a name and what they assume")
        _keeps(0 <= bound.estimate.low <= bound.estimate.high <= 1, "bounds that are shares")
        for best in exact:
            kept = bound.estimate.high >= best.estimate.value - 1e-12
            _keeps(kept, f"{bound.name} to hold for these people")
        if setting.world is not None:
            columns = setting.world.whole.toarray()
            # By Bayes' rule with equally likely users: the surest guess after any one outcome.
            worst = (columns.max(axis=0) / columns.sum(axis=0)).max()
            _keeps(bound.estimate.high >= worst - 1e-12, f"{bound.name} given whatever is shown")


def _check_attacked(release: Release, people: People, seed: int) -> None:
    """Learn from half of the repeats who shows what, and name users in the other half."""
    attack = _nearest_credit if has_vectors(people) else _learned_credit
    credit = attack(release, people, seed)
    # Five standard errors, so that an attacker who was lucky breaks no promise.
    sure = credit.mean() - 5 * credit.std() / np.sqrt(credit.size)
    for bound in release.promises(people, release.slots(people)):
        _keeps(bound.estimate.high >= sure, f"{bound.name} to hold for these people")


def _learned_credit(release: Release, people: People, seed: int) -> NDArray[np.float64]:
    """Of an attacker who counts who shows what."""
    codes = _repeated(release, people, site=2, seed=seed)
    half = REPEATS // 2
    shape = (people.users, int(codes.max()) + 1)
    counts = np.zeros(shape)
    users = np.repeat(np.arange(people.users), half)
    np.add.at(counts, (users, codes[:, :half].ravel()), 1)
    best = counts == counts.max(axis=0)
    return np.asarray((best / best.sum(axis=0))[users, codes[:, half:].ravel()])


def _nearest_credit(release: Release, people: People, seed: int) -> NDArray[np.float64]:
    """Of an attacker who knows the mean of what each user shows, over half of the repeats."""
    rows = _shown_again(release, people, site=2, seed=seed).sum(axis=2, dtype=np.float64)
    half = REPEATS // 2
    means = rows[:, :half].mean(axis=1)
    others = rows[:, half:].reshape(-1, rows.shape[2])
    distances = np.square(others[:, None] - means).sum(axis=2)
    # What is equal but for rounding is a tie.
    best = distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-9
    users = np.repeat(np.arange(people.users), REPEATS - half)
    return np.asarray(best[np.arange(len(users)), users] / best.sum(axis=1))


def _check_sites(release: Release, people: People, seed: int) -> None:
    """Repeats of two sites, user by user, against what they would be if they were independent."""
    if not getattr(release, "independent_sites", True):
        return
    one, other = (_repeated(release, people, site=site, seed=seed) for site in (1, 2))
    for mine, yours in zip(one, other, strict=True):
        table = np.zeros((mine.max() + 1, yours.max() + 1))
        np.add.at(table, (mine, yours), 1)
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / REPEATS
        often = expected >= 5  # as chi-square wants it
        squares = ((table - expected)[often] ** 2 / expected[often]).sum()
        _keeps(
            bool(squares < _MOST_SQUARES + 2 * often.sum()),
            "that sites draw on their own, or to say that they do not",
        )


def _repeated(release: Release, people: People, *, site: int, seed: int) -> NDArray[np.int64]:
    """What a site might have been shown, users x repeats, each different row a number."""
    rows = _shown_again(release, people, site=site, seed=seed)
    if rows.ndim > 3:  # vectors; hardly two are equal, so only signs are compared
        few = rows[:, :, 0, :_SIGNS]
        rows = few > np.median(few, axis=1, keepdims=True)
    flat = rows.reshape(-1, rows.shape[2])
    _, codes = np.unique(flat, axis=0, return_inverse=True)
    return codes.reshape(rows.shape[:2])


def _shown_again(release: Release, people: People, *, site: int, seed: int) -> Rows:
    """What a site might have been shown: users x repeats x slots, perhaps x dimensions."""
    return np.stack(
        [
            np.asarray(release.show(people, 0, people.users, site=site, seed=seed, again=again))
            for again in range(REPEATS)
        ],
        axis=1,
    )


def _check_capabilities(release: Release, people: People, seed: int) -> None:
    _check_words(release, people)
    exact = _exact(release, people, seed)
    if exact is not None:
        _check_exact(release, people, exact, seed)
    if isinstance(release, SaysGaps):
        share = (_show(release, people, seed=seed) == -1).mean(axis=0)
        table = release.gaps(share).table
        _keeps(
            bool(np.allclose(table.sum(axis=(1, 2)), 1) and (table >= 0).all()),
            "chances of gaps that are chances",
        )
    if isinstance(release, Reveals) and exact is not None:
        _check_secrets(release, people, exact, seed)


def _check_words(release: Release, people: People) -> None:
    """What utility is computed from."""
    slots = release.slots(people)
    if isinstance(release, KnowsWhoIsThere):
        there = np.asarray(release.there(people, 0, people.users))
        _keeps(there.shape == (people.users, slots) and there.dtype == bool,
               "to say for each user and slot who is there")  # fmt: skip
    if isinstance(release, Recodes) and (recoded := release.recoded) is not None:
        allowed = (recoded >= -1) & (recoded < alphabet(release, people))
        _keeps(len(recoded) == people.tokens and bool(allowed.all()),
               "for each token of people one of its alphabet, or -1")  # fmt: skip


def _check_exact(release: Release, people: People, exact: ExactRows, seed: int) -> None:
    chances = exact.chances.toarray()
    _keeps(bool(np.allclose(chances.sum(axis=1), 1)), "exact rows that sum to 1")
    counts = np.zeros_like(chances)
    everyone = np.arange(people.users)
    for again in range(REPEATS):
        rows = np.asarray(
            release.show(people, 0, people.users, site=2, seed=seed, again=again), np.int64
        )
        try:
            counts[everyone, exact.column_of(rows)] += 1
        except InvalidInput:
            _keeps(kept=False, what="exact rows with everything that is shown")
    _keeps(not counts[chances == 0].any(), "exact rows with everything that is shown")
    if not isinstance(release, Exact) or not release.independent_sites:
        return  # some chance is the user's, and the same each time
    often = chances * REPEATS >= 5
    expected = np.where(often, chances * REPEATS, 1.0)
    squares = (np.where(often, (counts - expected) ** 2, 0.0) / expected).sum(axis=1)
    _keeps(bool((squares < _MOST_SQUARES + 2 * often.sum(axis=1)).all()),
           "to show rows as often as exact rows say")  # fmt: skip


def _check_secrets(release: Reveals, people: People, exact: ExactRows, seed: int) -> None:
    try:
        secrets = release.secrets(people, 0, people.users, seed=seed)
    except InvalidInput:
        return
    score = release.likelihood(int(people.tokens))
    chances = exact.chances.toarray()
    for shown, column in zip(exact.outcomes, chances.T, strict=True):
        found = np.exp(score.of(secrets, shown) / GRID)
        _keeps(bool(np.allclose(found, column, atol=1e-9)), "secrets that give the exact rows")


def _exact(release: Release, people: People, seed: int) -> ExactRows | None:
    if not isinstance(release, Exact):
        return None
    try:
        return release.rows(people, site=2, seed=seed)
    except TooLarge:
        return None


def _show(release: Release, people: People, *, seed: int) -> Rows:
    return np.asarray(release.show(people, 0, people.users, site=2, seed=seed))


def _same(one: Rows, other: Rows) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def _keeps(kept: bool, what: str) -> None:
    promise(kept, "a release", what)
