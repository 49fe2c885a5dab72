"""Searching under a type mixture: a scan, with bounds that hold for every type."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import Codes, codes_of, target_blocks
from reidrisk.engines.engine import Engine
from reidrisk.engines.kernels_mixture import MOST_NATS, Mixed, scan_types
from reidrisk.engines.kernels_search import ROWS_PER_SCAN, Kept
from reidrisk.engines.memory import Room
from reidrisk.engines.ways import bit_scan
from reidrisk.engines.ways.keeping import few_rows_first, keep
from reidrisk.matches import Matches, Wanted, join_targets
from reidrisk.observations import MISSING, Observations
from reidrisk.passes import Blocks
from reidrisk.scores import GRID
from reidrisk.scores.type_mixture import IMPOSSIBLE, Chances, TypeMixture

_BOUNDS = 6  # arrays of targets x slots x types at a time
_SLACK = 1e-6  # nats, far above what rounding can do to a score

Floats = NDArray[np.float64]


def bytes_needed(
    observations: Observations, score: TypeMixture, room: Room, wanted: Wanted, targets: int
) -> int:
    """Memory of a search for this many targets."""
    types = len(score.chances.weights)
    bounds = 8 * types * (_BOUNDS * targets * (observations.slots + 1) + 4 * observations.tokens)
    per_thread = 8 * (types + 1) * ROWS_PER_SCAN
    scan = bit_scan.bytes_needed(observations, room, wanted, targets)
    return scan + bounds + room.threads * per_thread


def search(
    observations: Observations, score: TypeMixture, wanted: Wanted, engine: Engine
) -> Matches:
    """Search under a type mixture, for as many targets at a time as fit."""

    def size(targets: int) -> int:
        return bytes_needed(observations, score, engine.room, wanted, targets)

    most = engine.room.targets_together(len(observations.anonymous), size)
    blocks = target_blocks(observations, most)
    return join_targets(
        [_search(observations.only(some), score, wanted, engine) for some in blocks]
    )


def _search(
    observations: Observations, score: TypeMixture, wanted: Wanted, engine: Engine
) -> Matches:
    codes = codes_of(observations)
    shown = np.ascontiguousarray(observations.anonymous, np.int32)
    targets = _mixed(score.chances, shown, codes, complete=observations.complete)

    def look(blocks: Blocks, kept: Kept) -> None:
        bitmaps = np.zeros((codes.size, ROWS_PER_SCAN // 64), np.uint64)
        for first, rows in few_rows_first(blocks):
            tokens, place = rows.astype(np.int32), observations.first + first
            scan_types(tokens, codes.of(rows), place, score.chances, targets, kept, bitmaps)

    return keep(observations, score, wanted, engine, look)


def _mixed(chances: Chances, shown: NDArray[np.int32], codes: Codes, *, complete: bool) -> Mixed:
    """Bound the scores of rows that match a target in some slots.

    Pr(o | w) is a mean over types of products over slots of joint / single. So it is at most the
    mean, and this the largest, of products in which each slot has its best token: the one shown
    where it matches, any other elsewhere.
    """
    match, other = _best_factors(chances, shown, complete=complete)
    elsewhere = other[shown]
    lift = np.maximum(match[shown] - elsewhere, 0.0)
    base = elsewhere.sum(axis=1)
    largest_first = -np.sort(-lift, axis=1)
    gained = np.pad(largest_first.cumsum(axis=1), ((0, 0), (1, 0), (0, 0)))
    # No score is below IMPOSSIBLE or above 0, but for the tolerance of the sums.
    highest = np.clip((base[:, None] + gained).max(axis=2), IMPOSSIBLE, -IMPOSSIBLE) + _SLACK
    reach = np.asarray(np.ceil(highest * GRID), np.int64)
    # Where products would leave the range of numbers, every chance is called enough.
    wild = gained.max(axis=(1, 2)) > MOST_NATS
    scale = np.where(wild, np.inf, base.max(axis=1))
    lift = np.exp(np.minimum(lift, MOST_NATS))
    base = np.exp(base - base.max(axis=1, keepdims=True))
    absent = np.ascontiguousarray(codes.lookup[:, :1].T)
    return Mixed(shown, base, lift, scale, codes.targets, reach, absent, absent_counts=False)


def _best_factors(
    chances: Chances, shown: NDArray[np.int32], *, complete: bool
) -> tuple[Floats, Floats]:
    """Logarithm of joint / single, shown tokens x types: of the same token, and of others.

    A known gap is among the others, unless there is none; a shown gap matches nothing.
    """
    single, joint = chances.single, chances.joint
    match, other = (
        np.full(single.shape, float(IMPOSSIBLE)),
        np.full(single.shape, float(IMPOSSIBLE)),
    )
    with np.errstate(divide="ignore"):
        inverse = np.where(single > 0, 1 / single, 0.0)
        for token in np.unique(shown):
            factors = joint[token] * inverse
            if complete:
                factors[MISSING] = 0.0
            if token != MISSING:
                match[token] = np.log(factors[token])
                factors[token] = 0.0
            other[token] = np.log(factors.max(axis=0))
    return np.maximum(match, IMPOSSIBLE), np.maximum(other, IMPOSSIBLE)
