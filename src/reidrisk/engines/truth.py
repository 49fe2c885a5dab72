"""How well each target's true row explains it."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.matches import ABSENT
from reidrisk.observations import Observations
from reidrisk.scores import Score


def true_scores(observations: Observations, score: Score) -> NDArray[np.int64]:
    """Each target's score for its true row; `ABSENT` where that row is in another shard."""
    here = observations.true_is_here
    scores = np.full(len(here), ABSENT)
    if here.any():
        scores[here] = score.of(observations.true_rows[here], observations.anonymous[here])
    return scores
