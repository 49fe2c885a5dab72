"""Random sets of fixed size with weights, exactly: compiled loops over symmetric polynomials.

A set of k distinct tokens with weights w is drawn with probability proportional to the product of
its weights: what k independent draws give if one starts anew until all differ (conditional
Poisson sampling). Its normaliser is the k-th elementary symmetric polynomial of the weights, and
all chances below come from polynomials of parts of the weights. Every sum is of positive terms,
so nothing cancels.
"""

import numpy as np
from numpy.typing import NDArray

from reidrisk.parallel import kernel

Floats = NDArray[np.float64]

SCAN = 24
"""Positions tried one by one before a binary search: most choices are among the heaviest."""


def tail_polynomials(weights: Floats, size: int) -> Floats:
    """Polynomials of the weights from each position on: states x (size + 1) x (tokens + 1)."""
    states, tokens = weights.shape
    tails = np.zeros((states, size + 1, tokens + 1))
    tails[:, 0] = 1
    for position in range(tokens - 1, -1, -1):
        after = tails[:, :, position + 1]
        tails[:, 1:, position] = after[:, 1:] + weights[:, position, None] * after[:, :-1]
    return tails


@kernel
def draw_sets(
    tails: Floats,
    order: NDArray[np.int32],
    states: NDArray[np.int32],
    draws: Floats,
    sets: NDArray[np.int32],
) -> None:
    """Draw one set per user and epoch; positions come in ascending order, tokens in no order.

    With k still to choose from position j on, the next chosen position lies after i with
    probability `tails[k, i + 1] / tails[k, j]`: inverted by search, one draw per choice.

    Args:
        tails: Of `tail_polynomials`, for weights in descending order.
        order: States x tokens, the token at each position.
        states: Users x epochs.
        draws: Users x (epochs * size), uniform in [0, 1).
        sets: Users x epochs x size, to be filled.
    """
    users, epochs, size = sets.shape
    tokens = order.shape[1]
    for user in range(users):
        for epoch in range(epochs):
            state = states[user, epoch]
            position = 0
            for chosen in range(size):
                left = size - chosen
                tail = tails[state, left]
                goal = draws[user, epoch * size + chosen] * tail[position]
                low, last = position, tokens - left
                scanned = min(position + SCAN, last)
                while low < scanned and tail[low + 1] > goal:
                    low += 1
                if tail[low + 1] > goal:
                    high = last
                    while low < high:
                        middle = (low + high) // 2
                        if tail[middle + 1] > goal:
                            low = middle + 1
                        else:
                            high = middle
                sets[user, epoch, chosen] = order[state, low]
                position = low + 1


@kernel
def pair_chances(weights: Floats, tails: Floats, pairs: Floats) -> None:
    """Fill `pairs[i, j]` with the chance that both are in the set, on the diagonal that i is.

    Args:
        weights: Of one state, in any order.
        tails: Of `tail_polynomials` for these weights: (size + 1) x (tokens + 1).
        pairs: Tokens x tokens.
    """
    size, tokens = tails.shape[0] - 1, weights.size
    before = np.zeros(size + 1)  # polynomials of the weights before j
    before[0] = 1
    without = np.zeros((size, tokens))  # and of those but i, for each i before j
    for j in range(tokens):
        total = 0.0
        for degree in range(size):
            total += before[degree] * tails[size - 1 - degree, j + 1]
        pairs[j, j] = weights[j] * total / tails[size, 0]
        pairs[j, :j] = 0
        for degree in range(size - 1):
            factor = weights[j] * tails[size - 2 - degree, j + 1] / tails[size, 0]
            for i in range(j):
                pairs[j, i] += factor * without[degree, i] * weights[i]
        for degree in range(size - 1, 0, -1):
            for i in range(j):
                without[degree, i] += weights[j] * without[degree - 1, i]
        without[:, j] = before[:size]
        for degree in range(size, 0, -1):
            before[degree] += weights[j] * before[degree - 1]
    for j in range(tokens):
        for i in range(j):
            pairs[i, j] = pairs[j, i]
