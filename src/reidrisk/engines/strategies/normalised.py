"""Strategy: search under normalised weights, as a score with the same numbers or by a bit scan.

Normalised weights are token weights, less a number for every slot of a known row.
"""

import math
import operator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, Number, kernel
from reidrisk.core.rows import Kind
from reidrisk.engines import plan
from reidrisk.engines.bitmaps import (
    COUNTERS,
    ROWS_PER_SCAN,
    WORDS,
    count_matches,
    list_found,
    mark,
    start_counters,
    unmark,
)
from reidrisk.engines.cost_model import Evidence, Search
from reidrisk.engines.encode import codes_of
from reidrisk.engines.protocol import Engine
from reidrisk.engines.pruning import (
    Kept,
    few_rows_first,
    keep,
    offer,
    some_kept,
    target_parts,
    threshold,
)
from reidrisk.engines.strategies.bit_scan import (
    Weighed,
    find_starts,
    order_by_gaps,
    some_weighed,
    targets_that_fit,
    weighed,
    weighed_score,
)
from reidrisk.scores import GRID, NormalisedWeights, TokenPairWeights, TokenWeights

_MOST_BYTES = 1 << 30
_ROWS_AT_A_TIME = 1 << 18
_STEP = 1 << 15
_SAMPLE = 1 << 14
_LEAST = -(2**62)  # of a score that is compared; so that sums with it stay in range
_FAR = -200 * GRID  # what is so far below the best changes no digit of a sum

Range = NDArray[np.int64]
Floats = NDArray[np.float64]


class Less(NamedTuple):
    """What is subtracted: `rows[row, slot]`, in slots where `applies[target, slot]`."""

    rows: NDArray[np.int64]
    applies: NDArray[np.bool_]


def search(
    observations: Observations, score: NormalisedWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under a score with the same numbers, or scan sets and subtract what rows sum to."""
    fast = as_fast(observations, score, engine)
    if fast is not None:
        return plan.search(observations, fast, wanted, engine)
    blocks = targets_that_fit(observations, wanted, engine)
    return join_targets([_search(some, score, wanted, engine) for some in blocks])


def evidence(observations: Observations, score: NormalisedWeights, engine: Engine) -> Floats:
    """Add up under a score with the same numbers, or add up sets, relative to the best one."""
    fast = as_fast(observations, score, engine)
    if fast is not None:
        return plan.evidence(observations, fast, engine)
    blocks = targets_that_fit(observations, Wanted(), engine)
    return np.concatenate([_evidence(some, score, engine) for some in blocks])


def ranks_are_free(observations: Observations, score: NormalisedWeights) -> bool:
    """Whether all ranks come with a search, as some of the rows tell: as of the weights."""
    if observations.known.kind is Kind.TOKENS or not are_alike(observations, score):
        return False
    return plan.ranks_are_free(observations, score.weights)


def as_fast(
    observations: Observations, score: NormalisedWeights, engine: Engine
) -> TokenPairWeights | TokenWeights | None:
    """A score of another kind that gives the same numbers, or None.

    A token table for single tokens; token weights for sets that all sum to the same, as sets of
    equal size do under weights that do not depend on the token (full information).
    """
    if observations.known.kind is Kind.TOKENS:
        slots, size = score.weights.table.shape[1:]
        return score.as_table() if 8 * slots * size**2 <= _MOST_BYTES else None
    nothing = np.full((1, observations.slots, 1), MISSING)
    low, high = _range_of_sums(observations, score, engine)
    if (low < high).any():
        return None
    return score.weights.less(np.where(low > high, 0, low), score.log_sums(nothing)[0])


def are_alike(observations: Observations, score: NormalisedWeights) -> bool:
    """Whether some of the sets all sum to the same: then `as_fast` gives token weights."""
    users = observations.known.users
    some = np.arange(0, users, max(users // _SAMPLE, 1))
    low, high = _range_of_block(observations.known.take(some), score)
    return bool((low >= high).all())


def _search(
    observations: Observations, score: NormalisedWeights, wanted: Wanted, engine: Engine
) -> Matches:
    codes, applies = codes_of(observations), _applies(observations, score)
    targets = weighed(observations, score.weights, codes)

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps = np.zeros((codes.size, ROWS_PER_SCAN // 64), np.uint64)
        for first, rows in few_rows_first(blocks):
            known, place = codes.of(rows), observations.first + first
            sums = score.log_sums(rows)
            for part in target_parts(observations):
                less, some = Less(sums, applies[part]), some_weighed(targets, part)
                scan_less(known, less, place, some, some_kept(kept, part), bitmaps)

    return keep(observations, score, wanted, engine, look)


def _evidence(observations: Observations, score: NormalisedWeights, engine: Engine) -> Floats:
    best = _search(observations, score, Wanted(), engine).best
    codes, applies = codes_of(observations), _applies(observations, score)
    targets = weighed(observations, score.weights, codes)

    def work(blocks: Blocks) -> dict[int, Floats]:
        parts = {}
        for start, rows in blocks:
            parts[start] = np.zeros(len(best))
            less = Less(score.log_sums(rows), applies)
            add_less(codes.of(rows), less, targets, best, parts[start])
        return parts

    parts = engine.reduce(
        observations.known, work, operator.or_, step=min(_STEP, unit(observations.known.users))
    )
    return np.asarray(best / GRID + np.log(np.sum([parts[key] for key in sorted(parts)], axis=0)))


def _applies(observations: Observations, score: NormalisedWeights) -> NDArray[np.bool_]:
    """Where something is subtracted: everywhere but in shown gaps that say nothing."""
    return np.asarray((np.asarray(observations.anonymous) != MISSING) | score.gaps)


def _range_of_sums(observations: Observations, score: NormalisedWeights, engine: Engine) -> Range:
    """The lowest and the highest number that is subtracted for a slot which is no gap."""
    limits = np.iinfo(np.int64)
    none = np.repeat([[limits.max], [limits.min]], observations.slots, axis=1)

    def work(blocks: Blocks) -> Range:
        found = none
        for _, sets in blocks:
            found = _wider(found, _range_of_block(sets, score))
        return found

    return engine.reduce(observations.known, work, _wider, most=_ROWS_AT_A_TIME)


def _range_of_block(sets: Tokens, score: NormalisedWeights) -> Range:
    sums = score.log_sums(sets)
    empty = (sets == MISSING).reshape(*sums.shape, -1).all(axis=2)
    limits = np.iinfo(np.int64)
    low = np.where(empty, limits.max, sums).min(axis=0)
    return np.array([low, np.where(empty, limits.min, sums).max(axis=0)])


def _wider(one: Range, other: Range) -> Range:
    return np.array([np.minimum(one[0], other[0]), np.maximum(one[1], other[1])])


@kernel
def scan_less(
    codes: Array, less: Less, first_row: int, targets: Weighed, kept: Kept, bitmaps: Array
) -> None:
    """Offer every row that may matter to every target: as `scan`, with what is subtracted.

    `bitmaps` must be zero and is left so.
    """
    order, ends = order_by_gaps(codes, targets)
    codes, rows = codes[order], less.rows[order]
    mark(codes, bitmaps)
    counters, found = np.empty(COUNTERS, np.uint64), np.empty(ROWS_PER_SCAN, np.int64)
    starts, set_size = np.empty(WORDS, np.uint64), codes.shape[1] // targets.codes.shape[1]
    lowest = np.empty((1, rows.shape[1]), np.int64)
    for slot in range(rows.shape[1]):
        lowest[0, slot] = rows[:, slot].min()
    for target in range(targets.codes.shape[0]):
        limit = max(threshold(kept, target), _LEAST) + sum_of_less(lowest, 0, less, target)
        if find_starts(targets, target, limit >> 3, ends, starts):
            start_counters(starts, counters)
            count_matches(bitmaps, targets.codes, target, counters)
            for place in range(list_found(counters, found)):
                row = found[place]
                if row < codes.shape[0]:
                    score = weighed_score(codes, row, set_size, targets, target)
                    score -= sum_of_less(rows, row, less, target)
                    offer(kept, target, score, first_row + order[row])
    unmark(codes, bitmaps)


@kernel
def sum_of_less(rows: Array, row: int, less: Less, target: int) -> Number:
    """What is subtracted from a row's score for a target."""
    total = 0
    for slot in range(rows.shape[1]):
        if less.applies[target, slot]:
            total += rows[row, slot]
    return total


@kernel
def add_less(codes: Array, less: Less, targets: Weighed, best: Array, sums: Array) -> None:
    """Add the likelihood of all rows, relative to that of the best score, to `sums`."""
    set_size = codes.shape[1] // targets.codes.shape[1]
    for target in range(targets.codes.shape[0]):
        for row in range(codes.shape[0]):
            score = weighed_score(codes, row, set_size, targets, target)
            below = score - sum_of_less(less.rows, row, less, target) - best[target]
            if below > _FAR:
                sums[target] += math.exp(below / GRID)


PLAN = (
    Search((NormalisedWeights,), search, ranks_are_free=ranks_are_free),
    Evidence((NormalisedWeights,), evidence),
)
