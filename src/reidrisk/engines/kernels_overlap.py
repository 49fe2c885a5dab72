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

from reidrisk.engines.kernels import Array, Number
from reidrisk.engines.kernels_search import Kept, offer, threshold
from reidrisk.parallel import kernel

BITS = 64
_BYTES, _VALUES = 8, 256
_LANES = 64
_ROWS_PER_STEP = 256
_SAFE = 1 - 1e-9  # far more than the rounding of a cosine
_GRID = 2.0**40
_LEAST, _NEVER = -(2**62), 2**62


class Inverted(NamedTuple):
    """Targets by what they hold.

    `holders[starts[token] : starts[token + 1]]` hold a rare token, each of which gains `gain`.
    `bit[token]` is the bit of a frequent one, -1 for others; `masks` are the targets' frequent
    tokens, `worth` what these gain at most, `of_byte[place, value]` what eight of them gain.
    `lengths` are those of the targets, for cosines; none for plain sums.
    """

    holders: NDArray[np.int32]
    starts: NDArray[np.int64]
    gain: NDArray[np.int64]
    bit: NDArray[np.int8]
    masks: NDArray[np.uint64]
    worth: NDArray[np.int64]
    of_byte: NDArray[np.int64]
    lengths: NDArray[np.float64]


@kernel
def look_up(values: Array, starts: Array, first_row: int, targets: Inverted, kept: Kept) -> None:
    """Offer all rows that may matter; `values[starts[row] : starts[row + 1]]` are of a row.

    A row may hold tokens several times, and free places. `needed` is what a target asks of the sum
    over rare tokens; a cosine asks it of the shortest rows of the step, so short ones come first.
    """
    count, rows = kept.best.shape[0], starts.shape[0] - 1
    last = np.full(targets.gain.shape[0], -1, np.int64)
    lengths = row_lengths(values, starts, targets, last)
    order = np.argsort(lengths) if targets.lengths.shape[0] > 0 else np.arange(rows)
    blocks = -(-count // _LANES)
    sums = np.zeros(blocks * _LANES, np.int64)
    by_block = sums.reshape((blocks, _LANES))
    needed = np.full((blocks, _LANES), _NEVER)  # of nobody behind the last target
    rows_per_step = _ROWS_PER_STEP if targets.lengths.shape[0] > 0 else max(rows, 1)
    for step in range(0, rows, rows_per_step):
        shortest = lengths[order[step]]
        for target in range(count):
            lowest = sum_needed(kept, targets, target, shortest)
            needed[target // _LANES, target % _LANES] = lowest
        for place in range(step, min(step + rows_per_step, rows)):
            row = order[place]
            sums[:] = 0
            mask = add_up(values, starts, row, targets, last, sums)
            for block in range(blocks):
                if any_enough(by_block, needed, block):
                    for lane in range(_LANES):
                        total, target = by_block[block, lane], block * _LANES + lane
                        if total >= needed[block, lane] and consider(
                            kept, targets, target, total, mask, lengths[row], first_row + row
                        ):
                            lowest = sum_needed(kept, targets, target, shortest)
                            needed[block, lane] = lowest


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
def sum_needed(kept: Kept, targets: Inverted, target: int, shortest: float) -> Number:
    """The lowest sum over rare tokens that may matter, if all frequent ones are in common too."""
    score = max(threshold(kept, target), _LEAST)
    if targets.lengths.shape[0] > 0 and score > 0:
        share = (np.float64(score) - 1) / _GRID * _SAFE
        score = np.int64(share * (shortest * targets.lengths[target]))
    return score - targets.worth[target]


@kernel
def any_enough(sums: Array, needed: Array, block: int) -> bool:
    """Whether any sum of a block of targets could matter."""
    found = False
    for lane in range(_LANES):
        found |= sums[block, lane] >= needed[block, lane]
    return found


@kernel
def consider(
    kept: Kept, targets: Inverted, target: int, total: int, mask: Number, length: float, row: int
) -> bool:
    """Offer a row to a target, given its sum over rare tokens; say whether that may matter."""
    both = mask & targets.masks[target]
    for place in range(_BYTES):
        total += targets.of_byte[place, (both >> np.uint64(8 * place)) & np.uint64(_VALUES - 1)]
    if targets.lengths.shape[0] > 0:
        total = cosine(total, length, targets.lengths[target])
    if total < threshold(kept, target):
        return False
    offer(kept, target, total, row)
    return True


@kernel
def cosine(total: int, known: float, shown: float) -> Number:
    """The score of `CosineWeights`, step by step as it is defined there."""
    if total <= 0:
        return np.int64(0)
    return np.int64(np.rint(np.float64(total) / (known * shown) * _GRID))
