"""A stand-in for the score of a mixture of types."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.observations import MISSING, Observations, Tokens
from reidrisk.scores import GRID, Gains

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TypeMixture:
    """Log chance of an anonymous row given a known one, when users have persistent types."""

    weights: Floats
    single: Floats
    joint: Floats

    def check(self, observations: Observations) -> None:
        """Nothing is checked by the stand-in."""

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        shown = np.broadcast_to(shown, known.shape)
        both = np.broadcast_to(self.weights, (len(known), self.weights.size))
        alone = both
        for w, o in zip(known.T, shown.T, strict=True):
            for_known = np.where(w == MISSING, 1.0, self.single[:, w])
            for_shown = np.where(o == MISSING, 1.0, self.single[:, o])
            complete = (w != MISSING) & (o != MISSING)
            both = both * np.where(complete, self.joint[:, o, w], for_known * for_shown).T
            alone = alone * for_known.T
        with np.errstate(divide="ignore"):
            total = np.log(both.sum(axis=1)) - np.log(alone.sum(axis=1))
        return np.asarray(np.rint(np.maximum(total, -10_000) * GRID), np.int64)
