"""Strategy: score all pairs in numpy, without a compiled kernel, where there are few.

Scoring a thousand people for a thousand targets takes as long as loading a kernel that is compiled
already, and a hundredth of the time of compiling one. Scores are whole numbers, so the answers are
the same. See decision 23.
"""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import Matches, Wanted, join_targets, no_matches
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import listen
from reidrisk.core.rows import Kind
from reidrisk.engines.cost_model import Search
from reidrisk.engines.protocol import Engine, rows_at_a_time
from reidrisk.engines.strategies.definition import Truth, matches_among
from reidrisk.engines.true_scores import true_scores
from reidrisk.scores import TokenPairWeights, TokenWeights
from reidrisk.scores.protocol import by_slot

MOST_CELLS = 1 << 24
"""Tokens of known rows times targets: about a tenth of a second."""

_SCORES_AT_A_TIME = 1 << 18  # temporary arrays of 2 MiB

Scores = NDArray[np.int64]


def fits(observations: Observations) -> bool:
    """Whether there is so little to compare that loading a kernel would take longer."""
    known = observations.known
    if known.kind is Kind.BAGS:  # there are no slots to compare
        return False
    cells = known.users * known.slots * observations.set_size
    return bool(cells * len(observations.anonymous) <= MOST_CELLS)


def search(
    observations: Observations,
    score: TokenWeights | TokenPairWeights,
    wanted: Wanted,
    engine: Engine,
) -> Matches:
    """Score every known row for every target, many targets at once."""
    truth = Truth(observations.truth, true_scores(observations, score))
    shown, first = np.asarray(observations.anonymous), observations.first
    listing = wanted.by_listing

    def work(blocks: Blocks) -> Matches:
        found = no_matches(len(shown), listing)
        for start, rows in blocks:
            numbers = np.arange(len(rows)) + first + start
            step, parts = max(_SCORES_AT_A_TIME // len(rows), 1), []
            for target in range(0, len(shown), step):
                listen()
                some = slice(target, target + step)
                scores = _scores(rows, shown[some], score)
                parts.append(matches_among(numbers, scores, truth.of(some), listing))
            found = found.merge(join_targets(parts))
        return found

    return engine.reduce(
        observations.known,
        work,
        Matches.merge,
        most=rows_at_a_time(observations, MOST_CELLS),
        pairs=len(shown),
    ).with_second(wanted)


def _scores(known: Tokens, shown: Tokens, score: TokenWeights | TokenPairWeights) -> Scores:
    """Scores of all known rows for each target: targets x rows, slot by slot."""
    slots = shown.shape[1]
    scores = np.zeros((len(shown), len(known)), np.int64)
    if isinstance(score, TokenPairWeights):
        for slot, gains in enumerate(by_slot(score.table, slots)):
            # A gap, -1, indexes the last row or column, which holds the gains of gaps.
            scores += gains[shown[:, slot, None], known[None, :, slot]]
        return scores
    sets = known.reshape(len(known), slots, -1)
    match, mismatch, known_gap = score.gains(shown)
    for slot in range(slots):
        column = slice(slot, slot + 1)
        agrees = (sets[None, :, slot] == shown[:, slot, None, None]).any(axis=2)
        gains = np.where(agrees, match[:, column], mismatch[:, column])
        empty = (sets[:, slot] == MISSING).all(axis=1)
        gains[:, empty] = known_gap[:, column]
        scores += gains
    return scores


PLAN = (Search((TokenWeights, TokenPairWeights), search, whenever=fits),)
