"""The loops of a type mixture: a scan that scores by type, and sums over everyone."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.kernels import Array
from reidrisk.engines.kernels_search import (
    COUNTERS,
    ROWS_PER_SCAN,
    Kept,
    find_rows,
    mark,
    matches_needed,
    offer,
    threshold,
    unmark,
)
from reidrisk.parallel import kernel
from reidrisk.scores import GRID
from reidrisk.scores.type_mixture import (
    IMPOSSIBLE,
    Chances,
    infer_types,
    log_chance,
    log_chance_alone,
    on_grid,
    sum_of,
)

# Nats below and above which a chance is not told from 0 or infinity: lifted products that were lost
# in rounding to 0 stay below.
LEAST_NATS, MOST_NATS = -100.0, 600.0
_ROOM = 1e-6  # far more than rounding can do


class Mixed(NamedTuple):
    """Targets under a type mixture: as `Weighed`, but a missing slot never counts as a match.

    A row's chance is at most the sum over types of the type's chance given the row, times
    `base[target, type]`, times `lift[target, slot, type]` for slots that match, times
    exp(`scale[target]`).
    """

    shown: NDArray[np.int32]
    base: NDArray[np.float64]
    lift: NDArray[np.float64]
    scale: NDArray[np.float64]
    codes: NDArray[np.uint16]
    reach: NDArray[np.int64]
    absent: NDArray[np.uint16]
    absent_counts: bool


@kernel
def scan_types(
    rows: Array,
    codes: Array,
    first_row: int,
    chances: Chances,
    targets: Mixed,
    kept: Kept,
    bitmaps: Array,
) -> None:
    """Offer every row that may matter to every target; rows are tokens, with their codes.

    `bitmaps` must be zero and is left so.
    """
    mark(codes, bitmaps)
    counters, found = np.empty(COUNTERS, np.uint64), np.empty(ROWS_PER_SCAN, np.int64)
    types = chances.weights.shape[0]
    product, lifts = np.empty(types), np.empty(types, np.int64)
    alone, types_of_row = np.empty(rows.shape[0]), np.empty((rows.shape[0], types))
    infer_types(chances, rows, types_of_row)
    for row in range(rows.shape[0]):
        alone[row] = log_chance_alone(chances, rows[row], product, lifts)
    for target in range(targets.codes.shape[0]):
        limit = threshold(kept, target)
        needed = matches_needed(targets.reach, target, limit)
        enough = chance_needed(limit / GRID, targets.scale[target])
        for place in range(find_rows(bitmaps, targets, target, needed, counters, found)):
            row = found[place]
            if row < rows.shape[0] and (
                highest_chance(codes, types_of_row, row, targets, target, product) >= enough
            ):
                both = log_chance(chances, targets.shown[target], rows[row], product, lifts)
                offer(kept, target, on_grid(both, alone[row]), first_row + row)
    unmark(codes, bitmaps)


@kernel
def chance_needed(nats: float, scale: float) -> float:
    """The lowest chance that reaches a score, with some room; 0 if every row may reach it."""
    above = nats - scale
    if nats <= IMPOSSIBLE or above < LEAST_NATS:
        return 0.0
    return math.exp(min(above, MOST_NATS) - _ROOM)


@kernel
def highest_chance(
    codes: Array, types_of_row: Array, row: int, targets: Mixed, target: int, product: Array
) -> float:
    """The bound on a row's chance, without the scale of the target."""
    for kind in range(product.shape[0]):
        product[kind] = types_of_row[row, kind] * targets.base[target, kind]
    for slot in range(codes.shape[1]):
        if codes[row, slot] == targets.codes[target, slot]:
            for kind in range(product.shape[0]):
                product[kind] *= targets.lift[target, slot, kind]
    return sum_of(product)
