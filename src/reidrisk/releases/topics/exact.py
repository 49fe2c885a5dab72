"""The exact distribution of what a site is shown, for worlds small enough to go through.

It follows the rules a second way, with sums in place of draws; simulation is tested against it.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.special import roots_legendre

from reidrisk.errors import TooLarge
from reidrisk.observations import MISSING
from reidrisk.releases.exact import ExactRows, check_size, code, decode
from reidrisk.releases.topics.rules import DAYS, Floats, Rules, Tokens

MOST_COINS = 16


def exact_rows(rules: Rules, sets: Tokens, *, site: int) -> ExactRows:
    """Chances of what a site is shown of users with these top sets, users x epochs x top."""
    users, epochs, _ = sets.shape
    check_size(rules.topics + 1, epochs, users)  # one symbol stands for nothing
    tokens = np.stack([_token_chances(rules, mine, site) for mine in sets])
    calls, outcomes = _calls(rules, epochs)
    chances = sp.csr_array(tokens) @ calls
    possible = np.flatnonzero(chances.sum(axis=0) > 0)
    return ExactRows(sp.csr_array(chances[:, possible]), outcomes[possible])


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
        if absent or real in blocked or unseen:
            chances[-1] += 1 / rules.top
        else:
            chances[:-1] += rules.noise / rules.topics / rules.top
            chances[real] += (1 - rules.noise) / rules.top
    return chances


def _coins(
    rules: Rules, sets: Tokens, site: int
) -> Iterator[tuple[float, set[int], list[set[int]] | None]]:
    """All ways in which topics are blocked and pages witnessed, with their chances."""
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
    chances = [chance for _, chance in (*block, *pages)]
    open_coins = sum(0 < chance < 1 for chance in chances)
    if open_coins > MOST_COINS:
        raise TooLarge(
            f"a user has {open_coins} coins of blocking and witnessing; exact rows go through up "
            f"to {MOST_COINS}: use fewer epochs or topics, or chances of 0 and 1"
        )
    sides = [
        [side for side in (0, 1) if (chance if side else 1 - chance) > 0] for chance in chances
    ]
    for coins in itertools.product(*sides):
        weight = np.prod([c if side else 1 - c for c, side in zip(chances, coins, strict=True)])
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


def _calls(rules: Rules, epochs: int) -> tuple[sp.csr_array, Tokens]:
    """Chances to go from sequences of one topic per epoch to rows of slots, and those rows."""
    shape = (rules.topics + 1,) * epochs
    sequences = np.indices(shape, np.int32).reshape(epochs, -1).T
    sequences[sequences == rules.topics] = MISSING
    calls = rules.calls(epochs)
    base = rules.topics + 1
    codes, weights = [], []
    for early, gone in itertools.product(
        _patterns(calls.size, possible=rules.delay > 0),
        _patterns(calls.size, possible=rules.absence > 0),
    ):
        chance = _early_chance(rules.delay, early) * np.prod(
            [rules.absence if side else 1 - rules.absence for side in gone]
        )
        if chance == 0:
            continue
        rows = np.concatenate(
            [
                _one_call(rules, sequences, week - late, absent=bool(absent))
                for week, late, absent in zip(calls.tolist(), early, gone, strict=True)
            ],
            axis=1,
        )
        codes.append(code(rows, base))
        weights.append(np.full(len(rows), chance))
    known, columns = np.unique(np.concatenate(codes), return_inverse=True)
    sources = np.tile(np.arange(len(sequences)), len(codes))
    channel = sp.coo_array(
        (np.concatenate(weights), (sources, columns)), shape=(len(sequences), known.size)
    )
    return channel.tocsr(), decode(known, base, calls.size * rules.per_call)


def _patterns(count: int, *, possible: bool) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=count)) if possible else [(0,) * count]


def _early_chance(delay: float, early: tuple[int, ...]) -> float:
    """Chance that exactly these calls come before the new week is visible.

    Calls are independent given the delay, which is uniform: an integral of a polynomial, for
    which Gauss and Legendre's points are exact.
    """
    if not delay:
        return 1.0
    points, weights = roots_legendre(len(early) // 2 + 1)
    share = (points + 1) / 2 * delay / DAYS
    factors = [share if late else 1 - share for late in early]
    return float(weights @ np.prod(factors, axis=0) / 2)


def _one_call(rules: Rules, sequences: Tokens, newest: int, *, absent: bool) -> Tokens:
    """Slots of one call for each sequence of topics."""
    rows = np.full((len(sequences), rules.per_call), MISSING, np.int32)
    if absent:
        return rows
    weeks = range(max(0, newest - rules.per_call + 1), newest + 1)
    for row, sequence in zip(rows, sequences[:, weeks], strict=True):
        tokens = sorted(set(sequence.tolist()) - {MISSING})
        row[: len(tokens)] = tokens
    return rows
