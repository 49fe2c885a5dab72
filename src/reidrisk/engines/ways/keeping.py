"""Searching for the best rows without scoring all: what such searches have in common."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.engine import Blocks, Engine, rows_at_a_time
from reidrisk.engines.kernels_search import ROWS_PER_SCAN, Kept
from reidrisk.engines.truth import true_scores
from reidrisk.matches import ABSENT, NOBODY, Matches
from reidrisk.observations import Observations, Tokens
from reidrisk.scores import Score

_TOKEN_PAIRS = 1 << 33
_FIRST_SCAN = 32

Look: TypeAlias = Callable[[Blocks, Kept], None]


def keep(
    observations: Observations, score: Score, list_best: int, engine: Engine, look: Look
) -> Matches:
    """Let every piece of work keep what it finds, and merge."""
    truth = true_scores(observations, score)

    def work(blocks: Blocks) -> Matches:
        kept = _nothing_kept(truth, list_best)
        look(blocks, kept)
        return Matches(kept.best, kept.ties, truth, kept.best_rows, kept.best_scores)

    return engine.reduce(
        observations.known,
        work,
        Matches.merge,
        most=rows_at_a_time(observations, _TOKEN_PAIRS),
        pairs=len(truth),
    )


def _nothing_kept(truth: NDArray[np.int64], list_best: int) -> Kept:
    """The true score is a score to beat before anybody was seen, nobody having it yet."""
    shape = (len(truth), list_best)
    none = np.zeros(len(truth), np.int64)
    return Kept(truth.copy(), none, np.full(shape, NOBODY), np.full(shape, ABSENT))


def few_rows_first(blocks: Blocks) -> Iterator[tuple[int, Tokens]]:
    """Cut blocks for scans: a few rows first, since a scan prunes by what was found before it."""
    step = _FIRST_SCAN
    for start, rows in blocks:
        first = 0
        while first < len(rows):
            yield start + first, rows[first : first + step]
            first += step
            step = min(2 * step, ROWS_PER_SCAN)
