"""Local differential privacy, k-anonymity and mutual information: what they allow, and of what P.

Paper: section 6. The `upper_from_*` functions start from a promise. `local_dp_epsilon` and
`anonymity` read it off a matrix P, and lean to the safe side: P satisfies what they return.
"""

import math
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import ArrayLike

from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.core.parallel import over_blocks
from reidrisk.errors import TooLarge
from reidrisk.theory.columns import best_of_columns
from reidrisk.theory.kernels import first_exceeding
from reidrisk.theory.local_privacy import upper_factor
from reidrisk.theory.matrix import Entries, Floats, MatrixLike, RepresentationMatrix, as_prior
from reidrisk.theory.numerics import UpperBound

_ROWS_AT_ONCE = 1_024


def upper_from_local_dp(
    *, epsilon: float, delta: float = 0.0, users: int, representations: int | None = None
) -> UpperBound:
    """Accuracy that (epsilon, delta)-local differential privacy allows at most.

    `(e^epsilon + min(n, m) delta) / n`.  Paper: lemma 6.

    Args:
        epsilon: May be infinite, which allows everything.
        delta: Chance with which epsilon may fail.
        users: n.
        representations: m; where unknown, n is used.

    Example:
        >>> round(rr.theory.upper_from_local_dp(epsilon=2.0, users=1_000), 6)
        0.007389
    """
    epsilon = real_number("epsilon", epsilon, least=0)
    delta = probability("delta", delta)
    users = whole_number("users", users, least=1)
    fewest = users
    if representations is not None:
        fewest = min(users, whole_number("representations", representations, least=1))
    factor = upper_factor(epsilon)
    if factor is None:
        return UpperBound(math.inf)
    return UpperBound((factor + fewest * Fraction(delta)) / users)


def upper_from_k_anonymity(k: int) -> UpperBound:
    """Accuracy that k-anonymity allows at most, `1 / k`.  Paper: lemma 7.

    Args:
        k: Size of the smallest group of users who always show the same.

    Example:
        >>> rr.theory.upper_from_k_anonymity(20)
        0.05
    """
    return UpperBound(Fraction(1, whole_number("k", k, least=1)))


def upper_from_mutual_information(*, bits: float, users: int) -> UpperBound:
    """Accuracy that the mutual information of user and representation allows at most.

    Fano's inequality, `(1 + I) / log2 n`.  Paper: lemma 9. For a single user it allows 1.

    Args:
        bits: Mutual information between user and representation, in bits.
        users: Number of users.

    Example:
        >>> round(rr.theory.upper_from_mutual_information(bits=2.5, users=1_000_000), 4)
        0.1756
    """
    bits = real_number("bits", bits, least=0)
    users = whole_number("users", users, least=1)
    if users == 1 or math.isinf(bits):
        return UpperBound(math.inf)
    logarithm = math.log2(users)
    if users.bit_count() > 1:  # not a power of two: the library's logarithm may be too high
        logarithm = math.nextafter(logarithm, 0)
    return UpperBound((1 + Fraction(bits)) / Fraction(logarithm))


def mutual_information(matrix: MatrixLike, prior: ArrayLike | None = None) -> float:
    """Bits that a representation tells about the user who showed it, I(identity; representation).

    Args:
        matrix: Who shows what.
        prior: Chance of each user to be the one seen; equal unless given.

    Example:
        >>> round(rr.theory.mutual_information(rr.theory.listeners()), 3)
        1.531
    """
    matrix = RepresentationMatrix.of(matrix)
    weights = as_prior(prior, matrix.users)
    entries = matrix.entries
    shown = weights @ entries
    shown[shown == 0] = 1.0  # shown by nobody of positive weight: any divisor will do
    if isinstance(entries, scipy.sparse.csc_array):
        overall = np.repeat(shown, np.diff(entries.indptr))
        nats = float(weights[entries.indices] @ scipy.special.rel_entr(entries.data, overall))
    else:
        nats = math.fsum(
            float(weights[rows] @ scipy.special.rel_entr(entries[rows], shown).sum(axis=1))
            for rows in _row_blocks(entries)
        )
    # Only rounding could make it negative.
    return max(nats / math.log(2), 0.0)


def _row_blocks(entries: Floats) -> list[slice]:
    starts = range(0, len(entries), _ROWS_AT_ONCE)
    return [slice(start, start + _ROWS_AT_ONCE) for start in starts]


_LANES = 16
"""Rows that are compared with another row at once."""

_ROUNDED_UP = 1 + 2.0**-49
"""Factor that covers the rounding of a ratio and of a logarithm."""

_MARGIN = 1 + 1e-10
"""Factor on e^epsilon that keeps equal pairs of rows from being solved again and again."""

_CLOSE = 1e-6
"""Differences below this have lost too many digits by cancellation to be divided."""

_MOST_STEPS = 1_000_000_000_000
"""Comparisons of entries that an audit with delta > 0 may take: some minutes."""


def local_dp_epsilon(matrix: MatrixLike, delta: float = 0.0) -> float:
    """Smallest epsilon for which P is (epsilon, delta)-locally differentially private.

    For delta = 0 the largest log-ratio within a column, infinite where a zero faces a non-zero.
    For delta > 0 all pairs of rows i, j are compared: the smallest epsilon with
    `sum_o max(P[i,o] - e^epsilon P[j,o], 0) <= delta`, for up to a few thousand users; then the
    answer may be 1e-10 too large, and is infinite where e^epsilon is beyond all floats.
    Paper: definition of local differential privacy, section 6.1.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.
        delta: Delta of local differential privacy.

    Raises:
        TooLarge: Where all pairs would take more than `_MOST_STEPS` comparisons.

    Example:
        >>> round(rr.theory.local_dp_epsilon([[0.75, 0.25], [0.25, 0.75]]), 4)
        1.0986
    """
    matrix = RepresentationMatrix.of(matrix)
    delta = probability("delta", delta)
    if delta == 0:
        return _pure_epsilon(matrix.entries)
    # No sum of excesses is above 1, and a single user has nobody to differ from.
    if delta == 1 or matrix.users == 1:
        return 0.0
    entries = matrix.entries
    if isinstance(entries, scipy.sparse.csc_array):
        stored = entries.nnz * _LANES  # a lane is as long as all its neighbours together
    else:
        entries = np.ascontiguousarray(entries)
        stored = entries.size
    if (steps := stored * matrix.users) > _MOST_STEPS:
        raise TooLarge(
            f"all pairs of {matrix.users:,} rows take {steps:.1e} comparisons, the limit is "
            f"{_MOST_STEPS:.0e}; ask for delta=0, or audit a sample of the users",
            code="too-many-users",
        )
    return _epsilon_of_pairs(entries, delta)


def anonymity(matrix: MatrixLike) -> int:
    """Largest k for which P is k-anonymous, or 0 where a row is not one-hot.

    Every user always shows the same, and at least k - 1 others show it too.  Paper: section 6.2.

    Args:
        matrix: The representation matrix P, or anything that makes one: an array, a sparse matrix.

    Example:
        >>> rr.theory.anonymity([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        2
        >>> rr.theory.anonymity(rr.theory.listeners())
        0
    """
    entries = RepresentationMatrix.of(matrix).entries
    if isinstance(entries, scipy.sparse.csc_array):
        per_row = np.bincount(entries.indices, minlength=entries.shape[0])
        sharing = np.diff(entries.indptr)
    else:
        per_row = np.count_nonzero(entries, axis=1)
        sharing = np.count_nonzero(entries, axis=0)
    return int(sharing[sharing > 0].min()) if (per_row == 1).all() else 0


def _pure_epsilon(entries: Entries) -> float:
    """Largest log-ratio of two entries of a column."""
    if isinstance(entries, scipy.sparse.csc_array):
        counts = np.diff(entries.indptr)
        # An entry that is not stored is a zero that faces a non-zero.
        if ((counts > 0) & (counts < entries.shape[0])).any():
            return math.inf
        # Empty columns are left out: `reduceat` would give them an entry of the next one.
        smallest = np.minimum.reduceat(entries.data, entries.indptr[:-1][counts > 0])
        largest = np.maximum.reduceat(entries.data, entries.indptr[:-1][counts > 0])
    else:
        smallest, largest = entries.min(axis=0), best_of_columns(entries)[0]
        smallest, largest = smallest[largest > 0], largest[largest > 0]
    if not smallest.all():
        return math.inf
    with np.errstate(over="ignore"):  # a ratio may be too large where its logarithm is not
        ratio = largest / smallest
        nats = np.where(
            ratio < 2,  # noqa: PLR2004  up to here the difference of two floats is exact
            np.log1p((largest - smallest) / smallest),
            np.where(np.isinf(ratio), np.log(largest) - np.log(smallest), np.log(ratio)),
        )
    return float(nats.max() * _ROUNDED_UP)


def _epsilon_of_pairs(entries: Entries, delta: float) -> float:
    """Largest of the epsilons of all ordered pairs of rows.

    Most pairs already satisfy the largest epsilon found so far, which one pass shows. Only the
    others are solved: about as many as a running maximum has records.
    """
    users = entries.shape[0]

    def worst_factor(start: int, stop: int) -> float:
        """Largest e^epsilon of a block of rows against everyone."""
        block, everyone = _shown_by(entries, slice(start, stop))
        lanes = np.ascontiguousarray(block.T)
        factor = 1.0
        other = first_exceeding(lanes, everyone, factor, delta, 0)
        while other < users and factor < math.inf:
            factor = max(factor, _MARGIN * _smallest_factor(block, everyone[other], delta))
            other = first_exceeding(lanes, everyone, factor, delta, other + 1)
        return factor

    factor = max(over_blocks(worst_factor, users, _LANES))
    # The library's logarithm may be too low, and P must satisfy what is returned.
    return math.nextafter(math.log(factor), math.inf) if factor > 1 else 0.0


def _shown_by(entries: Entries, rows: slice) -> tuple[Floats, Floats]:
    """Some rows, and all rows, restricted to the representations that the former show."""
    if isinstance(entries, scipy.sparse.csc_array):
        block = entries[rows]
        shown = np.flatnonzero(np.diff(block.indptr))
        return block[:, shown].toarray(), np.ascontiguousarray(entries[:, shown].toarray())
    return entries[rows], entries


def _smallest_factor(block: Floats, row: Floats, delta: float) -> float:
    """Smallest factor with `sum_o max(p[o] - factor q[o], 0) <= delta` for all rows p of a block.

    The sum is largest on the representations of highest ratio p/q, so with these in order the
    condition reads `P(first k) - factor Q(first k) <= delta` for every k.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Where q is 0 and p is not, the ratio is infinite and comes first.
        ratio = np.where(block > 0, block / row, 0.0)
        order = np.argsort(-ratio, axis=1)
        above = np.cumsum(np.take_along_axis(block, order, axis=1), axis=1) - delta
        below = np.cumsum(row[order], axis=1)
        for lane, first in np.argwhere(np.abs(above) <= _CLOSE):  # cancelled: sum exactly
            above[lane, first] = math.fsum([*block[lane, order[lane, : first + 1]], -delta])
        return float(np.max(np.where(above > 0, above / below, 1.0), initial=1.0))
