"""The fast engine: this machine, all its cores, the same answer as the reference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import codes_of, target_blocks
from reidrisk.engines.crew import Crew, Progress, free_memory
from reidrisk.engines.histogram import MOST_SLOTS, PatternHistogram, check_slots
from reidrisk.engines.plan import Way, cheapest_count, cheapest_search
from reidrisk.engines.truth import true_scores
from reidrisk.engines.ways.counting import bytes_to_count, count, missing_groups
from reidrisk.engines.ways.definition import evidence_by_definition, search_by_definition
from reidrisk.engines.ways.mixture import bytes_to_search_types, search_types
from reidrisk.engines.ways.normalised import as_fast
from reidrisk.engines.ways.profiles import as_sets
from reidrisk.engines.ways.searching import (
    bytes_to_sift,
    bytes_to_sweep,
    search_by_sift,
    search_by_sweep,
)
from reidrisk.engines.ways.sums import bytes_to_sum, table_evidence, type_evidence
from reidrisk.errors import InvalidInput
from reidrisk.matches import Matches, check_top, join_targets
from reidrisk.observations import Observations
from reidrisk.parallel import cores
from reidrisk.scores import NormalisedWeights, ProfileWeights, Score, TokenTable, TokenWeights
from reidrisk.scores.type_mixture import TypeMixture

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

    def evidence(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score in nats), for each target.

        With scores that are log-likelihoods, `exp(score - evidence)` is a row's posterior
        probability under equal priors. Evidence of shards adds up by `np.logaddexp`.

        The sum is right to 1e-6;
        under a `TypeMixture`, to 1e-4 in expectation if there are many pairs: decision 0021.
        """
        score.check(observations)
        return _evidence(observations, score, self._crew(observations))

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
    if isinstance(score, ProfileWeights):
        return _search(*as_sets(observations, score), top, crew)
    if isinstance(score, TypeMixture):
        return _search_types(observations, score, top, crew)
    if isinstance(score, NormalisedWeights):
        fast = as_fast(observations, score)
        if fast is not None:
            return _search(observations, fast, top, crew)
    return search_by_definition(observations, score, top, crew)


def _search_types(observations: Observations, score: TypeMixture, top: int, crew: Crew) -> Matches:
    """Search with a type mixture, for as many targets at a time as fit."""

    def size(targets: int) -> int:
        return bytes_to_search_types(observations, score, crew, top, targets)

    most = crew.targets_together(len(observations.anonymous), size)
    blocks = target_blocks(observations, min(most, _MOST_TARGETS))
    return join_targets(
        [search_types(observations.only(some), score, top, crew) for some in blocks]
    )


def _evidence(observations: Observations, score: Score, crew: Crew) -> NDArray[np.float64]:
    """Sum with whatever the score needs."""
    if isinstance(score, TokenTable):
        crew.check_fits(bytes_to_sum(observations, score, crew))
        return table_evidence(observations, score, crew)
    if isinstance(score, TypeMixture):
        crew.check_fits(bytes_to_sum(observations, score, crew))
        return type_evidence(observations, score, crew)
    if isinstance(score, ProfileWeights):
        return _evidence(*as_sets(observations, score), crew)
    if isinstance(score, TokenWeights):
        if observations.slots > MOST_SLOTS:
            return evidence_by_definition(observations, score, crew)
        groups = missing_groups(observations)
        parts = []
        for some in _fitting(observations, len(groups), 0, crew):
            codes = codes_of(some)
            counts = count(some, codes, groups, cheapest_count(some, codes), crew)
            parts.append(PatternHistogram(counts, groups, some).evidence(score))
        return np.concatenate(parts)
    if isinstance(score, NormalisedWeights):
        fast = as_fast(observations, score)
        if fast is not None:
            return _evidence(observations, fast, crew)
    return evidence_by_definition(observations, score, crew)


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
    if observations.slots <= MOST_SLOTS and any(score.sees_gaps for score in scores):
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
