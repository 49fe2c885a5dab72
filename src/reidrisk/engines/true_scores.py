"""The score of each target's true row."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import ABSENT
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.scores import Score

# Cells of a padded array that are scored at a time: bags of very unequal size would fill memory.
_CELLS_AT_A_TIME = 1 << 22


def true_scores(observations: Observations, score: Score) -> NDArray[np.int64]:
    """Each target's score for its true row; `ABSENT` where that row is in another shard.

    Args:
        observations: Who is compared with whom.
        score: How well a known row explains an anonymous one.
    """
    here = np.flatnonzero(observations.true_is_here)
    scores = np.full(len(observations.truth), ABSENT)
    known, shown = observations.true_rows, observations.anonymous
    if not isinstance(known, BagRows):
        if len(here):
            scores[here] = score.of(known.take(here), shown.take(here))
        return scores
    for some in _by_size(here, np.maximum(known.sizes, shown.sizes)):
        scores[some] = score.of(known.take(some), shown.take(some))
    return scores


def _by_size(targets: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Targets in groups of about equal bag size, so that padding takes little memory."""
    order = targets[np.argsort(sizes[targets], kind="stable")]
    while len(order):
        cells = np.maximum(sizes[order], 1) * np.arange(1, len(order) + 1)
        together = max(int(np.searchsorted(cells, _CELLS_AT_A_TIME)), 1)
        yield order[:together]
        order = order[together:]
