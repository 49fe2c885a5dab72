"""The exact distribution of Topics rows, for small worlds.

It implements the rules a second time, with sums instead of draws: simulation is tested against it.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import scipy

from reidrisk.core.observations import MISSING
from reidrisk.errors import TooLarge
from reidrisk.releases.exact import ExactRows, check_size, code, decode
from reidrisk.releases.topics.rules import DAYS, Floats, Rules, Tokens

_MOST_COINS = 16
_MOST_STEPS = 1 << 22
"""Sequences x ways in which calls come early: some seconds, and some hundred megabytes."""

_MOST_SUMS = 1 << 30
"""Chances that are added up over all coins of all users."""

_ROUND = 10_000  # overhead of one pass over the weeks, in sums of chances


def exact_rows(rules: Rules, sets: Tokens, *, site: int) -> ExactRows:
    """Chances of what a site is shown of users with these top sets, users x epochs x top."""
    users, epochs, _ = sets.shape
    check_size(rules.topics + 1, epochs, users)  # one symbol stands for nothing
    _check_steps(rules, sets, site)
    tokens = np.stack([_token_chances(rules, mine, site) for mine in sets])
    # When calls come early does not depend on who the user is: one table serves all.
    calls, outcomes = _calls(rules, epochs)
    chances = scipy.sparse.csr_array(tokens) @ calls
    if rules.absence:
        chances, outcomes = _absent(rules, chances, outcomes)
    possible = np.flatnonzero(chances.sum(axis=0) > 0)
    return ExactRows(scipy.sparse.csr_array(chances[:, possible]), outcomes[possible])


def _check_steps(rules: Rules, sets: Tokens, site: int) -> None:
    """Refuse what would take too long."""
    users, epochs, _ = sets.shape
    sequences = (rules.topics + 1) ** epochs
    ways = 2 ** len(rules.calls(epochs)) if rules.delay else 1
    coins = max(_open_coins(rules, mine, site) for mine in sets)
    if coins > _MOST_COINS:
        raise TooLarge(
            f"a user has {coins} coins of blocking and witnessing; exact rows go through up to "
            f"{_MOST_COINS}: use fewer epochs or topics, or chances of 0 and 1",
            code="too-many-sequences",
        )
    if ways * sequences > _MOST_STEPS or users * 2**coins * (sequences + _ROUND) > _MOST_SUMS:
        raise TooLarge(
            f"{users} users with {coins} coins of blocking and witnessing, and {ways} ways in "
            f"which calls come early, for each of {sequences:.2g} sequences, take too long to go "
            "through; use fewer users, epochs or topics, or leave out delays",
            code="too-many-sequences",
        )


def _token_chances(rules: Rules, sets: Tokens, site: int) -> Floats:
    """Chance of each sequence of one topic per epoch, flattened, for one user."""
    total = np.zeros((rules.topics + 1,) * len(sets))
    for weight, blocked, witnessed in _coins(rules, sets, site):
        product = np.array(weight)
        for epoch in range(len(sets)):
            product = np.multiply.outer(product, _epoch(rules, sets, epoch, blocked, witnessed))
        total += product
    return total.ravel()


def _epoch(
    rules: Rules, sets: Tokens, epoch: int, blocked: set[int], witnessed: list[set[int]] | None
) -> Floats:
    """Chance of each token in one epoch, nothing last, when all coins are known."""
    chances = np.zeros(rules.topics + 1)
    recent = range(max(0, epoch - rules.memory + 1), epoch + 1)
    for real in sets[epoch].tolist():
        absent = real == MISSING
        unseen = witnessed is not None and not any(real in witnessed[week] for week in recent)
        # The real topic decides, also where noise would have been shown: as in `site_rows`.
        if absent or real in blocked or unseen:
            chances[-1] += 1 / rules.top
        else:
            chances[:-1] += rules.noise / rules.topics / rules.top
            chances[real] += (1 - rules.noise) / rules.top
    return chances


def _chances_of_coins(
    rules: Rules, sets: Tokens, site: int
) -> tuple[list[tuple[int, float]], list[tuple[tuple[int, int], float]]]:
    """Topics that may be blocked, and pages that may be witnessed, with their chances."""
    mine = sorted({topic for topic in sets.ravel().tolist() if topic != MISSING})
    block = [] if rules.blocked is None else [(topic, rules.blocked[topic]) for topic in mine]
    pages: list[tuple[tuple[int, int], float]] = []
    if rules.presence is not None:
        presence = rules.presence_at(site)
        pages = [
            ((week, topic), presence[topic])
            for week, row in enumerate(sets.tolist())
            for topic in row
            if topic != MISSING
        ]
    return block, pages


def _open_coins(rules: Rules, sets: Tokens, site: int) -> int:
    """Coins of a user that may fall on either side."""
    return sum(
        0 < chance < 1 for part in _chances_of_coins(rules, sets, site) for _, chance in part
    )


def _coins(
    rules: Rules, sets: Tokens, site: int
) -> Iterator[tuple[float, set[int], list[set[int]] | None]]:
    """All ways in which topics may be blocked and pages witnessed, with their chances."""
    block, pages = _chances_of_coins(rules, sets, site)
    chances = [chance for _, chance in (*block, *pages)]
    # A coin that is sure to fall on one side must not double the ways.
    sides = [
        [side for side in (0, 1) if (chance if side else 1 - chance) > 0] for chance in chances
    ]
    for coins in itertools.product(*sides):
        weight = np.prod([c if side else 1 - c for c, side in zip(chances, coins, strict=True)])
        # Coins of blocking come first; those behind are of witnessing, below.
        blocked = {topic for (topic, _), side in zip(block, coins, strict=False) if side}
        if rules.presence is None:
            yield float(weight), blocked, None
            continue
        witnessed: list[set[int]] = [set() for _ in sets]
        for ((week, topic), _), side in zip(pages, coins[len(block) :], strict=True):
            while side and topic != MISSING:
                witnessed[week].add(topic)
                topic = int(rules.parents[topic])  # noqa: PLW2901  up the tree
        yield float(weight), blocked, witnessed


def _calls(rules: Rules, epochs: int) -> tuple["scipy.sparse.csr_array", Tokens]:
    """Chances to go from sequences of one topic per epoch to rows of slots, and those rows."""
    shape = (rules.topics + 1,) * epochs
    sequences = np.indices(shape, np.int32).reshape(epochs, -1).T
    sequences[sequences == rules.topics] = MISSING
    calls = rules.calls(epochs)
    base = rules.topics + 1
    codes, weights = [], []
    for early in _patterns(calls.size, possible=rules.delay > 0):
        chance = _early_chance(rules.delay, early)
        if chance == 0:
            continue
        rows = np.concatenate(
            [
                _one_call(rules, sequences, week - late)
                for week, late in zip(calls.tolist(), early, strict=True)
            ],
            axis=1,
        )
        codes.append(code(rows, base))
        weights.append(np.full(len(rows), chance))
    known, columns = np.unique(np.concatenate(codes), return_inverse=True)
    sources = np.tile(np.arange(len(sequences)), len(codes))
    channel = scipy.sparse.coo_array(
        (np.concatenate(weights), (sources, columns)), shape=(len(sequences), known.size)
    )
    return channel.tocsr(), decode(known, base, calls.size * rules.per_call)


def _patterns(count: int, *, possible: bool) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=count)) if possible else [(0,) * count]


def _early_chance(delay: float, early: tuple[int, ...]) -> float:
    """Chance that exactly these calls come before the new week is visible.

    Given the delay, which is uniform, calls are independent. So the chance is the integral of a
    polynomial, which Gauss-Legendre quadrature computes exactly.
    """
    if not delay:
        return 1.0
    # One factor per call is the degree, and n points are exact up to degree 2n - 1.
    points, weights = scipy.special.roots_legendre(len(early) // 2 + 1)
    # A call comes at a uniform time of the week: with a delay of d days, early with chance d / 7.
    share = (points + 1) / 2 * delay / DAYS
    factors = [share if late else 1 - share for late in early]
    return float(weights @ np.prod(factors, axis=0) / 2)


def _one_call(rules: Rules, sequences: Tokens, newest: int) -> Tokens:
    """Slots of one call for each sequence of topics."""
    rows = np.full((len(sequences), rules.per_call), MISSING, np.int32)
    seen = np.sort(sequences[:, max(0, newest - rules.per_call + 1) : newest + 1], axis=1)
    # A topic of several weeks is shown once; gaps then move behind the topics.
    seen[:, 1:][seen[:, 1:] == seen[:, :-1]] = MISSING
    tokens = np.sort(np.where(seen == MISSING, rules.topics, seen), axis=1)
    rows[:, : tokens.shape[1]] = np.where(tokens == rules.topics, MISSING, tokens)
    return rows


def _absent(
    rules: Rules, chances: "scipy.sparse.csr_array", outcomes: Tokens
) -> tuple["scipy.sparse.csr_array", Tokens]:
    """Chances and outcomes if each call may independently be missed, which empties its slots."""
    base = rules.topics + 1
    # Call by call, and rows that become equal are merged before the next.
    for start in range(0, outcomes.shape[1], rules.per_call):
        gone = outcomes.copy()
        gone[:, start : start + rules.per_call] = MISSING
        both = np.concatenate([code(outcomes, base), code(gone, base)])
        known, columns = np.unique(both, return_inverse=True)
        weights = np.repeat([1 - rules.absence, rules.absence], len(outcomes))
        sources = np.tile(np.arange(len(outcomes)), 2)
        step = scipy.sparse.coo_array(
            (weights, (sources, columns)), shape=(len(outcomes), known.size)
        )
        chances = chances @ step.tocsr()
        outcomes = decode(known, base, outcomes.shape[1])
    return chances, outcomes
