"""Draw random sets of fixed size with weights: compiled loops over symmetric polynomials.

A set of k distinct tokens with weights w is drawn with probability proportional to the product of
its weights: what k independent draws give if one starts anew until all differ (conditional
Poisson sampling). Its normaliser is the k-th elementary symmetric polynomial of the weights, and
all chances below come from polynomials of parts of the weights. Every sum is of positive terms,
so nothing cancels.
"""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel

Floats = NDArray[np.float64]

_STRIDE = 16
"""Positions compared at once, by vector instructions: most choices are among the heaviest few."""


def tail_polynomials(weights: Floats, size: int) -> Floats:
    """Polynomials of the weights from each position on: states x (size + 1) x (tokens + 1)."""
    states, tokens = weights.shape
    tails = np.zeros((states, size + 1, tokens + 1))
    tails[:, 0] = 1
    for position in range(tokens - 1, -1, -1):
        after = tails[:, :, position + 1]
        tails[:, 1:, position] = after[:, 1:] + weights[:, position, None] * after[:, :-1]
    return tails


def search_tables(weights: Floats, size: int) -> tuple[Floats, NDArray[np.int32]]:
    """Tables for `draw_sets`: tails of the weights, largest first, and the token at each place.

    Zeros follow the last token, so that a stride may look beyond it.
    """
    # Heaviest first: the scan of `draw_sets` then ends after a few positions as a rule.
    order = np.argsort(-weights, axis=1, kind="stable")
    tails = tail_polynomials(np.take_along_axis(weights, order, axis=1), size)
    return np.pad(tails, ((0, 0), (0, 0), (0, _STRIDE))), order.astype(np.int32)


@kernel
def draw_sets(
    tails: Floats,
    order: NDArray[np.int32],
    states: NDArray[np.int32],
    draws: Floats,
    sets: NDArray[np.int32],
) -> None:
    """Draw one set per user and epoch, its members by descending weight.

    With k still to choose from position j on, the next chosen position lies after i with
    probability `tails[k, i + 1] / tails[k, j]`: inverted by a scan, one draw per choice.

    Args:
        tails: Of `search_tables`, states x (size + 1) x positions.
        order: Of `search_tables`, states x tokens.
        states: Users x epochs.
        draws: Users x (epochs * size), uniform in [0, 1).
        sets: Users x epochs x size, to be filled.
    """
    users, epochs, size = sets.shape
    for user in range(users):
        for epoch in range(epochs):
            state = states[user, epoch]
            position = 0  # the first that may still be chosen
            for chosen in range(size):
                tail = tails[state, size - chosen]
                goal = draws[user, epoch * size + chosen] * tail[position]
                # A draw is below 1, so `tail[position]` is above the goal and not compared.
                position += 1
                passed = _STRIDE
                while passed == _STRIDE:
                    passed = 0
                    # Tails descend, so as many entries are above the goal as positions are passed.
                    for step in range(_STRIDE):
                        passed += tail[position + step] > goal
                    position += passed
                sets[user, epoch, chosen] = order[state, position - 1]


def pair_chances(weights: Floats, tails: Floats, pairs: Floats) -> None:
    """Fill `pairs[i, j]` with the chance that both are in the set, on the diagonal that i is.

    Args:
        weights: Of one state, in any order.
        tails: Of `tail_polynomials` for these weights: (size + 1) x (tokens + 1).
        pairs: Tokens x tokens.
    """
    size, tokens = len(tails) - 1, len(weights)
    before = np.append(1.0, np.zeros(size))
    pairs[...] = 0
    _fill_lower_pairs(weights, tails, before, np.zeros((size, tokens)), pairs)
    pairs += np.tril(pairs, -1).T


@kernel
def _fill_lower_pairs(
    weights: Floats, tails: Floats, before: Floats, without: Floats, pairs: Floats
) -> None:
    """Add the chances of `pair_chances` to the diagonal and to what is below it.

    Args:
        weights: Of one state.
        tails: For these weights.
        before: Polynomials of the weights before a token; at first 1, then zeros.
        without: And of those but another one, for each that comes before: size x tokens of zeros.
        pairs: Tokens x tokens.
    """
    size = before.size - 1
    for j in range(weights.size):
        total = 0.0
        for degree in range(size):
            total += before[degree] * tails[size - 1 - degree, j + 1]
        pairs[j, j] = weights[j] * total / tails[size, 0]
        for degree in range(size - 1):
            factor = weights[j] * tails[size - 2 - degree, j + 1] / tails[size, 0]
            for i in range(j):
                pairs[j, i] += factor * without[degree, i] * weights[i]
        # Downwards, so that each degree is made from the one below before that changes.
        for degree in range(size - 1, 0, -1):
            for i in range(j):
                without[degree, i] += weights[j] * without[degree - 1, i]
        for degree in range(size):  # by a loop: to copy a slice takes seconds to compile
            without[degree, j] = before[degree]
        # Downwards for the same reason.
        for degree in range(size, 0, -1):
            before[degree] += weights[j] * before[degree - 1]
