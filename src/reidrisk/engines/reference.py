"""The definition: compare every target with everyone, in plain numpy. Slow, to be read."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.histogram import PatternHistogram, check_slots
from reidrisk.engines.truth import true_scores
from reidrisk.matches import ABSENT, NOBODY, Matches, check_top, first_by_score
from reidrisk.observations import MISSING, SETS, Observations
from reidrisk.scores import GRID, Score


class ReferenceEngine:
    """An engine that asks nothing of the reader but numpy; every other one must equal it."""

    def search(self, observations: Observations, score: Score, *, top: int = 0) -> Matches:
        """Find the best score, its ties and the true score of every target.

        Args:
            observations: Who is compared with whom.
            score: How well a known row explains an anonymous one.
            top: Also list this many of the best rows.
        """
        score.check(observations)
        check_top(top)
        rows = np.arange(len(observations.known)) + observations.first
        best, ties, top_rows, top_scores = [], [], [], []
        for shown in observations.anonymous:
            scores = score.of(observations.known, shown)
            best.append(scores.max())
            ties.append((scores == scores.max()).sum())
            few = top - len(rows)
            first = first_by_score(rows, scores, top)
            top_rows.append(np.pad(first[0], (0, max(few, 0)), constant_values=NOBODY))
            top_scores.append(np.pad(first[1], (0, max(few, 0)), constant_values=ABSENT))
        return Matches(
            np.array(best),
            np.array(ties),
            true_scores(observations, score),
            np.array(top_rows, dtype=np.int64),
            np.array(top_scores, dtype=np.int64),
        )

    def curves(
        self, observations: Observations, scores: Sequence[Score], slots: Sequence[int]
    ) -> list[dict[int, Matches]]:
        """For each score, the search after each number of slots."""
        return [
            {count: self.search(observations.prefix(count), score) for count in slots}
            for score in scores
        ]

    def credit(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """For each target, the chance of naming the right user."""
        return self.search(observations, score).credit

    def evidence(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score in nats), for each target."""
        score.check(observations)
        evidence = []
        for shown in observations.anonymous:
            nats = score.of(observations.known, shown) / GRID
            evidence.append(nats.max() + np.log(np.exp(nats - nats.max()).sum()))
        return np.array(evidence)

    def histogram(self, observations: Observations) -> PatternHistogram:
        """For each target, the number of known rows by the set of slots that match."""
        check_slots(observations)
        known, bits = observations.known, 1 << np.arange(observations.slots)
        known = known if known.ndim == SETS else known[:, :, None]
        missing = (known == MISSING).all(axis=2) @ bits
        groups = np.unique(missing)
        counts = np.zeros((len(groups), len(observations.anonymous), 1 << observations.slots), int)
        for target, shown in enumerate(observations.anonymous):
            agrees = (known == shown[:, None]).any(axis=2) & (shown != MISSING)
            place = np.searchsorted(groups, missing)
            np.add.at(counts, (place, target, agrees @ bits), 1)
        return PatternHistogram(counts, groups, observations)
