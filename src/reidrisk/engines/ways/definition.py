"""The definition, block by block: for scores of which nothing is known but themselves."""

import operator

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.engine import Blocks, Engine, rows_at_a_time
from reidrisk.engines.truth import true_scores
from reidrisk.matches import Matches, first_by_score, no_matches
from reidrisk.observations import Observations, Tokens
from reidrisk.scores import GRID, Score
from reidrisk.scores.score import log_sum

_ROWS_AT_A_TIME = 1 << 14
_TOKEN_PAIRS = 1 << 30

Floats = NDArray[np.float64]


def search(observations: Observations, score: Score, list_best: int, engine: Engine) -> Matches:
    """Score everyone for every target."""
    targets = len(observations.anonymous)

    def work(blocks: Blocks) -> Matches:
        found = no_matches(targets, list_best)
        for start, rows in blocks:
            for first in range(0, len(rows), _ROWS_AT_A_TIME):
                some, place = rows[first : first + _ROWS_AT_A_TIME], start + first
                found = found.merge(matches_among(some, place, observations, score, list_best))
        return found

    found = engine.reduce(
        observations.known,
        work,
        Matches.merge,
        most=rows_at_a_time(observations, _TOKEN_PAIRS),
        pairs=targets,
    )
    truth = true_scores(observations, score)
    return Matches(found.best, found.ties, truth, found.best_rows, found.best_scores)


def matches_among(
    known: Tokens, start: int, observations: Observations, score: Score, list_best: int
) -> Matches:
    """The matches of all targets among some known rows, without the true score."""
    numbers = np.arange(len(known)) + observations.first + start
    found = no_matches(len(observations.anonymous), list_best)
    for target, shown in enumerate(observations.anonymous):
        scores = score.of(known, shown)
        best = found.best[target] = scores.max()
        found.ties[target] = (scores == best).sum()
        rows, listed = first_by_score(numbers, scores, list_best)
        found.best_rows[target, : len(rows)] = rows
        found.best_scores[target, : len(rows)] = listed
    return found


def evidence(observations: Observations, score: Score, engine: Engine) -> Floats:
    """Add up everyone for every target."""

    def work(blocks: Blocks) -> dict[int, Floats]:
        return {start: log_sums(rows, observations, score) for start, rows in blocks}

    parts = engine.reduce(
        observations.known,
        work,
        operator.or_,
        step=_ROWS_AT_A_TIME,
        pairs=len(observations.anonymous),
    )
    return np.asarray(np.logaddexp.reduce([parts[start] for start in sorted(parts)], axis=0))


def log_sums(known: Tokens, observations: Observations, score: Score) -> Floats:
    """For each target, the logarithm of the sum of exp(score) over some known rows."""
    sums = np.empty(len(observations.anonymous))
    for target, shown in enumerate(observations.anonymous):
        sums[target] = log_sum(score.of(known, shown) / GRID, axis=0)
    return sums
