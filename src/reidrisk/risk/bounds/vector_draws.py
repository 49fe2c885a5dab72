"""Draws of known noise on the vectors of random users, each with the density of its own user."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from reidrisk.core.randomness import uniforms
from reidrisk.releases.protocol import Noise
from reidrisk.risk.bounds.noisy_vectors import Floats, NoisyVectors

_HALF_STEP = 2.0**-54
"""Of the steps that uniform draws are made of."""


@dataclass(frozen=True, eq=False)
class VectorDraws:
    """What is shown of independent random users, and what noise is in it.

    Of Gaussian noise there is one draw for each: the mean, which tells as much as all.

    Args:
        noise: The law of one draw.
        shown: What is shown: cases x draws x dimensions.
        off: What of it is noise.
    """

    noise: Noise
    shown: Floats
    off: Floats

    @classmethod
    def of(cls, vectors: NoisyVectors, count: int, *, seed: int) -> "VectorDraws":
        """Draw random users, with replacement, and noise for each.

        Args:
            vectors: The vectors of all users.
            count: How many cases.
            seed: Seed of the draws.
        """
        gaussian = vectors.noise.law == "gaussian"
        noise = Noise("gaussian", vectors.deviation) if gaussian else vectors.noise
        draws = 1 if gaussian else vectors.draws
        off = noise_of(noise, (count, draws, vectors.dimensions), seed=seed)
        return cls(noise, _centres(vectors, count, seed)[:, None] + off, off)

    def part(self, start: int, stop: int) -> "VectorDraws":
        """Some cases, neighbours.

        Args:
            start: The first.
            stop: The one after the last.
        """
        return VectorDraws(self.noise, self.shown[start:stop], self.off[start:stop])

    @property
    def log_density(self) -> Floats:
        """Logarithm of the density of each case, given its user."""
        return log_density(self.noise, self.off)


def _centres(vectors: NoisyVectors, count: int, seed: int) -> Floats:
    """Centres of independent random users.

    The first of all users by a hash are in random order, so whoever comes up for the first time in
    independent draws may be the next of them: the order of people then changes nothing.
    """
    coins = uniforms(seed=seed, purpose="bounds/picks", users=np.arange(count), count=1)[:, 0]
    picks = np.minimum((coins * vectors.users).astype(np.int64), vectors.users - 1)
    _, first, place = np.unique(picks, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return np.asarray(vectors.first(len(first), "bounds/users", seed)[order[place]])


def noise_of(noise: Noise, shape: tuple[int, int, int], *, seed: int) -> Floats:
    """Independent draws of a law.

    Args:
        noise: The law.
        shape: Cases x draws x dimensions.
        seed: Seed of the draws.
    """
    cases, draws, dimensions = shape
    coins = uniforms(
        seed=seed, purpose="bounds/noise", users=np.arange(cases), count=draws * (dimensions + 1)
    ).reshape(cases, draws, dimensions + 1)
    coins = np.minimum(coins + _HALF_STEP, 1 - 2 * _HALF_STEP)  # never 0, never 1
    if noise.law == "laplace":
        off = coins[:, :, :dimensions] - 0.5
        return np.asarray(-noise.scale * np.sign(off) * np.log1p(-2 * np.abs(off)))
    normal = scipy.special.ndtri(coins[:, :, :dimensions])
    if noise.law == "gaussian":
        return np.asarray(noise.scale * normal)
    lengths = scipy.special.gammaincinv(dimensions, coins[:, :, dimensions])
    directions = normal / np.sqrt((normal**2).sum(axis=2))[:, :, None]
    return np.asarray(noise.scale * lengths[:, :, None] * directions)


def log_density(noise: Noise, off: Floats) -> Floats:
    """Logarithm of the density of all draws of each case, but for a constant of law and dimension.

    Args:
        noise: The law of a draw.
        off: The noise: cases x draws x dimensions.
    """
    _, draws, dimensions = off.shape
    scales = off / noise.scale
    if noise.law == "gaussian":
        nats = -(scales**2).sum(axis=(1, 2)) / 2
    elif noise.law == "laplace":
        nats = -np.abs(scales).sum(axis=(1, 2))
    else:
        nats = -np.sqrt((scales**2).sum(axis=2)).sum(axis=1)
    return np.asarray(nats - draws * dimensions * math.log(noise.scale))
