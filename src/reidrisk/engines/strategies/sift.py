"""Strategy: search under token tables, with gains as levels of three bits.

Each gain is rounded up to one of eight levels: three bits for each target. The targets are the bits
of machine words, so that a few logic operations add the levels of a row for all targets of a word,
as in pencil-and-paper binary addition. Counters start so far below 512 that they reach it exactly
if the row could matter. Only such pairs are scored. The bound never excludes a row that could
matter and the score itself is exact, so pruning never changes an answer.

The loop over words (`_find_words`) keeps its counters in registers: compilers make vector code only
of loops that write nothing to memory, and this makes it eight times faster.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import Array, Number, inlined, kernel, listen, over_blocks
from reidrisk.engines.bitmaps import place_of_bit
from reidrisk.engines.cost_model import Search, some_rows
from reidrisk.engines.protocol import Engine, Room
from reidrisk.engines.pruning import Kept, keep, offer, threshold
from reidrisk.scores import TokenPairWeights

_WORDS = 8
_TARGETS_PER_SIFT = 64 * _WORDS
_BITS = 3
_HIGHEST_LEVEL = 2**_BITS - 1
_MOST_LEVELS = 511  # of a sum: counters have nine bits
_PLACES_AT_ONCE = 8

_ROWS_AT_ONCE = 64
_DIGITS = 9  # of a counter; a tenth says that it overflowed
_NONE, _ONE = np.uint64(0), np.uint64(1)

_ROWS_AT_A_TIME = 1 << 16  # limits are set for each block: blocks of a quarter take a fifth longer
_BYTES_OF_BITS = 1 << 27  # of levels at a time, unless those of 512 targets take more
_MOST_SLOTS = _MOST_LEVELS // _HIGHEST_LEVEL  # the others are bounded by their largest gain

# Steps from one level to the next that are tried, as a fraction of what the best token gains over
# an ordinary one. Rows that score higher by a fifth of that are assumed to be e times rarer.
_STEPS = np.geomspace(0.1, 0.4, 8)
_RARER = 5
_KNOWN_TOKENS = 32  # sampled from each slot to judge steps
_LONGEST_STEP = 2**58  # so that no difference leaves 64 bits


class _Tabled(NamedTuple):
    """Up to 512 targets under a token table: what they show, all gains, and their levels.

    `bits[place, digit * _WORDS + word]` are the digits of levels. A place stands for a known token
    in a slot, `slot * (tokens + 1) + token + 1`, a known gap being token -1; at the last place all
    levels are 0. A score is at most `floor + step * sum of levels`.
    """

    shown: NDArray[np.int64]
    gain: NDArray[np.int64]
    bits: NDArray[np.uint64]
    floor: NDArray[np.int64]
    step: int


def bytes_needed(observations: Observations, room: Room, wanted: Wanted, targets: int) -> int:
    """Memory of a sift of this many targets at a time."""
    per_target = 8 * observations.slots
    per_target += room.threads * (64 + 16 * wanted.by_listing.list_best)
    rows = min(_ROWS_AT_A_TIME, observations.known.users)
    places = room.threads * 4 * rows * _width(observations.slots)
    true_gains = 16 * observations.slots * targets  # before there are places
    bits = -(-targets // _TARGETS_PER_SIFT) * _bytes_of_bits(observations)
    return targets * per_target + max(places, true_gains) + bits


def search(
    observations: Observations, score: TokenPairWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under a token table."""
    targets = len(observations.anonymous)
    chunks = max(_BYTES_OF_BITS // _bytes_of_bits(observations), 1)
    together = engine.room.targets_together(
        min(targets, chunks * _TARGETS_PER_SIFT),
        lambda some: bytes_needed(observations, engine.room, wanted, some),
    )
    rounding = _rounding(observations, score)
    parts = []
    for start in range(0, targets, together):
        some = observations.only(slice(start, start + together))
        tabled = _tabled(some, score, rounding)

        def look(blocks: Blocks, kept: Kept, tabled: list[_Tabled] = tabled) -> None:
            for first, rows in _cut(blocks):
                places = _places(rows, observations.tokens)
                for chunk, targets in enumerate(tabled):
                    _sift(places, observations.first + first, targets, _of_chunk(kept, chunk))
                del places  # before the next are made

        parts.append(keep(some, score, wanted, engine, look))
    return join_targets(parts)


def _cut(blocks: Blocks) -> Iterator[tuple[int, Tokens]]:
    """Some rows of a block at a time: the places of all would take more memory than all else."""
    for start, rows in blocks:
        for first in range(0, len(rows), _ROWS_AT_A_TIME):
            listen()
            yield start + first, rows[first : first + _ROWS_AT_A_TIME]


def _of_chunk(kept: Kept, chunk: int) -> Kept:
    """What is kept of 512 targets."""
    mine = slice(chunk * _TARGETS_PER_SIFT, (chunk + 1) * _TARGETS_PER_SIFT)
    return Kept._make(each if isinstance(each, int) else each[mine] for each in kept)


def _places(rows: Tokens, tokens: int) -> NDArray[np.int32]:
    """The places of the levels of known tokens; rows are filled up with the empty last place."""
    slots = rows.shape[1]
    places = np.full((len(rows), _width(slots)), slots * (tokens + 1), np.int32)
    np.add(rows, np.arange(slots) * (tokens + 1) + 1, out=places[:, :slots], casting="unsafe")
    return places


def _width(slots: int) -> int:
    """Places of a row."""
    return max(-(-slots // 4) * 4, _PLACES_AT_ONCE)


def _bytes_of_bits(observations: Observations) -> int:
    """Memory of the levels of 512 targets."""
    places = observations.slots * (observations.tokens + 1) + 1
    return places * _BITS * _WORDS * 8


def _tabled(
    observations: Observations, score: TokenPairWeights, rounding: "_Rounding"
) -> list[_Tabled]:
    """All targets, 512 at a time."""
    shown = observations.anonymous.astype(np.int64)
    places = observations.slots * (observations.tokens + 1) + 1

    def fill(start: int, stop: int) -> _Tabled:
        mine, bits = shown[start:stop], np.zeros((places, _BITS * _WORDS), np.uint64)
        targets = _Tabled(mine, score.table, bits, rounding.floors(mine), rounding.step)
        _fill_bits(targets, rounding.floor, min(observations.slots, _MOST_SLOTS))
        return targets

    return over_blocks(fill, len(shown), _TARGETS_PER_SIFT)


@dataclass(frozen=True, eq=False)
class _Rounding:
    """How gains are rounded up: `floor + level * step`, at most `highest`, is no less than a gain.

    Args:
        highest: The highest gain, by table and shown token.
        floor: The score of level 0, by table and shown token.
        step: From one level to the next.
    """

    highest: NDArray[np.int64]
    floor: NDArray[np.int64]
    step: int

    def floors(self, shown: NDArray[np.int64]) -> NDArray[np.int64]:
        """What rows of targets have if all levels are 0."""
        slots = np.arange(shown.shape[1])
        table = np.minimum(slots, len(self.floor) - 1)
        has_levels = slots < _MOST_SLOTS
        gains = np.where(has_levels, self.floor[table, shown], self.highest[table, shown])
        return np.asarray(gains.sum(axis=1))


def _rounding(observations: Observations, score: TokenPairWeights) -> _Rounding:
    """A step and floors that leave few pairs to score, judged by a sample of known rows.

    Any step and floors give the right answer; these make it fast.
    """
    table = score.table[: observations.slots]
    occur = slice(observations.tokens if observations.complete else None)
    highest, lowest = table[:, :, occur].max(axis=2), table[:, :, occur].min(axis=2)
    below, often = _below(observations, table, highest)
    span = float((below.mean(axis=2) * often).sum() / often.sum())
    judged = [_judged(below / max(span, 1), often, part) for part in _STEPS]
    best = int(np.argmin([bad for bad, _ in judged]))
    step = int(min(max(_STEPS[best] * span, 1), _LONGEST_STEP))
    return _Rounding(highest, np.maximum(highest - judged[best][1] * step, lowest), step)


def _below(
    observations: Observations, table: NDArray[np.int64], highest: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How far the gains of some known tokens are below the highest; how often tokens are shown."""
    known = observations.known.take(some_rows(observations.known.users))
    shown = np.asarray(observations.anonymous)
    if len(table) == 1:
        known, shown = known.reshape(-1, 1), shown.reshape(-1, 1)
    places = np.linspace(0, len(known) - 1, _KNOWN_TOKENS).astype(np.int64)
    some = np.sort(known, axis=0)[places].astype(np.int64)
    below = np.array(
        [
            top[:, None] - gain[:, tokens].astype(float)
            for gain, top, tokens in zip(table, highest, some.T, strict=True)
        ]
    )
    often = [np.bincount(tokens + 1, minlength=table.shape[1]) for tokens in shown.T]
    return below, np.roll(often, -1, axis=1)


def _judged(
    below: NDArray[np.float64], often: NDArray[np.int64], step: float
) -> tuple[float, NDArray[np.int64]]:
    """How bad a step is, and how many steps level 0 should lie below the highest gain.

    How bad: the logarithm of the mean over known tokens of exp(bound), summed over all that is
    shown. It grows with the number of pairs that the bound fails to rule out.
    """
    within = [(below < up * step).mean(axis=2) for up in range(1, _HIGHEST_LEVEL + 1)]
    rarer = np.exp(_RARER * step * np.arange(_HIGHEST_LEVEL + 1))
    means = [np.ones_like(within[0])]
    for up in range(1, _HIGHEST_LEVEL + 1):
        steps = [(rarer[j] - rarer[j - 1]) * within[up - j] for j in range(1, up + 1)]
        means.append((1 + np.sum(steps, axis=0)) / rarer[up])
    logs = np.log(means)
    return float((logs.min(axis=0) * often).sum()), np.asarray(logs.argmin(axis=0))


@kernel
def _fill_bits(targets: _Tabled, floor: Array, slots: int) -> None:
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
                targets.bits[place, first // 64 + _WORDS] = mid
                targets.bits[place, first // 64 + 2 * _WORDS] = high


@kernel
def _sift(rows: Array, first_row: int, targets: _Tabled, kept: Kept) -> None:
    """Offer every row that may matter to each of these targets; rows are places."""
    limits = np.empty(targets.shown.shape[0], np.int64)
    counters = np.zeros((3, (_DIGITS + 1) * _WORDS), np.uint64)
    found = np.empty(_ROWS_AT_ONCE, np.uint64)
    for lane in range(limits.shape[0]):
        limits[lane] = threshold(kept, lane)
        _set_counter(counters, lane, _levels_needed(targets, lane, limits[lane]))
    # A few rows at a time, so that thresholds found meanwhile are soon used.
    for first in range(0, rows.shape[0], _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
        _find_words(some, targets.bits, counters, found)
        for row in range(some.shape[0]):
            words = found[row]
            while words:
                word = place_of_bit(words & (~words + _ONE))
                words &= words - _ONE
                hits = _reached(targets.bits, some, row, counters, word)
                while hits:
                    lane = word * 64 + place_of_bit(hits & (~hits + _ONE))
                    hits &= hits - _ONE
                    score = _table_score(some, row, targets, lane)
                    # A better threshold raises the bar for all later rows.
                    if score >= limits[lane]:
                        offer(kept, lane, score, first_row + first + row)
                        limits[lane] = threshold(kept, lane)
                        _set_counter(counters, lane, _levels_needed(targets, lane, limits[lane]))


@kernel
def _find_words(rows: Array, bits: Array, counters: Array, found: Array) -> None:
    """For each row the words, as bits, in which some target's counter reaches 512."""
    for row in range(rows.shape[0]):
        begun = _add_others(bits, rows, row, counters) if rows.shape[1] > _PLACES_AT_ONCE else 0
        end, words = rows.shape[1], _NONE
        some, others = _four_places(rows, row, end - 8), _four_places(rows, row, end - 4)
        for word in range(_WORDS):
            digits = _add_four(bits, some, word, _digits_of(counters, begun, word))
            beyond = _add_four(bits, others, word, digits)[_DIGITS]
            words |= np.uint64(beyond != _NONE) << np.uint64(word)
        found[row] = words


@kernel
def _levels_needed(targets: _Tabled, lane: int, score: int) -> Number:
    """The lowest sum of levels that can reach a score; 512, which no sum attains, if none can."""
    if score <= targets.floor[lane]:
        return 0
    missing = score - targets.floor[lane]
    if missing > _MOST_LEVELS * targets.step:
        return _MOST_LEVELS + 1
    return (missing + targets.step - 1) // targets.step


@kernel
def _set_counter(counters: Array, lane: int, needed: int) -> None:
    """Let the counter of a target start so that it reaches 512 with so many levels."""
    bit = _ONE << np.uint64(lane % 64)
    for digit in range(_DIGITS + 1):
        place = digit * _WORDS + lane // 64
        counters[0, place] &= ~bit
        if (_MOST_LEVELS + 1 - needed) >> digit & 1:
            counters[0, place] |= bit


@inlined
def _four_places(rows: Array, row: int, first: int) -> Number:
    """Four places of a row."""
    return rows[row, first], rows[row, first + 1], rows[row, first + 2], rows[row, first + 3]


@kernel
def _reached(bits: Array, rows: Array, row: int, counters: Array, word: int) -> Number:
    """The targets of a word, as bits, whose counter reaches 512."""
    digits = _digits_of(counters, 0, word)
    for first in range(0, rows.shape[1], 4):
        digits = _add_four(bits, _four_places(rows, row, first), word, digits)
    return digits[_DIGITS]


@inlined
def _digits_of(counters: Array, begun: int, word: int) -> Number:
    """The counters of a word: nine digits, lowest first, and whether they overflowed."""
    return (
        counters[begun, word],
        counters[begun, _WORDS + word],
        counters[begun, 2 * _WORDS + word],
        counters[begun, 3 * _WORDS + word],
        counters[begun, 4 * _WORDS + word],
        counters[begun, 5 * _WORDS + word],
        counters[begun, 6 * _WORDS + word],
        counters[begun, 7 * _WORDS + word],
        counters[begun, 8 * _WORDS + word],
        counters[begun, 9 * _WORDS + word],
    )


@inlined
def _add_four(bits: Array, places: Number, word: int, digits: Number) -> Number:
    """Add the levels of four places to the counters of a word."""
    one, two, three, four = places
    d0, d1, d2, d3, d4, d5, d6, d7, d8, beyond = digits
    d0, carry_a = _add(d0, bits[one, word], bits[two, word])
    d0, carry_b = _add(d0, bits[three, word], bits[four, word])
    d1, more_a = _add(d1, bits[one, word + _WORDS], bits[two, word + _WORDS])
    d1, more_b = _add(d1, bits[three, word + _WORDS], bits[four, word + _WORDS])
    d1, more_c = _add(d1, carry_a, carry_b)
    d2, carry_a = _add(d2, bits[one, word + 2 * _WORDS], bits[two, word + 2 * _WORDS])
    d2, carry_b = _add(d2, bits[three, word + 2 * _WORDS], bits[four, word + 2 * _WORDS])
    d2, carry_c = _add(d2, more_a, more_b)
    d2, carry_d = d2 ^ more_c, d2 & more_c
    d3, more_a = _add(d3, carry_a, carry_b)
    d3, more_b = _add(d3, carry_c, carry_d)
    d4, carry = _add(d4, more_a, more_b)
    d5, carry = d5 ^ carry, d5 & carry
    d6, carry = d6 ^ carry, d6 & carry
    d7, carry = d7 ^ carry, d7 & carry
    d8, carry = d8 ^ carry, d8 & carry
    return d0, d1, d2, d3, d4, d5, d6, d7, d8, beyond | carry


@inlined
def _add(one: Number, two: Number, three: Number) -> Number:
    """A full adder of three bits: the sum and the carry."""
    either = two ^ three
    return one ^ either, (two & three) | (either & one)


@kernel
def _add_others(bits: Array, rows: Array, row: int, counters: Array) -> int:
    """Add all places but the last eight to the counters; return which copy holds the result.

    Copy 0 holds where counters start and is never written; copies 1 and 2 take turns.
    """
    begun = 0
    for first in range(0, rows.shape[1] - _PLACES_AT_ONCE, 4):
        places = _four_places(rows, row, first)
        then = 1 if begun != 1 else 2
        for word in range(_WORDS):
            digits = _add_four(bits, places, word, _digits_of(counters, begun, word))
            for digit in range(_DIGITS + 1):
                counters[then, digit * _WORDS + word] = digits[digit]
        begun = then
    return begun


@kernel
def _table_score(rows: Array, row: int, targets: _Tabled, lane: int) -> Number:
    """The exact score of a row of places under a token table."""
    score, size = 0, targets.gain.shape[2]
    for slot in range(targets.shown.shape[1]):
        token = np.int64(rows[row, slot]) - slot * size - 1
        table = min(slot, targets.gain.shape[0] - 1)
        score += targets.gain[table, targets.shown[lane, slot], token]
    return score


PLAN = (Search((TokenPairWeights,), search),)
