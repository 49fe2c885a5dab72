"""A figure with its values without each user, from which its error follows."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from reidrisk.estimates.estimate import Estimate, EstimateOfBits
from reidrisk.information.counts.tallies import Floats

NOISE = "jackknife over users, noise only"
"""Name of an interval that says how much other users would move a figure, not how it leans."""


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
