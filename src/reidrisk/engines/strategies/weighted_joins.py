"""Strategy: evidence and search under normalised weights by joins, for few slots and many rows.

The chance that a known row gives a target is a product over slots, of a factor where they match and
a smaller one where they do not, times a weight that the row has for all targets. With `miss` for
the smaller factor and `more` for what a match has beyond it,

    product over slots of (miss + more [match]) =
        sum over sets of slots of (product of more in the set) (product of miss outside)
                                  [equal in all slots of the set].

So the sum over all rows needs of them only the sum of weights in each group of a join. No term is
negative, so nothing cancels. Known rows with gaps, which have factors of their own, are joined by
themselves, one set of missing slots after the other.

A search needs the largest weight of each group and how many rows have it. A row with more matches
than the set says is scored too low there, and right where the set is that of its matches: so the
best score is right, and it is reached only where the sets are. Slots in which a match gains nothing
would blur that, so in these a target matches nobody.
"""

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.matches import ABSENT, UNCOUNTED, Matches, Wanted
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, kernel
from reidrisk.core.rows import Kind
from reidrisk.engines.cost_model import Evidence, Question, Search
from reidrisk.engines.histogram import MOST_SLOTS, gaps_of
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies import definition
from reidrisk.engines.strategies.joins import ROWS_AT_A_TIME
from reidrisk.engines.subset_joins import Joined, SlotNumbers, joins, seconds
from reidrisk.engines.true_scores import true_scores
from reidrisk.scores import GRID, NormalisedWeights
from reidrisk.scores.protocol import Gains

Floats: TypeAlias = NDArray[np.float64]
_Best: TypeAlias = tuple[Gains, Gains]
"""The best score of each target and how many rows have it."""

_STEP = 1 << 15
_LEAST_SUM = 1e-200
_NEVER = np.iinfo(np.int64).max


class _Gains(NamedTuple):
    """What a match, a mismatch and a known gap gain, each targets x slots."""

    match: Gains
    mismatch: Gains
    known_gap: Gains


class _Factors(NamedTuple):
    """Chances relative to the largest of a slot, each targets x slots.

    Attributes:
        more: What a match has beyond a mismatch.
        miss: That of a mismatch.
        gap: That of a known gap.
    """

    more: Floats
    miss: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class _Part:
    """Targets from whom the same slots subtract something, and these slots; others count nothing.

    Attributes:
        targets: Which targets.
        slots: Which slots.
        numbers: The numbers of what these targets show in these slots.
        gains: Of these targets in these slots.
    """

    targets: NDArray[np.int64]
    slots: NDArray[np.int64]
    numbers: SlotNumbers
    gains: _Gains

    def joins(self, rows: Tokens) -> Iterator[tuple[int, NDArray[np.int64], Joined]]:
        """The joins of known rows, those with the same missing slots together.

        Args:
            rows: Known rows.

        Yields:
            The missing slots as bits, the rows that miss them, and a join of these rows.
        """
        mine = rows[:, self.slots]
        gaps = (mine == MISSING) @ (1 << np.arange(len(self.slots)))
        for missing in np.unique(gaps).tolist():
            some = np.flatnonzero(gaps == missing)
            known = self.numbers.known(mine[some])
            for joined in joins(known, self.numbers.targets, self.numbers.sizes):
                yield missing, some, joined


def evidence(observations: Observations, score: NormalisedWeights, engine: Engine) -> Floats:
    """The sums over all rows, set of slots by set of slots."""
    parts = _Parts(np.asarray(observations.anonymous), score)
    least = _least(observations, score, engine, parts)
    targets = len(observations.anonymous)

    def work(blocks: Blocks) -> dict[int, Floats]:
        found = {}
        for start, rows in blocks:
            found[start] = sums = np.zeros(targets)
            less = score.log_sums(rows)
            for part, (mine, _), low in zip(parts.all, parts.factors, least.tolist(), strict=True):
                weights = np.exp((low - less[:, part.slots].sum(axis=1)) / GRID)
                of_part = np.zeros(len(part.targets))
                for missing, some, joined in part.joins(rows):
                    _add_weights(joined, missing, weights[some], mine, of_part)
                sums[part.targets] = of_part
        return found

    step = min(_STEP, unit(observations.known.users))
    found = engine.reduce(observations.known, work, operator.or_, step=step, pairs=targets)
    sums, scale = np.sum([found[start] for start in sorted(found)], axis=0), np.empty(targets)
    for part, (_, peaks), low in zip(parts.all, parts.factors, least.tolist(), strict=True):
        scale[part.targets] = peaks - low / GRID
    return definition.logarithm(sums, _LEAST_SUM, scale, observations, score, engine)


def search(
    observations: Observations, score: NormalisedWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """The best score of each target and its ties, set of slots by set of slots."""
    parts = _Parts(np.asarray(observations.anonymous), score)
    targets = len(parts.shown)

    def work(blocks: Blocks) -> _Best:
        best, ties = np.full(targets, ABSENT), np.zeros(targets, np.int64)
        for _, rows in blocks:
            less = score.log_sums(rows)
            for part in parts.all:
                mine, of_part = less[:, part.slots].sum(axis=1), _nothing(len(part.targets))
                for missing, some, joined in part.joins(rows):
                    _keep_best(joined, missing, mine[some], part.gains, *of_part)
                found = np.full(targets, ABSENT), np.zeros(targets, np.int64)
                for whole, some_found in zip(found, of_part, strict=True):
                    whole[part.targets] = some_found
                best, ties = _better((best, ties), found)
        return best, ties

    best, ties = engine.reduce(
        observations.known, work, _better, most=ROWS_AT_A_TIME, pairs=targets
    )
    true_score, listed = true_scores(observations, score), np.empty((targets, 0), np.int64)
    absent = true_score == ABSENT
    # Up to the first rank, rows above the true one are none or some.
    above = np.where(absent, UNCOUNTED, best > true_score)
    level = np.where(absent, UNCOUNTED, np.where(best == true_score, ties - 1, 0))
    return Matches(best, ties, true_score, listed, listed, above, level, wanted.ranks)


def cost(question: Question) -> float:
    """Seconds of an evidence; infinite where there is none by joins."""
    observations, score = question.observations, question.score
    if observations.known.kind is not Kind.TOKENS or observations.slots > MOST_SLOTS:
        return math.inf
    if not isinstance(score, NormalisedWeights) or not _rises(score):
        return math.inf
    return seconds(question, _passes(question), min(_STEP, unit(observations.known.users)))


def search_cost(question: Question) -> float:
    """Seconds of a search; infinite if it is for more than the best score and its ties."""
    wanted = question.wanted
    if wanted.list_best or wanted.second or wanted.ranks != 1:
        return math.inf
    return cost(question)


def _rises(score: NormalisedWeights) -> bool:
    """Whether no match gains less than a mismatch."""
    match, mismatch, _ = score.weights.table
    return bool((match >= mismatch).all())


def _passes(question: Question) -> int:
    """How often targets are joined to the known rows of a step, judged by samples."""
    of_known = len(np.unique(gaps_of(question.known)))
    if question.score.gaps:
        return of_known
    return of_known * len(np.unique(gaps_of(np.asarray(question.some.anonymous))))


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of all targets. They travel as what they are made of, which is much less.

    Args:
        shown: What targets show, targets x slots.
        score: How rows are rated.
    """

    shown: Tokens
    score: NormalisedWeights

    @cached_property
    def all(self) -> list[_Part]:
        """The parts."""
        return list(_parts(self.shown, self.score))

    @cached_property
    def factors(self) -> list[tuple[_Factors, Floats]]:
        """The chances of each part, and the logarithms of what they are relative to."""
        return [_factors(part.gains) for part in self.all]

    def __reduce__(self) -> tuple[type["_Parts"], tuple[Tokens, NormalisedWeights]]:
        return _Parts, (self.shown, self.score)


def _parts(shown: Tokens, score: NormalisedWeights) -> Iterator[_Part]:
    """The targets by the slots that count: all, unless gaps gain nothing; then those shown."""
    slots = np.arange(shown.shape[1])
    gaps = np.zeros(len(shown), np.int64) if score.gaps else gaps_of(shown)
    gains = _Gains(*score.weights.gains(shown))
    for missing in np.unique(gaps).tolist():
        targets, mine = np.flatnonzero(gaps == missing), slots[~missing >> slots & 1 == 1]
        some = _Gains(*(gain[targets][:, mine] for gain in gains))
        matchless = np.where(some.match > some.mismatch, shown[targets][:, mine], MISSING)
        numbers = SlotNumbers.of(matchless, score.weights.tokens)
        yield _Part(targets, mine, numbers, some)


def _factors(gains: _Gains) -> tuple[_Factors, Floats]:
    """The chances, and the logarithms of what they are relative to, by target."""
    peak = np.maximum(np.maximum(gains.match, gains.mismatch), gains.known_gap)
    match, miss, gap = (np.exp((gain - peak) / GRID) for gain in gains)
    # Not the difference of two chances, which would cancel digits.
    more = match * -np.expm1((gains.mismatch - gains.match) / GRID)
    return _Factors(more, miss, gap), peak.sum(axis=1) / GRID


def _least(
    observations: Observations, score: NormalisedWeights, engine: Engine, parts: _Parts
) -> Gains:
    """The least that is subtracted from any row, by part: the largest weight becomes 1."""

    def work(blocks: Blocks) -> Gains:
        least = np.full(len(parts.all), _NEVER)
        for _, rows in blocks:
            less = score.log_sums(rows)
            of_block = [less[:, part.slots].sum(axis=1).min() for part in parts.all]
            least = np.minimum(least, of_block)
        return least

    return engine.reduce(observations.known, work, np.minimum, most=ROWS_AT_A_TIME)


def _nothing(targets: int) -> _Best:
    return np.full(targets, ABSENT), np.zeros(targets, np.int64)


def _better(one: _Best, other: _Best) -> _Best:
    """The best of two shards, and the ties of whichever has it."""
    best = np.maximum(one[0], other[0])
    ties = [np.where(found == best, count, 0) for found, count in (one, other)]
    return best, ties[0] + ties[1]


@kernel
def _add_weights(
    joined: Joined, missing: int, weights: Array, factors: _Factors, sums: Array
) -> None:
    """Add the weights of each group to the sums of its targets."""
    together = np.zeros(joined.groups)
    for index in range(joined.known.shape[0]):
        together[joined.known_groups[index]] += weights[joined.known[index]]
    for index in range(joined.targets.shape[0]):
        target = joined.targets[index]
        chance = together[joined.target_groups[index]]
        for slot in range(factors.miss.shape[1]):
            if missing >> slot & 1:
                chance *= factors.gap[target, slot]
            elif joined.pattern >> slot & 1:
                chance *= factors.more[target, slot]
            else:
                chance *= factors.miss[target, slot]
        sums[target] += chance


@kernel
def _keep_best(
    joined: Joined, missing: int, less: Array, gains: _Gains, best: Array, ties: Array
) -> None:
    """Keep the best score of each target and how many rows of its group have it."""
    least = np.full(joined.groups, _NEVER)
    count = np.zeros(joined.groups, np.int64)
    for index in range(joined.known.shape[0]):
        group, mine = joined.known_groups[index], less[joined.known[index]]
        if mine < least[group]:
            least[group], count[group] = mine, 1
        elif mine == least[group]:
            count[group] += 1
    for index in range(joined.targets.shape[0]):
        target, group = joined.targets[index], joined.target_groups[index]
        score = -least[group]
        for slot in range(gains.match.shape[1]):
            if missing >> slot & 1:
                score += gains.known_gap[target, slot]
            elif joined.pattern >> slot & 1:
                score += gains.match[target, slot]
            else:
                score += gains.mismatch[target, slot]
        if score > best[target]:
            best[target], ties[target] = score, count[group]
        elif score == best[target]:
            ties[target] += count[group]


PLAN = (
    Search((NormalisedWeights,), search, search_cost),
    Evidence((NormalisedWeights,), evidence, cost),
)
