"""Credits on which careless intervals fail, each with its true mean."""

import numpy as np

STUDIES = 2_000


def rare(rng, shape, rate=1e-4):
    """Right with a tiny chance, never tied."""
    return (rng.random(shape) < rate).astype(float), rate


def tied(rng, shape, hits=1.0, most=1_000):
    """The truth wins with chance `hits`, tied with a heavy-tailed number of others."""
    ties = np.arange(1, most + 1)
    chances = ties**-1.5 / (ties**-1.5).sum()
    drawn = 1 / rng.choice(ties, shape, p=chances)
    return drawn * (rng.random(shape) < hits), hits * (chances / ties).sum()


def rarely_tied(rng, shape):
    return tied(rng, shape, hits=0.002)


def one_in_all(rng, shape):
    """One target in a whole study is named on average; all others have no chance."""
    return rare(rng, shape, 1 / shape[-1])


def constant(_, shape):
    return np.full(shape, 0.3), 0.3


def coins(rng, shape):
    return rare(rng, shape, 0.5)


def nearly_sure(rng, shape):
    return 1 - rare(rng, shape, 0.01)[0], 0.99


def even(rng, shape):
    return rng.random(shape), 0.5


WORLDS = [rare, tied, rarely_tied, one_in_all, constant, coins, nearly_sure, even]
FEW = [(world, targets) for world in WORLDS for targets in (1, 2, 10)]
MANY = [(world, 10_000) for world in (rare, tied, rarely_tied, one_in_all, constant)]


def floor(level, studies=STUDIES):
    """Least share of covering studies that agrees with the level: 3 standard errors below it."""
    return level - 3 * (level * (1 - level) / studies) ** 0.5
