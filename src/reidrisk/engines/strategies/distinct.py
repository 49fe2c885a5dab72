"""Strategy: count match patterns of distinct rows, for small alphabets.

With few tokens and slots, many known rows are equal. Each row of codes is numbered in a mixed-radix
system and counted; then only the distinct rows are compared with the targets.
"""

import operator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import Array, kernel, over_blocks
from reidrisk.engines.cost_model import MOST_DISTINCT, PatternCount, Question, cost_of_patterns
from reidrisk.engines.encode import Codes
from reidrisk.engines.protocol import Engine, rows_at_a_time
from reidrisk.engines.strategies.lanes import TARGETS_AT_A_TIME, Counts, match_pattern

_COMPARE_SLOT = 1e-9  # seconds, of one pair


def cost(question: Question) -> float:
    """Seconds of counting patterns and searching them; infinite if rows may differ too much."""
    codes, set_size = question.codes, question.observations.set_size
    sizes = np.diff([*codes.lookup[:, 0].tolist(), codes.size]).astype(float)
    possible = np.prod(sizes) ** set_size
    compared = codes.targets.size * set_size * possible
    seconds = compared * _COMPARE_SLOT if possible <= MOST_DISTINCT else np.inf
    return cost_of_patterns(question, float(seconds))


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
    # Codes of a slot are consecutive, so a row is a number with digits `code - first`.
    units = np.cumprod([1, *sizes[:-1]])

    def work(blocks: Blocks) -> Counts:
        weights = np.zeros(int(np.prod(sizes)), np.int64)
        for _, rows in blocks:
            _count_rows(codes.of(rows), units, int(firsts @ units), weights)
        return weights

    weights = engine.reduce(
        observations.known,
        work,
        operator.add,
        most=rows_at_a_time(observations),
        pairs=len(codes.targets) * searches,
    )
    # Back from numbers to rows, of those that occur.
    numbers = np.flatnonzero(weights)
    rows = (numbers[:, None] // units % sizes + firsts).astype(np.uint16)
    gaps = (rows[:, ::set_size] == codes.lookup[:, 0]) @ bits
    group_of_row = np.searchsorted(groups, gaps) if len(groups) > 1 else np.zeros_like(numbers)
    counts = np.zeros((len(groups), len(codes.targets), 1 << observations.slots), np.int64)

    def compare(start: int, stop: int) -> None:
        for group in range(len(groups)):
            mine = group_of_row == group
            part, targets = counts[group, start:stop], codes.targets[start:stop]
            _count_distinct(rows[mine], weights[numbers[mine]], targets, part)

    over_blocks(compare, len(codes.targets), TARGETS_AT_A_TIME)
    return counts


@kernel
def _count_distinct(rows: Array, weights: Array, target_codes: Array, counts: Array) -> None:
    """Add to `counts[target, pattern]` the weights of these rows, by comparing all pairs."""
    set_size = rows.shape[1] // target_codes.shape[1]
    for target in range(target_codes.shape[0]):
        for row in range(rows.shape[0]):
            pattern = match_pattern(rows, row, set_size, target_codes, target)
            counts[target, pattern] += weights[row]


@kernel
def _count_rows(rows: Array, units: Array, first: int, counts: Array) -> None:
    """Count equal rows of codes: a row's number is its codes times `units`, less `first`."""
    for row in range(rows.shape[0]):
        number = -first
        for column in range(rows.shape[1]):
            number += np.int64(rows[row, column]) * units[column]
        counts[number] += 1


PLAN = (PatternCount(count, cost),)
