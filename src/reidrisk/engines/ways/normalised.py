"""Normalised weights as a score that is searched fast, where there is one with the same scores."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.engine import Blocks, Engine
from reidrisk.observations import MISSING, Observations
from reidrisk.rows import Kind
from reidrisk.scores import NormalisedWeights, TokenTable, TokenWeights

_MOST_BYTES = 1 << 30
_ROWS_AT_A_TIME = 1 << 18

Range = NDArray[np.int64]


def as_fast(
    observations: Observations, score: NormalisedWeights, engine: Engine
) -> TokenTable | TokenWeights | None:
    """A score of another kind that gives the same numbers, or None.

    A token table for single tokens; token weights for sets that all sum to the same, as sets of
    equal size do under weights that do not depend on the token (full information).
    """
    if observations.known.kind is Kind.TOKENS:
        slots, size = score.weights.table.shape[1:]
        return score.as_table() if 8 * slots * size**2 <= _MOST_BYTES else None
    nothing = np.full((1, observations.slots, 1), MISSING)
    low, high = _range_of_sums(observations, score, engine)
    if (low < high).any():
        return None
    return score.weights.less(np.where(low > high, 0, low), score.log_sums(nothing)[0])


def _range_of_sums(observations: Observations, score: NormalisedWeights, engine: Engine) -> Range:
    """The lowest and the highest number that is subtracted for a slot which is no gap."""
    limits = np.iinfo(np.int64)
    none = np.repeat([[limits.max], [limits.min]], observations.slots, axis=1)

    def work(blocks: Blocks) -> Range:
        found = none
        for _, sets in blocks:
            sums, empty = score.log_sums(sets), (sets == MISSING).all(axis=2)
            low = np.where(empty, limits.max, sums).min(axis=0)
            high = np.where(empty, limits.min, sums).max(axis=0)
            found = _wider(found, np.array([low, high]))
        return found

    return engine.reduce(observations.known, work, _wider, most=_ROWS_AT_A_TIME)


def _wider(one: Range, other: Range) -> Range:
    return np.array([np.minimum(one[0], other[0]), np.maximum(one[1], other[1])])
