"""Plan entries: what a strategy answers, and what it costs by measured constants.

Costs are seconds on one core of an ordinary server, predicted from measurements. Only their ratios
matter, and only roughly: every strategy gives the same answer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations, Tokens
from reidrisk.engines.encode import Codes, codes_of, targets_with_codes
from reidrisk.engines.histogram import gaps_of
from reidrisk.engines.protocol import TOKEN_PAIRS, Engine, Room

MOST_DISTINCT = 1 << 20
"""Most different rows of codes that `strategies.distinct` counts in one table."""

_THE_BEST = Wanted()

# Seconds to make the count of one pattern exact, and to read it in a search.
_COUNT_PATTERN, _LOOK_AT_PATTERN = 3e-8, 5e-9

# Rows of a sample, and the runs of neighbours they come in: on disk, whole row groups are read, so
# rows one by one would read everything.
_SAMPLE, _RUNS = 1 << 14, 4


@dataclass(frozen=True, eq=False)
class Question:
    """A question to the plan, as far as costs depend on it.

    Args:
        observations: Who is compared with whom.
        wanted: What a search is to find.
        searches: How many searches of the same rows are asked for at once.
        gaps: Whether gaps of known rows have gains of their own.
        score: How well a known row explains an anonymous one, if costs may depend on it.
    """

    observations: Observations
    wanted: Wanted = _THE_BEST
    searches: int = 1
    gaps: bool = False
    score: Any = None

    @cached_property
    def some(self) -> Observations:
        """As many targets as have codes together, whatever the memory: they stand for all."""
        return self.observations.only(slice(targets_with_codes(self.observations)))

    @cached_property
    def codes(self) -> Codes:
        """The codes of these targets."""
        return codes_of(self.some)

    @cached_property
    def known(self) -> Tokens:
        """A sample of known rows, by which costs are judged."""
        known = self.observations.known
        return known.take(some_rows(known.users))

    @cached_property
    def known_codes(self) -> NDArray[np.uint16]:
        """The codes of these known rows."""
        return self.codes.of(self.known)


Cost: TypeAlias = Callable[[Question], float]
_Condition: TypeAlias = Callable[[Observations], bool]


def _unmeasured(question: Question) -> float:
    """The cost of a strategy that is the only one for its scores."""
    del question
    return 1.0


@dataclass(frozen=True, slots=True)
class Search:
    """Plan entry of a strategy that searches for the best known rows.

    Args:
        scores: The exact types of score that it searches under; empty if it takes any score.
        run: The search.
        cost: Seconds; infinite where it cannot answer.
        whenever: If given, the strategy is taken exactly where this holds, whatever others cost.
        ranks_are_free: Whether counting all ranks takes no longer than finding the best.
    """

    scores: tuple[type, ...]
    run: Callable[[Observations, Any, Wanted, Engine], Matches]
    cost: Cost = _unmeasured
    whenever: _Condition | None = None
    ranks_are_free: Callable[[Observations, Any], bool] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Plan entry of a strategy that sums exp(score) over all known rows.

    Args:
        scores: The exact types of score that it sums; empty if it takes any score.
        run: Gives the logarithm of the sum for each target.
        cost: Seconds.
        whenever: As of a search.
    """

    scores: tuple[type, ...]
    run: Callable[[Observations, Any, Engine], NDArray[np.float64]]
    cost: Cost = _unmeasured
    whenever: _Condition | None = None


@dataclass(frozen=True, slots=True)
class PatternCount:
    """Plan entry of a strategy that counts match patterns: they answer all token weights at once.

    Args:
        run: Counts known rows by group of gaps, target and pattern, for some number of searches.
        cost: Seconds.
        whenever: As of a search.
    """

    run: Callable[[Observations, Codes, NDArray[np.int64], Engine, int], NDArray[np.int64]]
    cost: Cost
    whenever: _Condition | None = None


def cost_of_patterns(question: Question, counting: float) -> float:
    """Seconds of counting all patterns and searching them, given those of one group of gaps.

    How many groups of gaps there are is judged by the sample of known rows.

    Args:
        question: What costs depend on.
        counting: Seconds of counting the patterns of one group of gaps.
    """
    groups = len(np.unique(gaps_of(question.known))) if question.gaps else 1
    patterns = len(question.codes.targets) << question.observations.slots
    return groups * (counting + patterns * (_COUNT_PATTERN + question.searches * _LOOK_AT_PATTERN))


def bytes_to_count(observations: Observations, room: Room, groups: int, targets: int) -> int:
    """Memory of a pattern count for this many targets.

    Args:
        observations: Who is compared with whom.
        room: What there is to work with on one machine.
        groups: How many groups of gaps.
        targets: How many targets.
    """
    patterns = groups * targets << observations.slots
    width = observations.slots * observations.set_size
    most = TOKEN_PAIRS // (width * len(observations.anonymous))
    rows = min(room.rows_together(observations.known.users, most), observations.known.users)
    per_thread = 4 * patterns + 2 * rows * width * (observations.set_size + 2)
    codes = observations.slots * (2 * observations.tokens + 8 * (1 << 16) + 10 * targets)
    return room.threads * (per_thread + 8 * MOST_DISTINCT) + 8 * patterns + codes


def some_rows(users: int) -> NDArray[np.int64]:
    """Numbers of some rows, spread over all."""
    if users <= _SAMPLE:
        return np.arange(users)
    run = _SAMPLE // _RUNS
    return (np.linspace(0, users - run, _RUNS).astype(np.int64)[:, None] + np.arange(run)).ravel()
