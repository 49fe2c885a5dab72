"""Compiled loops that fit learned pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel

Array = NDArray[Any]

NEGLIGIBLE = 1e-16
"""A belief that no sum of counts would notice."""


@kernel
def add_beliefs(places: Array, counts: Array, starts: Array, nats: Array, expected: Array) -> float:
    """Add, to each cell, the belief that targets fall into it; return the log-likelihood.

    A group of known rows is believed to hold the target's own one in proportion to its size and to
    the product of its cells.

    Args:
        places: Groups x slots, the cell of each slot.
        counts: Known rows of each group.
        starts: Where the groups of each target begin, and where the last ones end.
        nats: Logarithm of the chance that a cell stands for.
        expected: For each cell.
    """
    total = 0.0
    for target in range(starts.size - 1):
        first, stop = starts[target], starts[target + 1]
        belief = np.empty(stop - first)
        for group in range(first, stop):
            score = np.log(counts[group])
            for slot in range(places.shape[1]):
                score += nats[places[group, slot]]
            belief[group - first] = score
        peak = belief.max()
        mass = 0.0
        for group in range(belief.size):
            belief[group] = np.exp(belief[group] - peak)
            mass += belief[group]
        total += peak + np.log(mass)
        for group in range(belief.size):
            share = belief[group] / mass
            if share > NEGLIGIBLE:
                for slot in range(places.shape[1]):
                    expected[places[first + group, slot]] += share
    return total


@kernel
def add_codes(known: Array, shown: Array, same: Array, gap: Array, codes: Array) -> None:
    """Add, for each slot of known rows, a number if it holds the token shown, one if it is empty.

    Args:
        known: Rows x slots, negative where nothing is known.
        shown: The anonymous row, negative where nothing is shown.
        same: What is added for each slot that agrees.
        gap: What is added for each slot of which nothing is known.
        codes: One number for each row.
    """
    for row in range(known.shape[0]):
        for slot in range(known.shape[1]):
            token = known[row, slot]
            if token < 0:
                codes[row] += gap[slot]
            elif token == shown[slot]:
                codes[row] += same[slot]
