"""The loops that look for the best rows and pass over all that cannot be among them.

`scan` serves token weights. 64 known rows are one machine word: for every code a bitmap says
which rows hold it. Adding the bitmaps of a target's codes, bit by bit in parallel, counts the
matches of 64 rows at a time; only rows with enough matches to reach the best score so far are
scored.

The bound is safe, and the score itself is exact: pruning never changes an answer.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel
from reidrisk.engines.kernels import Array, Number, SlotGains, place_of_bit

ROWS_PER_SCAN = 4096

WORDS = ROWS_PER_SCAN // 64
_PLANES = 8  # the counters of a scan are seven bits wide; the eighth says that enough was counted
_ALL_ROWS = np.uint64(2**64 - 1)
_ENOUGH = (_PLANES - 1) * WORDS
COUNTERS = _PLANES * WORDS


class Kept(NamedTuple):
    """What a search keeps of each target while it runs.

    Rows above the true score and level with it are counted until there are `most_above` above it.
    """

    best: NDArray[np.int64]
    ties: NDArray[np.int64]
    best_rows: NDArray[np.int64]
    best_scores: NDArray[np.int64]
    true_row: NDArray[np.int64]
    true_score: NDArray[np.int64]
    above: NDArray[np.int64]
    level: NDArray[np.int64]
    most_above: int


class Weighed(NamedTuple):
    """Targets under token weights.

    The code of a shown gap is that of a known one, `absent[slot]`: there they match. A row with m
    matches and g gaps scores at most `reach[target, m] + lift[target, g]`, in eighths of the grid,
    so that sums of bounds do not overflow. Where no gap counts, `lift` has one column.
    """

    codes: NDArray[np.uint16]
    gains: SlotGains
    reach: NDArray[np.int64]
    lift: NDArray[np.int64]
    absent: NDArray[np.uint16]


@kernel
def offer(kept: Kept, target: int, score: int, row: int) -> None:
    """Take a scored row into account."""
    if kept.above[target] < kept.most_above:
        if score > kept.true_score[target]:
            kept.above[target] += 1
        elif score == kept.true_score[target] and row != kept.true_row[target]:
            kept.level[target] += 1
    keep_best(kept, target, score, row)


@kernel
def keep_best(kept: Kept, target: int, score: int, row: int) -> None:
    """Keep a row that is one of the best so far."""
    if score > kept.best[target]:
        kept.best[target] = score
        kept.ties[target] = 1
    elif score == kept.best[target]:
        kept.ties[target] += 1
    rows, scores = kept.best_rows, kept.best_scores
    place = rows.shape[1]
    while place > 0 and (
        score > scores[target, place - 1]
        or (score == scores[target, place - 1] and row < rows[target, place - 1])
    ):
        place -= 1
        if place + 1 < rows.shape[1]:
            rows[target, place + 1] = rows[target, place]
            scores[target, place + 1] = scores[target, place]
    if place < rows.shape[1]:
        rows[target, place], scores[target, place] = row, score


@kernel
def threshold(kept: Kept, target: int) -> Number:
    """The lowest score that still matters."""
    lowest = lowest_kept(kept, target)
    if kept.above[target] < kept.most_above:
        return min(lowest, kept.true_score[target])
    return lowest


@kernel
def lowest_kept(kept: Kept, target: int) -> Number:
    """The lowest score that is one of the best."""
    listed = kept.best_scores.shape[1]
    return kept.best_scores[target, listed - 1] if listed > 0 else kept.best[target]


@kernel
def scan(rows: Array, first_row: int, targets: Weighed, kept: Kept, bitmaps: Array) -> int:
    """Offer every row that may matter to every target; rows are codes, at most `ROWS_PER_SCAN`.

    `bitmaps` must be zero and is left so. How many pairs were scored.
    """
    order, ends = order_by_gaps(rows, targets)
    rows = rows[order]
    mark(rows, bitmaps)
    counters, found = np.empty(COUNTERS, np.uint64), np.empty(ROWS_PER_SCAN, np.int64)
    starts, set_size = np.empty(WORDS, np.uint64), rows.shape[1] // targets.codes.shape[1]
    scored = 0
    for target in range(targets.codes.shape[0]):
        limit = threshold(kept, target) >> 3
        if find_starts(targets, target, limit, ends, starts):
            start_counters(starts, counters)
            count_matches(bitmaps, targets.codes, target, counters)
            for place in range(list_found(counters, found)):
                row = found[place]
                if row < rows.shape[0]:
                    score = weighed_score(rows, row, set_size, targets, target)
                    offer(kept, target, score, first_row + order[row])
                    scored += 1
    unmark(rows, bitmaps)
    return scored


@kernel
def order_by_gaps(rows: Array, targets: Weighed) -> tuple[Array, Array]:
    """The order of rows by the number of their gaps; those with g of them end at `ends[g + 1]`.

    Where no gap counts, all rows are taken to have none.
    """
    slots, gaps = targets.codes.shape[1], np.zeros(rows.shape[0], np.int64)
    ends = np.zeros(targets.lift.shape[1] + 1, np.int64)
    for row in range(rows.shape[0]):
        if targets.lift.shape[1] > 1:
            for slot in range(slots):
                place = slot * (rows.shape[1] // slots)
                gaps[row] += rows[row, place] == targets.absent[slot]
        ends[gaps[row] + 1] += 1
    for count in range(1, ends.shape[0]):
        ends[count] += ends[count - 1]
    order, places = np.empty(rows.shape[0], np.int64), ends.copy()
    for row in range(rows.shape[0]):
        order[places[gaps[row]]] = row
        places[gaps[row]] += 1
    return order, ends


@kernel
def find_starts(targets: Weighed, target: int, limit: int, ends: Array, starts: Array) -> bool:
    """Where the counters of each word of rows start; whether any row can reach the limit.

    A row with more gaps may need fewer matches. All rows of a word are asked for no more than the
    most hopeful of them.
    """
    slots, hopeful = targets.codes.shape[1], False
    starts[:] = 0
    for gaps in range(ends.shape[0] - 1):
        if ends[gaps] < ends[gaps + 1]:
            needed = matches_needed(targets.reach, target, limit - targets.lift[target, gaps])
            hopeful |= needed <= slots
            for word in range(ends[gaps] // 64, (ends[gaps + 1] + 63) // 64):
                starts[word] = max(starts[word], start_of(needed))
    return hopeful


@kernel
def start_of(needed: int) -> Number:
    """Where a counter starts that passes its last plane after so many matches."""
    return np.uint64(2 ** (_PLANES - 1) - min(needed, 2 ** (_PLANES - 1) - 1))


@kernel
def start_counters(starts: Array, counters: Array) -> None:
    """Let the counters of each word of rows start at a number."""
    for plane in range(_PLANES):
        for word in range(WORDS):
            digit = starts[word] >> np.uint64(plane) & np.uint64(1)
            counters[plane * WORDS + word] = _ALL_ROWS if digit else np.uint64(0)


@kernel
def mark(rows: Array, bitmaps: Array) -> None:
    """Say for every code which rows hold it."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            bitmaps[rows[row, column], row // 64] |= np.uint64(1) << np.uint64(row % 64)


@kernel
def unmark(rows: Array, bitmaps: Array) -> None:
    """Make the bitmaps zero again."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            bitmaps[rows[row, column], row // 64] = np.uint64(0)


@kernel
def find_rows(
    bitmaps: Array, targets: Number, target: int, needed: int, counters: Array, found: Array
) -> int:
    """Write rows with enough matches, perhaps some behind the last, to `found`; say how many."""
    if needed > targets.codes.shape[1]:
        return 0
    starts = np.empty(WORDS, np.uint64)
    starts[:] = start_of(needed)
    start_counters(starts, counters)
    count_matches(bitmaps, targets.codes, target, counters)
    return list_found(counters, found)


@kernel
def list_found(counters: Array, found: Array) -> int:
    """Write the rows that were counted often enough to `found`; say how many."""
    count = 0
    for word in range(WORDS):
        hits = counters[_ENOUGH + word]
        while hits:
            rest = hits & (hits - np.uint64(1))
            found[count] = word * 64 + place_of_bit(hits ^ rest)
            count += 1
            hits = rest
    return count


@kernel
def matches_needed(reach: Array, target: int, score: int) -> int:
    """The fewest matches that can reach a score; one more than there are slots if none can."""
    needed = 0
    while needed < reach.shape[1] and reach[target, needed] < score:
        needed += 1
    return needed


@kernel
def count_matches(bitmaps: Array, codes: Array, target: int, counters: Array) -> None:
    """Add matches to the counters; where they pass their last plane, its bits are set."""
    for slot in range(0, codes.shape[1], 4):
        count_four(
            bitmaps,
            code_or_none(codes, target, slot),
            code_or_none(codes, target, slot + 1),
            code_or_none(codes, target, slot + 2),
            code_or_none(codes, target, slot + 3),
            counters,
        )


@kernel
def code_or_none(codes: Array, target: int, slot: int) -> Number:
    """The code in a slot; behind the last slot 0, which no row holds."""
    return np.int64(codes[target, slot]) if slot < codes.shape[1] else 0


@kernel
def count_four(bitmaps: Array, one: int, two: int, three: int, four: int, counters: Array) -> None:
    """Add four bitmaps to the counters of all rows, as in pencil-and-paper binary addition."""
    for word in range(WORDS):
        a, b = bitmaps[one, word], bitmaps[two, word]
        c, d = bitmaps[three, word], bitmaps[four, word]
        low, next_low = counters[word], counters[WORDS + word]
        half = low ^ a ^ b
        carry = (a & b) | ((a ^ b) & low)
        carry_too = (c & d) | ((c ^ d) & half)
        counters[word] = half ^ c ^ d
        counters[WORDS + word] = next_low ^ carry ^ carry_too
        carry = (carry & carry_too) | ((carry ^ carry_too) & next_low)
        for plane in range(2, _PLANES - 1):
            digit = counters[plane * WORDS + word]
            counters[plane * WORDS + word] = digit ^ carry
            carry &= digit
        counters[_ENOUGH + word] |= carry


@kernel
def weighed_score(rows: Array, row: int, set_size: int, targets: Weighed, target: int) -> Number:
    """The exact score of a row of codes under token weights."""
    score = 0
    for slot in range(targets.codes.shape[1]):
        gain = targets.gains.mismatch[target, slot]
        if rows[row, slot * set_size] == targets.absent[slot]:
            gain = targets.gains.known_gap[target, slot]
        for column in range(slot * set_size, (slot + 1) * set_size):
            if rows[row, column] == targets.codes[target, slot]:
                gain = targets.gains.match[target, slot]
        score += gain
    return score
