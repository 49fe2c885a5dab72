"""The loops that look up who holds a token.

Rare tokens are looked up: for each token of a known row, the targets who hold it. The few tokens
that nearly everybody holds would make that as long as comparing everyone. They are the bits of one
machine word instead: what a row and a target have in common of them is one `and`, and it is asked
for only where it could matter, since a target has no more to gain from them than they are worth
together. The bound is safe and the score itself is exact: no answer depends on it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel
from reidrisk.engines.kernels import Array, Number
from reidrisk.engines.kernels_search import Kept, offer, threshold

BITS = 64
_BYTES, _VALUES = 8, 256
_LANES = 64
_ROWS_PER_STEP = 256
_SAFE = 1 - 1e-9  # far more than the rounding of a cosine
_GRID = 2.0**40
_LEAST, _NEVER = -(2**61), 2**61
_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)


class Inverted(NamedTuple):
    """Targets by what they hold.

    `holders[starts[token] : starts[token + 1]]` hold a rare token, each of which gains `gain`.
    `bit[token]` is the bit of a frequent one, -1 for others; `masks` are the targets' frequent
    tokens, `worth` what these gain at most, `of_bits[count]` what so many of any target gain at
    most, `of_byte[place, value]` what eight of them gain.
    `lengths` are those of the targets, for cosines; none for plain sums.
    """

    holders: NDArray[np.int32]
    starts: NDArray[np.int64]
    gain: NDArray[np.int64]
    bit: NDArray[np.int8]
    masks: NDArray[np.uint64]
    worth: NDArray[np.int64]
    of_bits: NDArray[np.int64]
    of_byte: NDArray[np.int64]
    lengths: NDArray[np.float64]


class Asked(NamedTuple):
    """What targets ask for, and their frequent tokens, in blocks of lanes.

    `of_all` is the lowest sum over all common tokens that may matter; `of_rare` that over the rare
    ones, if all frequent ones of the target are in common.
    """

    of_all: NDArray[np.int64]
    of_rare: NDArray[np.int64]
    masks: NDArray[np.uint64]


@kernel
def look_up(values: Array, starts: Array, first_row: int, targets: Inverted, kept: Kept) -> None:
    """Offer all rows that may matter; `values[starts[row] : starts[row + 1]]` are of a row.

    A row may hold tokens several times, and free places. For cosines short rows come first, since
    what is asked of a step is what is asked of its shortest row.
    """
    count, rows = kept.best.shape[0], starts.shape[0] - 1
    last = np.full(targets.gain.shape[0], -1, np.int64)
    lengths = row_lengths(values, starts, targets, last)
    order = np.argsort(lengths) if targets.lengths.shape[0] > 0 else np.arange(rows)
    asked = Asked(*nobody_asks(count))
    rows_per_step = _ROWS_PER_STEP if targets.lengths.shape[0] > 0 else max(rows, 1)
    sums = np.zeros(asked.masks.size, np.int64)
    by_block, bits = sums.reshape(asked.masks.shape), np.empty(_LANES, np.uint64)
    for step in range(0, rows, rows_per_step):
        shortest = lengths[order[step]]
        for target in range(count):
            ask(asked, kept, targets, target, shortest)
        for place in range(step, min(step + rows_per_step, rows)):
            row = order[place]
            sums[:] = 0
            mask = add_up(values, starts, row, targets, last, sums)
            for block in range(asked.masks.shape[0]):
                if not any_enough(by_block, asked.of_rare, block):
                    continue
                count_bits(asked.masks, mask, block, bits)
                for lane in range(_LANES):
                    total = by_block[block, lane]
                    if total + targets.of_bits[bits[lane]] < asked.of_all[block, lane]:
                        continue
                    target = block * _LANES + lane
                    consider(kept, targets, target, total, mask, lengths[row], first_row + row)
                    ask(asked, kept, targets, target, shortest)


@kernel
def nobody_asks(count: int) -> Number:
    """Room for what so many targets ask for; places behind the last one ask for the impossible."""
    shape = (-(-count // _LANES), _LANES)
    return np.full(shape, _NEVER), np.full(shape, _NEVER), np.zeros(shape, np.uint64)


@kernel
def ask(asked: Asked, kept: Kept, targets: Inverted, target: int, shortest: float) -> None:
    """Ask for the lowest sums that may matter; a cosine asks it of the shortest rows."""
    score = max(threshold(kept, target), _LEAST)
    if targets.lengths.shape[0] > 0 and score > 0:
        share = (np.float64(score) - 1) / _GRID * _SAFE
        score = np.int64(share * (shortest * targets.lengths[target]))
    block, lane = target // _LANES, target % _LANES
    asked.of_all[block, lane] = score
    asked.of_rare[block, lane] = score - targets.worth[target]
    asked.masks[block, lane] = targets.masks[target]


@kernel
def row_lengths(values: Array, starts: Array, targets: Inverted, last: Array) -> Number:
    """The lengths of rows for cosines; 1 for plain sums. `last` holds -1 and is left so."""
    lengths = np.ones(starts.shape[0] - 1)
    if targets.lengths.shape[0] == 0:
        return lengths
    for row in range(starts.shape[0] - 1):
        total = np.int64(0)
        for place in range(starts[row], starts[row + 1]):
            token = np.int64(values[place])
            if token >= 0 and last[token] != row:
                last[token] = row
                total += targets.gain[token]
        lengths[row] = np.sqrt(np.float64(total))
    last[:] = -1
    return lengths


@kernel
def add_up(
    values: Array, starts: Array, row: int, targets: Inverted, last: Array, sums: Array
) -> Number:
    """Add up what a row and each target have in common of rare tokens; the frequent ones it holds.

    `last[token]` is the last row before that held a token.
    """
    mask = np.uint64(0)
    for place in range(starts[row], starts[row + 1]):
        token = np.int64(values[place])
        if token < 0 or last[token] == row:
            continue
        last[token] = row
        if targets.bit[token] >= 0:
            mask |= np.uint64(1) << np.uint64(targets.bit[token])
            continue
        gain = targets.gain[token]
        for holder in range(targets.starts[token], targets.starts[token + 1]):
            sums[targets.holders[holder]] += gain
    return mask


@kernel
def any_enough(sums: Array, needed: Array, block: int) -> bool:
    """Whether any sum of a block of targets could matter."""
    found = False
    for lane in range(_LANES):
        found |= sums[block, lane] >= needed[block, lane]
    return found


@kernel
def count_bits(masks: Array, mask: Number, block: int, bits: Array) -> None:
    """Count the frequent tokens that a row and each target of a block have in common."""
    for lane in range(_LANES):
        word = masks[block, lane] & mask
        word = (word & _ODD) + ((word >> np.uint64(1)) & _ODD)
        word = (word & _PAIRS) + ((word >> np.uint64(2)) & _PAIRS)
        word = (word & _FOURS) + ((word >> np.uint64(4)) & _FOURS)
        word = word + (word >> np.uint64(8))
        word = word + (word >> np.uint64(16))
        bits[lane] = (word + (word >> np.uint64(32))) & np.uint64(127)


@kernel
def consider(
    kept: Kept, targets: Inverted, target: int, total: int, mask: Number, length: float, row: int
) -> None:
    """Offer a row to a target, given its sum over rare tokens, unless it does not matter."""
    both = mask & targets.masks[target]
    for place in range(_BYTES):
        total += targets.of_byte[place, (both >> np.uint64(8 * place)) & np.uint64(_VALUES - 1)]
    if targets.lengths.shape[0] > 0:
        total = cosine(total, length, targets.lengths[target])
    if total >= threshold(kept, target):
        offer(kept, target, total, row)


@kernel
def cosine(total: int, known: float, shown: float) -> Number:
    """The score of `CosineWeights`, step by step as it is defined there."""
    if total <= 0:
        return np.int64(0)
    return np.int64(np.rint(np.float64(total) / (known * shown) * _GRID))
