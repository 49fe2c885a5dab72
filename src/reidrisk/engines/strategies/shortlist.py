"""Strategy: list the best rows by one score, and rate these again by another.

Rows outside the list keep the order of the first search. So its ties, ranks and order hold for a
target whose list is empty; and its ranks hold for a target whose true row is not listed, because
all listed rows score above it under both scores.
"""

import operator
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, Elsewhere, over_rows
from reidrisk.core.matches import (
    ABSENT,
    NOBODY,
    Matches,
    Wanted,
    first_by_score,
    join_targets,
    up_to_rank,
)
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import over_queue
from reidrisk.engines import plan
from reidrisk.engines.cost_model import Evidence, Search
from reidrisk.engines.protocol import Engine
from reidrisk.engines.true_scores import true_scores
from reidrisk.scores.protocol import Gains, Score
from reidrisk.scores.shortlisted import Shortlisted, ShortlistedChances, listed, not_listed

_CELLS_AT_A_TIME = 1 << 22  # of the lists of targets: two arrays of 32 MiB
_PAIRS_AT_A_TIME = 1 << 17  # that are rated again at a time


def search(
    observations: Observations, score: Shortlisted, wanted: Wanted, engine: Engine
) -> Matches:
    """List the best rows of each target by the first score, and rate these again."""
    parts = []
    for some in _blocks(observations, score, wanted):
        found = plan.search(some, score.first, _to_list(score, wanted), engine)
        parts.append(_rated_again(some, score, wanted, found, engine.room.threads))
    return join_targets(parts)


def evidence(observations: Observations, score: Shortlisted, engine: Engine) -> NDArray[np.float64]:
    """Add up all known rows, listed or not."""
    return plan.evidence(observations, score.score, engine)


def _to_list(score: Shortlisted, wanted: Wanted) -> Wanted:
    """What the first search is to find: one row more than is kept.

    Rows that tie with the first one left out are left out too, so its score must be known.
    """
    return Wanted(max(score.keep_best + 1, wanted.by_listing.list_best), wanted.ranks)


def _blocks(
    observations: Observations, score: Shortlisted, wanted: Wanted
) -> Iterator[Observations]:
    """Targets in blocks whose lists fit into memory."""
    together = max(_CELLS_AT_A_TIME // _to_list(score, wanted).list_best, 1)
    for start in range(0, len(observations.anonymous), together):
        yield observations.only(slice(start, start + together))


def _rated_again(
    observations: Observations, score: Shortlisted, wanted: Wanted, found: Matches, threads: int
) -> Matches:
    """What a search with the shortlist finds, given what the first search found.

    Args:
        observations: Who is compared with whom.
        score: How well a known row explains an anonymous one.
        wanted: What is to be found beside the best score.
        found: What the first search found.
        threads: Pieces of work at a time.
    """
    # The best score that is not listed; ABSENT if all rows are, which every score exceeds.
    limit = found.best_scores[:, score.keep_best]
    inside = found.best_scores > limit[:, None]
    target, _ = np.nonzero(inside)
    scores = np.full(inside.shape, ABSENT)
    there = found.best_rows != NOBODY
    scores[there] = not_listed(found.best_scores[there])
    rows = found.best_rows[inside] - observations.first
    scores[inside] = listed(_rated(observations, score.score, rows, target, threads))
    any_inside = inside.any(axis=1)
    best = scores.max(axis=1)
    # Without a list, the first search counted the ties; they may be more than were listed.
    ties = np.where(any_inside, (scores == best[:, None]).sum(axis=1), found.ties)
    true_score, true_inside = _true_scores(observations, score, found, limit)
    others = inside & (found.best_rows != observations.truth[:, None])
    above = (others & (scores > true_score[:, None])).sum(axis=1)
    level = (others & (scores == true_score[:, None])).sum(axis=1)
    above, level = up_to_rank(above, level, wanted.ranks)
    best_rows, best_scores = first_by_score(found.best_rows, scores, wanted.by_listing.list_best)
    return Matches(
        best,
        ties,
        true_score,
        best_rows,
        best_scores,
        np.where(true_inside, above, found.above),
        np.where(true_inside, level, found.level),
        wanted.ranks,
    ).with_second(wanted)


def _rated(
    observations: Observations,
    score: Score,
    rows: NDArray[np.int64],
    target: NDArray[np.int64],
    threads: int,
) -> Gains:
    """Scores of known rows, each for its target."""
    if isinstance(observations.known, Elsewhere):
        return _rated_there(observations, score, rows, target)
    scores = np.empty(len(rows), np.int64)

    def work(starts: Iterator[int]) -> None:
        for start in starts:
            some = slice(start, start + _PAIRS_AT_A_TIME)
            known = observations.known.take(rows[some])
            scores[some] = score.of(known, observations.anonymous.take(target[some]))

    if len(rows):
        over_queue(work, range(0, len(rows), _PAIRS_AT_A_TIME), threads)
    return scores


def _rated_there(
    observations: Observations, score: Score, rows: NDArray[np.int64], target: NDArray[np.int64]
) -> Gains:
    """The same for rows on a cluster: in one pass, pairs are sent to the rows."""
    # Sorted, the pairs of a block of known rows are neighbours.
    order = np.argsort(rows, kind="stable")
    in_order, targets, shown = rows[order], target[order], observations.anonymous

    def work(blocks: Blocks) -> dict[int, Gains]:
        parts = {}
        for start, block in blocks:
            low, high = np.searchsorted(in_order, [start, start + len(block)]).tolist()
            parts[start] = np.empty(high - low, np.int64)
            for first in range(low, high, _PAIRS_AT_A_TIME):
                some = slice(first, min(first + _PAIRS_AT_A_TIME, high))
                known = block[in_order[some] - start]
                parts[start][first - low : some.stop - low] = score.of(
                    known, shown.take(targets[some])
                )
        return parts

    parts = over_rows(observations.known, work, operator.or_)
    scores = np.empty(len(rows), np.int64)
    scores[order] = np.concatenate([parts[start] for start in sorted(parts)])
    return scores


def _true_scores(
    observations: Observations, score: Shortlisted, found: Matches, limit: Gains
) -> tuple[Gains, NDArray[np.bool_]]:
    """The score of each true row, and whether it is listed."""
    inside = found.true_score > limit
    here = found.true_score != ABSENT
    scores = np.full(len(here), ABSENT)
    scores[here] = not_listed(found.true_score[here])
    scores[inside] = true_scores(observations, score)[inside]
    return scores, inside


_SCORES = (Shortlisted, ShortlistedChances)
PLAN = (Search(_SCORES, search), Evidence(_SCORES, evidence))
