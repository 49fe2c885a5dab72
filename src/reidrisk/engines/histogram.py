"""For each target, how many known rows match it in which slots.

Token weights see a known row only through the set of slots in which it matches. So the counts of
these sets (patterns) answer every search for the best row, all ties, every prefix of the slots, and
sums over all users; the users themselves are no longer needed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.kernels import (
    SlotGains,
    best_patterns,
    rank_patterns,
    second_patterns,
    sum_patterns,
)
from reidrisk.engines.truth import true_scores
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.matches import ABSENT, UNCOUNTED, Counts, Matches, Wanted, up_to_rank
from reidrisk.observations import Observations
from reidrisk.rows import Kind
from reidrisk.scores import GRID, TokenWeights

MOST_SLOTS = 12


@dataclass(frozen=True, eq=False, slots=True)
class PatternHistogram:
    """Counts of known rows by match pattern.

    Args:
        counts: `counts[group, target, pattern]`; bit s of the pattern says that slot s matches.
        missing: For each group of known rows the slots they all miss, as bits. One group, 0, if
            nothing is missing.
        observations: What was counted.
    """

    counts: NDArray[np.int64]
    missing: NDArray[np.int64]
    observations: Observations

    def search(
        self,
        score: TokenWeights,
        *,
        slots: int | None = None,
        ranks: int | None = None,
        second: bool = False,
    ) -> Matches:
        """The matches of all targets, after the first `slots` slots.

        All ranks are known here; `ranks` gives the answer of a search that counts fewer.
        """
        seen, ranks = self._prefix(score, slots), Wanted(ranks=ranks).ranks
        best, ties = self._best(seen, score)
        nobody = np.empty((len(best), 0), np.int64)
        true_score = true_scores(seen, score)
        above, level = self._around(seen, score, true_score)
        above, level = up_to_rank(above, level, ranks)
        runner_up = self._second(seen, score, best, ties) if second else None
        return Matches(best, ties, true_score, nobody, nobody, above, level, ranks, runner_up)

    def evidence(self, score: TokenWeights, *, slots: int | None = None) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score), for each target.

        With gains that are log-likelihoods, `exp(score - evidence)` is a row's posterior
        probability under equal priors.
        """
        seen = self._prefix(score, slots)
        best, _ = self._best(seen, score)
        gains = SlotGains(*score.gains(seen.anonymous))
        sums = np.zeros(len(best))
        for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
            sum_patterns(counts, missing, gains, best, sums)
        return best / GRID + np.log(sums)

    def _prefix(self, score: TokenWeights, slots: int | None) -> Observations:
        seen = self.observations.prefix(self.observations.slots if slots is None else slots)
        score.check(seen)
        return seen

    def _best(
        self, seen: Observations, score: TokenWeights
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        gains = SlotGains(*score.gains(seen.anonymous))
        best = np.full(len(gains.match), ABSENT)
        ties = np.zeros(len(gains.match), np.int64)
        for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
            best_patterns(counts, missing, gains, best, ties)
        return best, ties

    def _second(
        self, seen: Observations, score: TokenWeights, best: Counts, ties: Counts
    ) -> Counts:
        gains = SlotGains(*score.gains(seen.anonymous))
        second = np.full(len(best), ABSENT)
        for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
            second_patterns(counts, missing, gains, best, ties, second)
        return second

    def _around(self, seen: Observations, score: TokenWeights, true_score: Counts) -> list[Counts]:
        """How many rows rate above the true score, and how many others level with it."""
        gains = SlotGains(*score.gains(seen.anonymous))
        above, level = np.zeros(len(true_score), np.int64), np.full(len(true_score), -1)
        for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
            rank_patterns(counts, missing, gains, true_score, above, level)
        return [np.where(true_score == ABSENT, UNCOUNTED, each) for each in (above, level)]


def check_slots(observations: Observations) -> None:
    """Refuse rows with too many slots to count every pattern, and rows without slots."""
    if observations.known.kind is Kind.BAGS:
        raise InvalidInput("known holds bags of tokens: without slots there are no match patterns")
    if observations.slots > MOST_SLOTS:
        raise TooLarge(
            f"{observations.slots} slots have 2**{observations.slots} match patterns, too many to "
            f"count for every target; use search, or prefix({MOST_SLOTS})"
        )
