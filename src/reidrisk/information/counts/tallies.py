"""Count symbols and pairs of symbols, for all users and without each user in turn.

Users are independent of each other, slots of a user are not: so what is left out is always a user
with all slots. Sums over cells are given as *spreads*: the sum itself, and behind it the sum with
each user in turn left out.

A `Figure` is a value made of such sums, with its values without each user, from which its error
follows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.estimates.estimate import Estimate, EstimateOfBits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Strata = Callable[[Ints], Ints]
"""Tells the stratum of each code."""

_DENSE = 1 << 22
"""Codes for which a table of all is made, which is quicker than sorting."""

NOISE = "jackknife over users, noise only"
"""Name of an interval that says how much other users would move a figure, not how it leans."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of cells, a cell being a symbol or a pair of them.

    Attributes:
        codes: The number that stands for each cell, ascending.
        counts: How often each came; nowhere 0.
        strata: The stratum of each. Cells of a stratum are taken to be of a kind when the rest of
            it, which nobody showed, is guessed.
        cells: The place of the cell of each user and slot, those of a user ascending; no rows if
            nobody is to be left out.
    """

    codes: Ints
    counts: Ints
    strata: Ints
    cells: Ints

    @classmethod
    def of(cls, codes: Ints, most: int, strata: Strata) -> "Tally":
        """Count codes below `most`, users x slots.

        Args:
            codes: Users x slots.
            most: One more than the largest code.
            strata: Tells the stratum of each code.
        """
        found, counts = _counts(codes, most)
        if most <= _DENSE:
            places = np.zeros(most, np.int64)
            places[found] = np.arange(len(found))
            cells = places[codes]
        else:
            cells = np.searchsorted(found, codes)
        return cls(found, counts, strata(found), np.sort(cells, axis=1))

    @classmethod
    def of_all(cls, codes: Ints, most: int, strata: Strata) -> "Tally":
        """Count codes below `most`, and leave nobody out.

        Args:
            codes: Users x slots.
            most: One more than the largest code.
            strata: Tells the stratum of each code.
        """
        found, counts = _counts(codes, most)
        return cls(found, counts, strata(found), np.empty((0, codes.shape[1]), np.int64))

    @cached_property
    def pairs(self) -> Floats:
        """How many were counted: a spread."""
        users, slots = self.cells.shape
        pairs: Floats = self.counts.sum() - np.concatenate([[0.0], np.full(users, slots)])
        return pairs

    @property
    def once(self) -> int:
        """How many cells came once."""
        return int((self.counts == 1).sum())

    @cached_property
    def _left(self) -> Ints:
        """What is left of a cell when a user's slots are taken away one after the other."""
        again = np.zeros_like(self.cells)
        for slot in range(1, self.cells.shape[1]):
            same = self.cells[:, slot] == self.cells[:, slot - 1]
            again[:, slot] = np.where(same, again[:, slot - 1] + 1, 0)
        left: Ints = self.counts[self.cells] - again
        return left

    def sum(self, function: Callable[[Floats], Floats], stratum: int | None = None) -> Floats:
        """The sum over cells, or those of a stratum, of a function of their counts: a spread.

        The function is 0 at 0. Taking a slot away turns a count n into n - 1, so a user takes the
        sum of such steps away.

        Args:
            function: Of counts.
            stratum: Which cells; all if not given.
        """
        table = function(np.arange(self.counts.max() + 1, dtype=np.float64))
        here = slice(None) if stratum is None else self.strata == stratum
        steps = np.diff(table, prepend=0.0)[self._left]
        if stratum is not None:
            steps = np.where((self.strata == stratum)[self.cells], steps, 0.0)
        total = table[self.counts[here]].sum()
        return np.concatenate([[total], total - steps.sum(axis=1)])


def _counts(codes: Ints, most: int) -> tuple[Ints, Ints]:
    """Which codes came, and how often each."""
    if most > _DENSE:
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes.ravel(), minlength=most)
    found = np.flatnonzero(counts)
    return found, counts[found]


@dataclass(frozen=True, eq=False, slots=True)
class Figure:
    """A number of bits.

    Attributes:
        value: Of everybody.
        without: With each user in turn left out.
        drawn: What pairings of unrelated users have in it, one by one; they are drawn at random,
            and `value` has their mean.
    """

    value: float
    without: Floats
    drawn: Floats

    @classmethod
    def of(cls, spread: Floats) -> "Figure":
        """The figure of everybody, and behind it those without each user."""
        return cls(float(spread[0]), spread[1:], np.zeros(1))

    @classmethod
    def mean(cls, numbers: Floats) -> "Figure":
        """The mean of a number for each user."""
        total = numbers.sum()
        return cls(float(numbers.mean()), (total - numbers) / (len(numbers) - 1), np.zeros(1))

    @classmethod
    def mean_drawn(cls, numbers: Floats, users: int) -> "Figure":
        """The mean of what pairings of unrelated users gave."""
        mean = float(numbers.mean())
        return cls(mean, np.full(users, mean), numbers)

    def __add__(self, other: "Figure") -> "Figure":
        return Figure(
            self.value + other.value, self.without + other.without, self.drawn + other.drawn
        )

    def __sub__(self, other: "Figure") -> "Figure":
        return self + other * -1.0

    def __mul__(self, factor: float) -> "Figure":
        return Figure(self.value * factor, self.without * factor, self.drawn * factor)

    @property
    def jackknifed(self) -> "Figure":
        """The figure without the part of its bias that falls as one over the number of users."""
        users = len(self.without)
        corrected = users * self.value - (users - 1) * float(self.without.mean())
        return Figure(corrected, self.without, self.drawn)

    def noise(self, level: float) -> float:
        """How far a figure of other users may lie away, to either side, with this level."""
        users, pairings = len(self.without), len(self.drawn)
        variance = (users - 1) * float(self.without.var())
        if pairings > 1:
            variance += float(self.drawn.var(ddof=1)) / pairings
        return float(scipy.special.stdtrit(users - 1, (1 + level) / 2)) * math.sqrt(variance)

    def estimate(self, level: float) -> Estimate:
        """The figure, and how much other users would move it."""
        noise, users = self.noise(level), len(self.without)
        return EstimateOfBits(
            self.value, self.value - noise, self.value + noise, level, users, NOISE
        )
