"""Count matches for 64 known rows at a time, as the bits of machine words.

A bitmap for every code says which rows hold it. Adding the bitmaps of a target's codes with bitwise
operations counts the matches of 64 rows at once. Strategies that prune ask only for the rows with
enough matches to matter.

A counter of b bits is spread over b words, its bit planes: plane p holds bit p of the counters of
64 rows. Counters start so high that they overflow into the last plane exactly when a row has enough
matches, so finding these rows takes no comparison.
"""

import numpy as np

from reidrisk.core.parallel import Array, Number, kernel

# The counters of so many rows fit into the first-level cache.
ROWS_PER_SCAN = 4096

WORDS = ROWS_PER_SCAN // 64
_PLANES = 8  # counters have seven bits; the eighth plane says that enough matches were counted
_ALL_ROWS = np.uint64(2**64 - 1)
_ENOUGH = (_PLANES - 1) * WORDS
COUNTERS = _PLANES * WORDS

# 2**i modulo 67 differs for all i below 64, so a division and a look-up find the place of a bit.
_PLACE_OF_BIT = np.zeros(67, np.int64)
_PLACE_OF_BIT[[pow(2, place, 67) for place in range(64)]] = range(64)


@kernel
def place_of_bit(word: np.uint64) -> Number:
    """The place of the only bit that is set in a word of 64 bits."""
    return _PLACE_OF_BIT[np.int64(word % np.uint64(67))]


@kernel
def mark(rows: Array, bitmaps: Array) -> None:
    """Set, for every code, the bits of the rows that hold it."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            bitmaps[rows[row, column], row // 64] |= np.uint64(1) << np.uint64(row % 64)


@kernel
def unmark(rows: Array, bitmaps: Array) -> None:
    """Make the bitmaps zero again: clearing only what `mark` set is faster than clearing all."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            bitmaps[rows[row, column], row // 64] = np.uint64(0)


@kernel
def find_rows(
    bitmaps: Array, targets: Number, target: int, needed: int, counters: Array, found: Array
) -> int:
    """Write rows with enough matches to `found`; return how many.

    If all rows are enough, places behind the last row are among them: callers skip these.
    """
    if needed > targets.codes.shape[1]:
        return 0
    starts = np.empty(WORDS, np.uint64)
    starts[:] = start_of(needed)
    start_counters(starts, counters)
    count_matches(bitmaps, targets.codes, target, counters)
    return list_found(counters, found)


@kernel
def matches_needed(reach: Array, target: int, score: int) -> int:
    """The fewest matches that can reach a score; more than there are slots if none can."""
    needed = 0
    while needed < reach.shape[1] and reach[target, needed] < score:
        needed += 1
    return needed


@kernel
def start_of(needed: int) -> Number:
    """The start of a counter that overflows into the last plane after so many matches."""
    return np.uint64(2 ** (_PLANES - 1) - min(needed, 2 ** (_PLANES - 1) - 1))


@kernel
def start_counters(starts: Array, counters: Array) -> None:
    """Let the counters of each word of rows start at a number."""
    for plane in range(_PLANES):
        for word in range(WORDS):
            digit = starts[word] >> np.uint64(plane) & np.uint64(1)
            counters[plane * WORDS + word] = _ALL_ROWS if digit else np.uint64(0)


@kernel
def count_matches(bitmaps: Array, codes: Array, target: int, counters: Array) -> None:
    """Add the matches of a target to all counters, four slots at a time."""
    for slot in range(0, codes.shape[1], 4):
        _count_four(
            bitmaps,
            _code_or_none(codes, target, slot),
            _code_or_none(codes, target, slot + 1),
            _code_or_none(codes, target, slot + 2),
            _code_or_none(codes, target, slot + 3),
            counters,
        )


@kernel
def _code_or_none(codes: Array, target: int, slot: int) -> Number:
    """The code in a slot; behind the last slot 0, which no row holds."""
    return np.int64(codes[target, slot]) if slot < codes.shape[1] else 0


@kernel
def _count_four(bitmaps: Array, one: int, two: int, three: int, four: int, counters: Array) -> None:
    """Add four bitmaps to the counters of all rows.

    Two full adders fold the four bits of each row into the two lowest planes, so that the carry
    runs through the higher planes once, not four times. The last plane is only ever set: a counter
    that has overflowed stays marked.
    """
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
def list_found(counters: Array, found: Array) -> int:
    """Write the rows whose counters overflowed to `found`; return how many."""
    count = 0
    for word in range(WORDS):
        hits = counters[_ENOUGH + word]
        while hits:
            rest = hits & (hits - np.uint64(1))
            found[count] = word * 64 + place_of_bit(hits ^ rest)
            count += 1
            hits = rest
    return count
