"""The exact mean credit of a target in smaller crowds, from its rank.

A crowd is the true user and others, drawn at random from everyone else. Of n users a rate above the
truth and e others level with it. Nobody above is drawn into a crowd of m with chance
`C(n-1-a, m-1) / C(n-1, m-1)`. Then T of those level are, and the credit is `1 / (1 + T)`, which is
`(n-a) / ((e+1) m) * (1 - C(n-1-a-e, m) / C(n-a, m))` in the mean: `C(e, t) / (1+t)` is
`C(e+1, t+1) / (e+1)`, and the sum over t is Vandermonde's without its first term.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LEFT_OPEN = 1e-4
"""How much of a credit may be left open where ranks are not counted to the end."""

# From here on six terms of Stirling's series are exact to the last bit.
_LARGE = 30
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def credit_in_crowds(above: ArrayLike, level: ArrayLike, users: int, crowd: ArrayLike) -> Floats:
    """Mean credit in all crowds of some size that hold the true user; arguments broadcast.

    It is right to about 13 digits, at any size. Among everyone it is the credit itself, bit for
    bit; alone, everybody is named.

    Args:
        above: Users who rate above the truth, of all.
        level: Other users who rate level with it.
        users: All of them.
        crowd: Size of the crowd, from 1 to `users`.

    Example:
        >>> crowds = [100, 1_000]
        >>> earned = rr.estimates.credit_in_crowds(above=9, level=0, users=1_000, crowd=crowds)
        >>> earned.round(3).tolist()
        [0.389, 0.0]
    """
    a, e, m = (np.asarray(each, np.float64) for each in (above, level, crowd))
    nobody_above = np.exp(_log_none(users - 1 - a, a, m - 1))
    # Divided in this order the last crowd, of everyone, gives 1 / (e + 1) exactly.
    named = (users - a) / m / (e + 1) * -np.expm1(_log_none(users - a - e - 1, e + 1, m))
    named = np.where((e == 0) | (m == 1), 1.0, np.clip(named, 1 / (e + 1), 1.0))
    return np.asarray(nobody_above * named)


def ranks_for(users: int, crowds: Sequence[int]) -> int | None:
    """The rank up to which users above the truth must be counted, for crowds of these sizes.

    With that many users above, less than `LEFT_OPEN` of a credit is left in any of these crowds:
    `C(n-1-a, m-1) / C(n-1, m-1)` is at most `(1 - a/(n-1))^(m-1)`, and 0 if a is above n - m. None
    if all users must be counted.
    """
    smallest = min((size for size in crowds if size > 1), default=users)
    if smallest == users:
        return 1
    share = -math.expm1(math.log(LEFT_OPEN) / (smallest - 1))
    ranks = min(math.ceil((users - 1) * share), users - smallest + 1)
    return ranks if ranks < users - 1 else None


def reference_credit(above: int, level: int, users: int, crowd: int) -> Fraction:
    """The mean credit of `credit_in_crowds` in exact fractions, slowly: the definition."""
    nobody_above = Fraction(comb(users - 1 - above, crowd - 1), comb(users - 1, crowd - 1))
    if not nobody_above:
        return nobody_above
    none_level = Fraction(comb(users - 1 - above - level, crowd), comb(users - above, crowd))
    return nobody_above * Fraction(users - above, (level + 1) * crowd) * (1 - none_level)


def _log_none(others: Floats, marked: Floats, drawn: Floats) -> Floats:
    """Logarithm of `C(others, drawn) / C(others + marked, drawn)`: no marked one is drawn.

    The four factorials are those of p + drawn, p + marked, p and their total, with p those who are
    neither. Their largest parts cancel on paper, so that no digits are lost when n is large.
    """
    rest = others - drawn + 1
    possible = rest > 0
    rest = np.where(possible, rest, 1.0)
    total = rest + marked + drawn
    log = (
        (rest - 0.5) * np.log1p(marked * drawn / (rest * total))
        + drawn * _log_share(rest + drawn, marked)
        + marked * _log_share(rest + marked, drawn)
        + (_stirling_rest(rest + drawn) - _stirling_rest(total))
        + (_stirling_rest(rest + marked) - _stirling_rest(rest))
    )
    return np.where(possible, log, -np.inf)


def _log_share(part: Floats, other: Floats) -> Floats:
    """Logarithm of the share of one of two parts, whether it is nearly all or nearly nothing."""
    share = part / (part + other)
    return np.where(part < other, np.log(share), np.log1p(-other / (part + other)))


def _stirling_rest(x: Floats) -> Floats:
    """The logarithm of the gamma function, less Stirling's formula."""
    large = np.maximum(x, _LARGE)
    series = np.polyval(_SERIES[::-1], large**-2.0) / large
    small = np.minimum(x, _LARGE)
    grows = (small - 0.5) * np.log(small)
    exact = scipy.special.gammaln(small) - grows + small - np.log(2 * np.pi) / 2
    return np.where(x >= _LARGE, series, exact)
