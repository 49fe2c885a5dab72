"""Sums and roundings with proved error bounds.

Long sums are carried in twice the precision, and the few steps after them in exact fractions. So
only the last step rounds: to nearest for a value, upwards for an upper bound.
"""

import math
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.theory.kernels import sum_in_two_parts


class UpperBound(float):
    """A probability that is certainly not exceeded; `raw` is the bound before it is cut at 1.

    It is an ordinary number otherwise: compare it, print it, multiply it.

    Args:
        raw: The bound before it is cut at 1.

    Example:
        >>> bound = rr.theory.upper_from_local_dp(epsilon=3.0, users=10)
        >>> bound, round(bound.raw, 3)
        (1.0, 2.009)
    """

    __slots__ = ("raw",)
    raw: float

    def __new__(cls, raw: Fraction | float) -> Self:
        """Round upwards and cut at 1."""
        value = round_up(raw)
        bound = super().__new__(cls, min(value, 1.0))
        bound.raw = value
        return bound


def round_up(value: Fraction | float) -> float:
    """Smallest float that is not below the value."""
    nearest = float(value)
    # Python compares a float with a fraction exactly.
    return math.nextafter(nearest, math.inf) if nearest < value else nearest


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """Sum of the values, carried in twice the precision."""
    high, low, _ = sum_in_two_parts(np.ascontiguousarray(values))
    return Fraction(high) + Fraction(low)


def upper_sum(values: NDArray[np.float64]) -> Fraction:
    """Sum of the values that is never below the exact one."""
    high, low, rounded = sum_in_two_parts(np.ascontiguousarray(values))
    # The low part is itself a rounded sum: its error is below n roundings of what it adds up.
    slack = Fraction(rounded) * len(values) / 2**52
    return Fraction(high) + Fraction(low) + slack


def chance(total: Fraction) -> float:
    """Nearest float of a probability, at most 1 even where rows sum to a little more."""
    return min(float(total), 1.0)
