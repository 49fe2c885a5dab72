"""Which way a question is answered; the only place that decides.

A table says for each kind of score how it is searched and summed. A score that is not in it is
rated by its definition: slow, and never refused.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Kind
from reidrisk.engines.cost_model import (
    bytes_to_count,
    cost_of_distinct,
    cost_of_lanes,
    some_rows,
)
from reidrisk.engines.encode import Codes, codes_of, first_with_codes, fitting
from reidrisk.engines.histogram import MOST_SLOTS, PatternHistogram
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies import (
    bit_scan,
    chain,
    definition,
    dense,
    distinct,
    lanes,
    mixture,
    normalised,
    overlap,
    repetition,
    shortlist,
    sift,
    sums,
    tally,
)
from reidrisk.engines.strategies.groups import gap_groups, gaps_of
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

# Seconds to make the count of one pattern exact, and to look at it in a search.
_COUNT_PATTERN, _LOOK_AT_PATTERN = 3e-8, 5e-9


class Way(Enum):
    """A way to search under token weights."""

    LANES = "count patterns, targets as bits"
    DISTINCT = "count patterns of the different rows"
    BIT_SCAN = "search, known rows as bits"
    TALLY = "score everyone, known rows by code"


_ONE_BY_ONE = {Way.BIT_SCAN: bit_scan, Way.TALLY: tally}


def search(observations: Observations, score: Score, wanted: Wanted, engine: Engine) -> Matches:
    """Find the best score, its ties and the true score of every target."""
    return _TABLE.get(type(score), _ANY).search(observations, score, wanted, engine)


def ranks_are_free(observations: Observations, score: Score) -> bool:
    """Whether a search with `ranks=None` takes no longer than one for the best alone.

    So it is where match patterns are counted: under token weights, and under scores that are
    searched as such, unless there are too many slots, or gaps that have gains of their own. Whether
    normalised weights are token weights is judged by some of the rows.

    Example:
        >>> seen = rr.Observations([[3, 1], [0, 1], [2, 2]], [[0, 1]], truth=[1], tokens=4)
        >>> rr.engines.ranks_are_free(seen, rr.TokenWeights(np.ones(4)))
        True
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
    way, groups = cheapest_count(observations), gap_groups(observations, engine)
    engine.room.check_fits(8 * len(groups) * len(observations.anonymous) << observations.slots)
    parts = [part.counts for part in _histograms(way, observations, groups, engine)]
    return PatternHistogram(np.concatenate(parts, axis=1), groups, observations)


def search_weights(
    observations: Observations,
    scores: Sequence[TokenWeights],
    slots: Sequence[int],
    engine: Engine,
    wanted: Wanted = _THE_BEST,
) -> list[dict[int, Matches]]:
    """Search with several token weights and prefixes: short ones together, where patterns serve."""
    found: list[dict[int, Matches]] = [{} for _ in scores]
    short = [each for each in slots if each <= MOST_SLOTS]
    for together in (short, *([each] for each in slots if each > MOST_SLOTS)):
        if together:
            seen = observations.prefix(max(together))
            for each, more in zip(
                found, _search_prefixes(seen, scores, together, engine, wanted), strict=True
            ):
                each.update(more)
    return [{each: answers[each] for each in slots} for answers in found]


def _search_prefixes(
    observations: Observations,
    scores: Sequence[TokenWeights],
    slots: Sequence[int],
    engine: Engine,
    wanted: Wanted,
) -> list[dict[int, Matches]]:
    if dense.fits(observations):
        return [
            {short: dense.search(observations.prefix(short), score, wanted, engine)
             for short in slots}
            for score in scores
        ]  # fmt: skip
    gaps = not observations.complete and any(score.sees_gaps for score in scores)
    searches = len(scores) * len(slots)
    way = cheapest_search(observations, searches, wanted, gaps=gaps)
    if way in _ONE_BY_ONE:
        return [
            {short: _search_one(way, observations.prefix(short), score, wanted, engine)
             for short in slots}
            for score in scores
        ]  # fmt: skip
    groups = _groups(observations, engine, gaps=gaps)
    parts = [
        [
            {short: counted.search(score, slots=short, ranks=wanted.ranks, second=wanted.second)
             for short in slots}
            for score in scores
        ]
        for counted in _histograms(way, observations, groups, engine, searches)
    ]  # fmt: skip
    return [
        {short: join_targets([part[index][short] for part in parts]) for short in slots}
        for index in range(len(scores))
    ]


def _search_one(
    way: Way, observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    by = _ONE_BY_ONE[way]
    size = partial(by.bytes_needed, observations, engine.room, wanted)
    blocks = fitting(observations, size, engine.room)
    return join_targets([by.search(some, score, wanted, engine) for some in blocks])


def _groups(observations: Observations, engine: Engine, *, gaps: bool) -> NDArray[np.int64]:
    """The sets of slots that known rows miss, as bits; one, 0, where gaps do not count."""
    return gap_groups(observations, engine) if gaps else np.zeros(1, np.int64)


def _histograms(
    way: Way,
    observations: Observations,
    groups: NDArray[np.int64],
    engine: Engine,
    searches: int = 1,
) -> Iterator[PatternHistogram]:
    """The patterns of some targets at a time."""
    count = distinct.count if way is Way.DISTINCT else lanes.count
    size = partial(bytes_to_count, observations, engine.room, len(groups))
    for some in fitting(observations, size, engine.room):
        yield PatternHistogram(count(some, codes_of(some), groups, engine, searches), groups, some)


def cheapest_search(
    observations: Observations, searches: int, wanted: Wanted, *, gaps: bool
) -> Way:
    """The cheapest way to search this many times, whether known gaps count or not.

    Only patterns answer many searches at once; they list no rows.
    """
    some, codes = _with_codes(observations)
    costs = {Way.BIT_SCAN: searches * bit_scan.cost(some, codes, wanted)}
    if some.slots <= MOST_SLOTS and not wanted.list_best:
        costs |= _costs_of_patterns(some, codes, searches, gaps=gaps)
    elif math.isinf(costs[Way.BIT_SCAN]):
        return Way.TALLY
    costs[Way.TALLY] = searches * tally.cost(some, codes, gaps=gaps)
    return min(costs, key=lambda way: costs[way])


def cheapest_count(observations: Observations) -> Way:
    """The cheapest way to count all patterns."""
    costs = _costs_of_patterns(*_with_codes(observations), 1, gaps=False)
    return min(costs, key=lambda way: costs[way])


def _costs_of_patterns(
    observations: Observations, codes: Codes, searches: int, *, gaps: bool
) -> dict[Way, float]:
    """Seconds of counting patterns, by groups of gaps as far as some rows show them."""
    known, groups = observations.known, 1
    if gaps:
        groups = len(np.unique(gaps_of(known.take(some_rows(known.users)))))
    patterns = len(codes.targets) << observations.slots
    looking = patterns * (_COUNT_PATTERN + searches * _LOOK_AT_PATTERN)
    return {
        Way.LANES: groups * (cost_of_lanes(observations, codes) + looking),
        Way.DISTINCT: groups * (cost_of_distinct(observations, codes) + looking),
    }


def _with_codes(observations: Observations) -> tuple[Observations, Codes]:
    """Some targets that stand for all, and their codes."""
    some = first_with_codes(observations)
    return some, codes_of(some)


def _search_weights(
    observations: Observations, score: TokenWeights, wanted: Wanted, engine: Engine
) -> Matches:
    slots = observations.slots
    return search_weights(observations, [score], [slots], engine, wanted)[0][slots]


def _weights_evidence(observations: Observations, score: TokenWeights, engine: Engine) -> Floats:
    """By patterns, or by scoring everyone."""
    gaps = not observations.complete and score.sees_gaps
    way = cheapest_search(observations, 1, Wanted(ranks=None), gaps=gaps)
    if way is Way.TALLY:
        size = partial(tally.bytes_needed, observations, engine.room, _THE_BEST)
        blocks = fitting(observations, size, engine.room)
        return np.concatenate([tally.evidence(some, score, engine) for some in blocks])
    groups = _groups(observations, engine, gaps=gaps)
    histograms = _histograms(way, observations, groups, engine)
    return np.concatenate([counted.evidence(score) for counted in histograms])


def _search_table(
    observations: Observations, score: TokenTable, wanted: Wanted, engine: Engine
) -> Matches:
    if dense.fits(observations):
        return dense.search(observations, score, wanted, engine)
    return sift.search(observations, score, wanted, engine)


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
    TokenTable: _Ways(_search_table, sums.table_evidence),
    TypeMixture: _Ways(mixture.search, sums.type_evidence),
    TypeChain: _Ways(chain.search, chain.evidence),
    Shortlisted: _Ways(_search_shortlist, _shortlist_evidence),
    ShortlistedChances: _Ways(_search_shortlist, _shortlist_evidence),
    OverlapWeights: _Ways(_search_overlap, _overlap_evidence),
    CosineWeights: _Ways(overlap.search, definition.evidence),
    RepeatedTokens: _Ways(repetition.search, definition.evidence),
}
