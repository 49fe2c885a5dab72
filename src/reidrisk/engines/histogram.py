"""For each target, how many known rows match it in which slots.

Token weights see a known row only through the set of slots in which it matches. So the counts of
these sets (patterns) answer every search for the best row, all ties, every prefix of the slots, and
sums over all users; the users themselves are no longer needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.truth import true_scores
from reidrisk.errors import TooLarge
from reidrisk.matches import ABSENT, Matches, join_targets
from reidrisk.observations import Observations
from reidrisk.scores import GRID, Gains, TokenWeights

MOST_SLOTS = 12

_CELLS_AT_A_TIME = 1 << 20


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

    def search(self, score: TokenWeights, *, slots: int | None = None) -> Matches:
        """The matches of all targets, after the first `slots` slots."""
        seen = self._prefix(score, slots)
        parts = []
        for targets, counts, scores in self._blocks(seen, score):
            present = np.where(counts > 0, scores, ABSENT)
            best = present.max(axis=(0, 2))
            ties = np.where(present == best[:, None], counts, 0).sum(axis=(0, 2))
            nobody = np.empty((len(best), 0), np.int64)
            truth = true_scores(seen.only(targets), score)
            parts.append(Matches(best, ties, truth, nobody, nobody))
        return join_targets(parts)

    def evidence(self, score: TokenWeights, *, slots: int | None = None) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score), for each target.

        With gains that are log-likelihoods, `exp(score - evidence)` is a row's posterior
        probability under equal priors.
        """
        seen = self._prefix(score, slots)
        parts = []
        for _, counts, scores in self._blocks(seen, score):
            best = np.where(counts > 0, scores, ABSENT).max(axis=(0, 2))
            terms = counts * np.exp(np.minimum(scores - best[:, None], 0) / GRID)
            parts.append(best / GRID + np.log(terms.sum(axis=(0, 2))))
        return np.concatenate(parts)

    def _prefix(self, score: TokenWeights, slots: int | None) -> Observations:
        seen = self.observations.prefix(self.observations.slots if slots is None else slots)
        score.check(seen)
        return seen

    def _blocks(
        self, seen: Observations, score: TokenWeights
    ) -> Iterator[tuple[slice, NDArray[np.int64], Gains]]:
        """Targets a few at a time, with counts and scores by group, target and pattern."""
        groups, targets, patterns = self.counts.shape
        step = max(_CELLS_AT_A_TIME // (groups * patterns), 1)
        short = 1 << seen.slots
        for start in range(0, targets, step):
            block = slice(start, min(start + step, targets))
            counts = self.counts[:, block].reshape(groups, -1, patterns // short, short).sum(axis=2)
            match, mismatch = score.gains(seen.anonymous[block])
            scores = [pattern_scores(match, mismatch, int(group)) for group in self.missing]
            yield block, counts, np.stack(scores)


def pattern_scores(match: Gains, mismatch: Gains, missing: int) -> Gains:
    """The score of each pattern, targets x 2**slots, for known rows that miss these slots."""
    scores = np.zeros((len(match), 1), np.int64)
    for slot in range(match.shape[1]):
        seen = not missing >> slot & 1
        without = scores + mismatch[:, slot, None] * seen
        scores = np.hstack([without, scores + match[:, slot, None]])
    return scores


def check_slots(observations: Observations) -> None:
    """Refuse rows with too many slots to count every pattern."""
    if observations.slots > MOST_SLOTS:
        raise TooLarge(
            f"{observations.slots} slots have 2**{observations.slots} match patterns, too many to "
            f"count for every target; use search, or prefix({MOST_SLOTS})"
        )
