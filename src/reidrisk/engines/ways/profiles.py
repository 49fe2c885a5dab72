"""Profiles as sets: every slot of a known row holds all tokens of the row."""

import numpy as np

from reidrisk.observations import Observations
from reidrisk.scores import GRID, ProfileWeights, TokenWeights, first_shown


def as_sets(observations: Observations, score: ProfileWeights) -> tuple[Observations, TokenWeights]:
    """The search with sets that has the same scores.

    The sets are a view of the rows: they take memory only for the block of rows in hand.
    """
    rows = observations.known.reshape(len(observations.known), -1)
    sets = np.broadcast_to(rows[:, None, :], (len(rows), observations.slots, rows.shape[1]))
    seen = Observations(
        sets,
        first_shown(observations.anonymous),
        observations.truth,
        tokens=observations.tokens,
        first=observations.first,
        users=observations.users,
    )
    return seen, TokenWeights(score.match / GRID)
