"""Betting intervals for the mean of bounded numbers, valid at all times at once.

Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2023:
a gambler starts with one coin and bets that each number is above m. If m is the mean, the game is
fair, and by Ville's inequality the chance of ever owning 1/a coins is at most a. So every m against
which a gambler won that much is ruled out. Another gambler bets that numbers are below m.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from reidrisk.core.checks import real_number
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import Numbers, numbers
from reidrisk.estimates.intervals import confidence

# The most a gambler may lose at once, as a part of what it owns.
_STAKE = 0.75
# Ends lie on multiples of 2**-HALVINGS and are moved outwards by one of them.
_HALVINGS = 40
# Each of the n products of a capital is rounded; the goal is raised by n of these, which is more.
_ROUNDING = 2.0**-48
# Capital below this counts as lost: a product of further factors would underflow.
_BROKE = 1e-290
# Numbers at a time: they fit in a core's own cache, and few are looked at once all is lost.
_AT_A_TIME = 1 << 12


def mean_of_numbers(
    values: ArrayLike, *, low: float = 0.0, high: float = 1.0, level: float = 0.95
) -> Estimate:
    """Mean of independent numbers from low to high, narrow where they vary little.

    For averages of probabilities, and for differences (low=-1, high=1). For credits that are
    mostly 0 or 1, `mean_of_credits` is better. The interval depends on the order of the values,
    which must be random.

    Args:
        values: One per target, independent and with the same mean.
        low: Least possible value.
        high: Largest possible value.
        level: Chance with which such intervals hold the mean.

    Example:
        >>> print(rr.estimates.mean_of_numbers(np.tile([0.24, 0.26], 200)))
        25.0000% [24.6401%, 25.9319%] (95%, n=400)
    """
    low, high = real_number("low", low), real_number("high", high)
    if not -math.inf < low < high < math.inf:
        raise InvalidInput(
            f"low must be below high, both finite; got {low:g} and {high:g}", code="invalid-range"
        )
    array, level = numbers("values", values, low=low, high=high), confidence(level)
    unit = (array - low) / (high - low)
    start, stop = _ends(unit, np.full(len(unit), float(len(unit))), level)
    ends = low + start * (high - low), high - (1 - stop) * (high - low)
    return _estimate(array, ends, level, "betting")


def anytime_interval(values: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of the numbers seen so far, with an interval that holds at all times at once.

    Attack targets in batches, pass all credits so far after each, and stop whenever the interval
    is narrow enough or for any other reason: with probability `level`, none of the intervals ever
    given misses the mean. `mean_of_credits` does not allow this.

    Args:
        values: Numbers between 0 and 1 in the order in which they came, independent and with the
            same mean. Earlier values must not change.
        level: Chance with which all intervals together hold the mean.

    Example:
        >>> credits = np.tile([0.0, 0.0, 0.0, 1.0], 100)
        >>> print(rr.estimates.anytime_interval(credits[:100]))
        25.0000% [10.7583%, 40.2816%] (95%, n=100)
        >>> print(rr.estimates.anytime_interval(credits))
        25.0000% [15.6869%, 33.8609%] (95%, n=400)
    """
    array, level = numbers("values", values), confidence(level)
    times = np.arange(1.0, len(array) + 1)
    return _estimate(array, _ends(array, times * np.log1p(times), level), level, "betting, anytime")


def _estimate(array: Numbers, ends: tuple[float, float], level: float, method: str) -> Estimate:
    # An early win may rule out the mean of all values; the interval is then stretched to hold it,
    # which can only make it hold the truth more often.
    value = math.fsum(array) / len(array)
    low, high = min(value, *ends), max(value, *ends)
    return Estimate(value, low, high, level, len(array), method)


def _ends(unit: Numbers, pace: Numbers, level: float) -> tuple[float, float]:
    """Ends of the interval for numbers from 0 to 1: what neither gambler could rule out."""
    goal = 2 / (1 - level)  # each gambler has half of the chance to be wrong
    bets = np.sqrt(2 * math.log(goal) / (_variance_before(unit) * pace))
    goal *= 1 + len(unit) * _ROUNDING
    return _ruled_out(unit, bets, goal), 1 - _ruled_out(1 - unit, bets, goal)


def _variance_before(unit: Numbers) -> Numbers:
    """For each number the variance of those before it, with one guess of 1/4 in front.

    A bet may depend on earlier numbers only, else the game would not be fair.
    """
    times = np.arange(1, len(unit) + 1)
    means = (0.5 + np.cumsum(unit)) / (times + 1)
    squares = np.cumsum((unit - means) ** 2)
    return np.concatenate([[0.25], 0.25 + squares[:-1]]) / times


def _ruled_out(unit: Numbers, bets: Numbers, goal: float) -> float:
    """The largest mean that is ruled out by betting on larger numbers, or 0.

    Bets depend on the mean only through the limit on losses, so capital falls as the mean grows,
    and bisection finds the end.
    """
    bad, good = 0.0, 1.0
    for _ in range(_HALVINGS):
        mean = (bad + good) / 2
        if _wins(unit, bets, goal, mean):
            bad = mean
        else:
            good = mean
    return max(bad - 2.0**-_HALVINGS, 0.0)


def _wins(unit: Numbers, bets: Numbers, goal: float, mean: float) -> bool:
    """Whether a gambler who bets against a mean ever owns `goal`."""
    capital = 1.0
    for start in range(0, len(unit), _AT_A_TIME):
        some = slice(start, start + _AT_A_TIME)
        factors = 1 + np.minimum(bets[some], _STAKE / mean) * (unit[some] - mean)
        factors[0] *= capital
        with np.errstate(over="ignore", under="ignore"):
            owned = np.multiply.accumulate(factors)
        # Stopping when almost nothing is left is safe: it can only keep a mean that might have
        # been ruled out. It also keeps the product free of underflow.
        ends = (owned >= goal) | (owned < _BROKE)
        if ends.any():
            return bool(owned[np.argmax(ends)] >= goal)
        capital = owned[-1]
    return False
