"""The fast engine: this machine, all its cores, the same answer as the reference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import codes_of, target_blocks
from reidrisk.engines.counting import bytes_to_count, count, missing_groups
from reidrisk.engines.crew import Crew, Progress, free_memory
from reidrisk.engines.histogram import MOST_SLOTS, PatternHistogram, check_slots
from reidrisk.engines.plan import Way, cheapest_count, cheapest_search
from reidrisk.engines.searching import (
    bytes_to_sift,
    bytes_to_sweep,
    search_by_sift,
    search_by_sweep,
)
from reidrisk.engines.truth import true_scores
from reidrisk.errors import InvalidInput
from reidrisk.matches import Matches, check_top, join_targets
from reidrisk.observations import Observations
from reidrisk.parallel import cores
from reidrisk.scores import Score, TokenTable, TokenWeights

# How many known rows to search for all targets before asking which of them are still open, and how
# many times more with each further round.
_FIRST_ROWS, _GROWTH = 1 << 17, 8

_MOST_TARGETS = 1 << 15  # more make a block of rows so long that an interrupt is heard late


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """An engine for one machine.

    Args:
        threads: All cores if not given. The answer does not depend on it.
        max_memory: Bytes the engine may take beside the observations; if not given, four fifths of
            what is free. Targets are searched in blocks that fit.
        rows: Known rows that one thread takes at a time. The answer does not depend on it.
        progress: Called as `progress(pairs_done, pairs)` now and then, from any thread.
    """

    threads: int | None = None
    max_memory: int | None = None
    rows: int = 1 << 20
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name in ("threads", "max_memory", "rows"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInput(f"{name} is at least 1, got {value}")

    def search(self, observations: Observations, score: Score, *, top: int = 0) -> Matches:
        """Find the best score, its ties and the true score of every target.

        Args:
            observations: Who is compared with whom.
            score: How well a known row explains an anonymous one.
            top: Also list this many of the best rows.
        """
        score.check(observations)
        check_top(top)
        return _search(observations, score, top, self._crew(observations))

    def curves(
        self, observations: Observations, scores: Sequence[Score], slots: Sequence[int]
    ) -> list[dict[int, Matches]]:
        """For each score, the search after each number of slots; in one pass where possible."""
        seen = observations.prefix(max(slots))
        for score in scores:
            score.check(seen)
        crew = self._crew(observations, passes=len(scores) * len(slots))
        weights = [score for score in scores if isinstance(score, TokenWeights)]
        weighed = iter(_search_weights(seen, weights, slots, crew) if weights else ())
        return [
            next(weighed)
            if isinstance(score, TokenWeights)
            else {short: _search(seen.prefix(short), score, 0, crew) for short in slots}
            for score in scores
        ]

    def credit(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """For each target, the chance of naming the right user: `search(...).credit`, but sooner.

        A target is settled, with no credit, as soon as somebody beats the truth. So a few known
        rows are searched for all targets, and the others only for those still open.
        """
        score.check(observations)
        if not observations.true_is_here.all():
            raise InvalidInput("a shard without true rows earns no credit; search and merge shards")
        crew, users = self._crew(observations), len(observations.known)
        truth = true_scores(observations, score)
        ties = np.zeros(len(truth), np.int64)
        still_open = np.arange(len(truth))
        start, stop = 0, min(_FIRST_ROWS, users)
        while start < stop and len(still_open):
            part = observations.shard(start, stop).only(still_open)
            found = _search(part, score, 0, crew)
            ties[still_open] += np.where(found.best == truth[still_open], found.ties, 0)
            still_open = still_open[found.best <= truth[still_open]]
            start, stop = stop, min(stop * _GROWTH, users)
        crew.finish()
        credit = np.zeros(len(truth))
        credit[still_open] = 1.0 / ties[still_open]
        return credit

    def histogram(self, observations: Observations) -> PatternHistogram:
        """For each target, the number of known rows by the set of slots that match."""
        check_slots(observations)
        crew, groups = self._crew(observations), missing_groups(observations)
        crew.check_fits(8 * len(groups) * len(observations.anonymous) << observations.slots)
        counts = []
        for some in _fitting(observations, len(groups), 0, crew):
            codes = codes_of(some)
            counts.append(count(some, codes, groups, cheapest_count(some, codes), crew))
        return PatternHistogram(np.concatenate(counts, axis=1), groups, observations)

    def _crew(self, observations: Observations, passes: int = 1) -> Crew:
        return Crew(
            threads=self.threads or cores(),
            rows=self.rows,
            memory=self.max_memory or free_memory() * 4 // 5,
            progress=self.progress,
            pairs=passes * len(observations.known) * len(observations.anonymous),
        )


def _search(observations: Observations, score: Score, top: int, crew: Crew) -> Matches:
    """Search with whatever the score needs."""
    if isinstance(score, TokenTable):
        crew.check_fits(bytes_to_sift(observations, crew, top))
        return search_by_sift(observations, score, top, crew)
    if isinstance(score, TokenWeights):
        slots = observations.slots
        return _search_weights(observations, [score], [slots], crew, top)[0][slots]
    raise InvalidInput(
        f"LocalEngine searches with TokenWeights, SetWeights and TokenTable, not with "
        f"{type(score).__name__}; use ReferenceEngine"
    )


def _search_weights(
    observations: Observations,
    scores: Sequence[TokenWeights],
    slots: Sequence[int],
    crew: Crew,
    top: int = 0,
) -> list[dict[int, Matches]]:
    """Search with several token weights and prefixes: by patterns once, or by sweeps one by one."""
    searches = len(scores) * len(slots)
    groups = np.zeros(1, np.int64)
    if observations.slots <= MOST_SLOTS and any(score.mismatch.any() for score in scores):
        groups = missing_groups(observations)
    parts: list[list[dict[int, Matches]]] = []
    for some in _fitting(observations, len(groups), top, crew):
        codes = codes_of(some)
        way = cheapest_search(some, codes, len(groups), searches, top)
        if way is Way.SWEEP:
            answers = [
                {short: search_by_sweep(some.prefix(short), score, top, crew) for short in slots}
                for score in scores
            ]
        else:
            counts = count(some, codes, groups, way, crew, searches)
            histogram = PatternHistogram(counts, groups, some)
            answers = [
                {short: histogram.search(score, slots=short) for short in slots} for score in scores
            ]
        parts.append(answers)
    return [
        {short: join_targets([part[index][short] for part in parts]) for short in slots}
        for index in range(len(scores))
    ]


def _fitting(
    observations: Observations, groups: int, top: int, crew: Crew
) -> Iterator[Observations]:
    """The targets, in blocks that fit into memory."""

    def size(targets: int) -> int:
        if top or observations.slots > MOST_SLOTS:
            return bytes_to_sweep(observations, crew, top, targets)
        return bytes_to_count(observations, crew, groups, targets)

    most = min(crew.targets_together(len(observations.anonymous), size), _MOST_TARGETS)
    for block in target_blocks(observations, most):
        yield observations.only(block)
