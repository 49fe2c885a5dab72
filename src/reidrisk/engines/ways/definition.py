"""The definition, block by block: for scores of which nothing is known but themselves."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.crew import Crew
from reidrisk.engines.truth import true_scores
from reidrisk.matches import ABSENT, NOBODY, Matches, first_by_score, merge_all
from reidrisk.observations import Observations, Tokens
from reidrisk.scores import GRID, Score

_ROWS_AT_A_TIME = 1 << 14
_TOKEN_PAIRS = 1 << 30


def search_by_definition(observations: Observations, score: Score, top: int, crew: Crew) -> Matches:
    """Score everyone for every target."""
    truth = true_scores(observations, score)

    def work(blocks: Iterator[tuple[int, int]]) -> Matches:
        found = [
            matches_of(observations.rows(first, last), observations.first + first, observations,
                       score, top)
            for start, stop in blocks
            for first, last in _steps(start, stop)
        ]  # fmt: skip
        return merge_all(found)

    found = merge_all(crew.over_rows(observations, work, token_pairs=_TOKEN_PAIRS))
    return Matches(found.best, found.ties, truth, found.top_rows, found.top_scores)


def matches_of(
    known: Tokens, first: int, observations: Observations, score: Score, top: int
) -> Matches:
    """The matches of all targets among some known rows, without the truth."""
    rows = np.arange(len(known)) + first
    targets = len(observations.anonymous)
    best, ties = np.empty(targets, np.int64), np.empty(targets, np.int64)
    top_rows = np.full((targets, top), NOBODY, np.int64)
    top_scores = np.full((targets, top), ABSENT, np.int64)
    for target, shown in enumerate(observations.anonymous):
        scores = score.of(known, shown)
        best[target] = scores.max()
        ties[target] = (scores == best[target]).sum()
        listed = first_by_score(rows, scores, top)
        top_rows[target, : len(rows)], top_scores[target, : len(rows)] = listed
    return Matches(best, ties, np.full(targets, ABSENT), top_rows, top_scores)


def evidence_by_definition(
    observations: Observations, score: Score, crew: Crew
) -> NDArray[np.float64]:
    """Add up everyone for every target."""

    def work(start: int, stop: int) -> NDArray[np.float64]:
        return log_sums_of(observations.rows(start, stop), observations, score)

    targets = len(observations.anonymous)
    parts = crew.in_steps(work, len(observations.known), _ROWS_AT_A_TIME, targets)
    return np.asarray(np.logaddexp.reduce(parts, axis=0))


def log_sums_of(known: Tokens, observations: Observations, score: Score) -> NDArray[np.float64]:
    """For each target, the logarithm of the sum of exp(score) over some known rows."""
    sums = np.empty(len(observations.anonymous))
    for target, shown in enumerate(observations.anonymous):
        nats = score.of(known, shown) / GRID
        sums[target] = nats.max() + np.log(np.exp(nats - nats.max()).sum())
    return sums


def _steps(start: int, stop: int) -> Iterator[tuple[int, int]]:
    for first in range(start, stop, _ROWS_AT_A_TIME):
        yield first, min(first + _ROWS_AT_A_TIME, stop)
