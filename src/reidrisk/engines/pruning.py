"""Keep the best rows so far of each target, so that strategies can skip rows that cannot matter."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import ABSENT, NOBODY, UNCOUNTED, Matches, Wanted, up_to_rank
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import Array, Number, kernel, listen
from reidrisk.engines.bitmaps import ROWS_PER_SCAN
from reidrisk.engines.protocol import Engine, rows_at_a_time
from reidrisk.engines.true_scores import true_scores
from reidrisk.scores import Score

# Pairs of tokens in one block at most: a strategy that prunes may still have to score all pairs.
_TOKEN_PAIRS = 1 << 33
# Targets times slots that one call of a kernel works on: threads hear an interrupt between calls.
_TARGET_SLOTS = 1 << 17
# Rows of the first scan, which has little to prune by; the size doubles with each scan.
_FIRST_SCAN = 32


class Kept(NamedTuple):
    """What a search keeps of each target while it runs.

    Rows that score above the true row, and level with it, are counted until `most_above` are above.
    """

    best: NDArray[np.int64]
    ties: NDArray[np.int64]
    best_rows: NDArray[np.int64]
    best_scores: NDArray[np.int64]
    true_row: NDArray[np.int64]
    true_score: NDArray[np.int64]
    above: NDArray[np.int64]
    level: NDArray[np.int64]
    most_above: int


Look: TypeAlias = Callable[[Blocks, Kept], None]


def keep(
    observations: Observations,
    score: Score,
    wanted: Wanted,
    engine: Engine,
    look: Look,
    true_score: NDArray[np.int64] | None = None,
) -> Matches:
    """Search by a strategy that prunes: each thread keeps its best rows, and these are merged.

    Args:
        observations: Who is compared with whom.
        score: How well a known row explains an anonymous one.
        wanted: What is to be found beside the best score.
        engine: Goes over the known rows.
        look: Offers the rows of blocks to what is kept.
        true_score: The scores of the true rows, if the strategy has a faster way to them.
    """
    if true_score is None:
        true_score = true_scores(observations, score)
    listing = wanted.by_listing

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
    """What is kept before any row was seen.

    The true score is the score to beat from the start, with no ties yet: this prunes most rows even
    in the first block. A target without a true row has nothing to count, as if enough rows had been
    found above it.
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


def target_parts(observations: Observations) -> Iterator[slice]:
    """Targets in parts that one scan takes half a second for at most, even if all rows tie."""
    step = max(_TARGET_SLOTS // observations.slots, 1)
    for start in range(0, len(observations.anonymous), step):
        yield slice(start, start + step)


def some_kept(kept: Kept, part: slice) -> Kept:
    """What is kept of some of the targets, as views of the same arrays.

    Args:
        kept: What is kept of all targets.
        part: Which targets.
    """
    arrays: dict[str, Any] = {name: getattr(kept, name)[part] for name in Kept._fields[:-1]}
    return kept._replace(**arrays)


@kernel
def offer(kept: Kept, target: int, score: int, row: int) -> None:
    """Take a scored row into account."""
    if kept.above[target] < kept.most_above:
        if score > kept.true_score[target]:
            kept.above[target] += 1
        elif score == kept.true_score[target] and row != kept.true_row[target]:
            kept.level[target] += 1
    keep_best(kept, target, score, row)


@kernel
def keep_best(kept: Kept, target: int, score: int, row: int) -> None:
    """Keep a row that is one of the best so far; equal scores are listed by row number."""
    if score > kept.best[target]:
        kept.best[target] = score
        kept.ties[target] = 1
    elif score == kept.best[target]:
        kept.ties[target] += 1
    rows, scores = kept.best_rows, kept.best_scores
    place = rows.shape[1]
    while place > 0 and (
        score > scores[target, place - 1]
        or (score == scores[target, place - 1] and row < rows[target, place - 1])
    ):
        place -= 1
        if place + 1 < rows.shape[1]:
            rows[target, place + 1] = rows[target, place]
            scores[target, place + 1] = scores[target, place]
    if place < rows.shape[1]:
        rows[target, place], scores[target, place] = row, score


@kernel
def threshold(kept: Kept, target: int) -> Number:
    """The lowest score that still matters: rows below it change nothing that is kept."""
    lowest = lowest_kept(kept, target)
    if kept.above[target] < kept.most_above:
        return min(lowest, kept.true_score[target])
    return lowest


@kernel
def thresholds(kept: Kept, first: int, stop: int, lowest: Array) -> None:
    """The thresholds of some targets: a loop takes less than a call for each.

    Args:
        kept: What is kept of all targets.
        first: The first of them.
        stop: The one behind the last.
        lowest: Where to write them, by target.
    """
    listed = kept.best_scores.shape[1]
    for target in range(first, stop):
        score = kept.best_scores[target, listed - 1] if listed > 0 else kept.best[target]
        if kept.above[target] < kept.most_above and kept.true_score[target] < score:
            score = kept.true_score[target]
        lowest[target] = score


@kernel
def lowest_kept(kept: Kept, target: int) -> Number:
    """The lowest score that is one of the best."""
    listed = kept.best_scores.shape[1]
    return kept.best_scores[target, listed - 1] if listed > 0 else kept.best[target]
