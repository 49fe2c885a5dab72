"""Made-up baskets of two halves of a year: people have tastes, and items of their own."""

import numpy as np

from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows


def baskets(users=120, *, tokens=80, size=15, seed=1, disjoint=False, strangers=0):
    """Counted baskets of the same people on two sides.

    Args:
        users: How many people.
        tokens: How many items there are.
        size: Purchases on each side.
        seed: Of all draws.
        disjoint: Whether no item of a person is on both sides.
        strangers: How many people of the anonymous side are not known.
    """
    random = np.random.default_rng(seed)
    tastes = random.dirichlet(np.full(tokens, 0.1), 6)
    mixed = random.dirichlet(np.full(6, 0.2), users + strangers) @ tastes
    own = random.dirichlet(np.full(tokens, 0.05), len(mixed))
    chances = mixed if disjoint else (mixed + own) / 2
    sides = np.stack([_counts(random, chances, size) for _ in range(2)])
    if disjoint:
        here = random.random(chances.shape) < 0.5
        sides *= np.stack([here, ~here])
    known, shown = (bags_of(side) for side in sides)
    order = random.permutation(users)
    return Observations(
        known.select(np.arange(users)),
        shown.select(order),
        order,
        tokens=tokens,
        strangers=shown.select(np.arange(users, users + strangers)) if strangers else None,
    )


def _counts(random, chances, size):
    return np.stack([random.multinomial(size, row / row.sum()) for row in chances])


def bags_of(counts):
    """Bags that hold so much of each token."""
    rows, tokens = np.nonzero(counts)
    starts = np.append(0, np.bincount(rows, minlength=len(counts)).cumsum())
    return BagRows.of(tokens, starts, tokens=counts.shape[1], counts=counts[rows, tokens])


def awkward(seed):
    """Few bags, with counts or without, among them empty and equal ones, and strangers."""
    random = np.random.default_rng(seed)
    users, targets, tokens = random.integers(2, 40), random.integers(1, 30), random.integers(2, 9)
    counts = random.poisson(random.choice([0.1, 0.7]), (users + targets + 3, tokens))
    counts = np.minimum(counts, random.choice([1, 3]))
    counts[random.random(len(counts)) < 0.2] = 0
    known, shown = counts[:users], counts[users:]
    truth = random.integers(0, users, targets)
    same = random.random(targets) < 0.4
    shown[:targets][same] = known[truth[same]]
    return Observations(
        bags_of(known), bags_of(shown[:targets]), truth, tokens=tokens,
        strangers=bags_of(shown[targets:]),
    )  # fmt: skip


def permuted(seen, seed=2):
    """The same rows in another order, and where each known row and each target went."""
    random = np.random.default_rng(seed)
    rows, targets = random.permutation(seen.known.users), random.permutation(len(seen.anonymous))
    places = np.argsort(rows)
    return Observations(
        seen.known.select(rows),
        seen.anonymous.select(targets),
        places[seen.truth[targets]],
        tokens=seen.tokens,
        strangers=seen.strangers,
    ), targets
