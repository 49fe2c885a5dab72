"""The interval of a mean credit where targets depend on each other."""

import math

import numpy as np
from numpy.typing import ArrayLike

from reidrisk.estimates.credits import ends
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import numbers
from reidrisk.estimates.intervals import confidence

_FEWEST_TOGETHER = 2.0
"""Targets that count as one at least: whoever is given a wrong row has taken it from somebody."""

METHOD = "binomial, widened by a jackknife over people"
"""Its name."""


def mean_of_dependent(credits: ArrayLike, left_out: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of credits of targets that were named together, such as by an assignment.

    Where rows are given out once, targets are right and wrong together: a wrong one has taken its
    row from another. So fewer targets are counted than there are. How many count as one is the
    variance of the mean over that of independent targets, at least 2. The variance is that of the
    jackknife: people are put into groups at random, and everything is done again without each
    group. In expectation it is not below the variance of the mean (Efron and Stein, The jackknife
    estimate of variance, Annals of Statistics 9, 1981), and in practice 2 to 3 times it. The
    interval is that of `mean_of_credits` for so few targets. That it covers is not proved but
    simulated: `docs/concepts/intervals.md`.

    Args:
        credits: One per target, between 0 and 1.
        left_out: The mean credit of the others without each group of people, two groups or more of
            about the same size; 10 are enough.
        level: Chance with which such intervals hold the mean.

    Example:
        >>> credits = np.repeat([1.0, 0.0], [300, 700])
        >>> print(rr.estimates.mean_of_dependent(credits, [0.31, 0.29, 0.3, 0.31]))
        30.0000% [25.4707%, 34.8314%] (95%, n=1,000)
    """
    values, level = numbers("credits", credits), confidence(level)
    without = numbers("left_out", left_out, least=2)
    trials, groups = len(values), len(without)
    mean = math.fsum(values) / trials
    # Of the mean with one more right and one more wrong, so that it is not 0.
    usual = (mean * trials + 1) / (trials + 2)
    variance = (groups - 1) / groups * float(np.square(without - without.mean()).sum())
    together = max(variance * trials / (usual * (1 - usual)), _FEWEST_TOGETHER)
    counted = max(int(trials / together), 1)
    low, high = ends(mean * counted, counted, level=level)
    return Estimate(mean, min(low, mean), max(high, mean), level, trials, METHOD)
