"""Searches, curves, credit, evidence and counts, written once for all engines."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Merge, Result, Work
from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Rows
from reidrisk.engines import plan
from reidrisk.engines.histogram import PatternHistogram, check_slots
from reidrisk.engines.protocol import TOKEN_PAIRS, Engine, Room
from reidrisk.engines.true_scores import true_scores
from reidrisk.errors import InvalidInput
from reidrisk.scores import Score, TokenWeights

# Known rows that are searched for all targets before asking which targets are still open, and by
# what factor that number grows with each round.
_FIRST_ROWS, _GROWTH = 1 << 17, 8


class Searches:
    """The searches of every engine, written over `reduce`.

    An engine derives from it and provides `room` and `reduce`; or `begin` instead of `reduce`, if
    the passes of one question share something, such as progress.

    Example:
        >>> class InOneBlock(rr.engines.Searches):
        ...     room = rr.LocalEngine().room
        ...     def reduce(self, rows, work, merge, **how):
        ...         return work(iter([(0, rows.block(0, rows.users))]))
        >>> seen = rr.Observations([[3, 1], [0, 1], [2, 2]], [[0, 1]], truth=[1], tokens=4)
        >>> InOneBlock().search(seen, rr.TokenWeights(np.ones(4))).credit.tolist()
        [1.0]
    """

    __slots__ = ()

    @property
    def room(self) -> Room:
        """Threads, rows and memory of one machine."""
        raise NotImplementedError

    def hold(self, rows: Rows) -> Rows:
        """The same rows where this engine works on them: see `Engine.hold`.

        Args:
            rows: Known rows.
        """
        return rows

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
        """Cut the rows into blocks, let `work` see each once, merge: see `Engine.reduce`.

        Args:
            rows: Known rows.
            work: Called with some of the blocks, perhaps with none.
            merge: Puts two results together.
            step: Rows in a block, exactly, but for the last.
            most: Rows in a block at most, if `step` is not given.
            pairs: Pairs of rows that one known row stands for, to report progress.
        """
        with self.begin(pairs * rows.users) as engine:
            return engine.reduce(rows, work, merge, step=step, most=most, pairs=pairs)

    def begin(self, pairs: int) -> AbstractContextManager[Engine]:
        """The engine for one question: itself, or one that reports progress.

        Args:
            pairs: All pairs of known and anonymous rows of the question.
        """
        return nullcontext(self)

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
            ranks: Count the rows above the truth up to this rank; None counts all, which is slow
                unless `ranks_are_free`.
            second: Also find the score of the second best row.
        """
        wanted = Wanted(list_best, ranks, second)
        with self.begin(_pairs(observations)) as engine:
            seen = self._held(observations)
            score.check(seen)
            return plan.search(seen, score, wanted, engine)

    def curves(
        self,
        observations: Observations,
        scores: Sequence[Score],
        slots: Sequence[int],
        *,
        ranks: int | None = 1,
    ) -> list[dict[int, Matches]]:
        """For each score, the search after each number of slots; in one pass where possible.

        Args:
            observations: Who is compared with whom.
            scores: How well a known row explains an anonymous one, in several ways.
            slots: After how many slots to search.
            ranks: Count the rows above the truth up to this rank; None counts all, which is slow
                unless `ranks_are_free`.
        """
        wanted = Wanted(ranks=ranks)
        with self.begin(_pairs(observations) * len(scores) * len(slots)) as engine:
            seen = self._held(observations).prefix(max(slots))
            for score in scores:
                score.check(seen)
            weights = [score for score in scores if type(score) is TokenWeights]
            # All token weights share one pass: one count of match patterns serves them all.
            together = plan.search_weights(seen, weights, slots, engine, wanted) if weights else ()
            found = iter(together)
            return [
                next(found)
                if type(score) is TokenWeights
                else {each: plan.search(seen.prefix(each), score, wanted, engine) for each in slots}
                for score in scores
            ]

    def credit(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """For each target, the chance of naming the right user: `search(...).credit`, but faster.

        A target has no credit as soon as one row scores higher than the true row. So a few known
        rows are searched for all targets, and the others only for targets that are still open.

        Args:
            observations: Who is compared with whom.
            score: How well a known row explains an anonymous one.
        """
        with self.begin(_pairs(observations)) as engine:
            seen = self._held(observations)
            score.check(seen)
            if not seen.true_is_here.all():
                raise InvalidInput(
                    "a shard without true rows earns no credit; search and merge shards",
                    code="incomplete-shard",
                )
            if plan.can_be_cut(score):
                return _credit(seen, score, engine)
            return plan.search(seen, score, Wanted(), engine).credit

    def evidence(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score in nats), for each target.

        With scores that are log-likelihoods, `exp(score - evidence)` is a row's posterior
        probability under equal priors. Evidence of shards adds up by `np.logaddexp`.

        The relative error of the sum is below 1e-6. Under a `TypeMixture` with many pairs, the sum
        is never above the true one, and less than 1e-4 below it in expectation: see
        `docs/concepts/proofs.md`.

        Args:
            observations: Who is compared with whom.
            score: How well a known row explains an anonymous one.
        """
        with self.begin(_pairs(observations)) as engine:
            seen = self._held(observations)
            score.check(seen)
            return plan.evidence(seen, score, engine)

    def histogram(self, observations: Observations) -> PatternHistogram:
        """For each target, the number of known rows by the set of slots that match.

        Args:
            observations: Who is compared with whom.
        """
        with self.begin(_pairs(observations)) as engine:
            seen = self._held(observations)
            check_slots(seen)
            return plan.histogram(seen, engine)

    def _held(self, observations: Observations) -> Observations:
        """The same observations, with known rows where this engine works on them."""
        return observations.changed(known=self.hold(observations.known))


def _credit(observations: Observations, score: Score, engine: Engine) -> NDArray[np.float64]:
    """Search a few known rows for all targets, then more for those whose true row still leads."""
    users, truth = observations.known.users, true_scores(observations, score)
    ties = np.zeros(len(truth), np.int64)
    still_open = np.arange(len(truth))
    start, stop = 0, min(_FIRST_ROWS, users)
    while start < stop and len(still_open):
        part = observations.shard(start, stop).only(still_open)
        found = plan.search(part, score, Wanted(), engine)
        # Rows that tie with the truth share the credit; a target that is beaten gets none.
        ties[still_open] += np.where(found.best == truth[still_open], found.ties, 0)
        still_open = still_open[found.best <= truth[still_open]]
        start, stop = stop, min(stop * _GROWTH, users)
    earned = np.zeros(len(truth))
    earned[still_open] = 1.0 / ties[still_open]
    return earned


def _pairs(observations: Observations) -> int:
    return observations.known.users * len(observations.anonymous)
