"""Pattern histograms: for each target, how many known rows match it in which slots.

Token weights see a known row only through the set of slots in which it matches. So the counts of
these sets (patterns) answer every search for the best row, all ties, every prefix of the slots, and
sums over all users; the users themselves are no longer needed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import ABSENT, UNCOUNTED, Counts, Matches, Wanted, up_to_rank
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, kernel, over_blocks
from reidrisk.core.rows import Kind
from reidrisk.engines.protocol import Engine
from reidrisk.engines.true_scores import true_scores
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.scores import GRID, TokenWeights

# 2**12 patterns of 8 bytes for each target are 32 KiB; every further slot doubles that.
MOST_SLOTS = 12

_TARGETS_AT_A_TIME = 2048


class SlotGains(NamedTuple):
    """Gains of a match, a mismatch and a known gap, each targets x slots."""

    match: NDArray[np.int64]
    mismatch: NDArray[np.int64]
    known_gap: NDArray[np.int64]


class _PatternTotals(NamedTuple):
    """The best score of the counted rows, how many attain it, and the next score below it.

    `above` rows score higher than the true row, `level` others as high.
    """

    best: NDArray[np.int64]
    ties: NDArray[np.int64]
    second: NDArray[np.int64]
    above: NDArray[np.int64]
    level: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class PatternHistogram:
    """Counts of known rows by match pattern.

    Args:
        counts: `counts[group, target, pattern]`; bit s of the pattern says that slot s matches.
        missing: For each group of known rows the slots they all miss, as bits. One group, 0, if
            nothing is missing.
        observations: What was counted.

    Example:
        >>> seen = rr.Observations([[3, 1], [0, 1], [2, 2]], [[0, 1]], truth=[1], tokens=4)
        >>> counted = rr.LocalEngine().histogram(seen)
        >>> counted.counts[0, 0].tolist()
        [1, 0, 1, 1]
        >>> counted.search(rr.TokenWeights(np.ones(4))).credit.tolist()
        [1.0]
    """

    counts: NDArray[np.int64]
    missing: NDArray[np.int64]
    observations: Observations

    def search(
        self,
        score: TokenWeights,
        *,
        slots: int | None = None,
        ranks: int | None = None,
        second: bool = False,
    ) -> Matches:
        """The matches of all targets, after the first `slots` slots.

        Counts give all ranks at no cost; `ranks` limits them to what a search would return.

        Args:
            score: How well a known row explains an anonymous one.
            slots: After how many slots; all if not given.
            ranks: Count the rows above the truth up to this rank, as a search would; None counts
                all.
            second: Also find the score of the second best row.
        """
        seen, ranks = self._prefix(score, slots), Wanted(ranks=ranks).ranks
        true_score = true_scores(seen, score)
        rated = self._rated(seen, score, true_score)
        nobody = np.empty((len(true_score), 0), np.int64)
        above, level = up_to_rank(
            np.where(true_score == ABSENT, UNCOUNTED, rated.above),
            np.where(true_score == ABSENT, UNCOUNTED, rated.level),
            ranks,
        )
        # With ties, the second best row has the best score too.
        runner_up = np.where(rated.ties > 1, rated.best, rated.second) if second else None
        return Matches(
            rated.best, rated.ties, true_score, nobody, nobody, above, level, ranks, runner_up
        )

    def evidence(self, score: TokenWeights, *, slots: int | None = None) -> NDArray[np.float64]:
        """Logarithm of the sum over all known rows of exp(score), for each target.

        With gains that are log-likelihoods, `exp(score - evidence)` is a row's posterior
        probability under equal priors.

        Args:
            score: How well a known row explains an anonymous one.
            slots: After how many slots; all if not given.
        """
        seen = self._prefix(score, slots)
        best = self._rated(seen, score, np.full(len(seen.anonymous), ABSENT)).best
        gains = SlotGains(*score.gains(np.asarray(seen.anonymous)))
        sums = np.zeros(len(best))
        for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
            _sum_patterns(counts, missing, gains, best, sums)
        return best / GRID + np.log(sums)

    def _prefix(self, score: TokenWeights, slots: int | None) -> Observations:
        seen = self.observations.prefix(self.observations.slots if slots is None else slots)
        score.check(seen)
        return seen

    def _rated(self, seen: Observations, score: TokenWeights, true_score: Counts) -> _PatternTotals:
        """The totals over all patterns; the true row does not count as level with itself."""
        gains = SlotGains(*score.gains(np.asarray(seen.anonymous)))
        absent, none = np.full(len(true_score), ABSENT), np.zeros(len(true_score), np.int64)
        # `level` starts at -1: the true row is among the counted rows and is no rival.
        rated = _PatternTotals(absent, none, absent.copy(), none.copy(), none - 1)

        def rate(start: int, stop: int) -> None:
            mine = slice(start, stop)
            some = SlotGains._make(each[mine] for each in gains)
            found = _PatternTotals._make(each[mine] for each in rated)
            for missing, counts in zip(self.missing.tolist(), self.counts, strict=True):
                _rate_patterns(counts[mine], missing, some, true_score[mine], found)

        over_blocks(rate, len(true_score), _TARGETS_AT_A_TIME)
        return rated


def check_slots(observations: Observations) -> None:
    """Refuse rows with too many slots to count every pattern, and rows without slots."""
    if observations.known.kind is Kind.BAGS:
        raise InvalidInput(
            "known holds bags of tokens: without slots there are no match patterns",
            code="wrong-kind-of-rows",
        )
    if observations.slots > MOST_SLOTS:
        raise TooLarge(
            f"{observations.slots} slots have 2**{observations.slots} match patterns, too many to "
            f"count for every target; use search, or prefix({MOST_SLOTS})",
            code="too-many-slots",
        )


def gap_groups(observations: Observations, engine: Engine) -> NDArray[np.int64]:
    """The different sets of slots that known rows miss, as bits; only 0 if nothing is missing.

    Args:
        observations: Who is compared with whom.
        engine: Goes over the known rows.
    """
    if observations.complete:  # known without a pass over the rows
        return np.zeros(1, np.int64)

    def work(blocks: Blocks) -> NDArray[np.int64]:
        found = [np.unique(gaps_of(rows)) for _, rows in blocks]
        return np.unique(np.concatenate([np.empty(0, np.int64), *found]))

    return engine.reduce(observations.known, work, np.union1d, most=1 << 16)


def by_group(rows: Tokens, groups: NDArray[np.int64]) -> Iterator[tuple[int, Tokens]]:
    """The rows of each group.

    Args:
        rows: Known rows.
        groups: The sets of slots that known rows miss, as bits.
    """
    if len(groups) == 1:
        yield 0, rows
        return
    gaps = gaps_of(rows)
    for group, slots in enumerate(groups):
        if (gaps == slots).any():
            yield group, rows[gaps == slots]


def gaps_of(rows: Tokens) -> NDArray[np.int64]:
    """The slots that each row misses, as bits."""
    sets = rows.reshape(*rows.shape[:2], -1)
    return np.asarray((sets == MISSING).all(axis=2) @ (1 << np.arange(rows.shape[1])))


@kernel
def _rate_patterns(
    counts: Array, missing: int, gains: SlotGains, true_score: Array, rated: _PatternTotals
) -> None:
    """Rate every pattern that occurs, and add its rows to the totals.

    `missing` are the slots, as bits, that all counted rows miss. Fewer slots than were counted give
    the answer for a prefix: patterns that differ only in later slots have the same score.
    """
    scores = np.empty(1 << gains.match.shape[1], np.int64)
    for target in range(counts.shape[0]):
        _fill_scores(gains, target, missing, scores)
        true = true_score[target]
        best, ties, second = rated.best[target], rated.ties[target], rated.second[target]
        above, level = 0, 0
        for pattern in range(counts.shape[1]):
            count = counts[target, pattern]
            if count == 0:
                continue
            score = scores[pattern % scores.shape[0]]  # only the slots of the prefix count
            if score > best:
                best, ties, second = score, count, best
            elif score == best:
                ties += count
            elif score > second:
                second = score
            if score > true:
                above += count
            elif score == true:
                level += count
        rated.best[target], rated.ties[target], rated.second[target] = best, ties, second
        rated.above[target] += above
        rated.level[target] += level


@kernel
def _sum_patterns(counts: Array, missing: int, gains: SlotGains, best: Array, sums: Array) -> None:
    """Add the likelihood of all counted rows, relative to that of the best score, to `sums`."""
    scores = np.empty(1 << gains.match.shape[1], np.int64)
    for target in range(counts.shape[0]):
        _fill_scores(gains, target, missing, scores)
        for pattern in range(counts.shape[1]):
            count = counts[target, pattern]
            if count > 0:
                score = scores[pattern % scores.shape[0]]
                sums[target] += count * math.exp((score - best[target]) / GRID)


@kernel
def _fill_scores(gains: SlotGains, target: int, missing: int, scores: Array) -> None:
    """The score of each pattern, in place: each slot doubles the patterns that are filled."""
    scores[0] = 0
    for slot in range(gains.match.shape[1]):
        match, other = gains.match[target, slot], gains.mismatch[target, slot]
        if missing >> slot & 1:
            other = gains.known_gap[target, slot]
        for pattern in range(1 << slot):
            scores[pattern | 1 << slot] = scores[pattern] + match
            scores[pattern] += other
