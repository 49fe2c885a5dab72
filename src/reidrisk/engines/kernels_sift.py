"""The loops that search under a token table, and pass over all that cannot be among the best.

Each gain is rounded up to a few levels, one byte per target, and the bytes of 256 targets are added
together; only targets whose sum could reach their best so far are scored. The bound is safe, and
the score itself is exact: pruning never changes an answer.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.kernels import Array, Number
from reidrisk.engines.kernels_search import Kept, offer, threshold
from reidrisk.parallel import kernel

TARGETS_PER_SIFT = 256


class Tabled(NamedTuple):
    """Up to 256 targets under a token table.

    `levels[slot * (tokens + 1) + token + 1, target]` are the rounded gains, those of a known gap
    before those of tokens; in `gain` they are behind them. `floor` and `step` turn
    sums of levels into scores: a score is at most `floor + step * sum`.
    """

    shown: NDArray[np.int64]
    gain: NDArray[np.int64]
    levels: NDArray[np.uint8]
    floor: NDArray[np.int64]
    step: NDArray[np.int64]


@kernel
def sift(rows: Array, first_row: int, targets: Tabled, kept: Kept) -> None:
    """Offer every row that may matter to each of these targets; rows are tokens."""
    slots, tokens = rows.shape[1], targets.gain.shape[1] - 1
    sums = np.empty(TARGETS_PER_SIFT, np.uint8)
    enough = np.full(TARGETS_PER_SIFT, 255, np.uint8)
    for lane in range(targets.shown.shape[0]):
        enough[lane] = levels_needed(targets, lane, threshold(kept, lane))
    for row in range(rows.shape[0]):
        sums[:] = 0
        for slot in range(0, slots, 4):
            add_four(
                targets.levels,
                place_of_levels(rows, row, slot, tokens),
                place_of_levels(rows, row, slot + 1, tokens),
                place_of_levels(rows, row, slot + 2, tokens),
                place_of_levels(rows, row, slot + 3, tokens),
                sums,
            )
        if not any_enough(sums, enough):
            continue
        for lane in range(targets.shown.shape[0]):
            if sums[lane] >= enough[lane]:
                offer(kept, lane, table_score(rows, row, targets, lane), first_row + row)
                enough[lane] = levels_needed(targets, lane, threshold(kept, lane))


@kernel
def levels_needed(targets: Tabled, lane: int, score: int) -> Number:
    """The lowest sum of levels that can reach a score; 255, which no sum attains, if none can."""
    if score <= targets.floor[lane]:
        return 0
    step = targets.step[lane]
    return min((score - targets.floor[lane] + step - 1) // step, 255)


@kernel
def place_of_levels(rows: Array, row: int, slot: int, tokens: int) -> Number:
    """Where the levels of a known token are; behind the last slot, the zeros at the end."""
    slots = rows.shape[1]
    if slot < slots:
        return slot * (tokens + 1) + np.int64(rows[row, slot]) + 1
    return slots * (tokens + 1)


@kernel
def add_four(levels: Array, one: int, two: int, three: int, four: int, sums: Array) -> None:
    """Add four rows of levels to the sums."""
    for lane in range(TARGETS_PER_SIFT):
        sums[lane] += (
            levels[one, lane] + levels[two, lane] + levels[three, lane] + levels[four, lane]
        )


@kernel
def any_enough(sums: Array, enough: Array) -> bool:
    """Whether any target's sum could matter."""
    found = False
    for lane in range(TARGETS_PER_SIFT):
        found |= sums[lane] >= enough[lane]
    return found


@kernel
def table_score(rows: Array, row: int, targets: Tabled, lane: int) -> Number:
    """The exact score of a row of tokens under a token table."""
    score = 0
    for slot in range(rows.shape[1]):
        score += targets.gain[slot, targets.shown[lane, slot], rows[row, slot]]
    return score
