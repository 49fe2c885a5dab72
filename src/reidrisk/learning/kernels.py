"""Compiled loops of learned models."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel

Floats = NDArray[np.float64]


@kernel
def add_expectations(
    rows: NDArray[np.int32], weights: Floats, chances: Floats, counts: Floats, load: Floats
) -> float:
    """Add up what rows say about the type of their users, and return their log-likelihood.

    Beliefs are scaled after every slot, so that rows may be of any length.

    Args:
        rows: Users x slots, negative where nothing was seen.
        weights: Share of each type.
        chances: Tokens x types, that a token is shown; not all 0 for a token that was.
        counts: Tokens x types; the belief in each type is added for each token shown.
        load: The belief in each type is added once for each user.
    """
    types = weights.size
    belief = np.empty(types)
    total = 0.0
    for user in range(rows.shape[0]):
        for one in range(types):
            belief[one] = weights[one]
        for slot in range(rows.shape[1]):
            token = rows[user, slot]
            if token < 0:
                continue
            mass = 0.0
            for one in range(types):
                belief[one] *= chances[token, one]
                mass += belief[one]
            total += np.log(mass)
            for one in range(types):
                belief[one] /= mass
        load += belief
        for slot in range(rows.shape[1]):
            token = rows[user, slot]
            if token >= 0:
                for one in range(types):
                    counts[token, one] += belief[one]
    return total
