"""The loops that score everyone under token weights: for ranks, and for sums over all users.

No pair is compared. The rows of a block are listed by code; a target adds its gain of a match to
the rows that hold its code in a slot, and these are few. What a row's gaps add is looked up, eight
slots at a time. A pair takes the time of its matches, half a nanosecond more, and with gaps as much
for every eight slots: however many slots there are, whatever the weights.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel
from reidrisk.engines.kernels import Array, Number
from reidrisk.engines.kernels_search import Kept, keep_best, lowest_kept
from reidrisk.scores import GRID

ROWS_PER_TALLY = 4096
_TOGETHER = 128

# What is 200 nats below the best changes no digit of a sum.
_SIXTEENTH = 36
_CHANCES = np.append(np.exp(-np.arange(200 * 16) / 16), 0.0)


class Rated(NamedTuple):
    """Targets under token weights: `base` if nothing matches, and what matches and gaps add.

    `of_gap` has no columns where a known gap is like any other mismatch. `absent[slot]` is the code
    of a known gap; codes are below `size`.
    """

    codes: NDArray[np.uint16]
    base: NDArray[np.int64]
    of_match: NDArray[np.int64]
    of_gap: NDArray[np.int64]
    absent: NDArray[np.uint16]
    size: int


class Listed(NamedTuple):
    """A block of rows: `rows[ends[code - 1] : ends[code]]` hold a code; gaps as bits, by eights."""

    rows: NDArray[np.uint16]
    ends: NDArray[np.int64]
    gaps: NDArray[np.uint8]


@kernel
def tally(codes: Array, first_row: int, targets: Rated, kept: Kept) -> None:
    """Offer all rows to every target; rows are codes, at most `ROWS_PER_TALLY`."""
    listed, scores = list_rows(codes, targets), np.empty(codes.shape[0], np.int64)
    table = np.zeros((listed.gaps.shape[0], 256), np.int64)
    for target in range(targets.codes.shape[0]):
        rate(listed, targets, target, table, scores)
        if kept.above[target] < kept.most_above:
            count_ranks(scores, first_row, kept, target)
        for start in range(0, scores.shape[0], _TOGETHER):
            some = scores[start : start + _TOGETHER]
            lowest, found = lowest_kept(kept, target), False
            for row in range(some.shape[0]):
                found |= some[row] >= lowest
            if found:
                for row in range(some.shape[0]):
                    if some[row] >= lowest:
                        keep_best(kept, target, some[row], first_row + start + row)


@kernel
def count_ranks(scores: Array, first_row: int, kept: Kept, target: int) -> None:
    """Count the rows above the truth, and the others that are level with it."""
    above, level, true_score = 0, 0, kept.true_score[target]
    for row in range(scores.shape[0]):
        above += scores[row] > true_score
        level += scores[row] == true_score
    if first_row <= kept.true_row[target] < first_row + scores.shape[0]:
        level -= 1
    kept.above[target] += above
    kept.level[target] += level


@kernel
def add_up(codes: Array, targets: Rated, best: Array, sums: Array) -> None:
    """Add the likelihood of all rows to `sums`, relative to that of the best so far.

    Where `sums` is 0 there was nobody so far.
    """
    listed, scores = list_rows(codes, targets), np.empty(codes.shape[0], np.int64)
    table = np.zeros((listed.gaps.shape[0], 256), np.int64)
    for target in range(targets.codes.shape[0]):
        rate(listed, targets, target, table, scores)
        top = scores[0]
        for row in range(scores.shape[0]):
            top = max(top, scores[row])
        if sums[target] == 0:
            best[target] = top
        elif top > best[target]:
            sums[target] *= chance_below(top - best[target])
            best[target] = top
        total = 0.0
        for row in range(scores.shape[0]):
            total += chance_below(best[target] - scores[row])
        sums[target] += total


@kernel
def chance_below(nats: int) -> Number:
    """Exp of so much below 0, on the grid: sixteenths by a table, the rest by its series.

    Right to eleven digits, in less than half the time of `math.exp`.
    """
    sixteenths = min(nats >> _SIXTEENTH, _CHANCES.shape[0] - 1)
    rest = -(nats & ((1 << _SIXTEENTH) - 1)) / GRID
    series = 1 + rest * (1 + rest * (1 / 2 + rest * (1 / 6 + rest * (1 / 24 + rest / 120))))
    return _CHANCES[sixteenths] * series


@kernel
def list_rows(codes: Array, targets: Rated) -> Listed:
    """List rows by code."""
    slots, ends = targets.codes.shape[1], np.zeros(targets.size + 1, np.int64)
    rows = np.empty(codes.size, np.uint16)
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            ends[np.int64(codes[row, column]) + 1] += 1
    for code in range(1, ends.shape[0]):
        ends[code] += ends[code - 1]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            code = codes[row, column]
            rows[ends[code]] = row
            ends[code] += 1
    gaps = np.zeros(((targets.of_gap.shape[1] + 7) // 8, codes.shape[0]), np.uint8)
    for slot in range(targets.of_gap.shape[1]):
        for row in range(codes.shape[0]):
            is_gap = codes[row, slot * (codes.shape[1] // slots)] == targets.absent[slot]
            gaps[slot // 8, row] |= np.uint8(is_gap) << (slot % 8)
    return Listed(rows, ends, gaps)


@kernel
def rate(listed: Listed, targets: Rated, target: int, table: Array, scores: Array) -> None:
    """Write the scores of all rows for a target."""
    scores[:] = targets.base[target]
    for slot in range(targets.of_gap.shape[1]):
        half, gain = 1 << (slot % 8), targets.of_gap[target, slot]
        for gaps in range(half):
            table[slot // 8, gaps + half] = table[slot // 8, gaps] + gain
    for eight in range(listed.gaps.shape[0]):
        for row in range(scores.shape[0]):
            scores[row] += table[eight, listed.gaps[eight, row]]
    for slot in range(targets.codes.shape[1]):
        code, gain = np.int64(targets.codes[target, slot]), targets.of_match[target, slot]
        if code > 0:
            for place in range(listed.ends[code - 1], listed.ends[code]):
                scores[listed.rows[place]] += gain
