"""The definition, block by block: for scores of which nothing is known but themselves."""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.engine import Engine, rows_at_a_time
from reidrisk.engines.truth import true_scores
from reidrisk.matches import (
    ABSENT,
    UNCOUNTED,
    Matches,
    Wanted,
    first_by_score,
    no_matches,
    up_to_rank,
)
from reidrisk.observations import Observations, Tokens
from reidrisk.parallel import listen
from reidrisk.passes import Blocks, unit
from reidrisk.scores import GRID, Score
from reidrisk.scores.score import log_sum

_ROWS_AT_A_TIME = 1 << 14
_TOKEN_PAIRS = 1 << 30

Floats = NDArray[np.float64]


def search(observations: Observations, score: Score, wanted: Wanted, engine: Engine) -> Matches:
    """Score everyone for every target."""
    truth = Truth(observations.truth, true_scores(observations, score))
    targets, listing = len(observations.anonymous), wanted.by_listing

    def work(blocks: Blocks) -> Matches:
        found = no_matches(targets, listing)
        for start, rows in blocks:
            for first in range(0, len(rows), _ROWS_AT_A_TIME):
                some = rows[first : first + _ROWS_AT_A_TIME]
                numbers = np.arange(len(some)) + observations.first + start + first
                scores = (score.of(some, shown) for shown in _each(observations))
                found = found.merge(matches_among(numbers, scores, truth, listing))
        return found

    return engine.reduce(
        observations.known,
        work,
        Matches.merge,
        most=rows_at_a_time(observations, _TOKEN_PAIRS),
        pairs=targets,
    ).with_second(wanted)


class Truth(NamedTuple):
    """The true row of each target, and its score."""

    row: NDArray[np.int64]
    score: NDArray[np.int64]


def matches_among(
    numbers: NDArray[np.int64],
    scores_of_targets: Iterable[NDArray[np.int64]],
    truth: Truth,
    wanted: Wanted,
) -> Matches:
    """The matches of all targets among some known rows, given the scores of these."""
    found = no_matches(len(truth.row), wanted)
    above, level = np.full((2, len(truth.row)), UNCOUNTED)
    for target, scores in enumerate(scores_of_targets):
        best = found.best[target] = scores.max()
        found.ties[target] = (scores == best).sum()
        rows, listed = first_by_score(numbers, scores, wanted.list_best)
        found.best_rows[target, : len(rows)] = rows
        found.best_scores[target, : len(rows)] = listed
        if truth.score[target] != ABSENT:
            others = scores[numbers != truth.row[target]]
            above[target] = (others > truth.score[target]).sum()
            level[target] = (others == truth.score[target]).sum()
    above, level = up_to_rank(above, level, wanted.ranks)
    return replace(found, true_score=truth.score, above=above, level=level)


def evidence(observations: Observations, score: Score, engine: Engine) -> Floats:
    """Add up everyone for every target."""

    def work(blocks: Blocks) -> dict[int, Floats]:
        return {start: log_sums(rows, observations, score) for start, rows in blocks}

    parts = engine.reduce(
        observations.known,
        work,
        operator.or_,
        step=min(_ROWS_AT_A_TIME, unit(observations.known.users)),
        pairs=len(observations.anonymous),
    )
    return np.asarray(np.logaddexp.reduce([parts[start] for start in sorted(parts)], axis=0))


def log_sums(known: Tokens, observations: Observations, score: Score) -> Floats:
    """For each target, the logarithm of the sum of exp(score) over some known rows."""
    sums = np.empty(len(observations.anonymous))
    for target, shown in enumerate(_each(observations)):
        sums[target] = log_sum(score.of(known, shown) / GRID, axis=0)
    return sums


def _each(observations: Observations) -> Iterator[Tokens]:
    """What is shown of each target; all of them take long."""
    for shown in observations.anonymous:
        listen()
        yield shown
