"""Counting match patterns: see `kernels.py` for how, `histogram.py` for what for."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.engines.codes import Codes
from reidrisk.engines.crew import Crew
from reidrisk.engines.kernels import (
    TargetIndex,
    count_distinct,
    count_patterns,
    count_rows,
    subtract_larger,
)
from reidrisk.engines.plan import MOST_DISTINCT, Way
from reidrisk.observations import MISSING, SETS, Observations
from reidrisk.parallel import over_blocks

_TARGETS_AT_A_TIME = 256

Counts = NDArray[np.int64]


def bytes_to_count(observations: Observations, crew: Crew, groups: int, targets: int) -> int:
    """Memory of a pattern count for this many targets."""
    patterns = groups * targets << observations.slots
    width = observations.slots * observations.set_size
    rows = min(crew.rows_together(observations), len(observations.known))
    per_thread = 4 * patterns + 2 * rows * width * (observations.set_size + 2)
    codes = observations.slots * (2 * observations.tokens + 8 * (1 << 16) + 10 * targets)
    return crew.threads * (per_thread + 8 * MOST_DISTINCT) + 8 * patterns + codes


def missing_groups(observations: Observations) -> NDArray[np.int64]:
    """The different sets of slots that known rows miss, as bits; only 0 if nothing is missing."""
    if observations.complete:
        return np.zeros(1, np.int64)
    found = over_blocks(
        lambda start, stop: np.unique(_missing(observations.rows(start, stop))),
        len(observations.known),
        1 << 16,
    )
    return np.unique(np.concatenate(found))


def count(
    observations: Observations,
    codes: Codes,
    groups: NDArray[np.int64],
    way: Way,
    crew: Crew,
    searches: int = 1,
) -> Counts:
    """Count known rows by group of missing slots, target and pattern."""
    counter = _count_by_distinct if way is Way.DISTINCT else _count_by_lanes
    return counter(observations, codes, groups, crew, searches)


def _count_by_lanes(
    observations: Observations,
    codes: Codes,
    groups: NDArray[np.int64],
    crew: Crew,
    searches: int,
) -> Counts:
    """Pass over all known rows."""
    index, shape = _target_index(codes), (len(groups), len(codes.targets), 1 << observations.slots)

    def work(blocks: Iterator[tuple[int, int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        counts, sizes = np.zeros(shape, np.int32), np.zeros(len(groups), np.int64)
        for start, stop in blocks:
            rows = observations.rows(start, stop)
            for group, part in _by_group(rows, groups):
                sizes[group] += len(part)
                count_patterns(codes.of(part), observations.slots, index, counts[group])
        return counts, sizes

    counts = np.zeros(shape, np.int64)
    for part, sizes in crew.over_rows(observations, work, searches):
        counts += part
        counts[:, :, 0] += sizes[:, None]

    def make_exact(start: int, stop: int) -> None:
        for group in counts:
            subtract_larger(group[start:stop])

    over_blocks(make_exact, shape[1], _TARGETS_AT_A_TIME)
    return counts


def _count_by_distinct(
    observations: Observations,
    codes: Codes,
    groups: NDArray[np.int64],
    crew: Crew,
    searches: int,
) -> Counts:
    """Find the different rows, and how often each occurs: for small alphabets or few targets."""
    set_size, bits = observations.set_size, 1 << np.arange(observations.slots)
    firsts = np.repeat(codes.lookup[:, 0].astype(np.int64), set_size)
    sizes = np.repeat(np.diff([*codes.lookup[:, 0].tolist(), codes.size]), set_size)
    units = np.cumprod([1, *sizes[:-1]])

    def work(blocks: Iterator[tuple[int, int]]) -> NDArray[np.int64]:
        weights = np.zeros(int(np.prod(sizes)), np.int64)
        for start, stop in blocks:
            rows = codes.of(observations.rows(start, stop))
            count_rows(rows, units, int(firsts @ units), weights)
        return weights

    weights = np.sum(crew.over_rows(observations, work, searches), axis=0)
    numbers = np.flatnonzero(weights)
    rows = (numbers[:, None] // units % sizes + firsts).astype(np.uint16)
    missing = (rows[:, ::set_size] == codes.lookup[:, 0]) @ bits
    group_of_row = np.searchsorted(groups, missing) if len(groups) > 1 else np.zeros_like(numbers)
    counts = np.zeros((len(groups), len(codes.targets), 1 << observations.slots), np.int64)

    def compare(start: int, stop: int) -> None:
        for group in range(len(groups)):
            mine = group_of_row == group
            part, targets = counts[group, start:stop], codes.targets[start:stop]
            count_distinct(rows[mine], weights[numbers[mine]], targets, part)

    over_blocks(compare, len(codes.targets), _TARGETS_AT_A_TIME)
    return counts


def _by_group(
    rows: NDArray[np.integer], groups: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.integer]]]:
    """The rows of each group of missing slots."""
    if len(groups) == 1:
        yield 0, rows
        return
    missing = _missing(rows)
    for group, slots in enumerate(groups):
        if (missing == slots).any():
            yield group, rows[missing == slots]


def _missing(rows: NDArray[np.integer]) -> NDArray[np.int64]:
    free = (rows == MISSING).all(axis=2) if rows.ndim == SETS else rows == MISSING
    return np.asarray(free @ (1 << np.arange(rows.shape[1])))


def _target_index(codes: Codes) -> TargetIndex:
    order = np.argsort(codes.targets.T, axis=1, kind="stable")
    starts = [
        np.searchsorted(codes.targets[targets, slot], np.arange(codes.size + 1))
        for slot, targets in enumerate(order)
    ]
    return TargetIndex(codes.targets, order, np.array(starts))
