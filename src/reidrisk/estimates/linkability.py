"""Linkability of scores: how surely a score says that two rows are one person's.

The measure of Gomez-Barrero, Galbally, Rathgeb and Busch, "General framework to evaluate
unlinkability in biometric template protection systems", IEEE TIFS 2017. With LR(s) the ratio of the
densities of mated and non-mated scores and omega the odds that a pair is mated, the local figure is
`D(s) = (omega LR(s) - 1) / (omega LR(s) + 1)` where that is above 0, else 0, and the global one,
`D_sys`, is its mean over mated scores.

Densities of scores are never known, only those of scores put into bins: `D_sys` of these is what is
estimated. It is at most that of the scores themselves, since `D_sys` is an f-divergence: with
`f(x) = x (omega x - 1)_+ / (omega x + 1)`, which is convex, it is the mean of f(LR) over non-mated
scores. A tangent of f is below f, so for any ratios t chosen without looking at these people,
`D_sys >= E_mated f'(t) + E_nonmated (f(t) - t f'(t))`: the lower end is that of a mean.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import real_number
from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput
from reidrisk.estimates.betting import mean_of_numbers
from reidrisk.estimates.error_rates import Comparisons, at_least_two
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.intervals import confidence

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]

MOST_BINS, PEOPLE_A_BIN = 100, 10
"""Into how many bins scores are put at most, and how many people there are for each at least."""

_DRAWS = 400
"""How often people are drawn anew for the upper end."""
_GROUPS = 1_000
"""Of more people, groups are drawn: time and memory then depend on their number no more."""

METHOD = "tangent judged on the other half, bootstrap over people"
"""The name of its interval: how the lower end was found, and how the upper one."""


def global_linkability(
    mated: ArrayLike, nonmated: ArrayLike, *, omega: float = 1.0, level: float = 0.95
) -> Estimate:
    """How surely scores say that two rows are one person's: `D_sys`, from 0 to 1.

    Scores are put into bins, each with about the same share of mated and non-mated scores together:
    100, or a tenth of the number of people if that is fewer. Scores that differ in no more values
    are taken as they are, and equal ones are never parted. A bin in which no non-mated score fell
    counts as surely mated, so the value is too high rather than too low where people are few.

    The lower end of the interval is proved, for scores in bins or not. The upper one is the
    bootstrap's, for scores in these bins: no sample can say how much finer ones would show.

    Args:
        mated: The score of each person with their own known row, in any unit. People are
            independent and in random order; two at least.
        nonmated: Their scores with known rows of others, people x others.
        omega: Odds that a pair is mated: 1 if it is as likely as not, as the authors take it.
        level: Chance with which such intervals hold the figure.

    Example:
        >>> print(rr.estimates.global_linkability([1, 1, 0] * 100, [[0, 0, 1]] * 300))
        22.2222% [12.8435%, 26.1707%] (95%, n=300)
    """
    odds, level = real_number("omega", omega, least=0), confidence(level)
    if not odds:
        raise InvalidInput(
            "omega is the odds that a pair is mated, above 0; 1 if it is as likely as not",
            code="out-of-range",
        )
    found = at_least_two(Comparisons.of(mated, nonmated))
    bins = _bins(found)
    own, others = bins[found.mated], bins[found.nonmated]
    value = float(_of_shares(_shares(own, bins), _shares(others, bins), odds))
    low = _low(own, others, bins, odds, level)
    high = _high(own, others, bins, odds, level)
    return Estimate(value, min(low, value), max(high, value), level, len(own), METHOD)


def _bins(found: Comparisons) -> _Places:
    """The bin of each distinct score, ascending from 0."""
    most = max(min(MOST_BINS, len(found.mated) // PEOPLE_A_BIN), 2)
    if len(found.values) <= most:
        return np.arange(len(found.values))
    mated, nonmated = found.counts()
    share = (mated / mated.sum() + nonmated / nonmated.sum()) / 2
    middle = np.cumsum(share) - share / 2
    place = np.minimum((middle * most).astype(np.int64), most - 1)
    return np.unique(place, return_inverse=True)[1]


def _shares(places: _Places, bins: _Places) -> _Floats:
    counts = np.bincount(places.ravel(), minlength=int(bins[-1]) + 1)
    return np.asarray(counts / places.size)


def _of_shares(mated: _Floats, nonmated: _Floats, odds: float) -> _Floats:
    """`D_sys` of shares of scores in bins, along the last axis."""
    more, both = odds * mated - nonmated, odds * mated + nonmated
    local = np.divide(more, both, out=np.zeros_like(both), where=more > 0)
    return np.asarray((mated * local).sum(axis=-1))


def _low(own: _Places, others: _Places, bins: _Places, odds: float, level: float) -> float:
    """A lower end: tangents at the ratios of one half of the people, judged on the other."""
    mated = _shares(own[::2], bins)
    counts = np.bincount(others[::2].ravel(), minlength=len(mated))
    # One score more in each bin, so that no ratio is infinite.
    scaled = odds * mated * (counts.sum() + len(counts)) / (counts + 1)
    above = scaled > 1
    slope = np.where(above, 1 - 2 / (1 + scaled) ** 2, 0.0)
    offset = np.where(above, -2 * (scaled / (1 + scaled)) ** 2, 0.0) / odds
    each = slope[own[1::2]] + offset[others[1::2]].mean(axis=1)
    found = mean_of_numbers(each, low=-2 / odds, high=1.0, level=level)
    return max(found.low, 0.0)


def _high(own: _Places, others: _Places, bins: _Places, odds: float, level: float) -> float:
    """An upper end: that of the same figure among people drawn from these, again and again."""
    people, size = len(own), int(bins[-1]) + 1
    groups = min(people, _GROUPS)
    group = np.arange(people) % groups
    mated, nonmated = (
        np.bincount((group[:, None] * size + places).ravel(), minlength=groups * size)
        .reshape(groups, size)
        .astype(np.float64)
        for places in (own[:, None], others)
    )
    coins = uniforms(seed=0, purpose="linkability/people", users=np.arange(_DRAWS), count=groups)
    drawn = (coins * groups).astype(np.int64) + groups * np.arange(_DRAWS)[:, None]
    times = np.bincount(drawn.ravel(), minlength=_DRAWS * groups).reshape(_DRAWS, groups)
    # Whole numbers below 2**53: exact in whatever order a library adds them up.
    one, two = (times.astype(np.float64) @ side for side in (mated, nonmated))
    again = _of_shares(one / one.sum(axis=1)[:, None], two / two.sum(axis=1)[:, None], odds)
    return float(np.quantile(again, (1 + level) / 2))
