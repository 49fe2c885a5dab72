"""Sizes of groups, put together as people speak of them."""

import numpy as np

from reidrisk.risk.tables.singling.groups import Whole
from reidrisk.risk.tables.singling.result import GroupSize

EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1_000)
"""Where a class of sizes begins; the last has no end."""


def by_size(people: Whole, *, whole: bool = True) -> tuple[GroupSize, ...]:
    """People by how many share their values.

    Args:
        people: How many share theirs with nobody else, with one, with two: `people[size]`.
        whole: Whether everybody of each group is here, so that groups can be counted.
    """
    sizes = np.flatnonzero(people)
    place = np.searchsorted(EDGES, sizes, side="right") - 1
    held, groups = np.zeros((2, len(EDGES)), np.int64)
    np.add.at(held, place, people[sizes])
    np.add.at(groups, place, people[sizes] // sizes)
    ends = [*(edge - 1 for edge in EDGES[1:]), None]
    return tuple(
        GroupSize(edge, end, int(groups[at]) if whole else None, int(held[at]))
        for at, (edge, end) in enumerate(zip(EDGES, ends, strict=True))
    )
