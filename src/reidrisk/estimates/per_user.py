"""Risk by user: an average hides those most at risk."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from reidrisk.estimates.arrays import Numbers, table
from reidrisk.estimates.betting import mean_of_numbers
from reidrisk.estimates.credits import mean_of_credits
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.intervals import confidence


@dataclass(frozen=True, eq=False, slots=True)
class PerUserRisk:
    """How risk is spread over users.

    Attributes:
        risks: Measured risk of each user: mean credit over the repeats.
        repeats: How often each user's release was repeated.
        mean: Mean risk.
        median: Half of the users have at most this measured risk.
        percentile_90: Nine in ten users have at most this measured risk.
        percentile_99: 99 in 100 users have at most this measured risk.
        worst_decile: Mean risk of the tenth of users who seemed most at risk in one half of the
            repeats, measured in the other half. Their true risk is at most that of the worst tenth.

    Percentiles are those of *measured* risks, which spread wider than the risks themselves: with 4
    repeats a user at risk 0.1 is measured at 0, 0.25 or 0.5. High percentiles come out too high
    and low ones too low until repeats are many. The mean and the worst decile do not suffer.
    """

    risks: Numbers
    repeats: int
    mean: Estimate
    median: Estimate
    percentile_90: Estimate
    percentile_99: Estimate
    worst_decile: Estimate


def per_user_risk(credits: ArrayLike, *, level: float = 0.95) -> PerUserRisk:  # noqa: A002
    """The distribution of risk over users whose release was repeated.

    Args:
        credits: Users x repeats, at least two repeats. Users are drawn at random and in random
            order; repeats of a user are independent.
        level: Chance with which each interval holds what it estimates. The interval of the worst
            decile speaks of the users measured, all others of the population they come from.
    """
    values, level = table("credits", credits, columns=2), confidence(level)
    risks = values.mean(axis=1)
    return PerUserRisk(
        risks=risks,
        repeats=values.shape[1],
        mean=mean_of_numbers(risks, level=level),
        median=percentile(risks, 50, level=level),
        percentile_90=percentile(risks, 90, level=level),
        percentile_99=percentile(risks, 99, level=level),
        worst_decile=_worst_decile(values, level),
    )


def percentile(risks: Numbers, percent: int, *, level: float) -> Estimate:
    """The percentile of a population, between two of the ordered risks of a sample from it.

    The number of sampled users at or below it is binomial, whatever the distribution. Where the
    sample is too small to enclose it, the end is 0 or 1.
    """
    ordered, users, tail = np.sort(risks), len(risks), (1 - level) / 2
    at_most = bdtr(np.arange(users), users, percent / 100)
    below = int(np.searchsorted(at_most, tail, side="right"))
    above = int(np.searchsorted(at_most, 1 - tail))
    return Estimate(
        value=float(ordered[-(-users * percent // 100) - 1]),
        low=float(ordered[below - 1]) if below else 0.0,
        high=float(ordered[above]) if above < users else 1.0,
        level=level,
        trials=users,
        method="order statistics",
    )


def _worst_decile(values: Numbers, level: float) -> Estimate:
    """Rank by one half of the repeats, measure in the other, both ways, and average.

    The two ways share their users and may err together, so each gets half of the chance to err.
    """
    one, two = values[:, ::2].mean(axis=1), values[:, 1::2].mean(axis=1)
    ways = [_of_worst(*halves, (1 + level) / 2) for halves in ((one, two), (two, one))]
    value, low, high = np.mean([(way.value, way.low, way.high) for way in ways], axis=0).tolist()
    picked = -(-len(values) // 10)
    return Estimate(value, low, high, level, picked, "binomial, doubled tails, both halves")


def _of_worst(ranked: Numbers, measured: Numbers, level: float) -> Estimate:
    """Mean of the measured risk over the tenth that ranks highest; ties at its edge share it."""
    picked = -(-len(ranked) // 10)
    edge = np.sort(ranked)[-picked]
    above, tied = ranked > edge, ranked == edge
    weights = above + tied * ((picked - above.sum()) / tied.sum())
    some = weights > 0
    part = mean_of_credits((weights * measured)[some], level=level)
    scale = some.sum() / picked
    value, low, high = part.value * scale, part.low * scale, min(part.high * scale, 1.0)
    return Estimate(value, low, high, level, picked, part.method)
