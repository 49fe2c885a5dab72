"""Strategy: count match patterns by joins, for few slots and many rows and targets.

A join on a set of slots counts the rows that match in these slots and perhaps in others. The
patterns themselves follow by subtraction, in whole numbers.
"""

import math

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import Array, kernel, over_blocks
from reidrisk.core.rows import Kind
from reidrisk.engines.cost_model import PatternCount, Question, cost_of_patterns
from reidrisk.engines.encode import Codes
from reidrisk.engines.histogram import by_group
from reidrisk.engines.protocol import Engine
from reidrisk.engines.strategies.lanes import TARGETS_AT_A_TIME, Counts, add_counts
from reidrisk.engines.subset_joins import Joined, SlotNumbers, joins, seconds

ROWS_AT_A_TIME = 1 << 18
"""Known rows that are joined at a time, at most."""


def cost(question: Question) -> float:
    """Seconds of counting patterns and searching them; infinite for sets, which are not joined."""
    if question.observations.known.kind is not Kind.TOKENS:
        return math.inf
    return cost_of_patterns(question, seconds(question, 1, ROWS_AT_A_TIME))


def count(
    observations: Observations,
    codes: Codes,
    groups: NDArray[np.int64],
    engine: Engine,
    searches: int = 1,
) -> Counts:
    """Count known rows by group of gaps, target and pattern."""
    numbers = SlotNumbers.of(np.asarray(observations.anonymous), observations.tokens)
    shape = (len(groups), len(codes.targets), 1 << observations.slots)

    def work(blocks: Blocks) -> NDArray[np.int32] | Counts:
        # 32 bits halve the memory of each thread; one piece of work sees fewer than 2**31 rows.
        counts = np.zeros(shape, np.int32)
        for _, rows in blocks:
            for group, part in by_group(rows, groups):
                for joined in joins(numbers.known(part), numbers.targets, numbers.sizes):
                    _add(joined, counts[group])
        return counts

    counts = engine.reduce(
        observations.known,
        work,
        add_counts,
        most=ROWS_AT_A_TIME,
        pairs=len(codes.targets) * searches,
    ).astype(np.int64)

    def make_exact(start: int, stop: int) -> None:
        for group in counts:
            _subtract_larger(group[start:stop])

    over_blocks(make_exact, shape[1], TARGETS_AT_A_TIME)
    return counts


@kernel
def _add(joined: Joined, counts: Array) -> None:
    """Add the rows of each group to the pattern of its targets."""
    sizes = np.zeros(joined.groups, np.int32)
    for group in joined.known_groups:
        sizes[group] += 1
    for index in range(joined.targets.shape[0]):
        counts[joined.targets[index], joined.pattern] += sizes[joined.target_groups[index]]


@kernel
def _subtract_larger(counts: Array) -> None:
    """From rows that match at least in the slots of a pattern to those that match in no others."""
    for target in range(counts.shape[0]):
        bit = 1
        while bit < counts.shape[1]:
            for pattern in range(counts.shape[1]):
                if pattern & bit == 0:
                    counts[target, pattern] -= counts[target, pattern | bit]
            bit *= 2


PLAN = (PatternCount(count, cost),)
