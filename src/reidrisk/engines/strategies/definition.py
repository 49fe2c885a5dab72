"""Strategy: any score, by its definition, block by block."""

import operator
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.matches import (
    ABSENT,
    UNCOUNTED,
    Matches,
    Wanted,
    first_by_score,
    join_targets,
    no_matches,
    up_to_rank,
)
from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import listen
from reidrisk.engines.cost_model import Evidence, Search
from reidrisk.engines.protocol import Engine, rows_at_a_time
from reidrisk.engines.true_scores import true_scores
from reidrisk.scores import Score
from reidrisk.scores.protocol import in_units, log_sum

# Rows that are scored at a time: sums of floats are added in this order everywhere, so the result
# of `evidence` does not depend on threads.
_ROWS_AT_A_TIME = 1 << 14
_TOKEN_PAIRS = 1 << 30  # in one block at most: this strategy is slow

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def search(observations: Observations, score: Score, wanted: Wanted, engine: Engine) -> Matches:
    """Score every known row for every target."""
    truth = Truth(observations.truth, true_scores(observations, score))
    targets, listing = len(observations.anonymous), wanted.by_listing

    def work(blocks: Blocks) -> Matches:
        found = no_matches(targets, listing)
        for start, rows in blocks:
            for first in range(0, len(rows), _ROWS_AT_A_TIME):
                some = rows[first : first + _ROWS_AT_A_TIME]
                numbers = np.arange(len(some)) + observations.first + start + first
                parts = [
                    matches_among(numbers, score.of(some, shown)[None], truth.of(one), listing)
                    for one, shown in _each(observations)
                ]
                found = found.merge(join_targets(parts))
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

    row: Whole
    score: Whole

    def of(self, targets: slice) -> "Truth":
        """The same for some of the targets."""
        return Truth(self.row[targets], self.score[targets])


def matches_among(numbers: Whole, scores: Whole, truth: Truth, wanted: Wanted) -> Matches:
    """The matches of targets among some known rows, given all scores: targets x rows.

    Args:
        numbers: Numbers of the known rows.
        scores: Of all pairs, targets x rows.
        truth: The true row of each target, and its score.
        wanted: What is to be found beside the best score.
    """
    best = scores.max(axis=1)
    others = numbers != truth.row[:, None]
    here = truth.score != ABSENT
    above, level = (
        np.where(here, (others & than).sum(axis=1), UNCOUNTED)
        for than in (scores > truth.score[:, None], scores == truth.score[:, None])
    )
    above, level = up_to_rank(above, level, wanted.ranks)
    found = replace(
        no_matches(len(best), wanted), best=best, ties=(scores == best[:, None]).sum(axis=1),
        true_score=truth.score, above=above, level=level,
    )  # fmt: skip
    if wanted.list_best:  # sorting is slow, and mostly nobody asks for a list
        rows, listed = first_by_score(
            np.broadcast_to(numbers, scores.shape), scores, wanted.list_best
        )
        found.best_rows[:, : rows.shape[1]], found.best_scores[:, : rows.shape[1]] = rows, listed
    return found


def evidence(observations: Observations, score: Score, engine: Engine) -> Floats:
    """Add up exp(score) of every known row for every target."""

    def work(blocks: Blocks) -> dict[int, Floats]:
        return {start: _log_sums(rows, observations, score) for start, rows in blocks}

    parts = engine.reduce(
        observations.known,
        work,
        operator.or_,
        step=min(_ROWS_AT_A_TIME, unit(observations.known.users)),
        pairs=len(observations.anonymous),
    )
    return np.asarray(np.logaddexp.reduce([parts[start] for start in sorted(parts)], axis=0))


def logarithm(
    sums: Floats,
    least: float,
    scale: Floats,
    observations: Observations,
    score: Score,
    engine: Engine,
) -> Floats:
    """Logarithms of sums of a faster strategy; those that underflowed are made by definition.

    Args:
        sums: Of each target, relative to its scale.
        least: Lower sums are not to be trusted.
        scale: Logarithm of what each sum is relative to.
        observations: Who is compared with whom.
        score: How well a known row explains an anonymous one.
        engine: Goes over the known rows.
    """
    evidence_of = scale + np.log(np.maximum(sums, least))
    lost = np.flatnonzero(sums < least)
    if len(lost):
        evidence_of[lost] = evidence(observations.only(lost), score, engine)
    return np.asarray(evidence_of)


def _log_sums(known: Tokens, observations: Observations, score: Score) -> Floats:
    """For each target, the logarithm of the sum of exp(score) over some known rows."""
    sums = np.empty(len(observations.anonymous))
    for one, shown in _each(observations):
        sums[one] = log_sum(in_units(score, score.of(known, shown)), axis=0)
    return sums


def _each(observations: Observations) -> Iterator[tuple[slice, Tokens]]:
    """The place of each target and what it shows; between two targets an interrupt is heard."""
    for target, shown in enumerate(observations.anonymous):
        listen()
        yield slice(target, target + 1), shown


PLAN = (Search((), search), Evidence((), evidence))
