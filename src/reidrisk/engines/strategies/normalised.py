"""Searching under normalised weights: as a score with the same numbers, or as a bit scan."""

import operator
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.matches import Matches, Wanted, join_targets
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.rows import Kind
from reidrisk.engines.encode import codes_of, fitting
from reidrisk.engines.kernels_normalised import Less, add_less, scan_less
from reidrisk.engines.kernels_search import ROWS_PER_SCAN, Kept
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies import bit_scan
from reidrisk.engines.strategies.pruning import few_rows_first, keep
from reidrisk.engines.strategies.tally import some_kept, target_parts
from reidrisk.scores import GRID, NormalisedWeights, TokenTable, TokenWeights

_MOST_BYTES = 1 << 30
_ROWS_AT_A_TIME = 1 << 18
_STEP = 1 << 15
_SAMPLE = 1 << 14

Range = NDArray[np.int64]
Floats = NDArray[np.float64]


def as_fast(
    observations: Observations, score: NormalisedWeights, engine: Engine
) -> TokenTable | TokenWeights | None:
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


def search(
    observations: Observations, score: NormalisedWeights, wanted: Wanted, engine: Engine
) -> Matches:
    """Search sets: a bit scan, less what is known of each row."""
    blocks_of_targets = _fitting(observations, wanted, engine)
    return join_targets([_search(some, score, wanted, engine) for some in blocks_of_targets])


def evidence(observations: Observations, score: NormalisedWeights, engine: Engine) -> Floats:
    """Add up sets, relative to the best of them."""
    parts = [_evidence(some, score, engine) for some in _fitting(observations, Wanted(), engine)]
    return np.concatenate(parts)


def _fitting(observations: Observations, wanted: Wanted, engine: Engine) -> Iterator[Observations]:
    """The targets, in blocks that fit into memory."""

    def size(targets: int) -> int:
        return bit_scan.bytes_needed(observations, engine.room, wanted, targets)

    return fitting(observations, size, engine.room)


def _search(
    observations: Observations, score: NormalisedWeights, wanted: Wanted, engine: Engine
) -> Matches:
    codes, applies = codes_of(observations), _applies(observations, score)
    targets = bit_scan.weighed(observations, score.weights, codes)

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps = np.zeros((codes.size, ROWS_PER_SCAN // 64), np.uint64)
        for first, rows in few_rows_first(blocks):
            known, place = codes.of(rows), observations.first + first
            sums = score.log_sums(rows)
            for part in target_parts(observations):
                less, some = Less(sums, applies[part]), bit_scan.some_weighed(targets, part)
                scan_less(known, less, place, some, some_kept(kept, part), bitmaps)

    return keep(observations, score, wanted, engine, look)


def _evidence(observations: Observations, score: NormalisedWeights, engine: Engine) -> Floats:
    best = _search(observations, score, Wanted(), engine).best
    codes, applies = codes_of(observations), _applies(observations, score)
    targets = bit_scan.weighed(observations, score.weights, codes)

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
    return np.asarray((observations.anonymous != MISSING) | score.gaps)


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
