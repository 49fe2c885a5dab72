"""Strategy: count match patterns with targets as bits.

Why it is fast. `count_patterns` does not compare pairs. Known rows are sorted by their code in one
slot; the targets with this code in this slot become the bits of machine words, and a table says for
every code which of them show it elsewhere. Passing over the later slots of a row, three logic
operations per slot and 64 targets find the targets with at least two more matches. These are rare
(about two per row at 10,000 targets) and are looked at one by one. All other patterns follow by
subtraction: rows that match in one slot, or in a pair of slots, are counted on the way. One word of
targets at a time goes over a group of rows, since its table fits into the first-level cache.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import Array, Number, kernel, over_blocks
from reidrisk.engines.bitmaps import place_of_bit
from reidrisk.engines.cost_model import PatternCount, Question, cost_of_patterns
from reidrisk.engines.encode import Codes
from reidrisk.engines.histogram import by_group
from reidrisk.engines.protocol import Engine, rows_at_a_time

TARGETS_AT_A_TIME = 256

_WORD = 64

# Seconds, measured: sort a row by one slot; pass 64 targets in one later slot; look at one target
# that was found; enter one slot of a target into the tables of a block of rows.
_SORT_ROW, _PASS_WORD, _LOOK_AT_FOUND, _ENTER_SLOT = 8e-9, 2.5e-9, 1.5e-8, 2e-7
_ROWS_PER_BLOCK = 1 << 20

Counts = NDArray[np.int64]
_SmallCounts = NDArray[np.int32]


class _TargetIndex(NamedTuple):
    """Targets, found by slot and code.

    `order[slot, starts[slot, code] : starts[slot, code + 1]]` are the targets with this code.
    """

    codes: NDArray[np.uint16]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]


def cost(question: Question) -> float:
    """Seconds of counting patterns and searching them."""
    observations, codes, sample = question.some, question.codes, question.known_codes
    users, slots, size = observations.known.users, observations.slots, observations.set_size
    chance = np.empty(slots)
    words = np.empty(slots)
    for slot in range(slots):
        columns = sample[:, slot * size : (slot + 1) * size]
        known = np.bincount(columns.ravel(), minlength=codes.size) / len(sample)
        shown = np.bincount(codes.targets[:, slot], minlength=codes.size)
        chance[slot] = known @ shown / len(codes.targets)
        words[slot] = known @ -(-shown // 64)
    # Pairs that are looked at one by one: those with two more matches behind the first.
    found = sum(
        chance[slot] * _at_least_two(np.minimum(chance[slot + 1 :], 1)) for slot in range(slots)
    )
    passed = sum(words[slot] * (slots - slot - 1) * size for slot in range(slots))
    per_row = slots * size * _SORT_ROW + passed * _PASS_WORD
    blocks = -(-users * size // _ROWS_PER_BLOCK)
    entering = blocks * codes.targets.size * _ENTER_SLOT
    rows = users * (per_row + len(codes.targets) * found * _LOOK_AT_FOUND)
    return cost_of_patterns(question, float(rows + entering))


def _at_least_two(chances: NDArray[np.float64]) -> float:
    """Chance that two or more of several independent events happen."""
    none, one = 1.0, 0.0
    for chance in chances:
        none, one = none * (1 - chance), one * (1 - chance) + none * chance
    return max(1 - none - one, 0.0)


def count(
    observations: Observations,
    codes: Codes,
    groups: NDArray[np.int64],
    engine: Engine,
    searches: int = 1,
) -> Counts:
    """Count known rows by group of gaps, target and pattern."""
    index, shape = _target_index(codes), (len(groups), len(codes.targets), 1 << observations.slots)

    def work(blocks: Blocks) -> Counts | _SmallCounts:
        # 32 bits halve the memory of each thread; one piece of work sees fewer than 2**31 rows.
        counts = np.zeros(shape, np.int32)
        sizes = np.zeros(len(groups), np.int32)
        for _, rows in blocks:
            for group, part in by_group(rows, groups):
                sizes[group] += len(part)
                count_patterns(codes.of(part), observations.slots, index, counts[group])
        counts[:, :, 0] += sizes[:, None]
        return counts

    counts = engine.reduce(
        observations.known,
        work,
        add_counts,
        most=rows_at_a_time(observations),
        pairs=len(codes.targets) * searches,
    ).astype(np.int64)

    def make_exact(start: int, stop: int) -> None:
        for group in counts:
            _subtract_larger(group[start:stop])

    over_blocks(make_exact, shape[1], TARGETS_AT_A_TIME)
    return counts


def add_counts(one: Counts | _SmallCounts, other: Counts | _SmallCounts) -> Counts:
    """Add counts in 64 bits, wide enough for the sum over all known rows."""
    total = one.astype(np.int64, copy=False)
    total += other
    return total


def _target_index(codes: Codes) -> _TargetIndex:
    order = np.argsort(codes.targets.T, axis=1, kind="stable")
    starts = [
        np.searchsorted(codes.targets[targets, slot], np.arange(codes.size + 1))
        for slot, targets in enumerate(order)
    ]
    return _TargetIndex(codes.targets, order, np.array(starts))


@kernel
def count_patterns(rows: Array, slots: int, index: _TargetIndex, counts: Array) -> None:
    """Add the number of rows with each pattern to `counts[target, pattern]`.

    Patterns of three or more slots get the rows that match in exactly these slots. Patterns of one
    or two slots also get rows that match elsewhere; `_subtract_larger` makes them exact.
    """
    size = index.starts.shape[1] - 1
    set_size = rows.shape[1] // slots
    grouped = np.empty((rows.shape[0] * set_size, rows.shape[1]), rows.dtype)
    ends = np.empty(size, np.int64)
    lanes = np.zeros(size, np.uint64)
    also = np.empty(size, np.int32)
    shown = np.zeros(size, np.int32)
    _count_codes(rows, 0, shown)
    for target in range(counts.shape[0]):
        for slot in range(slots):
            counts[target, 1 << slot] += shown[index.codes[target, slot]]
    # The last slot has no later one, and single slots were counted above.
    for slot in range(slots - 1):
        _group_rows(rows, slot * set_size, (slot + 1) * set_size, shown, grouped, ends)
        for code in range(1, size):
            targets = index.order[slot, index.starts[slot, code] : index.starts[slot, code + 1]]
            if shown[code] == 0 or targets.shape[0] == 0:
                continue
            group = grouped[ends[code] - shown[code] : ends[code]]
            mine = index.codes[targets]
            _count_pairs(group, slot, targets, mine, also, counts)
            if slot + 2 < slots:
                for start in range(0, targets.shape[0], _WORD):
                    some = targets[start : start + _WORD]
                    _count_larger(group, slot, some, mine[start : start + _WORD], lanes, counts)


@kernel
def _count_codes(rows: Array, first: int, shown: Array) -> None:
    """Count each code in these columns and those after."""
    for row in range(rows.shape[0]):
        for column in range(first, rows.shape[1]):
            shown[rows[row, column]] += 1


@kernel
def _group_rows(
    rows: Array, first: int, last: int, shown: Array, grouped: Array, ends: Array
) -> None:
    """Copy rows into `grouped`, sorted by their codes in one slot; groups end at `ends`.

    `shown[code]` rows hold a code. The codes of one slot fill `grouped` completely, so those of the
    next slot start at 0 again.
    """
    end = 0
    for code in range(shown.shape[0]):
        if end == grouped.shape[0]:
            end = 0
        ends[code] = end
        end += shown[code]
    for row in range(rows.shape[0]):
        for column in range(first, last):
            code = rows[row, column]
            place = ends[code]
            ends[code] = place + 1
            for other in range(rows.shape[1]):
                grouped[place, other] = rows[row, other]


@kernel
def _count_pairs(
    group: Array, slot: int, targets: Array, mine: Array, also: Array, counts: Array
) -> None:
    """Count the rows that match in each later slot; all rows of the group match in this one."""
    slots = mine.shape[1]
    for lane in range(targets.shape[0]):
        for other in range(slot + 1, slots):
            also[mine[lane, other]] = 0
    _count_codes(group, (slot + 1) * (group.shape[1] // slots), also)
    for lane in range(targets.shape[0]):
        for other in range(slot + 1, slots):
            counts[targets[lane], 1 << slot | 1 << other] += also[mine[lane, other]]


@kernel
def _count_larger(
    group: Array, slot: int, targets: Array, mine: Array, lanes: Array, counts: Array
) -> None:
    """Count patterns with this and two or more later slots, for up to 64 targets."""
    slots = mine.shape[1]
    set_size = group.shape[1] // slots
    for lane in range(targets.shape[0]):
        for other in range(slot + 1, slots):
            lanes[mine[lane, other]] |= np.uint64(1) << np.uint64(lane)
    for row in range(group.shape[0]):
        one, two = np.uint64(0), np.uint64(0)
        for column in range((slot + 1) * set_size, group.shape[1]):
            # `one` has the targets with a match so far, `two` those with at least two.
            x = lanes[group[row, column]]
            two |= one & x
            one |= x
        while two:
            rest = two & (two - np.uint64(1))
            lane = place_of_bit(two ^ rest)
            two = rest
            pattern = match_pattern(group, row, set_size, mine, lane)
            if pattern & ((1 << slot) - 1) == 0:  # else counted at its first slot
                counts[targets[lane], pattern] += 1
    # Clearing what was set is faster than clearing a table for all codes.
    for lane in range(targets.shape[0]):
        for other in range(slot + 1, slots):
            lanes[mine[lane, other]] = np.uint64(0)


@kernel
def match_pattern(rows: Array, row: int, set_size: int, targets: Array, target: int) -> Number:
    """The slots in which a known row holds the target's code, as bits."""
    pattern = np.int64(0)
    for slot in range(targets.shape[1]):
        agrees = rows[row, slot * set_size] == targets[target, slot]
        for column in range(slot * set_size + 1, (slot + 1) * set_size):
            agrees |= rows[row, column] == targets[target, slot]
        pattern |= np.int64(agrees) << slot
    return pattern


@kernel
def _subtract_larger(counts: Array) -> None:
    """Make the counts of patterns with up to two slots exact, from those of all larger patterns."""
    larger = np.empty(counts.shape[1], counts.dtype)
    for target in range(counts.shape[0]):
        exact = counts[target]
        _sum_larger(exact, larger)
        one = 1
        while one < counts.shape[1]:
            other = 1
            while other < one:
                exact[one | other] -= larger[one | other]
                exact[one] -= exact[one | other]
                exact[other] -= exact[one | other]
                exact[0] -= exact[one | other]
                other *= 2
            one *= 2
        one = 1
        while one < counts.shape[1]:
            exact[one] -= larger[one]
            exact[0] -= exact[one]
            one *= 2
        exact[0] -= larger[0]


@kernel
def _sum_larger(exact: Array, larger: Array) -> None:
    """For each pattern, the rows that match in its slots and in three or more slots in all.

    A sum over supersets, one slot at a time.
    """
    for pattern in range(exact.shape[0]):
        rest = pattern & (pattern - 1)
        larger[pattern] = exact[pattern] if rest & (rest - 1) else 0
    slot = 1
    while slot < exact.shape[0]:
        for start in range(0, exact.shape[0], 2 * slot):
            for pattern in range(start, start + slot):
                larger[pattern] += larger[pattern + slot]
        slot *= 2


PLAN = (PatternCount(count, cost),)
