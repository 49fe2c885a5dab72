"""The loops that add up the likelihood of everyone: products over slots, 32 targets at a time."""

import numpy as np

from reidrisk.engines.kernels import Array
from reidrisk.engines.kernels_sift import place_of_levels
from reidrisk.parallel import kernel

LANES = 32


@kernel
def add_products(rows: Array, order: Array, weights: Array, factors: Array, sums: Array) -> None:
    """Add to each lane, for rows in this order, a weight times the factors of all their tokens.

    `factors[slot * (tokens + 1) + token + 1, lane]`, and ones in the last row.
    """
    slots = rows.shape[1]
    tokens = (factors.shape[0] - 1) // slots - 1
    product = np.empty(LANES)
    for place in range(order.shape[0]):
        row = order[place]
        for lane in range(LANES):
            product[lane] = weights[place]
        for slot in range(0, slots, 4):
            multiply_four(
                factors,
                place_of_levels(rows, row, slot, tokens),
                place_of_levels(rows, row, slot + 1, tokens),
                place_of_levels(rows, row, slot + 2, tokens),
                place_of_levels(rows, row, slot + 3, tokens),
                product,
            )
        for lane in range(LANES):
            sums[lane] += product[lane]


@kernel
def multiply_four(
    factors: Array, one: int, two: int, three: int, four: int, product: Array
) -> None:
    """Multiply by four rows of factors."""
    for lane in range(LANES):
        product[lane] *= (factors[one, lane] * factors[two, lane]) * (
            factors[three, lane] * factors[four, lane]
        )


@kernel
def fill_factors(tables: Array, shown: Array, factors: Array) -> None:
    """Spread `tables[slot, shown + 1, known + 1]` over lanes of targets; ones behind the last."""
    size = tables.shape[1]
    factors[:] = 1.0
    for slot in range(shown.shape[1]):
        table = tables[slot if tables.shape[0] > 1 else 0]
        for known in range(size):
            for lane in range(shown.shape[0]):
                factors[slot * size + known, lane] = table[shown[lane, slot] + 1, known]
