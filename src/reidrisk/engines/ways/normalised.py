"""Normalised weights as a score that is searched fast, where there is one with the same scores."""

import numpy as np

from reidrisk.observations import MISSING, SETS, Observations
from reidrisk.scores import NormalisedWeights, TokenTable, TokenWeights

_MOST_BYTES = 1 << 30
_ROWS_AT_A_TIME = 1 << 18


def as_fast(
    observations: Observations, score: NormalisedWeights
) -> TokenTable | TokenWeights | None:
    """A score of another kind that gives the same numbers, or None.

    A token table for single tokens; token weights for sets that all sum to the same, as sets of
    equal size do under weights that do not depend on the token (full information).
    """
    if observations.known.ndim < SETS:
        slots, size = score.weights.table.shape[1:]
        return score.as_table() if 8 * slots * size**2 <= _MOST_BYTES else None
    nothing = np.full((1, observations.slots, 1), MISSING)
    empty_sums = score.log_sums(nothing)[0]
    low = np.full(observations.slots, np.iinfo(np.int64).max)
    high = np.full(observations.slots, np.iinfo(np.int64).min)
    for start in range(0, len(observations.known), _ROWS_AT_A_TIME):
        stop = min(start + _ROWS_AT_A_TIME, len(observations.known))
        sets = observations.rows(start, stop)
        sums, empty = score.log_sums(sets), (sets == MISSING).all(axis=2)
        low = np.minimum(low, np.where(empty, low, sums).min(axis=0))
        high = np.maximum(high, np.where(empty, high, sums).max(axis=0))
        if (low < high).any():
            return None
    return score.weights.less(np.where(low > high, 0, low), empty_sums)
