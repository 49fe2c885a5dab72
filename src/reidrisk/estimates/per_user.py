"""Risk by user: percentiles and the worst tenth, fitted to repeated attacks."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from reidrisk.estimates.betting import mean_of_numbers
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import Numbers, table
from reidrisk.estimates.intervals import confidence

# Grid of risks, densest near 0 and 1, where the counts of a few repeats tell risks apart best.
RISKS = np.sin(np.linspace(0, np.pi / 2, 101)) ** 2
# Steps of expectation maximisation from an even spread. A quick fit stops while the spread is
# still somewhat wider than the best one, which is safe for a high end.
THOROUGH = 10_000
QUICK = 300


def chances_of_counts(credits_: Numbers) -> Numbers:
    """Per user (a row) the chance of being named 0, 1, ... times when winners are drawn.

    Args:
        credits_: Users x repeats.
    """
    users, repeats = credits_.shape
    chances = np.zeros((users, repeats + 1))
    chances[:, 0] = 1
    for credit in credits_.T[:, :, None]:
        chances[:, 1:] += credit * (chances[:, :-1] - chances[:, 1:])
        chances[:, :1] *= 1 - credit
    return chances


def fit(counts: Numbers, steps: int) -> Numbers:
    """Fit the share of users at each of `RISKS` to counts, row by row.

    Args:
        counts: Rows with the number of users named 0, 1, ... times.
        steps: Steps of expectation maximisation.
    """
    seen, chances = _shares(counts), _binomial(counts.shape[1] - 1)
    spread = np.full((len(counts), len(RISKS)), 1 / len(RISKS))
    for _ in range(steps):
        spread *= _pull(seen, spread, chances)
    return spread


def percentile_ends(counts: Numbers, below: Numbers, odds: float) -> tuple[Numbers, Numbers]:
    """Least and largest percentiles among all spreads that explain the counts well enough.

    Args:
        counts: One row with the number of users named 0, 1, ... times.
        below: Share of users at or under each percentile.
        odds: Least likelihood of a spread, relative to that of the best one.
    """
    best = fit(counts, QUICK)
    goal = _explained(counts, best) + np.log(odds)
    start = np.searchsorted(RISKS, [percentile(best, share)[0] for share in below])

    def furthest(outside: int) -> Numbers:
        """The first risk of the grid that is ruled out, on one side."""
        good, bad = start, np.full(len(below), outside)
        for _ in range(len(RISKS).bit_length()):
            middle = good + np.trunc((bad - good) / 2).astype(np.intp)
            reached = _explained(counts, _fit_divided(counts, below, middle)) >= goal
            good, bad = np.where(reached, middle, good), np.where(reached, bad, middle)
        return np.asarray(RISKS[np.clip(bad, 0, len(RISKS) - 1)])

    return furthest(-1), furthest(len(RISKS))


def percentile(shares: Numbers, below: float) -> Numbers:
    """The least risk that a share `below` of the users does not exceed, in each row.

    Args:
        shares: Share of users at each of `RISKS`, in rows.
        below: Share of users.
    """
    # The margin is for sums of shares that are a rounding error too small.
    passed = np.cumsum(shares, axis=1) < below - 1e-9
    return np.asarray(RISKS[np.minimum(passed.sum(axis=1), len(RISKS) - 1)])


def mean_between(shares: Numbers, start: float, stop: float) -> Numbers:
    """Mean risk, in each row, of the users from one share to another in the order of risk.

    Args:
        shares: Share of users at each of `RISKS`, in rows.
        start: Share of users below.
        stop: Share of users up to the last.
    """
    ends = np.clip(np.cumsum(shares, axis=1), start, stop)
    return np.asarray(np.diff(ends, axis=1, prepend=start) @ RISKS / (ends[:, -1] - start))


def _fit_divided(counts: Numbers, below: Numbers, place: NDArray[np.intp]) -> Numbers:
    """The best spread with a share `below` at or under the risk at a place, the rest not under it.

    One row for each percentile and its place.
    """
    seen, chances = _shares(counts), _binomial(counts.shape[1] - 1)
    risk = np.arange(len(RISKS))
    under, over = (
        share[:, None] * _shares(np.asarray(side, np.float64))
        for share, side in (
            (below, risk <= place[:, None]),
            (1 - below, risk >= place[:, None]),
        )
    )
    for _ in range(QUICK):
        pull = _pull(seen, under + over, chances)
        under = below[:, None] * _shares(under * pull)
        over = (1 - below)[:, None] * _shares(over * pull)
    return np.asarray(under + over)


def _pull(seen: Numbers, spread: Numbers, chances: Numbers) -> Numbers:
    """By how much the share at each risk grows in a step of expectation maximisation."""
    expected = spread @ chances
    surprise = np.zeros(expected.shape)
    np.divide(seen, expected, out=surprise, where=(seen > 0) & (expected > 0))
    return np.asarray(surprise @ chances.T)


def _explained(counts: Numbers, spread: Numbers) -> Numbers:
    """Logarithm of the likelihood, but for a constant, in each row."""
    with np.errstate(divide="ignore"):  # what cannot be has a logarithm of minus infinity
        chances = spread @ _binomial(counts.shape[1] - 1)
        return np.asarray(scipy.special.xlogy(counts, chances).sum(axis=1))


def _shares(rows: Numbers) -> Numbers:
    """Rows divided by their sums; a row of nothing stays one."""
    return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


def _binomial(repeats: int) -> Numbers:
    """For each risk the chance of being named 0, 1, ... times."""
    named = np.arange(repeats + 1.0)
    ways = -scipy.special.betaln(named + 1, repeats - named + 1) - np.log(repeats + 1)
    once = scipy.special.xlogy(named, RISKS[:, None])
    once += scipy.special.xlog1py(repeats - named, -RISKS[:, None])
    return np.asarray(np.exp(ways + once))


_WORST = 0.1
_AGAIN = 200  # bootstrap samples for an interval
_SEED = 50


@dataclass(frozen=True, eq=False, slots=True)
class PerUserRisk:
    """How risk is spread over users.

    Attributes:
        risks: Measured risk of each user: mean credit over the repeats. Measured risks spread
            wider than the true risks; the figures below are corrected for this.
        repeats: How often each user's release was repeated.
        mean: Mean risk.
        median: Half of the users have at most this risk.
        percentile_90: Nine in ten users have at most this risk.
        percentile_99: 99 in 100 users have at most this risk.
        worst_decile: Mean risk of the tenth of users most at risk, never below `percentile_90`.

    Median, percentiles and worst decile are those of one fitted spread of risk, so they agree with
    each other. All are figures of the population from which the users were drawn. The *low end* of
    the worst decile is that of something smaller: the mean risk of the tenth that the repeats
    themselves can pick out.

    Example:
        >>> credits = np.tile([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], (50, 1))
        >>> spread = rr.estimates.per_user_risk(credits)
        >>> spread.repeats, spread.risks[:2].round(2).tolist()
        (3, [0.67, 0.0])
        >>> round(spread.worst_decile.value, 2)
        0.64
    """

    risks: Numbers
    repeats: int
    mean: Estimate
    median: Estimate
    percentile_90: Estimate
    percentile_99: Estimate
    worst_decile: Estimate


def per_user_risk(credits: ArrayLike, *, level: float = 0.95) -> PerUserRisk:
    """The distribution of risk over users whose release was repeated.

    How it is fitted, and why the ends hold: `docs/concepts/proofs.md`.

    Args:
        credits: Users x repeats, at least two repeats, better ten. Users are drawn at random and in
            random order; repeats of a user are independent.
        level: Chance with which each interval holds what it estimates: proved for the mean,
            simulated for the others.

    Example:
        >>> credits = np.tile([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], (50, 1))
        >>> spread = rr.estimates.per_user_risk(credits)
        >>> print(spread.mean)
        33.3333% [24.5625%, 42.0928%] (95%, n=100)
    """
    values, level = table("credits", credits, columns=2), confidence(level)
    risks = values.mean(axis=1)
    mean = mean_of_numbers(risks, level=level)
    chances = chances_of_counts(values)
    spread = fit(chances.sum(axis=0, keepdims=True), THOROUGH)
    median, percentile_90, percentile_99 = _percentiles(chances, spread, level)
    worst = max(float(mean_between(spread, 1 - _WORST, 1)[0]), mean.value, percentile_90.value)
    return PerUserRisk(
        risks=risks,
        repeats=values.shape[1],
        mean=mean,
        median=median,
        percentile_90=percentile_90,
        percentile_99=percentile_99,
        worst_decile=_worst(chances, worst, percentile_90),
    )


def _percentiles(chances: Numbers, spread: Numbers, level: float) -> list[Estimate]:
    """Median, 90th and 99th percentile, with the range over spreads that explain the counts.

    A spread is in the range if its likelihood is at least half of the allowed error times that of
    the best one: 1/40 at 95 %. If a share e of users is always named but none of them was drawn,
    the counts are (1 - e)^users times as likely, so for such users the end is that of Clopper and
    Pearson.
    """
    counts = chances.sum(axis=0, keepdims=True)
    below = np.array([0.5, 1 - _WORST, 0.99])
    values = [float(percentile(spread, share)[0]) for share in below]
    lows, highs = percentile_ends(counts, below, (1 - level) / 2)
    return [
        Estimate(
            value,
            min(low, value),
            max(high, value),
            level,
            len(chances),
            "fitted spread, likelihood ratio",
        )
        for value, low, high in zip(values, lows.tolist(), highs.tolist(), strict=True)
    ]


def _worst(chances: Numbers, value: float, percentile_90: Estimate) -> Estimate:
    """Mean risk of the worst tenth, with an interval by Bayesian bootstrap over users.

    Each user gets a weight from an exponential distribution. For the high end one more user is
    added who is always named, for the low end one who never is, so there is an interval even if
    nobody was ever named. The 90th percentile is at most the mean of the worst tenth, so its low
    end holds here too, and this high end is never below its high end.
    """
    # Equal users are drawn together, in an order that is not that of the table.
    alike, times = np.unique(chances, axis=0, return_counts=True)
    random = np.random.default_rng(_SEED)
    more = random.standard_gamma(times, (_AGAIN, len(times))) @ alike
    fewer, imagined = more.copy(), random.standard_exponential(_AGAIN)
    more[:, -1] += imagined
    fewer[:, 0] += imagined
    worse = mean_between(fit(more, QUICK), 1 - _WORST, 1)
    level = percentile_90.level
    tail = (1 - level) / 2
    low = max(float(np.quantile(picked_by_the_others(fewer), tail)), percentile_90.low)
    high = max(float(np.quantile(worse, 1 - tail)), percentile_90.high, value)
    method = "fitted spread, bootstrap; low end: at least"
    return Estimate(value, min(low, value), high, level, len(chances), method)


def picked_by_the_others(counts: Numbers) -> Numbers:
    """Mean risk, in one repeat, of the tenth of users named most often in all other repeats.

    Each repeat is left out in turn: of a user named k times, k of the repeats left out are ones in
    which the user is named, with k - 1 others. Luck in the other repeats does not help in the one
    left out, so the mean is the true risk of those picked, which is at most that of the worst
    tenth.

    Args:
        counts: Rows with the number of users named 0, 1, ... times.
    """
    seen = counts / counts.sum(axis=1, keepdims=True)
    repeats = counts.shape[1] - 1
    others = np.arange(repeats)
    right = (seen[:, 1:] * (others + 1) / repeats)[:, ::-1]
    everyone = right + (seen[:, :-1] * (repeats - others) / repeats)[:, ::-1]
    picked = np.diff(np.minimum(np.cumsum(everyone, axis=1), _WORST), axis=1, prepend=0)
    chance = np.divide(right, everyone, out=np.zeros_like(right), where=everyone > 0)
    return np.asarray((picked * chance).sum(axis=1) / _WORST)
