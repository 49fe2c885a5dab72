"""For each target, how many known rows match it in which slots.

Token weights see a known row only through the set of slots in which it matches. So the counts of
these sets (patterns) answer every search for the best row, all ties, every prefix of the slots, and
sums over all users; the users themselves are no longer needed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import ABSENT, UNCOUNTED, Counts, Matches, Wanted, up_to_rank
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import Kind
from reidrisk.engines.kernels import Rated, SlotGains, rate_patterns, sum_patterns
from reidrisk.engines.true_scores import true_scores
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.scores import GRID, TokenWeights

MOST_SLOTS = 12

_TARGETS_AT_A_TIME = 2048


@dataclass(frozen=True, eq=False, slots=True)
class PatternHistogram:
    """Counts of known rows by match pattern.

    Args:
        counts: `counts[group, target, pattern]`; bit s of the pattern says that slot s matches.
        missing: For each group of known rows the slots they all miss, as bits. One group, 0, if
            nothing is missing.
        observations: What was counted.

    Example:
        >>> seen = rr.Observations([[3, 1], [0, 1], [2, 2]], [[0, 1]], truth=[1], tokens=4)
        >>> counted = rr.LocalEngine().histogram(seen)
        >>> counted.counts[0, 0].tolist()
        [1, 0, 1, 1]
        >>> counted.search(rr.TokenWeights(np.ones(4))).credit.tolist()
        [1.0]
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
        true_score = true_scores(seen, score)
        rated = self._rated(seen, score, true_score)
        nobody = np.empty((len(true_score), 0), np.int64)
        above, level = up_to_rank(
            np.where(true_score == ABSENT, UNCOUNTED, rated.above),
            np.where(true_score == ABSENT, UNCOUNTED, rated.level),
            ranks,
        )
        runner_up = np.where(rated.ties > 1, rated.best, rated.second) if second else None
        return Matches(
            rated.best, rated.ties, true_score, nobody, nobody, above, level, ranks, runner_up
        )

    def evidence(self, score: TokenWeights, *, slots: int | None = None) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score), for each target.

        With gains that are log-likelihoods, `exp(score - evidence)` is a row's posterior
        probability under equal priors.
        """
        seen = self._prefix(score, slots)
        best = self._rated(seen, score, np.full(len(seen.anonymous), ABSENT)).best
        gains = SlotGains(*score.gains(seen.anonymous))
        sums = np.zeros(len(best))
        for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
            sum_patterns(counts, missing, gains, best, sums)
        return best / GRID + np.log(sums)

    def _prefix(self, score: TokenWeights, slots: int | None) -> Observations:
        seen = self.observations.prefix(self.observations.slots if slots is None else slots)
        score.check(seen)
        return seen

    def _rated(self, seen: Observations, score: TokenWeights, true_score: Counts) -> Rated:
        """What all patterns come to; rows level with the truth are others than the true one."""
        gains = SlotGains(*score.gains(seen.anonymous))
        absent, none = np.full(len(true_score), ABSENT), np.zeros(len(true_score), np.int64)
        rated = Rated(absent, none, absent.copy(), none.copy(), none - 1)

        def rate(start: int, stop: int) -> None:
            mine = slice(start, stop)
            some = SlotGains._make(each[mine] for each in gains)
            found = Rated._make(each[mine] for each in rated)
            for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
                rate_patterns(counts[mine], missing, some, true_score[mine], found)

        over_blocks(rate, len(true_score), _TARGETS_AT_A_TIME)
        return rated


def check_slots(observations: Observations) -> None:
    """Refuse rows with too many slots to count every pattern, and rows without slots."""
    if observations.known.kind is Kind.BAGS:
        raise InvalidInput(
            "known holds bags of tokens: without slots there are no match patterns",
            code="wrong-kind-of-rows",
        )
    if observations.slots > MOST_SLOTS:
        raise TooLarge(
            f"{observations.slots} slots have 2**{observations.slots} match patterns, too many to "
            f"count for every target; use search, or prefix({MOST_SLOTS})",
            code="too-many-slots",
        )
