"""The loops that search under a token table, and pass over all that cannot be among the best.

Each gain is rounded up to one of eight levels: three bits for each target. The targets are the bits
of machine words, so that a few logic operations add the levels of a row for all targets of a word,
as in pencil-and-paper binary addition; counters begin so far below 512 that they reach it exactly
if the row could matter. Only such targets are scored. The bound is safe, and the score itself is
exact: pruning never changes an answer.

The loop over words (`find_words`) writes nothing: only so do compilers turn it into vectors, and
that makes it eight times faster than the same loop with counters in memory.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import inlined, kernel
from reidrisk.engines.kernels import Array, Number, place_of_bit
from reidrisk.engines.kernels_search import Kept, offer, threshold

WORDS = 8
TARGETS_PER_SIFT = 64 * WORDS
BITS = 3
HIGHEST_LEVEL = 2**BITS - 1
MOST_LEVELS = 511  # in a sum
PLACES_AT_ONCE = 8

_ROWS_AT_ONCE = 64
_DIGITS = 9  # of a counter; one more says that it went beyond
_NONE, _ONE = np.uint64(0), np.uint64(1)


class Tabled(NamedTuple):
    """Up to 512 targets under a token table: what they show, all gains, and their levels.

    `bits[place, digit * WORDS + word]` are the digits of levels. A place stands for a known token
    in a slot, `slot * (tokens + 1) + token + 1`, a known gap being token -1; at the last place all
    levels are 0. A score is at most `floor + step * sum of levels`.
    """

    shown: NDArray[np.int64]
    gain: NDArray[np.int64]
    bits: NDArray[np.uint64]
    floor: NDArray[np.int64]
    step: int


@kernel
def fill_bits(targets: Tabled, floor: Array, slots: int) -> None:
    """Set the bits of all targets in these slots, given the score of level 0 of what is shown."""
    size, step = targets.gain.shape[2], targets.step
    for slot in range(slots):
        table = min(slot, targets.gain.shape[0] - 1)
        for first in range(0, targets.shown.shape[0], 64):
            for token in range(-1, size - 1):
                low, mid, high = _NONE, _NONE, _NONE
                for lane in range(first, min(first + 64, targets.shown.shape[0])):
                    shown = targets.shown[lane, slot]
                    above = targets.gain[table, shown, token] - floor[table, shown]
                    bit = _ONE << np.uint64(lane - first)
                    if above > 3 * step:
                        high |= bit
                        above -= 4 * step
                    if above > step:
                        mid |= bit
                        above -= 2 * step
                    if above > 0:
                        low |= bit
                place = slot * size + token + 1
                targets.bits[place, first // 64] = low
                targets.bits[place, first // 64 + WORDS] = mid
                targets.bits[place, first // 64 + 2 * WORDS] = high


@kernel
def sift(rows: Array, first_row: int, targets: Tabled, kept: Kept) -> None:
    """Offer every row that may matter to each of these targets; rows are places."""
    limits = np.empty(targets.shown.shape[0], np.int64)
    counters = np.zeros((3, (_DIGITS + 1) * WORDS), np.uint64)
    found = np.empty(_ROWS_AT_ONCE, np.uint64)
    for lane in range(limits.shape[0]):
        limits[lane] = threshold(kept, lane)
        set_counter(counters, lane, levels_needed(targets, lane, limits[lane]))
    for first in range(0, rows.shape[0], _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
        find_words(some, targets.bits, counters, found)
        for row in range(some.shape[0]):
            words = found[row]
            while words:
                word = place_of_bit(words & (~words + _ONE))
                words &= words - _ONE
                hits = reached(targets.bits, some, row, counters, word)
                while hits:
                    lane = word * 64 + place_of_bit(hits & (~hits + _ONE))
                    hits &= hits - _ONE
                    score = table_score(some, row, targets, lane)
                    if score >= limits[lane]:
                        offer(kept, lane, score, first_row + first + row)
                        limits[lane] = threshold(kept, lane)
                        set_counter(counters, lane, levels_needed(targets, lane, limits[lane]))


@kernel
def find_words(rows: Array, bits: Array, counters: Array, found: Array) -> None:
    """For each row the words, as bits, in which some target's counter reaches 512."""
    for row in range(rows.shape[0]):
        begun = add_others(bits, rows, row, counters) if rows.shape[1] > PLACES_AT_ONCE else 0
        end, words = rows.shape[1], _NONE
        some, others = four_places(rows, row, end - 8), four_places(rows, row, end - 4)
        for word in range(WORDS):
            digits = add_four(bits, some, word, digits_of(counters, begun, word))
            beyond = add_four(bits, others, word, digits)[_DIGITS]
            words |= np.uint64(beyond != _NONE) << np.uint64(word)
        found[row] = words


@kernel
def levels_needed(targets: Tabled, lane: int, score: int) -> Number:
    """The lowest sum of levels that can reach a score; 512, which no sum attains, if none can."""
    if score <= targets.floor[lane]:
        return 0
    missing = score - targets.floor[lane]
    if missing > MOST_LEVELS * targets.step:
        return MOST_LEVELS + 1
    return (missing + targets.step - 1) // targets.step


@kernel
def set_counter(counters: Array, lane: int, needed: int) -> None:
    """Let the counter of a target begin so that it reaches 512 with so many levels."""
    bit = _ONE << np.uint64(lane % 64)
    for digit in range(_DIGITS + 1):
        place = digit * WORDS + lane // 64
        counters[0, place] &= ~bit
        if (MOST_LEVELS + 1 - needed) >> digit & 1:
            counters[0, place] |= bit


@inlined
def four_places(rows: Array, row: int, first: int) -> Number:
    """Four places of a row."""
    return rows[row, first], rows[row, first + 1], rows[row, first + 2], rows[row, first + 3]


@kernel
def reached(bits: Array, rows: Array, row: int, counters: Array, word: int) -> Number:
    """The targets of a word, as bits, whose counter reaches 512."""
    digits = digits_of(counters, 0, word)
    for first in range(0, rows.shape[1], 4):
        digits = add_four(bits, four_places(rows, row, first), word, digits)
    return digits[_DIGITS]


@inlined
def digits_of(counters: Array, begun: int, word: int) -> Number:
    """The counters of a word: nine digits, lowest first, and whether they went beyond."""
    return (
        counters[begun, word],
        counters[begun, WORDS + word],
        counters[begun, 2 * WORDS + word],
        counters[begun, 3 * WORDS + word],
        counters[begun, 4 * WORDS + word],
        counters[begun, 5 * WORDS + word],
        counters[begun, 6 * WORDS + word],
        counters[begun, 7 * WORDS + word],
        counters[begun, 8 * WORDS + word],
        counters[begun, 9 * WORDS + word],
    )


@inlined
def add_four(bits: Array, places: Number, word: int, digits: Number) -> Number:
    """Add the levels of four places to the counters of a word."""
    one, two, three, four = places
    d0, d1, d2, d3, d4, d5, d6, d7, d8, beyond = digits
    d0, carry_a = add(d0, bits[one, word], bits[two, word])
    d0, carry_b = add(d0, bits[three, word], bits[four, word])
    d1, more_a = add(d1, bits[one, word + WORDS], bits[two, word + WORDS])
    d1, more_b = add(d1, bits[three, word + WORDS], bits[four, word + WORDS])
    d1, more_c = add(d1, carry_a, carry_b)
    d2, carry_a = add(d2, bits[one, word + 2 * WORDS], bits[two, word + 2 * WORDS])
    d2, carry_b = add(d2, bits[three, word + 2 * WORDS], bits[four, word + 2 * WORDS])
    d2, carry_c = add(d2, more_a, more_b)
    d2, carry_d = d2 ^ more_c, d2 & more_c
    d3, more_a = add(d3, carry_a, carry_b)
    d3, more_b = add(d3, carry_c, carry_d)
    d4, carry = add(d4, more_a, more_b)
    d5, carry = d5 ^ carry, d5 & carry
    d6, carry = d6 ^ carry, d6 & carry
    d7, carry = d7 ^ carry, d7 & carry
    d8, carry = d8 ^ carry, d8 & carry
    return d0, d1, d2, d3, d4, d5, d6, d7, d8, beyond | carry


@inlined
def add(one: Number, two: Number, three: Number) -> Number:
    """Add three bits: the lower digit and the higher one."""
    either = two ^ three
    return one ^ either, (two & three) | (either & one)


@kernel
def add_others(bits: Array, rows: Array, row: int, counters: Array) -> int:
    """Add all places but the last eight to the counters of all targets; say where they are."""
    begun = 0
    for first in range(0, rows.shape[1] - PLACES_AT_ONCE, 4):
        places = four_places(rows, row, first)
        then = 1 if begun != 1 else 2
        for word in range(WORDS):
            digits = add_four(bits, places, word, digits_of(counters, begun, word))
            for digit in range(_DIGITS + 1):
                counters[then, digit * WORDS + word] = digits[digit]
        begun = then
    return begun


@kernel
def table_score(rows: Array, row: int, targets: Tabled, lane: int) -> Number:
    """The exact score of a row of places under a token table."""
    score, size = 0, targets.gain.shape[2]
    for slot in range(targets.shown.shape[1]):
        token = np.int64(rows[row, slot]) - slot * size - 1
        table = min(slot, targets.gain.shape[0] - 1)
        score += targets.gain[table, targets.shown[lane, slot], token]
    return score
