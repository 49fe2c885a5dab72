"""Choose the strategy that answers a question; no other module decides this.

Strategies are found in the modules of `reidrisk.engines.strategies`: each states what it can answer
and at what cost. A score without a strategy of its own is rated by its definition, which is slow
but works for every score.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import Observations
from reidrisk.core.plugins import modules_of
from reidrisk.engines import strategies
from reidrisk.engines.cost_model import Evidence, PatternCount, Question, Search, bytes_to_count
from reidrisk.engines.encode import codes_of, fitting
from reidrisk.engines.histogram import MOST_SLOTS, PatternHistogram, gap_groups
from reidrisk.engines.protocol import Engine
from reidrisk.scores import Score, TokenWeights
from reidrisk.scores.pair_table import PairTable
from reidrisk.scores.shortlisted import Shortlisted

Floats = NDArray[np.float64]
_Entry = TypeVar("_Entry", bound=Search | Evidence | PatternCount)
Answer = TypeVar("Answer", Search, Evidence)

_THE_BEST = Wanted()


def search(observations: Observations, score: Score, wanted: Wanted, engine: Engine) -> Matches:
    """Find the best score, its ties and the true score of every target.

    Args:
        observations: Who is compared with whom.
        score: How well a known row explains an anonymous one.
        wanted: What is to be found beside the best.
        engine: Goes over the known rows.
    """
    # Only token weights can also be answered from match patterns.
    if type(score) is TokenWeights:
        slots = observations.slots
        return search_weights(observations, [score], [slots], engine, wanted)[0][slots]
    entry = cheapest(Question(observations, wanted, score=score), entries(Search, score))
    return entry.run(observations, score, wanted, engine)


def ranks_are_free(observations: Observations, score: Score) -> bool:
    """Whether a search with `ranks=None` takes no longer than one for the best alone.

    That holds where match patterns are counted: under token weights, and under scores that are
    searched as token weights, unless there are too many slots, or gaps that have gains of their
    own. Whether normalised weights are searched as token weights is judged by a sample of rows.

    Args:
        observations: Who is compared with whom.
        score: How well a known row explains an anonymous one.

    Example:
        >>> seen = rr.Observations([[3, 1], [0, 1], [2, 2]], [[0, 1]], truth=[1], tokens=4)
        >>> rr.engines.ranks_are_free(seen, rr.TokenWeights(np.ones(4)))
        True
    """
    if type(score) is TokenWeights:
        return observations.slots <= MOST_SLOTS and not _gaps_count(observations, score)
    free = (entry.ranks_are_free for entry in entries(Search, score))
    return any(each is not None and each(observations, score) for each in free)


def evidence(observations: Observations, score: Score, engine: Engine) -> Floats:
    """Logarithm of the sum over all known rows of exp(score), for each target.

    Args:
        observations: Who is compared with whom.
        score: How well a known row explains an anonymous one.
        engine: Goes over the known rows.
    """
    if type(score) is TokenWeights:
        return _weights_evidence(observations, score, engine)
    entry = cheapest(Question(observations, score=score), entries(Evidence, score))
    return entry.run(observations, score, engine)


def histogram(observations: Observations, engine: Engine) -> PatternHistogram:
    """For each target, the number of known rows by the set of slots that match.

    Args:
        observations: Who is compared with whom.
        engine: Goes over the known rows.
    """
    count, groups = cheapest(Question(observations), counts()), gap_groups(observations, engine)
    engine.room.check_fits(8 * len(groups) * len(observations.anonymous) << observations.slots)
    parts = [part.counts for part in _histograms(count, observations, groups, engine)]
    return PatternHistogram(np.concatenate(parts, axis=1), groups, observations)


def search_weights(
    observations: Observations,
    scores: Sequence[TokenWeights],
    slots: Sequence[int],
    engine: Engine,
    wanted: Wanted = _THE_BEST,
) -> list[dict[int, Matches]]:
    """Search with several token weights and prefixes; short prefixes share one count of patterns.

    Args:
        observations: Who is compared with whom.
        scores: The token weights.
        slots: How many slots each prefix has.
        engine: Goes over the known rows.
        wanted: What is to be found beside the best.
    """
    found: list[dict[int, Matches]] = [{} for _ in scores]
    # One pattern count of the longest prefix answers all shorter ones.
    short = [each for each in slots if each <= MOST_SLOTS]
    for together in (short, *([each] for each in slots if each > MOST_SLOTS)):
        if together:
            seen = observations.prefix(max(together))
            for each, more in zip(
                found, _search_prefixes(seen, scores, together, engine, wanted), strict=True
            ):
                each.update(more)
    return [{each: answers[each] for each in slots} for answers in found]


def can_be_cut(score: Score) -> bool:
    """Whether known rows can be searched shard by shard: not if a shortlist depends on all rows.

    Args:
        score: How well a known row explains an anonymous one.
    """
    return not isinstance(score, Shortlisted | PairTable)


def cheapest(question: Question, among: Sequence[_Entry]) -> _Entry:
    """The plan entry that answers a question at the least cost.

    Args:
        question: What costs depend on.
        among: Entries that can answer it.
    """
    for entry in among:
        if entry.whenever is not None and entry.whenever(question.observations):
            return entry
    others = [entry for entry in among if entry.whenever is None]
    # Costs look at a sample of rows, so they are computed only if there is a choice.
    return others[0] if len(others) == 1 else min(others, key=lambda entry: entry.cost(question))


def entries(kind: type[Answer], score: Score) -> tuple[Answer, ...]:
    """The plan entries of a kind for a score, or those for any score if there are none.

    Args:
        kind: `Search` or `Evidence`.
        score: Entries are chosen by its exact type, since a subclass may score differently.
    """
    mine = [entry for entry in all_entries() if isinstance(entry, kind)]
    found = tuple(entry for entry in mine if type(score) in entry.scores)
    return found or tuple(entry for entry in mine if not entry.scores)


def counts() -> tuple[PatternCount, ...]:
    """The plan entries that count match patterns."""
    return tuple(entry for entry in all_entries() if isinstance(entry, PatternCount))


# Not when this module is imported: strategies import it themselves.
@cache
def all_entries() -> tuple[Search | Evidence | PatternCount, ...]:
    """The plan entries of all strategies, which are loaded with the first question."""
    return tuple(
        entry for module in modules_of(strategies) for entry in getattr(module, "PLAN", ())
    )


def _search_prefixes(
    observations: Observations,
    scores: Sequence[TokenWeights],
    slots: Sequence[int],
    engine: Engine,
    wanted: Wanted,
) -> list[dict[int, Matches]]:
    """Each score after each number of slots: one by one, or all from one count of patterns.

    A pattern count answers many searches at once, but it cannot list the best rows.
    """
    gaps = any(_gaps_count(observations, score) for score in scores)
    searches = len(scores) * len(slots)
    question = Question(observations, wanted, searches, gaps)
    patterns = counts() if observations.slots <= MOST_SLOTS and not wanted.list_best else ()
    possible: list[PatternCount | Search] = [*patterns, *entries(Search, scores[0])]
    best = cheapest(question, possible)
    if isinstance(best, Search):
        return [
            {short: best.run(observations.prefix(short), score, wanted, engine)
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
        for counted in _histograms(best, observations, groups, engine, searches)
    ]  # fmt: skip
    return [
        {short: join_targets([part[index][short] for part in parts]) for short in slots}
        for index in range(len(scores))
    ]


def _weights_evidence(observations: Observations, score: TokenWeights, engine: Engine) -> Floats:
    """Evidence under token weights: by match patterns, or by scoring every known row."""
    gaps = _gaps_count(observations, score)
    patterns = counts() if observations.slots <= MOST_SLOTS else ()
    possible: list[PatternCount | Evidence] = [*patterns, *entries(Evidence, score)]
    best = cheapest(Question(observations, gaps=gaps), possible)
    if isinstance(best, Evidence):
        return best.run(observations, score, engine)
    groups = _groups(observations, engine, gaps=gaps)
    histograms = _histograms(best, observations, groups, engine)
    return np.concatenate([counted.evidence(score) for counted in histograms])


def _gaps_count(observations: Observations, score: TokenWeights) -> bool:
    """Whether known rows have gaps, and these have gains of their own."""
    return not observations.complete and score.sees_gaps


def _groups(observations: Observations, engine: Engine, *, gaps: bool) -> NDArray[np.int64]:
    """The sets of slots that known rows miss, as bits; one, 0, where gaps do not count."""
    return gap_groups(observations, engine) if gaps else np.zeros(1, np.int64)


def _histograms(
    count: PatternCount,
    observations: Observations,
    groups: NDArray[np.int64],
    engine: Engine,
    searches: int = 1,
) -> Iterator[PatternHistogram]:
    """Pattern counts, for as many targets at a time as fit into memory."""
    for some in fitting(observations, engine.room, bytes_to_count, len(groups)):
        counted = count.run(some, codes_of(some), groups, engine, searches)
        yield PatternHistogram(counted, groups, some)
