"""Searching under a type mixture: a sweep, with bounds that hold for every type."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import Codes, codes_of
from reidrisk.engines.crew import Crew
from reidrisk.engines.kernels_mixture import MOST_NATS, Mixed, sweep_types
from reidrisk.engines.kernels_search import ROWS_PER_SWEEP, Kept
from reidrisk.engines.ways.searching import bytes_to_sweep, few_rows_first, search
from reidrisk.matches import Matches
from reidrisk.observations import MISSING, Observations
from reidrisk.scores import GRID
from reidrisk.scores.type_mixture import IMPOSSIBLE, Chances, TypeMixture

_BOUNDS = 6  # arrays of targets x slots x types at a time
_SLACK = 1e-6  # nats, far above what rounding can do to a score

Floats = NDArray[np.float64]


def bytes_to_search_types(
    observations: Observations, score: TypeMixture, crew: Crew, top: int, targets: int
) -> int:
    """Memory of a search for this many targets."""
    types = len(score.chances.weights)
    bounds = 8 * types * (_BOUNDS * targets * (observations.slots + 1) + 4 * observations.tokens)
    per_thread = 8 * (types + 1) * ROWS_PER_SWEEP
    return bytes_to_sweep(observations, crew, top, targets) + bounds + crew.threads * per_thread


def search_types(observations: Observations, score: TypeMixture, top: int, crew: Crew) -> Matches:
    """Search under a type mixture."""
    codes = codes_of(observations)
    shown = np.ascontiguousarray(observations.anonymous, np.int32)
    targets = _mixed(score.chances, shown, codes, complete=observations.complete)

    def work(blocks: Iterator[tuple[int, int]], kept: Kept) -> None:
        bitmaps = np.zeros((codes.size, ROWS_PER_SWEEP // 64), np.uint64)
        for first, last in few_rows_first(blocks):
            rows = observations.rows(first, last)
            tokens, place = rows.astype(np.int32), observations.first + first
            sweep_types(tokens, codes.of(rows), place, score.chances, targets, kept, bitmaps)

    return search(observations, score, top, crew, work)


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
