"""Searching for the best rows without scoring all: what such searches have in common."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import ABSENT, NOBODY, UNCOUNTED, Matches, Wanted, up_to_rank
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import listen
from reidrisk.engines.kernels_search import ROWS_PER_SCAN, Kept
from reidrisk.engines.protocol import Engine, rows_at_a_time
from reidrisk.engines.true_scores import true_scores
from reidrisk.scores import Score

_TOKEN_PAIRS = 1 << 33
_FIRST_SCAN = 32

Look: TypeAlias = Callable[[Blocks, Kept], None]


def keep(
    observations: Observations, score: Score, wanted: Wanted, engine: Engine, look: Look
) -> Matches:
    """Let every piece of work keep what it finds, and merge."""
    true_score, listing = true_scores(observations, score), wanted.by_listing

    def work(blocks: Blocks) -> Matches:
        kept = _nothing_kept(observations, true_score, listing)
        look(blocks, kept)
        return _found(kept, true_score, wanted.ranks)

    return engine.reduce(
        observations.known,
        work,
        Matches.merge,
        most=rows_at_a_time(observations, _TOKEN_PAIRS),
        pairs=len(true_score),
    ).with_second(wanted)


def _nothing_kept(
    observations: Observations, true_score: NDArray[np.int64], wanted: Wanted
) -> Kept:
    """The true score is a score to beat before anybody was seen, nobody having it yet.

    Where it is not known there is nothing to count, as if enough rows had been found above it.
    """
    shape = (len(true_score), wanted.list_best)
    return Kept(
        best=true_score.copy(),
        ties=np.zeros(len(true_score), np.int64),
        best_rows=np.full(shape, NOBODY),
        best_scores=np.full(shape, ABSENT),
        true_row=observations.truth.copy(),  # as every kernel is compiled for: not read-only
        true_score=true_score,
        above=np.where(true_score == ABSENT, wanted.most_above, 0),
        level=np.zeros(len(true_score), np.int64),
        most_above=wanted.most_above,
    )


def _found(kept: Kept, true_score: NDArray[np.int64], ranks: int | None) -> Matches:
    above, level = up_to_rank(kept.above, kept.level, ranks)
    above, level = (np.where(true_score == ABSENT, UNCOUNTED, each) for each in (above, level))
    listed = kept.best_rows, kept.best_scores
    return Matches(kept.best, kept.ties, true_score, *listed, above, level, ranks)


def few_rows_first(blocks: Blocks) -> Iterator[tuple[int, Tokens]]:
    """Cut blocks for scans: a few rows first, since a scan prunes by what was found before it."""
    step = _FIRST_SCAN
    for start, rows in blocks:
        first = 0
        while first < len(rows):
            listen()
            yield start + first, rows[first : first + step]
            first += step
            step = min(2 * step, ROWS_PER_SCAN)
