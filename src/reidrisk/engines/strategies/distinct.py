"""Counting match patterns of the different rows: for small alphabets or few targets."""

import operator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import over_blocks
from reidrisk.engines.encode import Codes
from reidrisk.engines.kernels import count_distinct, count_rows
from reidrisk.engines.protocol import Engine, rows_at_a_time
from reidrisk.engines.strategies.lanes import TARGETS_AT_A_TIME, Counts

MOST_DISTINCT = 1 << 20


def count(
    observations: Observations,
    codes: Codes,
    groups: NDArray[np.int64],
    engine: Engine,
    searches: int = 1,
) -> Counts:
    """Count known rows by group of gaps, target and pattern."""
    set_size, bits = observations.set_size, 1 << np.arange(observations.slots)
    firsts = np.repeat(codes.lookup[:, 0].astype(np.int64), set_size)
    sizes = np.repeat(np.diff([*codes.lookup[:, 0].tolist(), codes.size]), set_size)
    units = np.cumprod([1, *sizes[:-1]])

    def work(blocks: Blocks) -> Counts:
        weights = np.zeros(int(np.prod(sizes)), np.int64)
        for _, rows in blocks:
            count_rows(codes.of(rows), units, int(firsts @ units), weights)
        return weights

    weights = engine.reduce(
        observations.known,
        work,
        operator.add,
        most=rows_at_a_time(observations),
        pairs=len(codes.targets) * searches,
    )
    numbers = np.flatnonzero(weights)
    rows = (numbers[:, None] // units % sizes + firsts).astype(np.uint16)
    gaps = (rows[:, ::set_size] == codes.lookup[:, 0]) @ bits
    group_of_row = np.searchsorted(groups, gaps) if len(groups) > 1 else np.zeros_like(numbers)
    counts = np.zeros((len(groups), len(codes.targets), 1 << observations.slots), np.int64)

    def compare(start: int, stop: int) -> None:
        for group in range(len(groups)):
            mine = group_of_row == group
            part, targets = counts[group, start:stop], codes.targets[start:stop]
            count_distinct(rows[mine], weights[numbers[mine]], targets, part)

    over_blocks(compare, len(codes.targets), TARGETS_AT_A_TIME)
    return counts
