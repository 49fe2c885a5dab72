"""The loops that add up the likelihood of everyone: products over slots, 32 targets at a time.

Known rows come as places: `slot * (tokens + 1) + token + 1` is the row of `factors` with what this
token in this slot is worth to each of the targets. The last row of `factors` is ones, for the slots
that fill up the last group. Places are unsigned: else every one is looked at for its sign.
"""

import numpy as np

from reidrisk.core.parallel import kernel
from reidrisk.engines.kernels import Array

LANES = 32

GROUP = 8
"""Slots that are multiplied without a product kept in between, which takes as long as they do."""

RUN = 32
"""Products that are added as they are, before their sum is added to others in double precision."""

LEVELS = 1025
"""Of a chance: sixteen for each halving down to 2**-64, and one for all that is below."""

_SHIFT, _LOWEST = 48, (1023 - 64) << 4


def level_edges() -> Array:
    """The least chance of each level, and what is above all."""
    edges: Array = (np.arange(LEVELS + 1) + _LOWEST << _SHIFT).view(np.float64)
    edges[0] = 0.0
    return edges


@kernel
def add_products(
    places: Array, weights: Array, starts: Array, ends: Array, factors: Array, sums: Array
) -> None:
    """For rows of one group of slots, add to `sums[part, lane]` their weights times all factors."""
    run = np.empty(LANES, factors.dtype)
    for part in range(starts.shape[0]):
        for first in range(starts[part], ends[part], RUN):
            run[:] = 0
            for row in range(first, min(first + RUN, ends[part])):
                weight = weights[row]
                a, b, c, d = places[row, 0], places[row, 1], places[row, 2], places[row, 3]
                e, f, g, h = places[row, 4], places[row, 5], places[row, 6], places[row, 7]
                for lane in range(LANES):
                    run[lane] += (
                        weight
                        * factors[a, lane] * factors[b, lane] * factors[c, lane] * factors[d, lane]
                        * factors[e, lane] * factors[f, lane] * factors[g, lane] * factors[h, lane]
                    )  # fmt: skip
            for lane in range(LANES):
                sums[part, lane] += run[lane]


@kernel
def add_long_products(
    places: Array, weights: Array, starts: Array, ends: Array, factors: Array, sums: Array
) -> None:
    """The same for rows of several groups."""
    product, run = np.empty(LANES, factors.dtype), np.empty(LANES, factors.dtype)
    for part in range(starts.shape[0]):
        for first in range(starts[part], ends[part], RUN):
            run[:] = 0
            for row in range(first, min(first + RUN, ends[part])):
                product[:] = weights[row]
                for slot in range(0, places.shape[1], 4):
                    a, b = places[row, slot], places[row, slot + 1]
                    c, d = places[row, slot + 2], places[row, slot + 3]
                    for lane in range(LANES):
                        product[lane] = (
                            product[lane]
                            * factors[a, lane] * factors[b, lane]
                            * factors[c, lane] * factors[d, lane]
                        )  # fmt: skip
                for lane in range(LANES):
                    run[lane] += product[lane]
            for lane in range(LANES):
                sums[part, lane] += run[lane]


@kernel
def fill_factors(tables: Array, shown: Array, factors: Array) -> None:
    """Spread `tables[slot, known + 1, shown + 1]` over lanes of targets."""
    size = tables.shape[1]
    factors[size * shown.shape[1]] = 1
    for slot in range(shown.shape[1]):
        table = tables[slot if tables.shape[0] > 1 else 0]
        for known in range(size):
            fill_lanes(table[known], shown[:, slot], factors[slot * size + known])


@kernel
def fill_needed(
    table: Array, shown: Array, places: Array, starts: Array, ends: Array, factors: Array
) -> None:
    """The same, of one table for all slots, only for what some rows have: they are few."""
    size = table.shape[0]
    factors[size * shown.shape[1]] = 1
    for part in range(starts.shape[0]):
        for row in range(starts[part], ends[part]):
            for slot in range(shown.shape[1]):
                place = places[row, slot]
                fill_lanes(table[place - slot * size], shown[:, slot], factors[place])


@kernel
def fill_lanes(values: Array, shown: Array, factors: Array) -> None:
    """What one known token is worth to each target."""
    for lane in range(shown.shape[0]):
        factors[lane] = values[shown[lane] + 1]


@kernel
def count_levels(bits: Array, counts: Array) -> None:
    """Count chances, rows x types, by type and level; `bits` are those of the numbers."""
    for row in range(bits.shape[0]):
        for kind in range(bits.shape[1]):
            counts[kind, max((bits[row, kind] >> _SHIFT) - _LOWEST, 0)] += 1


@kernel
def sort_by_level(
    chances: Array, bits: Array, least: Array, free: Array, rows: Array, weights: Array
) -> None:
    """Put rows of at least some level, and their chances, to where `free[type, level]` is room."""
    for row in range(chances.shape[0]):
        for kind in range(chances.shape[1]):
            level = max((bits[row, kind] >> _SHIFT) - _LOWEST, 0)
            if level >= least[kind]:
                place = free[kind, level]
                free[kind, level] += 1
                rows[place] = row
                weights[place] = chances[row, kind]
