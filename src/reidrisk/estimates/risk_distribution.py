"""Fit the distribution of risk over users behind a few repeats.

A user at risk 0.1 who is attacked four times is measured at 0, 0.25 or 0.5: measured risks spread
wider than the risks. Here the spread behind them is fitted: a share of users for each risk on a
grid, such that users are named 0, 1, 2, ... times as often as they were (nonparametric maximum
likelihood, by expectation maximisation).

Credits are fractions where winners tie, and a binomial likelihood wants whole numbers. A credit is
the chance of being named when winners are drawn. So for each user the chance of being named k
times in such draws is known, and summing these chances over users gives expected numbers of users
named k times. Whatever the ties, they have the mean of a mixture of binomials, which is all that
the fit needs; nothing is rounded and nothing is drawn.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.estimates.inputs import Numbers

# Densest near 0 and 1, where the counts of a few repeats tell risks apart best.
RISKS = np.sin(np.linspace(0, np.pi / 2, 101)) ** 2
# Steps of expectation maximisation, begun with an even spread. The few of a quick fit leave it
# somewhat wider than the best one, which is safe for a high end.
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
    """The share of users at each of `RISKS`, for each row of numbers of users named k times.

    Args:
        counts: Rows of numbers of users named 0, 1, ... times.
        steps: Of expectation maximisation.
    """
    seen, chances = _shares(counts), _binomial(counts.shape[1] - 1)
    spread = np.full((len(counts), len(RISKS)), 1 / len(RISKS))
    for _ in range(steps):
        spread *= _pull(seen, spread, chances)
    return spread


def percentile_ends(counts: Numbers, below: Numbers, odds: float) -> tuple[Numbers, Numbers]:
    """Least and largest percentiles among all spreads that explain the counts nearly as well.

    Args:
        counts: One row of numbers of users named k times.
        below: Shares of users at or under each percentile.
        odds: How well a spread must explain the counts, as a part of how well the best one does.
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
    # A hair for sums of shares that are a rounding error too small.
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
