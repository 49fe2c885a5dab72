"""The reference engine: compare every target with every known row, in plain numpy.

It is written to be read, not to be fast.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Merge, Result, Work
from reidrisk.core.matches import (
    ABSENT,
    NOBODY,
    UNCOUNTED,
    Matches,
    Wanted,
    first_by_score,
    up_to_rank,
)
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.rows import Rows
from reidrisk.engines.histogram import PatternHistogram, check_slots
from reidrisk.engines.protocol import TOKEN_PAIRS, Room
from reidrisk.engines.true_scores import true_scores
from reidrisk.releases.lazy_rows import LazyRows
from reidrisk.scores import Score
from reidrisk.scores.protocol import in_units
from reidrisk.scores.shortlisted import settled


class ReferenceEngine:
    """The engine that defines the answer, in plain numpy; every other one must equal it.

    Example:
        >>> people = rr.data.synthetic_topics(users=100, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> score = rr.TokenWeights(np.ones(40))
        >>> slow = rr.ReferenceEngine().search(seen, score)
        >>> bool((slow.ties == rr.LocalEngine().search(seen, score).ties).all())
        True
    """

    @property
    def room(self) -> Room:
        """One thread, and all the memory it wants."""
        return Room(threads=1, rows=1 << 62, memory=1 << 62)

    def hold(self, rows: Rows) -> Rows:
        """The rows in memory; lazy rows are made.

        Args:
            rows: Known rows.
        """
        return rows.held() if isinstance(rows, LazyRows) else rows

    def reduce(
        self,
        rows: Rows,
        work: Work[Result],
        merge: Merge[Result],
        *,
        step: int | None = None,
        most: int = TOKEN_PAIRS,
        pairs: int = 0,
    ) -> Result:
        """Call `work` once with all blocks, in order.

        Args:
            rows: Known rows.
            work: Called with some of the blocks.
            merge: Puts two results together.
            step: Rows in a block, exactly.
            most: Not used: without a step all rows are one block.
            pairs: Not used: nothing is reported.
        """
        # With a step, sums of floats are added in the same order as by every other engine.
        step = rows.users if step is None else step
        starts = range(0, rows.users, step)
        return work((start, rows.block(start, min(start + step, rows.users))) for start in starts)

    def search(
        self,
        observations: Observations,
        score: Score,
        *,
        list_best: int = 0,
        ranks: int | None = 1,
        second: bool = False,
    ) -> Matches:
        """Find the best score, its ties, the true score and its rank for every target.

        Args:
            observations: Who is compared with whom.
            score: How well a known row explains an anonymous one.
            list_best: Also list this many of the best rows.
            ranks: Count the rows above the truth up to this rank; None counts all.
            second: Also find the score of the second best row.
        """
        score.check(observations)
        score = settled(score, observations)
        ranks = Wanted(list_best, ranks).ranks
        known = observations.known.block(0, observations.known.users)
        rows = np.arange(len(known)) + observations.first
        true_score = true_scores(observations, score)
        best, ties, best_rows, best_scores, above, level = [], [], [], [], [], []
        runners_up = []
        for target, shown in enumerate(observations.anonymous):
            scores = score.of(known, shown)
            others = scores[rows != observations.truth[target]]
            is_here = bool(observations.true_is_here[target])
            # The true row itself is no rival: it counts neither above nor level.
            above.append((others > true_score[target]).sum() if is_here else UNCOUNTED)
            level.append((others == true_score[target]).sum() if is_here else UNCOUNTED)
            best.append(scores.max())
            ties.append((scores == scores.max()).sum())
            # The last entry is ABSENT, so the second best is third from the end.
            runners_up.append(np.append(np.sort(scores), ABSENT)[-3 if len(scores) > 1 else -1])
            few = max(list_best - len(rows), 0)
            first = first_by_score(rows, scores, list_best)
            best_rows.append(np.pad(first[0], (0, few), constant_values=NOBODY))
            best_scores.append(np.pad(first[1], (0, few), constant_values=ABSENT))
        return Matches(
            np.array(best),
            np.array(ties),
            true_score,
            np.array(best_rows, dtype=np.int64),
            np.array(best_scores, dtype=np.int64),
            *up_to_rank(np.array(above), np.array(level), ranks),
            ranks,
            np.array(runners_up) if second else None,
        )

    def curves(
        self,
        observations: Observations,
        scores: Sequence[Score],
        slots: Sequence[int],
        *,
        ranks: int | None = 1,
    ) -> list[dict[int, Matches]]:
        """For each score, the search after each number of slots.

        Args:
            observations: Who is compared with whom.
            scores: How well a known row explains an anonymous one, in several ways.
            slots: After how many slots to search.
            ranks: Count the rows above the truth up to this rank; None counts all.
        """
        return [
            {count: self.search(observations.prefix(count), score, ranks=ranks) for count in slots}
            for score in scores
        ]

    def credit(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """For each target, the chance of naming the right user.

        Args:
            observations: Who is compared with whom.
            score: How well a known row explains an anonymous one.
        """
        return self.search(observations, score).credit

    def evidence(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score in nats), for each target.

        Args:
            observations: Who is compared with whom.
            score: How well a known row explains an anonymous one.
        """
        score.check(observations)
        known = observations.known.block(0, observations.known.users)
        evidence = []
        for shown in observations.anonymous:
            nats = in_units(score, score.of(known, shown))
            evidence.append(nats.max() + np.log(np.exp(nats - nats.max()).sum()))
        return np.array(evidence)

    def histogram(self, observations: Observations) -> PatternHistogram:
        """For each target, the number of known rows by the set of slots that match.

        Args:
            observations: Who is compared with whom.
        """
        check_slots(observations)
        users, slots = observations.known.users, observations.slots
        known = observations.known.block(0, users).reshape(users, slots, -1)
        bits = 1 << np.arange(slots)
        missing = (known == MISSING).all(axis=2) @ bits
        groups = np.unique(missing)
        counts = np.zeros((len(groups), len(observations.anonymous), 1 << slots), int)
        for target, shown in enumerate(observations.anonymous):
            agrees = (known == shown[:, None]).any(axis=2) & (shown != MISSING)
            place = np.searchsorted(groups, missing)
            np.add.at(counts, (place, target, agrees @ bits), 1)
        return PatternHistogram(counts, groups, observations)
