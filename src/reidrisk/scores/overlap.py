"""A score that forgets slots: what two sides have in common."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reidrisk.observations import MISSING, Observations, Tokens
from reidrisk.scores.score import Gains, check_shape, check_sum, to_grid


@dataclass(frozen=True, eq=False)
class ProfileWeights:
    """A gain for each token that both sides hold, whatever the slot.

    Args:
        match: Gain by token. A token counts once, however often either side shows it.

    Known sets and bags count with all their tokens. `ProfileWeights(np.ones(349))` is the size of
    the overlap of two token sets.
    """

    match: Gains

    def __init__(self, match: ArrayLike) -> None:
        object.__setattr__(self, "match", to_grid(match, "match", dimensions=(1,)))

    def check(self, observations: Observations) -> None:
        """Refuse another alphabet, and sums beyond the grid."""
        check_shape(1, len(self.match), observations)
        check_sum(self.match, observations.anonymous.shape[1])

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows, shown = known.reshape(len(known), -1), first_shown(np.atleast_2d(shown))
        held = [(rows == column[:, None]).any(axis=1) for column in shown.T]
        gains = np.where(shown == MISSING, 0, self.match[shown])
        return np.asarray(np.where(np.transpose(held), gains, 0).sum(axis=1))


def first_shown(rows: Tokens) -> Tokens:
    """Rows in which a token that was shown before is missing."""
    once = rows.copy()
    for slot in range(1, rows.shape[1]):
        again = (rows[:, :slot] == rows[:, slot : slot + 1]).any(axis=1)
        once[again, slot] = MISSING
    return once
