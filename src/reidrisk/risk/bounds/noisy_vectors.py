"""Vectors to which a release adds known noise: their ball, box and neighbours, and some of them.

Users are read in blocks, so that millions fit; what looks at a few of them takes the first by a
hash of their ids, in this order, so that the order of people changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.people.protocol import People
from reidrisk.people.sampling import Rule, select
from reidrisk.people.subset import Subset
from reidrisk.releases.protocol import AddsNoise, Noise, ShowsVectors
from reidrisk.risk.eligibility import UserSubset

Floats: TypeAlias = NDArray[np.float64]

_NUMBERS_AT_A_TIME = 1 << 21
_FEW = 2_048
_STEPS = 200
_OUTWARD = 1e-12
"""Distances are rounded by less than this share of the largest number in them."""

MOST_PAIRS = 1 << 36
"""Users x users x dimensions up to which nearest neighbours are searched: about ten seconds."""


@dataclass(frozen=True, slots=True)
class _Extent:
    """What a set of centres takes up: a ball and a box around all of them.

    Attributes:
        radius: Of a ball that holds all centres.
        shells: For each of some points, the distance of the farthest centre and that of a mean one.
        axes: Widths of the box along the coordinates.
        turned: Widths of the box along the principal axes of some of the centres.
        steps: Radius of a ball by the sum of distances along coordinates.
    """

    radius: float
    shells: tuple[tuple[float, float], ...]
    axes: Floats
    turned: Floats
    steps: float


@dataclass(frozen=True, eq=False)
class NoisyVectors:
    """The vectors of some users, and the noise that one site's rows add to them.

    Args:
        release: What adds the noise.
        people: The users.
        slots: Number of slots.
    """

    release: AddsNoise
    people: People
    slots: int

    @classmethod
    def parts(
        cls, release: AddsNoise, people: People, slots: int, traced: UserSubset
    ) -> "tuple[NoisyVectors, ...]":
        """All users; and those of whom something is known, if these are not all.

        Args:
            release: What adds the noise.
            people: All users.
            slots: Number of slots.
            traced: Users of whom something is known.
        """
        everybody = cls(release, people, slots)
        if traced.are_all or not traced.users:
            return (everybody,)
        some = Subset.of(people, np.flatnonzero(traced.mask))
        return everybody, cls(release, some, slots)

    @property
    def users(self) -> int:
        """Number of users."""
        return self.people.users

    @property
    def noise(self) -> Noise:
        """The law of the noise of one draw."""
        return self.release.noise

    @property
    def draws(self) -> int:
        """How many independent draws these slots show."""
        return self.release.draws(self.slots)

    @property
    def deviation(self) -> float:
        """Standard deviation of the mean of all draws of Gaussian noise, which tells all of them.

        Given the mean of r draws, what else they show does not depend on the centre.
        """
        return float(self.noise.scale / np.sqrt(self.draws))

    @cached_property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return int(self.release.centres(self.people, 0, 1).shape[1])

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """All centres in blocks, each with the row of its first user."""
        size = max(_NUMBERS_AT_A_TIME // self.dimensions, 1)
        for start in range(0, self.users, size):
            yield start, self.release.centres(self.people, start, min(start + size, self.users))

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """The centres of some users.

        Args:
            rows: Their rows, in any order.
        """
        some, place = np.unique(rows, return_inverse=True)
        return np.asarray(self.release.centres(Subset.of(self.people, some), 0, len(some))[place])

    def first(self, number: int, purpose: str, seed: int) -> Floats:
        """The centres of the first users by a hash of their ids, in this order.

        Args:
            number: How many at most.
            purpose: Other purposes order users in another way.
            seed: Seed of the hash.
        """
        most = min(number, self.users)
        (group,) = select(self.people, [(Rule(), most)], purpose=purpose, seed=seed)
        return self.take(group.first)

    @cached_property
    def extent(self) -> _Extent:
        """A ball and boxes that hold all centres, in one pass over them."""
        some = self.first(_FEW, "bounds/extent", 0)
        # Where lengths are cut, zero is the better centre.
        centres = _centre_of_ball(some), np.zeros(self.dimensions)
        middle = np.median(some, axis=0)
        spread = some - some.mean(axis=0)
        turn = np.linalg.eigh(spread.T @ spread)[1]
        low, high = np.full((2, self.dimensions), np.inf), np.full((2, self.dimensions), -np.inf)
        radii, sums = np.zeros(len(centres)), np.zeros(len(centres))
        steps, largest = 0.0, 0.0
        for _, block in self.blocks():
            for place, centre in enumerate(centres):
                far = np.sqrt(((block - centre) ** 2).sum(axis=1))
                radii[place] = max(radii[place], far.max())
                sums[place] += far.sum()
            steps = max(steps, float(np.abs(block - middle).sum(axis=1).max()))
            largest = max(largest, float(np.abs(block).max()))
            for place, axes in enumerate((block, (block - centres[0]) @ turn)):
                low[place] = np.minimum(low[place], axes.min(axis=0))
                high[place] = np.maximum(high[place], axes.max(axis=0))
        # Outwards, by more than what rounding took away; also of axes that are not quite square.
        slack = _OUTWARD * self.dimensions * largest
        shells = tuple(
            (float(farthest + slack), float(total / self.users - slack))
            for farthest, total in zip(radii, sums, strict=True)
        )
        return _Extent(float(radii.min()) + slack, shells, high[0] - low[0] + slack,
                       high[1] - low[1] + slack, steps + slack)  # fmt: skip

    @cached_property
    def neighbours(self) -> Floats | None:
        """The distance of each user to another one, the nearest but for rounding; None if too many.

        Whichever other user is taken, the bound by neighbours holds.
        """
        if not 1 < self.users <= MOST_PAIRS // (self.users * self.dimensions):
            return None
        everyone = np.concatenate([block for _, block in self.blocks()])
        # Relative to their middle, so that products lose fewer digits.
        everyone -= everyone.mean(axis=0)
        half = (everyone**2).sum(axis=1) / 2
        found = np.empty(self.users)
        size = max(_NUMBERS_AT_A_TIME // self.users, 1)
        for start in range(0, self.users, size):
            some = everyone[start : start + size]
            nearness = some @ everyone.T - half
            nearness[np.arange(len(some)), start + np.arange(len(some))] = -np.inf
            nearest = everyone[nearness.argmax(axis=1)]
            found[start : start + size] = np.sqrt(((some - nearest) ** 2).sum(axis=1))
        return found


def noise_behind(release: object) -> AddsNoise | None:
    """The release that adds noise of a known law: itself, or what it is a function of; else None.

    Whatever bounds attackers who see what is drawn bounds those who see a function of it.

    Args:
        release: Any release, or nothing.
    """
    if isinstance(release, AddsNoise):
        return release
    return noise_behind(getattr(release, "of", None)) if isinstance(release, ShowsVectors) else None


def _centre_of_ball(points: Floats) -> Floats:
    """A point from which the farthest of these points is nearly as near as can be.

    Badoiu and Clarkson (2003): step towards the farthest point, by less and less.
    """
    centre = points.mean(axis=0)
    best, reach = centre, np.inf
    for step in range(_STEPS):
        off = ((points - centre) ** 2).sum(axis=1)
        farthest = int(off.argmax())
        if off[farthest] < reach:
            best, reach = centre, float(off[farthest])
        centre = centre + (points[farthest] - centre) / (step + 2)
    return np.asarray(best)
