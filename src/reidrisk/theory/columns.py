"""Statistics of each column of a matrix, for every layout."""

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.core.parallel import over_blocks
from reidrisk.theory.kernels import (
    best_in_columns,
    best_in_rows,
    best_in_segments,
    first_in_strip,
    someone_in_rows,
    someone_in_segments,
)
from reidrisk.theory.matrix import Entries, Floats

# Largest relative error of one operation on doubles.
_ROUNDING = 2.0**-53
COLUMNS_AT_ONCE = 256


def best_of_columns(
    entries: Entries, weights: Floats | None = None
) -> tuple[Floats, NDArray[np.int64]]:
    """Largest entry of each column, rows weighted if asked, and the first row that holds it."""
    users, representations = entries.shape
    # Entries are at least 0, so a column without a larger one has 0, held by the first row.
    best = np.zeros(representations)
    where = np.zeros(representations, dtype=np.int64)
    if isinstance(entries, scipy.sparse.csc_array):
        values = entries.data if weights is None else entries.data * weights[entries.indices]
        best_in_segments(values, entries.indices, entries.indptr, best, where)
    else:
        weights = np.ones(users) if weights is None else weights
        if entries.flags.c_contiguous:
            # Read in the order of memory: row by row here, column by column below.
            best_in_rows(entries, weights, best, where)
            first_in_strip(entries, weights, best, where)
        else:
            columns, factors = entries.T, weights
            over_blocks(
                lambda a, b: best_in_columns(columns[a:b], factors, best[a:b], where[a:b]),
                representations,
                COLUMNS_AT_ONCE,
            )
    return best, where


def upper_someone(entries: Entries) -> Floats:
    """Chance that at least one user shows each representation, rounded upwards.

    Each step `u + p (1 - u)` of the kernels rounds three times. It grows with u and p, so it passes
    on at most the shortfall of its parts: after k entries the sum is too low by less than 4 (k - 1)
    roundings. The first step is exact.
    """
    users, representations = entries.shape
    someone = np.zeros(representations)
    counts: NDArray[np.intp] | int = users
    if isinstance(entries, scipy.sparse.csc_array):
        counts = np.diff(entries.indptr)
        someone_in_segments(entries.data, entries.indptr, someone)
    elif entries.flags.c_contiguous:
        someone_in_rows(entries, someone)
    else:
        starts = np.arange(representations + 1) * users
        someone_in_segments(entries.T.reshape(-1), starts, someone)
    return np.minimum(someone * (1 + 4 * _ROUNDING * np.maximum(counts - 1, 0)), 1.0)
