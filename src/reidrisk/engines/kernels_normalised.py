"""The loops of normalised weights: token weights, less a number for every slot of a known row."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel
from reidrisk.engines.kernels import Array, Number
from reidrisk.engines.kernels_search import (
    COUNTERS,
    ROWS_PER_SCAN,
    WORDS,
    Kept,
    Weighed,
    count_matches,
    find_starts,
    list_found,
    mark,
    offer,
    order_by_gaps,
    start_counters,
    threshold,
    unmark,
    weighed_score,
)
from reidrisk.scores import GRID

_LEAST = -(2**62)  # of a score that is compared; so that sums with it stay in range
_FAR = -200 * GRID  # what is so far below the best changes no digit of a sum


class Less(NamedTuple):
    """What is subtracted: `rows[row, slot]`, in slots where `applies[target, slot]`."""

    rows: NDArray[np.int64]
    applies: NDArray[np.bool_]


@kernel
def scan_less(
    codes: Array, less: Less, first_row: int, targets: Weighed, kept: Kept, bitmaps: Array
) -> None:
    """Offer every row that may matter to every target: as `scan`, with what is subtracted.

    `bitmaps` must be zero and is left so.
    """
    order, ends = order_by_gaps(codes, targets)
    codes, rows = codes[order], less.rows[order]
    mark(codes, bitmaps)
    counters, found = np.empty(COUNTERS, np.uint64), np.empty(ROWS_PER_SCAN, np.int64)
    starts, set_size = np.empty(WORDS, np.uint64), codes.shape[1] // targets.codes.shape[1]
    lowest = np.empty((1, rows.shape[1]), np.int64)
    for slot in range(rows.shape[1]):
        lowest[0, slot] = rows[:, slot].min()
    for target in range(targets.codes.shape[0]):
        limit = max(threshold(kept, target), _LEAST) + sum_of_less(lowest, 0, less, target)
        if find_starts(targets, target, limit >> 3, ends, starts):
            start_counters(starts, counters)
            count_matches(bitmaps, targets.codes, target, counters)
            for place in range(list_found(counters, found)):
                row = found[place]
                if row < codes.shape[0]:
                    score = weighed_score(codes, row, set_size, targets, target)
                    score -= sum_of_less(rows, row, less, target)
                    offer(kept, target, score, first_row + order[row])
    unmark(codes, bitmaps)


@kernel
def sum_of_less(rows: Array, row: int, less: Less, target: int) -> Number:
    """What is subtracted from a row's score for a target."""
    total = 0
    for slot in range(rows.shape[1]):
        if less.applies[target, slot]:
            total += rows[row, slot]
    return total


@kernel
def add_less(codes: Array, less: Less, targets: Weighed, best: Array, sums: Array) -> None:
    """Add the likelihood of all rows, relative to that of the best score, to `sums`."""
    set_size = codes.shape[1] // targets.codes.shape[1]
    for target in range(targets.codes.shape[0]):
        for row in range(codes.shape[0]):
            score = weighed_score(codes, row, set_size, targets, target)
            below = score - sum_of_less(less.rows, row, less, target) - best[target]
            if below > _FAR:
                sums[target] += math.exp(below / GRID)
