"""Which way a question is answered; the only place that decides.

A table says for each kind of score how it is searched and summed. A score that is not in it is
rated by its definition: slow, and never refused.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import Codes, codes_of, target_blocks
from reidrisk.engines.costs import (
    bytes_to_count,
    cost_of_distinct,
    cost_of_lanes,
    cost_of_scan,
)
from reidrisk.engines.engine import Engine
from reidrisk.engines.histogram import MOST_SLOTS, PatternHistogram
from reidrisk.engines.ways import (
    bit_scan,
    chain,
    definition,
    distinct,
    lanes,
    mixture,
    normalised,
    overlap,
    repetition,
    shortlist,
    sift,
    sums,
)
from reidrisk.engines.ways.groups import gap_groups
from reidrisk.matches import Matches, Wanted, join_targets
from reidrisk.observations import Observations
from reidrisk.rows import Kind
from reidrisk.scores import (
    CosineWeights,
    NormalisedWeights,
    OverlapWeights,
    RepeatedTokens,
    Score,
    TokenTable,
    TokenWeights,
    TypeChain,
    TypeMixture,
)
from reidrisk.scores.shortlisted import Shortlisted, ShortlistedChances

Floats = NDArray[np.float64]

_THE_BEST = Wanted()
# Rows of so many slots are searched as sets for what they have in common: measured at 285 to
# 100,000 tokens, 50 times faster than by an index with one or two slots, twice with four.
_SHORT, _SHORT_OF_FEW_TOKENS, _FEW_TOKENS = 2, 4, 1 << 12

# Up to so many ranks a scan still passes over nearly everyone.
_FEW_RANKS = 1000


class Way(Enum):
    """A way to search under token weights."""

    LANES = "count patterns, targets as bits"
    DISTINCT = "count patterns of the different rows"
    BIT_SCAN = "search, known rows as bits"


def search(observations: Observations, score: Score, wanted: Wanted, engine: Engine) -> Matches:
    """Find the best score, its ties and the true score of every target."""
    return _TABLE.get(type(score), _ANY).search(observations, score, wanted, engine)


def ranks_are_free(observations: Observations, score: Score) -> bool:
    """Whether a search with `ranks=None` takes no longer than one for the best alone.

    So it is where match patterns are counted: under token weights, and under scores that are
    searched as such, unless there are too many slots, or gaps that have gains of their own. Whether
    normalised weights are token weights is judged by some of the rows.
    """
    if type(score) is NormalisedWeights and observations.known.kind is not Kind.TOKENS:
        return normalised.are_alike(observations, score) and ranks_are_free(
            observations, score.weights
        )
    if type(score) is OverlapWeights and _are_short(observations):
        return True
    return (
        type(score) is TokenWeights
        and observations.slots <= MOST_SLOTS
        and (observations.complete or not score.sees_gaps)
    )


def evidence(observations: Observations, score: Score, engine: Engine) -> Floats:
    """Logarithm of the sum over all known rows of exp(score), for each target."""
    return _TABLE.get(type(score), _ANY).evidence(observations, score, engine)


def histogram(observations: Observations, engine: Engine) -> PatternHistogram:
    """For each target, the number of known rows by the set of slots that match."""
    groups = gap_groups(observations, engine)
    engine.room.check_fits(8 * len(groups) * len(observations.anonymous) << observations.slots)
    counts = []
    for some in _fitting(observations, len(groups), _THE_BEST, engine):
        codes = codes_of(some)
        way = cheapest_count(some, codes)
        counts.append(_count(way)(some, codes, groups, engine))
    return PatternHistogram(np.concatenate(counts, axis=1), groups, observations)


def search_weights(
    observations: Observations,
    scores: Sequence[TokenWeights],
    slots: Sequence[int],
    engine: Engine,
    wanted: Wanted = _THE_BEST,
) -> list[dict[int, Matches]]:
    """Search with several token weights and prefixes: by patterns once, or by scans one by one."""
    searches = len(scores) * len(slots)
    groups = np.zeros(1, np.int64)
    if observations.slots <= MOST_SLOTS and any(score.sees_gaps for score in scores):
        groups = gap_groups(observations, engine)
    parts: list[list[dict[int, Matches]]] = []
    for some in _fitting(observations, len(groups), wanted, engine):
        codes = codes_of(some)
        way = cheapest_search(some, codes, len(groups), searches, wanted)
        if way is Way.BIT_SCAN:
            answers = [
                {short: bit_scan.search(some.prefix(short), score, wanted, engine)
                 for short in slots}
                for score in scores
            ]  # fmt: skip
        else:
            counts = _count(way)(some, codes, groups, engine, searches)
            counted = PatternHistogram(counts, groups, some)
            answers = [
                {short: counted.search(score, slots=short, ranks=wanted.ranks, second=wanted.second)
                 for short in slots}
                for score in scores
            ]  # fmt: skip
        parts.append(answers)
    return [
        {short: join_targets([part[index][short] for part in parts]) for short in slots}
        for index in range(len(scores))
    ]


def cheapest_search(
    observations: Observations, codes: Codes, groups: int, searches: int, wanted: Wanted
) -> Way:
    """The cheapest way to search this many times.

    Only a scan lists the best rows; only patterns count many ranks without scoring everyone.
    """
    if wanted.list_best or observations.slots > MOST_SLOTS:
        return Way.BIT_SCAN
    counting = cheapest_count(observations, codes)
    if wanted.most_above > _FEW_RANKS:
        return counting
    cost = cost_of_lanes if counting is Way.LANES else cost_of_distinct
    scan = cost_of_scan(observations, codes) * searches
    return Way.BIT_SCAN if scan < groups * cost(observations, codes) else counting


def cheapest_count(observations: Observations, codes: Codes) -> Way:
    """The cheapest way to count all patterns."""
    by_lanes, by_rows = cost_of_lanes(observations, codes), cost_of_distinct(observations, codes)
    return Way.DISTINCT if by_rows < by_lanes else Way.LANES


def _count(way: Way) -> Callable[..., lanes.Counts]:
    return distinct.count if way is Way.DISTINCT else lanes.count


def _fitting(
    observations: Observations, groups: int, wanted: Wanted, engine: Engine
) -> Iterator[Observations]:
    """The targets, in blocks that fit into memory."""

    def size(targets: int) -> int:
        if wanted.list_best or observations.slots > MOST_SLOTS:
            return bit_scan.bytes_needed(observations, engine.room, wanted, targets)
        return bytes_to_count(observations, engine.room, groups, targets)

    most = engine.room.targets_together(len(observations.anonymous), size)
    for block in target_blocks(observations, most):
        yield observations.only(block)


def _search_weights(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    slots = observations.slots
    return search_weights(observations, [score], [slots], engine, wanted)[0][slots]


def _weights_evidence(observations: Observations, score: TokenWeights, engine: Engine) -> Floats:
    """By patterns; rows with too many slots for them by definition."""
    if observations.slots > MOST_SLOTS:
        return definition.evidence(observations, score, engine)
    groups = gap_groups(observations, engine)
    parts = []
    for some in _fitting(observations, len(groups), _THE_BEST, engine):
        codes = codes_of(some)
        counts = _count(cheapest_count(some, codes))(some, codes, groups, engine)
        parts.append(PatternHistogram(counts, groups, some).evidence(score))
    return np.concatenate(parts)


def _search_overlap(
    observations: Observations, score: OverlapWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """By an index; short rows as sets, since an index looks at every user who ties."""
    if _are_short(observations):
        return _search_weights(*overlap.as_sets(observations, score), wanted, engine)
    return overlap.search(observations, score, wanted, engine)


def _are_short(observations: Observations) -> bool:
    """Whether rows are so short that they are searched as sets."""
    few_tokens = observations.tokens <= _FEW_TOKENS
    shortest = _SHORT_OF_FEW_TOKENS if few_tokens else _SHORT
    return observations.known.kind is Kind.TOKENS and observations.slots <= shortest


def _overlap_evidence(observations: Observations, score: OverlapWeights, engine: Engine) -> Floats:
    if observations.known.kind is Kind.BAGS:
        return definition.evidence(observations, score, engine)
    return _weights_evidence(*overlap.as_sets(observations, score), engine)


def _search_normalised(
    observations: Observations, score: NormalisedWeights, wanted: Wanted, engine: Engine
) -> Matches:
    fast = normalised.as_fast(observations, score, engine)
    if fast is None:
        return normalised.search(observations, score, wanted, engine)
    return search(observations, fast, wanted, engine)


def _normalised_evidence(
    observations: Observations, score: NormalisedWeights, engine: Engine
) -> Floats:
    fast = normalised.as_fast(observations, score, engine)
    if fast is None:
        return normalised.evidence(observations, score, engine)
    return evidence(observations, fast, engine)


def can_be_cut(score: Score) -> bool:
    """Whether the answers of shards are parts of the answer: not if everyone decides who counts."""
    return not isinstance(score, Shortlisted)


def _search_shortlist(
    observations: Observations, score: Shortlisted, wanted: Wanted, engine: Engine
) -> Matches:
    parts = []
    for some in shortlist.blocks(observations, score, wanted):
        found = search(some, score.first, shortlist.to_list(score, wanted), engine)
        parts.append(shortlist.rated_again(some, score, wanted, found, engine.room.threads))
    return join_targets(parts)


def _shortlist_evidence(observations: Observations, score: Shortlisted, engine: Engine) -> Floats:
    """Everyone counts, listed or not."""
    return evidence(observations, score.score, engine)


class _Ways(NamedTuple):
    """How a kind of score is searched and summed."""

    search: Callable[[Observations, Any, Wanted, Engine], Matches]
    evidence: Callable[[Observations, Any, Engine], Floats]


_ANY = _Ways(definition.search, definition.evidence)

# By the very type: a subclass may score otherwise.
_TABLE: dict[type, _Ways] = {
    TokenWeights: _Ways(_search_weights, _weights_evidence),
    NormalisedWeights: _Ways(_search_normalised, _normalised_evidence),
    TokenTable: _Ways(sift.search, sums.table_evidence),
    TypeMixture: _Ways(mixture.search, sums.type_evidence),
    TypeChain: _Ways(chain.search, chain.evidence),
    Shortlisted: _Ways(_search_shortlist, _shortlist_evidence),
    ShortlistedChances: _Ways(_search_shortlist, _shortlist_evidence),
    OverlapWeights: _Ways(_search_overlap, _overlap_evidence),
    CosineWeights: _Ways(overlap.search, definition.evidence),
    RepeatedTokens: _Ways(repetition.search, definition.evidence),
}
