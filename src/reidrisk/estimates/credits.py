"""The interval of a mean credit: exact binomial, for fractions too."""

import math

from numpy.typing import ArrayLike
from scipy.special import betaincinv

from reidrisk.estimates.arrays import numbers
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.intervals import confidence

# As floats, 525 credits of 1/75 sum to a hair above 7. Credits are shrunk by this part before their
# sum is rounded to a whole number, and the interval is stretched by as much: nothing is on trust.
HAIR = 2.0**-40


def mean_of_credits(credits: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of independent numbers between 0 and 1, with an interval that holds at tiny rates.

    The interval is that of Clopper and Pearson with half of the usual tail on each side: its lower
    end from the whole number below the sum, its upper end from the one above. It covers for every
    distribution on [0, 1] and every number of targets, and does not depend on their order. Proof:
    `docs/decisions/0050-interval-of-the-mean-credit.md`.

    Args:
        credits: One per target. Targets must be independent of each other: repeats of one user, or
            users of one household, count as one target (average them first).
        level: Chance with which such intervals hold the mean.
    """
    values = numbers("credits", credits)
    level = confidence(level)
    trials, total, error = len(values), math.fsum(values), (1 - level) / 2
    return Estimate(
        value=total / trials,
        low=lower_limit(total, trials, error=error),
        high=1 - lower_limit(trials - total, trials, error=error),
        level=level,
        trials=trials,
        method="binomial, doubled tails",
    )


def lower_limit(total: float, trials: int, *, error: float) -> float:
    """A number that is above the mean of credits of this total with a chance of at most `error`."""
    return _lower(math.floor(total + (trials - total) * HAIR), trials, error / 2)


def _lower(count: int, trials: int, tail: float) -> float:
    """The least chance with which `count` or more of the trials succeed with probability `tail`.

    One success needs more care: trials that differ in their chances succeed at least once most
    often if only one can succeed at all, with chance `trials * mean`.
    """
    if count == 0:
        return 0.0
    end = tail / trials if count == 1 else float(betaincinv(count, trials - count + 1, tail))
    return max((end - HAIR) / (1 - HAIR), 0.0)
