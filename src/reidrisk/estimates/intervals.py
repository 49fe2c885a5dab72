"""Intervals for the mean of independent numbers between 0 and 1."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from reidrisk.core.checks import probability
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import numbers


def mean_of_shares(shares: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of shares, each itself an average over many users, with Student's interval.

    Shares over many users are close to normal, as Student's interval needs. If all shares are
    equal, it would have no width, and the exact interval of that event is given instead: with T
    shares all equal to v and a = (1 - level) / 2, means below `v a^(1/T)` or above
    `1 - (1 - v) a^(1/T)` would have shown a different share with chance 1 - a.

    Args:
        shares: At least two independent numbers between 0 and 1.
        level: Chance with which such intervals hold the mean.

    Example:
        >>> print(rr.estimates.mean_of_shares([0.31, 0.29, 0.3, 0.33]))
        30.7500% [28.0325%, 33.4675%] (95%, n=4)
    """
    values, level = numbers("shares", shares, least=2), confidence(level)
    trials, mean, tail = len(values), float(values.mean()), (1 - level) / 2
    if values.min() == values.max():
        shrink = tail ** (1 / trials)
        low, high, method = mean * shrink, 1 - (1 - mean) * shrink, "all equal, exact"
    else:
        errors = scipy.special.stdtrit(trials - 1, 1 - tail)
        half = float(errors * values.std(ddof=1) / np.sqrt(trials))
        low, high, method = max(mean - half, 0.0), min(mean + half, 1.0), "student"
    return Estimate(mean, low, high, level, trials, method)


def confidence(level: float) -> float:
    """Check the level of an interval.

    Args:
        level: The level.

    Example:
        >>> rr.estimates.confidence(0.95)
        0.95
        >>> rr.estimates.confidence(1)
        Traceback (most recent call last):
            ...
        reidrisk.errors.InvalidInput: level is above 0 and below 1, such as 0.95; got 1
    """
    level = probability("level", level)
    if not 0 < level < 1:
        raise InvalidInput(
            f"level is above 0 and below 1, such as 0.95; got {level:g}", code="invalid-level"
        )
    return level


def standard_errors(level: float) -> float:
    """How many standard errors a normal interval reaches to each side.

    Args:
        level: Chance with which such intervals hold the truth.

    Example:
        >>> round(rr.estimates.standard_errors(0.95), 3)
        1.96
    """
    return float(scipy.special.ndtri((1 + level) / 2))
