"""The interval of a mean credit: exact binomial, valid for fractions too."""

import math

import scipy
from numpy.typing import ArrayLike

from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import numbers
from reidrisk.estimates.intervals import confidence

# As floats, 525 credits of 1/75 sum to a hair above 7. Credits are shrunk by this part before their
# sum is rounded to a whole number, and the interval is stretched by as much: nothing is on trust.
_HAIR = 2.0**-40

_MOST_TARGETS = 2**40
"""More targets than anybody attacks."""

METHOD = "binomial, doubled tails"
"""Its name: such an interval follows from the mean, the number of targets and the level."""


def mean_of_credits(credits: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of independent numbers between 0 and 1, with an interval that holds at tiny rates.

    The interval is that of Clopper and Pearson with half of the usual tail on each side: its lower
    end from the whole number below the sum, its upper end from the one above. It covers for every
    distribution on [0, 1] and every number of targets, and does not depend on their order. Proof:
    `docs/concepts/proofs.md`.

    Args:
        credits: One per target. Targets must be independent of each other: repeats of one user, or
            users of one household, count as one target (average them first).
        level: Chance with which such intervals hold the mean.

    Example:
        >>> print(rr.estimates.mean_of_credits(np.repeat([1.0, 0.5, 0.0], [3, 4, 993])))
        0.5000% [0.1355%, 1.2716%] (95%, n=1,000)
    """
    values = numbers("credits", credits)
    level = confidence(level)
    trials, total = len(values), math.fsum(values)
    return Estimate(total / trials, *ends(total, trials, level=level), level, trials, METHOD)


def ends(total: float, trials: int, *, level: float) -> tuple[float, float]:
    """Both ends of the interval of a mean of credits, from their sum.

    Args:
        total: Sum of all credits.
        trials: How many targets.
        level: Chance with which such intervals hold the mean.
    """
    error = (1 - level) / 2
    low = lower_limit(total, trials, error=error)
    return low, 1 - lower_limit(trials - total, trials, error=error)


def targets_to_show(share: float, limit: float, *, level: float) -> int | None:
    """Number of targets after which the interval ends at or below a limit, if `share` are right.

    It is the least such number for a share of 0. For other shares a few targets less may do,
    because sums are rounded to whole numbers. None if the share is not below the limit, or if it
    takes more targets than anybody attacks.

    Args:
        share: Share of targets that are named rightly.
        limit: The limit for the upper end.
        level: Chance with which such intervals hold the mean.
    """
    if not share < limit:
        return None

    def shows(trials: int) -> bool:
        return ends(share * trials, trials, level=level)[1] <= limit

    many = 1
    while not shows(many):
        if many > _MOST_TARGETS:
            return None
        many *= 2
    # Too few; the upper end falls with more targets, but for roundings, so bisection is enough.
    few = many // 2
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if shows(middle) else (middle, many)
    return many


def lower_limit(total: float, trials: int, *, error: float) -> float:
    """A lower limit for the mean of credits, which exceeds it with a chance of at most `error`.

    Args:
        total: Sum of all credits.
        trials: Number of targets.
        error: Chance of being wrong.
    """
    return _lower(math.floor(total + (trials - total) * _HAIR), trials, error / 2)


def _lower(count: int, trials: int, tail: float) -> float:
    """The least chance with which `count` or more of the trials succeed with probability `tail`.

    One success needs more care: trials that differ in their chances succeed at least once most
    often if only one can succeed at all, with chance `trials * mean`.
    """
    if count == 0:
        return 0.0
    rest = trials - count + 1
    end = tail / trials if count == 1 else float(scipy.special.betaincinv(count, rest, tail))
    return max((end - _HAIR) / (1 - _HAIR), 0.0)
