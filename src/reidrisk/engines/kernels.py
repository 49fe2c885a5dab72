"""The loops that see every known row. Arrays in, arrays out; whole numbers only.

`encode_*` renumber tokens (see `codes.py`), `count_patterns` fills a pattern histogram,
`count_distinct` fills it from rows that were counted before.

Why `count_patterns` is fast. It does not compare pairs. Known rows are sorted by their code in one
slot; the targets with this code in this slot become the bits of machine words, and a table says for
every code which of them show it elsewhere. Passing over the later slots of a row, three logic
operations per slot and 64 targets find the targets with at least two more matches. These are rare
(about two per row at 10,000 targets) and are looked at one by one. All other patterns follow by
subtraction: rows that match in one slot, or in a pair of slots, are counted on the way. One word of
targets at a time goes over a group of rows, since its table fits into the first-level cache.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel
from reidrisk.scores import GRID

Array: TypeAlias = NDArray[Any]
Number: TypeAlias = Any  # a whole number, as wide as the compiler finds

_WORD = 64

# 2**i modulo 67 differs for all i below 64: the shortest way from a single bit to its place.
_PLACE_OF_BIT = np.zeros(67, np.int64)
_PLACE_OF_BIT[[pow(2, place, 67) for place in range(_WORD)]] = range(_WORD)


class TargetIndex(NamedTuple):
    """Targets, found by slot and code.

    `order[slot, starts[slot, code] : starts[slot, code + 1]]` are the targets with this code.
    """

    codes: NDArray[np.uint16]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]


class SlotGains(NamedTuple):
    """Gains of a match, a mismatch and a known gap, each targets x slots."""

    match: NDArray[np.int64]
    mismatch: NDArray[np.int64]
    known_gap: NDArray[np.int64]


class Rated(NamedTuple):
    """What counted rows come to: the best score, its rows, the next score below it.

    `above` rows rate above the true score, `level` as high.
    """

    best: NDArray[np.int64]
    ties: NDArray[np.int64]
    second: NDArray[np.int64]
    above: NDArray[np.int64]
    level: NDArray[np.int64]


@kernel
def place_of_bit(word: np.uint64) -> Number:
    """The place of the only bit that is set in a word of 64."""
    return _PLACE_OF_BIT[np.int64(word % np.uint64(67))]


@kernel
def encode_tokens(tokens: Array, lookup: Array, codes: Array) -> None:
    """Look up the code of every token."""
    for row in range(tokens.shape[0]):
        for slot in range(tokens.shape[1]):
            codes[row, slot] = lookup[slot, np.int64(tokens[row, slot]) + 1]


@kernel
def encode_sets(sets: Array, lookup: Array, codes: Array) -> None:
    """Look up the codes of sets; free places and repeated tokens become tokens nobody shows."""
    size = sets.shape[2]
    for row in range(sets.shape[0]):
        for slot in range(sets.shape[1]):
            absent = lookup[slot, 0]
            something_known = False
            for place in range(size):
                something_known |= sets[row, slot, place] >= 0
            for place in range(size):
                token = sets[row, slot, place]
                is_idle = token < 0
                for earlier in range(place):
                    is_idle |= sets[row, slot, earlier] == token
                code = lookup[slot, np.int64(token) + 1]
                is_idle &= something_known
                codes[row, slot * size + place] = absent + np.uint16(1) if is_idle else code


@kernel
def count_patterns(rows: Array, slots: int, index: TargetIndex, counts: Array) -> None:
    """Add to `counts[target, pattern]` how many of these rows match so, before subtraction.

    A pattern of three and more slots gets the rows that match in exactly these, one of up to two
    slots the rows that match there and perhaps elsewhere: `subtract_larger` makes it exact.
    """
    size = index.starts.shape[1] - 1
    set_size = rows.shape[1] // slots
    grouped = np.empty((rows.shape[0] * set_size, rows.shape[1]), rows.dtype)
    ends = np.empty(size, np.int64)
    lanes = np.zeros(size, np.uint64)
    also = np.empty(size, np.int32)
    shown = np.zeros(size, np.int32)
    count_codes(rows, 0, shown)
    for target in range(counts.shape[0]):
        for slot in range(slots):
            counts[target, 1 << slot] += shown[index.codes[target, slot]]
    for slot in range(slots - 1):
        group_rows(rows, slot * set_size, (slot + 1) * set_size, shown, grouped, ends)
        for code in range(1, size):
            targets = index.order[slot, index.starts[slot, code] : index.starts[slot, code + 1]]
            if shown[code] == 0 or targets.shape[0] == 0:
                continue
            group = grouped[ends[code] - shown[code] : ends[code]]
            mine = index.codes[targets]
            count_pairs(group, slot, targets, mine, also, counts)
            if slot + 2 < slots:
                for start in range(0, targets.shape[0], _WORD):
                    some = targets[start : start + _WORD]
                    count_larger(group, slot, some, mine[start : start + _WORD], lanes, counts)


@kernel
def count_codes(rows: Array, first: int, shown: Array) -> None:
    """Count each code in these columns and those after."""
    for row in range(rows.shape[0]):
        for column in range(first, rows.shape[1]):
            shown[rows[row, column]] += 1


@kernel
def group_rows(
    rows: Array, first: int, last: int, shown: Array, grouped: Array, ends: Array
) -> None:
    """Copy rows into `grouped`, by their codes in the columns of a slot; groups end at `ends`.

    A code is `shown` so often. Those of a slot fill `grouped`, so those of the next begin at 0.
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
def count_pairs(
    group: Array, slot: int, targets: Array, mine: Array, also: Array, counts: Array
) -> None:
    """Count the rows that match in this slot, in which all do, and in each later one."""
    slots = mine.shape[1]
    for lane in range(targets.shape[0]):
        for other in range(slot + 1, slots):
            also[mine[lane, other]] = 0
    count_codes(group, (slot + 1) * (group.shape[1] // slots), also)
    for lane in range(targets.shape[0]):
        for other in range(slot + 1, slots):
            counts[targets[lane], 1 << slot | 1 << other] += also[mine[lane, other]]


@kernel
def count_larger(
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
def rate_patterns(
    counts: Array, missing: int, gains: SlotGains, true_score: Array, rated: Rated
) -> None:
    """Rate every pattern that occurs.

    `missing` are the slots, as bits, that all counted rows miss.
    """
    scores = np.empty(1 << gains.match.shape[1], np.int64)
    for target in range(counts.shape[0]):
        fill_scores(gains, target, missing, scores)
        true = true_score[target]
        best, ties, second = rated.best[target], rated.ties[target], rated.second[target]
        above, level = 0, 0
        for pattern in range(counts.shape[1]):
            count = counts[target, pattern]
            if count == 0:
                continue
            score = scores[pattern % scores.shape[0]]
            if score > best:
                best, ties, second = score, count, best
            elif score == best:
                ties += count
            elif score > second:
                second = score
            if score > true:
                above += count
            elif score == true:
                level += count
        rated.best[target], rated.ties[target], rated.second[target] = best, ties, second
        rated.above[target] += above
        rated.level[target] += level


@kernel
def sum_patterns(counts: Array, missing: int, gains: SlotGains, best: Array, sums: Array) -> None:
    """Add the likelihood of all counted rows, relative to that of the best score, to `sums`."""
    scores = np.empty(1 << gains.match.shape[1], np.int64)
    for target in range(counts.shape[0]):
        fill_scores(gains, target, missing, scores)
        for pattern in range(counts.shape[1]):
            count = counts[target, pattern]
            if count > 0:
                score = scores[pattern % scores.shape[0]]
                sums[target] += count * math.exp((score - best[target]) / GRID)


@kernel
def fill_scores(gains: SlotGains, target: int, missing: int, scores: Array) -> None:
    """The score of each pattern: slot by slot, the patterns without it and those with it."""
    scores[0] = 0
    for slot in range(gains.match.shape[1]):
        match, other = gains.match[target, slot], gains.mismatch[target, slot]
        if missing >> slot & 1:
            other = gains.known_gap[target, slot]
        for pattern in range(1 << slot):
            scores[pattern | 1 << slot] = scores[pattern] + match
            scores[pattern] += other


@kernel
def subtract_larger(counts: Array) -> None:
    """Make the counts of patterns with up to two slots exact, from those of all larger patterns."""
    larger = np.empty(counts.shape[1], counts.dtype)
    for target in range(counts.shape[0]):
        exact = counts[target]
        sum_larger(exact, larger)
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
def sum_larger(exact: Array, larger: Array) -> None:
    """For each pattern the rows that match there and in three slots or more, slot by slot."""
    for pattern in range(exact.shape[0]):
        rest = pattern & (pattern - 1)
        larger[pattern] = exact[pattern] if rest & (rest - 1) else 0
    slot = 1
    while slot < exact.shape[0]:
        for start in range(0, exact.shape[0], 2 * slot):
            for pattern in range(start, start + slot):
                larger[pattern] += larger[pattern + slot]
        slot *= 2


@kernel
def count_distinct(rows: Array, weights: Array, target_codes: Array, counts: Array) -> None:
    """Add to `counts[target, pattern]` the weights of these rows, by comparing all pairs."""
    set_size = rows.shape[1] // target_codes.shape[1]
    for target in range(target_codes.shape[0]):
        for row in range(rows.shape[0]):
            pattern = match_pattern(rows, row, set_size, target_codes, target)
            counts[target, pattern] += weights[row]


@kernel
def count_rows(rows: Array, units: Array, first: int, counts: Array) -> None:
    """Count equal rows of codes: a row's number is its codes times `units`, less `first`."""
    for row in range(rows.shape[0]):
        number = -first
        for column in range(rows.shape[1]):
            number += np.int64(rows[row, column]) * units[column]
        counts[number] += 1
