"""Counting match patterns, targets as bits: `kernels.py` says how, `histogram.py` what for."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import over_blocks
from reidrisk.engines.encode import Codes
from reidrisk.engines.kernels import TargetIndex, count_patterns, subtract_larger
from reidrisk.engines.protocol import Engine, rows_at_a_time
from reidrisk.engines.strategies.groups import by_group

TARGETS_AT_A_TIME = 256

Counts = NDArray[np.int64]
SmallCounts = NDArray[np.int32]


def count(
    observations: Observations,
    codes: Codes,
    groups: NDArray[np.int64],
    engine: Engine,
    searches: int = 1,
) -> Counts:
    """Count known rows by group of gaps, target and pattern."""
    index, shape = _target_index(codes), (len(groups), len(codes.targets), 1 << observations.slots)

    def work(blocks: Blocks) -> Counts | SmallCounts:
        counts = np.zeros(shape, np.int32)
        sizes = np.zeros(len(groups), np.int32)
        for _, rows in blocks:
            for group, part in by_group(rows, groups):
                sizes[group] += len(part)
                count_patterns(codes.of(part), observations.slots, index, counts[group])
        counts[:, :, 0] += sizes[:, None]
        return counts

    counts = engine.reduce(
        observations.known,
        work,
        _add,
        most=rows_at_a_time(observations),
        pairs=len(codes.targets) * searches,
    ).astype(np.int64)

    def make_exact(start: int, stop: int) -> None:
        for group in counts:
            subtract_larger(group[start:stop])

    over_blocks(make_exact, shape[1], TARGETS_AT_A_TIME)
    return counts


def _add(one: Counts | SmallCounts, other: Counts | SmallCounts) -> Counts:
    """Whole numbers, wide enough for the sum over everybody."""
    total = one.astype(np.int64, copy=False)
    total += other
    return total


def _target_index(codes: Codes) -> TargetIndex:
    order = np.argsort(codes.targets.T, axis=1, kind="stable")
    starts = [
        np.searchsorted(codes.targets[targets, slot], np.arange(codes.size + 1))
        for slot, targets in enumerate(order)
    ]
    return TargetIndex(codes.targets, order, np.array(starts))
