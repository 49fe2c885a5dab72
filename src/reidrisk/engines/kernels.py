"""The loops that see every known row. Arrays in, arrays out; whole numbers only.

`encode_*` renumber tokens (see `codes.py`), `count_patterns` fills a pattern histogram,
`count_distinct` fills it from rows that were counted before.

Why `count_patterns` is fast. It does not compare pairs. Known rows are sorted by their code in one
slot; the targets with this code in this slot become the bits of machine words, and a table says for
every code which of them show it elsewhere. Passing over the later slots of a row, three logic
operations per slot and 64 targets find the targets with at least two more matches. These are rare
(about two per row at 10,000 targets) and are looked at one by one. All other patterns follow by
subtraction: the number of rows that match in one slot, or in a pair of slots, is counted on the way.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.parallel import kernel

_WORD = 64
_MOST_LANES = 8 * _WORD  # the table of later matches stays in the second-level cache

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


@kernel
def place_of_bit(word):
    """The place of the only bit that is set in a word of 64."""
    return _PLACE_OF_BIT[np.int64(word % np.uint64(67))]


@kernel
def encode_tokens(tokens, lookup, codes):
    """Look up the code of every token."""
    for row in range(tokens.shape[0]):
        for slot in range(tokens.shape[1]):
            codes[row, slot] = lookup[slot, np.int64(tokens[row, slot]) + 1]


@kernel
def encode_sets(sets, lookup, codes):
    """Look up the codes of sets; free places and repeated tokens become tokens nobody shows."""
    size = sets.shape[2]
    for row in range(sets.shape[0]):
        for slot in range(sets.shape[1]):
            known = sets[row, slot]
            absent = lookup[slot, 0]
            nothing_known = known.max() < 0
            for place in range(size):
                code = lookup[slot, np.int64(known[place]) + 1]
                is_free = code == absent and not nothing_known
                for earlier in range(place):
                    is_free = is_free or (known[earlier] == known[place] and not nothing_known)
                codes[row, slot * size + place] = absent + np.uint16(1) if is_free else code


@kernel
def count_patterns(rows, slots, index, counts):
    """Add to `counts[target, pattern]` how many of these rows match so, before subtraction.

    A pattern of three and more slots gets the rows that match in exactly these, one of up to two
    slots the rows that match there and perhaps elsewhere: `subtract_larger` makes it exact.
    """
    size = index.starts.shape[1] - 1
    set_size = rows.shape[1] // slots
    grouped = np.empty((rows.shape[0] * set_size, rows.shape[1]), rows.dtype)
    ends = np.empty(size + 1, np.int64)
    table = np.zeros(size * (_MOST_LANES // _WORD), np.uint64)
    also = np.zeros(size, np.int32)
    for slot in range(slots):
        group_rows(rows, slot * set_size, (slot + 1) * set_size, grouped, ends)
        for code in range(1, size):
            group = grouped[ends[code - 1] : ends[code]]
            first, last = index.starts[slot, code], index.starts[slot, code + 1]
            if group.shape[0] == 0:
                continue
            for start in range(first, last, _MOST_LANES):
                targets = index.order[slot, start : min(start + _MOST_LANES, last)]
                count_group(group, slot, targets, index.codes, table, also, counts)


@kernel
def group_rows(rows, first, last, grouped, ends):
    """Copy rows into `grouped` by their codes in columns `first` to `last`; groups end at `ends`."""
    ends[:] = 0
    for row in range(rows.shape[0]):
        for column in range(first, last):
            ends[np.int64(rows[row, column]) + 1] += 1
    for code in range(1, ends.shape[0]):
        ends[code] += ends[code - 1]
    for row in range(rows.shape[0]):
        for column in range(first, last):
            code = rows[row, column]
            place = ends[code]
            ends[code] = place + 1
            for other in range(rows.shape[1]):
                grouped[place, other] = rows[row, other]


@kernel
def count_group(group, slot, targets, target_codes, table, also, counts):
    """Count the patterns of rows and targets that share a code in this slot."""
    slots = target_codes.shape[1]
    set_size = group.shape[1] // slots
    words = (targets.shape[0] + _WORD - 1) // _WORD
    lanes = table[: also.shape[0] * words].reshape(also.shape[0], words)
    mine = np.empty((targets.shape[0], slots), target_codes.dtype)
    for lane in range(targets.shape[0]):
        for other in range(slots):
            code = target_codes[targets[lane], other]
            mine[lane, other] = code
            also[code] = 0
            if other > slot and code > 0:
                lanes[code, lane // _WORD] |= np.uint64(1) << np.uint64(lane % _WORD)
    begin, end = (slot + 1) * set_size, slots * set_size
    for row in range(group.shape[0]):
        for column in range(begin, end):
            also[group[row, column]] += 1
        for word in range(words):
            one, two = np.uint64(0), np.uint64(0)
            for column in range(begin, end):
                x = lanes[group[row, column], word]
                two |= one & x
                one |= x
            while two:
                rest = two & (two - np.uint64(1))
                lane = word * _WORD + place_of_bit(two ^ rest)
                two = rest
                pattern = match_pattern(group[row], mine[lane], set_size)
                if pattern & ((1 << slot) - 1) == 0:  # else counted at its first slot
                    counts[targets[lane], pattern] += 1
    for lane in range(targets.shape[0]):
        counts[targets[lane], 1 << slot] += group.shape[0]
        for other in range(slot + 1, slots):
            code = mine[lane, other]
            if code > 0:
                counts[targets[lane], 1 << slot | 1 << other] += also[code]
                lanes[code] = np.uint64(0)


@kernel
def match_pattern(row, target, set_size):
    """The slots in which a known row holds the target's code, as bits."""
    pattern = 0
    for slot in range(target.shape[0]):
        for column in range(slot * set_size, (slot + 1) * set_size):
            pattern |= np.int64(row[column] == target[slot]) << slot
    return pattern


@kernel
def subtract_larger(counts):
    """Make the counts of patterns with up to two slots exact, from those of all larger patterns."""
    patterns = counts.shape[1]
    for target in range(counts.shape[0]):
        for slots in range(2, -1, -1):
            for pattern in range(patterns):
                if bits_set(pattern) == slots:
                    larger = (pattern + 1) | pattern
                    while larger < patterns:
                        counts[target, pattern] -= counts[target, larger]
                        larger = (larger + 1) | pattern


@kernel
def bits_set(number):
    """How many bits of a number are 1."""
    count = 0
    while number:
        number &= number - 1
        count += 1
    return count


@kernel
def count_distinct(rows, weights, target_codes, counts):
    """Add to `counts[target, pattern]` the weights of these rows, by comparing all pairs."""
    set_size = rows.shape[1] // target_codes.shape[1]
    for target in range(target_codes.shape[0]):
        for row in range(rows.shape[0]):
            pattern = match_pattern(rows[row], target_codes[target], set_size)
            counts[target, pattern] += weights[row]


@kernel
def count_rows(rows, units, first, counts):
    """Count equal rows of codes: a row's number is its codes times `units`, less `first`."""
    for row in range(rows.shape[0]):
        number = -first
        for column in range(rows.shape[1]):
            number += np.int64(rows[row, column]) * units[column]
        counts[number] += 1
