"""Compute the epsilon and the k-anonymity of a matrix.

The lemmas of `relations` start from a promise; these functions read it off P. Answers lean to the
safe side: P certainly satisfies what is returned.
"""

import math

import numpy as np
import scipy

from reidrisk.core.checks import probability
from reidrisk.core.parallel import over_blocks
from reidrisk.errors import TooLarge
from reidrisk.theory.columns import best_of_columns
from reidrisk.theory.kernels import first_exceeding
from reidrisk.theory.matrix import Entries, Floats, MatrixLike, RepresentationMatrix

LANES = 16
"""Rows that are compared with another row at once."""

ROUNDED_UP = 1 + 2.0**-49
"""Covers the rounding of a ratio and of a logarithm."""

MARGIN = 1 + 1e-10
"""Factor on e^epsilon that keeps equal pairs of rows from being solved again and again."""

CLOSE = 1e-6
"""Differences below this have lost too many digits to be divided."""

MOST_STEPS = 1_000_000_000_000
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
        TooLarge: Where all pairs would take more than `MOST_STEPS` comparisons.

    Example:
        >>> round(rr.theory.local_dp_epsilon([[0.75, 0.25], [0.25, 0.75]]), 4)
        1.0986
    """
    matrix = RepresentationMatrix.of(matrix)
    delta = probability("delta", delta)
    if delta == 0:
        return _pure_epsilon(matrix.entries)
    if delta == 1 or matrix.users == 1:
        return 0.0
    entries = matrix.entries
    if isinstance(entries, scipy.sparse.csc_array):
        stored = entries.nnz * LANES  # a lane is as long as all its neighbours together
    else:
        entries = np.ascontiguousarray(entries)
        stored = entries.size
    if (steps := stored * matrix.users) > MOST_STEPS:
        raise TooLarge(
            f"all pairs of {matrix.users:,} rows take {steps:.1e} comparisons, the limit is "
            f"{MOST_STEPS:.0e}; ask for delta=0, or audit a sample of the users",
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
        if ((counts > 0) & (counts < entries.shape[0])).any():
            return math.inf
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
    return float(nats.max() * ROUNDED_UP)


def _epsilon_of_pairs(entries: Entries, delta: float) -> float:
    """Largest of the epsilons of all ordered pairs of rows.

    Most pairs are dismissed by one look: they already satisfy the largest epsilon found so far.
    Only the others, about as many as a running maximum has records, are solved.
    """
    users = entries.shape[0]

    def worst_factor(start: int, stop: int) -> float:
        """Largest e^epsilon of a block of rows against everyone."""
        block, everyone = _shown_by(entries, slice(start, stop))
        lanes = np.ascontiguousarray(block.T)
        factor = 1.0
        other = first_exceeding(lanes, everyone, factor, delta, 0)
        while other < users and factor < math.inf:
            factor = max(factor, MARGIN * _smallest_factor(block, everyone[other], delta))
            other = first_exceeding(lanes, everyone, factor, delta, other + 1)
        return factor

    factor = max(over_blocks(worst_factor, users, LANES))
    return math.nextafter(math.log(factor), math.inf) if factor > 1 else 0.0


def _shown_by(entries: Entries, rows: slice) -> tuple[Floats, Floats]:
    """Some rows, and all rows, at the representations that the former show."""
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
        ratio = np.where(block > 0, block / row, 0.0)
        order = np.argsort(-ratio, axis=1)
        above = np.cumsum(np.take_along_axis(block, order, axis=1), axis=1) - delta
        below = np.cumsum(row[order], axis=1)
        for lane, first in np.argwhere(np.abs(above) <= CLOSE):  # cancelled: sum exactly
            above[lane, first] = math.fsum([*block[lane, order[lane, : first + 1]], -delta])
        return float(np.max(np.where(above > 0, above / below, 1.0), initial=1.0))
