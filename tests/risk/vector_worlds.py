"""People with vectors, releases that add noise to them, and the best attacker, slowly.

The release is written against `AddsNoise` alone, as somebody else's would be.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk import Grid, Observations, VectorRows
from reidrisk.people.subset import Subset
from reidrisk.releases.protocol import Noise

GRID = Grid(100.0, 16)


@dataclass(frozen=True, eq=False)
class Points:
    """People with a vector each."""

    vectors: np.ndarray
    ids: np.ndarray

    epochs: ClassVar[int] = 1
    tokens: ClassVar[int] = 0
    complete: ClassVar[bool] = True

    @classmethod
    def of(cls, vectors, ids=None):
        vectors = np.asarray(vectors, float)
        return cls(vectors, np.arange(len(vectors)) if ids is None else np.asarray(ids))

    @property
    def users(self):
        return len(self.vectors)


def rows_of(people, start, stop):
    """The vectors of some people, also of a part of them."""
    if isinstance(people, Subset):
        return np.concatenate(
            [rows_of(people.people, row, row + 1) for row in people.rows[start:stop]]
        )
    return people.vectors[start:stop]


@dataclass(frozen=True)
class Noisy:
    """Adds noise to vectors; says so, and nothing else."""

    noise: Noise
    releases: int = 1
    fresh: bool = True

    name: ClassVar[str] = "noisy"

    def slots(self, people):
        return self.releases

    def centres(self, people, start, stop):
        return rows_of(people, start, stop)

    def draws(self, slots):
        return slots if self.fresh else 1

    def promises(self, people, slots):
        return ()

    def drawn(self, people, start, stop, *, site, seed, again=0):
        centres = self.centres(people, start, stop)
        noise = [
            draw(
                self.noise,
                (1, self.draws(self.releases), centres.shape[1]),
                [seed, site, again, one],
            )
            for one in people.ids[start:stop]
        ]
        shape = len(centres), self.releases, centres.shape[1]
        return np.broadcast_to(centres[:, None] + np.concatenate(noise), shape)

    def show(self, people, start, stop, *, site, seed, again=0):
        return VectorRows(GRID.round(self.drawn(people, start, stop, site=site, seed=seed)))


def draw(noise, shape, seed):
    """Noise of a law, by the book."""
    random = np.random.default_rng(seed)
    if noise.law == "laplace":
        return random.laplace(0, noise.scale, shape)
    normal = random.standard_normal(shape)
    if noise.law == "gaussian":
        return noise.scale * normal
    length = random.gamma(shape[-1], noise.scale, (*shape[:-1], 1))
    return length * normal / np.linalg.norm(normal, axis=-1, keepdims=True)


def log_likelihoods(noise, shown, centres):
    """Of all draws, cases x draws x dimensions, given each centre: cases x centres."""
    off = shown[:, :, None] - centres
    if noise.law == "gaussian":
        each = -(off**2).sum(axis=-1) / (2 * noise.scale**2)
    elif noise.law == "laplace":
        each = -np.abs(off).sum(axis=-1) / noise.scale
    else:
        each = -np.linalg.norm(off, axis=-1) / noise.scale
    return each.sum(axis=1)


def posteriors(noise, shown, centres):
    """The largest posterior of each case, by Bayes' rule."""
    nats = log_likelihoods(noise, shown, centres)
    chances = np.exp(nats - nats.max(axis=1, keepdims=True))
    return (chances / chances.sum(axis=1, keepdims=True)).max(axis=1)


def best_posteriors(noise, centres, draws=1, cases=20_000, seed=0):
    """How sure the best attacker is of random users: on average it is right as often."""
    users, dimensions = centres.shape
    found = []
    for part in range(8):
        random = np.random.default_rng([seed, part])
        who = random.integers(0, users, cases // 8)
        off = draw(noise, (len(who), draws, dimensions), [seed, part, 1])
        found.append(posteriors(noise, centres[who][:, None] + off, centres))
    return np.concatenate(found)


def optimum(noise, centres, draws=1, cases=20_000, seed=0):
    """How often the best attacker is right, and the standard error of that."""
    found = best_posteriors(noise, centres, draws, cases, seed)
    return found.mean(), found.std() / np.sqrt(len(found))


def seen_of(release, people, seed=1, targets=None):
    """Clean vectors on one side, noisy ones on the other; targets in random order."""
    order = np.random.default_rng(seed).permutation(people.users)[:targets]
    shown = release.drawn(people, 0, people.users, site=2, seed=seed)[order]
    known = np.repeat(people.vectors[:, None], release.slots(people), axis=1)
    reach = max(np.abs(shown).max(), np.abs(known).max())
    grid = Grid(20_000 / reach, 16)
    rows = [VectorRows(grid.round(one), scale=grid.scale) for one in (known, shown)]
    return Observations(*rows, order)
