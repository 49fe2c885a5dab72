"""Searching for the best rows without counting all: see `kernels_search.py` for how."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import Codes, codes_of
from reidrisk.engines.crew import Crew
from reidrisk.engines.kernels import SlotGains
from reidrisk.engines.kernels_search import (
    ROWS_PER_SWEEP,
    TARGETS_PER_SIFT,
    Kept,
    Tabled,
    Weighed,
    sift,
    sweep,
)
from reidrisk.engines.truth import true_scores
from reidrisk.matches import ABSENT, NOBODY, Matches, join_targets, merge_all
from reidrisk.observations import Observations
from reidrisk.scores import GRID, Score, TokenTable, TokenWeights, by_slot

_LARGEST_SUM_OF_LEVELS = 254
_MOST_ROUNDED = 127
_FIRST_SWEEP = 32
_TOKEN_PAIRS = 1 << 33
_WIDEST = 32 * GRID  # nats between the best and the worst token of a slot


def bytes_to_sweep(observations: Observations, crew: Crew, top: int, targets: int) -> int:
    """Memory of a sweep for this many targets."""
    kept = targets * (16 + 16 * top)
    size = min(observations.slots * (min(targets, observations.tokens) + 2), 1 << 16)
    per_thread = kept + size * ROWS_PER_SWEEP // 8
    codes = observations.slots * (2 * observations.tokens + 8 * (1 << 16) + 26 * targets)
    return crew.threads * per_thread + codes


def bytes_to_sift(observations: Observations, crew: Crew, top: int) -> int:
    """Memory of a sift."""
    targets = len(observations.anonymous)
    levels = observations.slots * (observations.tokens + 1) * TARGETS_PER_SIFT
    return crew.threads * targets * (16 + 16 * top) + levels * (1 + 3 * 8)


def search_by_sweep(
    observations: Observations, score: TokenWeights, top: int, crew: Crew
) -> Matches:
    """Search under token weights."""
    codes = codes_of(observations)
    targets = _weighed(observations, score, codes)

    def work(rows: Iterator[tuple[int, int]], kept: Kept) -> None:
        bitmaps = np.zeros((codes.size, ROWS_PER_SWEEP // 64), np.uint64)
        for first, last in few_rows_first(rows):
            part = codes.of(observations.rows(first, last))
            sweep(part, observations.first + first, targets, kept, bitmaps)

    return search(observations, score, top, crew, work)


def search_by_sift(observations: Observations, score: TokenTable, top: int, crew: Crew) -> Matches:
    """Search under a token table."""
    parts = []
    for start in range(0, len(observations.anonymous), TARGETS_PER_SIFT):
        some = observations.only(slice(start, start + TARGETS_PER_SIFT))
        targets = _tabled(some, score)

        def work(
            rows: Iterator[tuple[int, int]],
            kept: Kept,
            some: Observations = some,
            targets: Tabled = targets,
        ) -> None:
            for first, last in rows:
                sift(some.rows(first, last), some.first + first, targets, kept)

        parts.append(search(some, score, top, crew, work))
    return join_targets(parts)


def search(
    observations: Observations,
    score: Score,
    top: int,
    crew: Crew,
    work: Callable[[Iterator[tuple[int, int]], Kept], None],
) -> Matches:
    """Let every thread keep what it finds, and merge."""
    truth = true_scores(observations, score)

    def keep(rows: Iterator[tuple[int, int]]) -> Matches:
        kept = _nothing_kept(truth, top)
        work(rows, kept)
        return Matches(kept.best, kept.ties, truth, kept.top_rows, kept.top_scores)

    return merge_all(crew.over_rows(observations, keep, token_pairs=_TOKEN_PAIRS))


def _nothing_kept(truth: NDArray[np.int64], top: int) -> Kept:
    """The true score is a score to beat before anybody was seen, nobody having it yet."""
    shape = (len(truth), top)
    none = np.zeros(len(truth), np.int64)
    return Kept(truth.copy(), none, np.full(shape, NOBODY), np.full(shape, ABSENT))


def few_rows_first(blocks: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cut blocks for sweeps: a few rows first, since a sweep prunes by what was found before it."""
    rows = _FIRST_SWEEP
    for start, stop in blocks:
        first = start
        while first < stop:
            yield first, min(first + rows, stop)
            first += rows
            rows = min(2 * rows, ROWS_PER_SWEEP)


def _weighed(observations: Observations, score: TokenWeights, codes: Codes) -> Weighed:
    gains = SlotGains(*score.gains(observations.anonymous))
    lift_of_gap = gains.known_gap - gains.mismatch
    absent_counts = not observations.complete and bool((lift_of_gap > 0).any())
    lift = np.maximum(gains.match - gains.mismatch, 0)
    if absent_counts:
        lift = np.maximum(lift, lift_of_gap)
    largest_first = -np.sort(-lift, axis=1)
    base = gains.mismatch.sum(axis=1, keepdims=True)
    reach = base + np.pad(largest_first.cumsum(axis=1), ((0, 0), (1, 0)))
    absent = np.ascontiguousarray(codes.lookup[:, :1].T)
    return Weighed(codes.targets, gains, reach, absent, absent_counts)


def _tabled(observations: Observations, score: TokenTable) -> Tabled:
    """Round the gains of up to 256 targets up to levels whose sums fit into a byte."""
    tokens, slots = observations.tokens, observations.slots
    gain = by_slot(score.table, slots)
    shown = observations.anonymous.astype(np.int64)
    gains = [np.roll(gain[slot, shown[:, slot]].T, 1, axis=0) for slot in range(slots)]
    occur = slice(1 if observations.complete else 0, None)
    highest = np.array([gain[occur].max(axis=0) for gain in gains])
    # What is far below the best counts as not quite so far below: levels stay fine where they
    # matter, though some gains say "impossible".
    lowest = np.array([gain[occur].min(axis=0) for gain in gains])
    lowest = np.maximum(lowest, highest - _WIDEST)
    span = highest - lowest
    # Slots behind the 127th get no levels: they are bounded by their largest gain.
    rounded = min(slots, _MOST_ROUNDED)
    room = _LARGEST_SUM_OF_LEVELS - rounded
    step = np.maximum(-(-span[:rounded].sum(axis=0) // room), 1)
    levels = np.zeros((slots * (tokens + 1) + 1, TARGETS_PER_SIFT), np.uint8)
    for slot in range(rounded):
        rows = slice(slot * (tokens + 1), (slot + 1) * (tokens + 1))
        above = np.clip(gains[slot] - lowest[slot], 0, span[slot])
        levels[rows, : len(shown)] = -(-above // step)
    floor = lowest.sum(axis=0) + span[rounded:].sum(axis=0)
    return Tabled(shown, gain, levels, floor, step)
