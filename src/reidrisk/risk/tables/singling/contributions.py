"""Which column gives people away: its fair share, and the risk without it.

Two whole numbers are counted for a set of columns: the people who are unique, and the groups, each
of which is worth one right answer to the best attacker. The fair share of a column (Shapley's
value) is what it adds to them, averaged over all orders in which the columns may become known.
"""

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import over_blocks
from reidrisk.core.randomness import uniforms
from reidrisk.estimates import Estimate, mean_of_numbers
from reidrisk.risk.tables.singling.groups import ColumnCodes, keys
from reidrisk.risk.tables.singling.result import EXACT, ColumnPart

MOST_COLUMNS = 12
"""Up to so many, all sets of columns may be counted."""

MOST_WORK = 2**28
"""Rows that may be sorted for exact fair shares: some seconds."""

FEWEST_ORDERS, MOST_ORDERS = 64, 1_000
"""Random orders of columns, where there are too many sets."""

MASKS_AT_ONCE = 2


class Count(NamedTuple):
    """What attackers get who know some columns: people who are unique, and groups."""

    unique: int
    groups: int


Counts = dict[int, Count]
"""By set of columns, a bit for each."""


def contributions(
    columns: Sequence[ColumnCodes], alone: NDArray[np.bool_], people: int, *, seed: int
) -> tuple[ColumnPart, ...]:
    """What each column adds.

    Args:
        columns: Of the distinct rows.
        alone: Whether a distinct row is that of one person only.
        people: How many there are.
        seed: Of random orders, if there are too many sets of columns.
    """
    number = len(columns)
    every = 2**number - 1
    exact = number <= MOST_COLUMNS and (every + 1) * len(alone) <= MOST_WORK
    if exact:
        counts = _counts(columns, alone, range(every + 1))
        shares = [_exact_share(counts, column, number, people) for column in range(number)]
    else:
        orders = _orders(number, len(alone), seed)
        masks = {_mask(order[:known]) for order in orders for known in range(number + 1)}
        left = {every - (1 << column) for column in range(number)}
        counts = _counts(columns, alone, masks | left)
        shares = _sampled_shares(counts, orders, people)
    return tuple(
        ColumnPart(column.name, column.distinct, *counts[every - (1 << place)], *shares[place])
        for place, column in enumerate(columns)
    )


def counted(columns: Sequence[ColumnCodes], alone: NDArray[np.bool_]) -> Count:
    """Unique people and groups of attackers who know these columns of the distinct rows."""
    if not columns:
        return Count(int(len(alone) == 1 and alone[0]), 1)
    # The lowest bit says that a row is of several people, so that one sort is enough.
    key = np.sort(2 * keys(columns) + ~alone)
    begins = np.ones(len(key) + 1, np.bool_)
    np.not_equal(key[1:] >> 1, key[:-1] >> 1, out=begins[1:-1])
    single = begins[:-1] & begins[1:] & (key & 1 == 0)
    return Count(int(single.sum()), int(begins.sum()) - 1)


def _counts(
    columns: Sequence[ColumnCodes], alone: NDArray[np.bool_], masks: Collection[int]
) -> Counts:
    """Counts of sets of columns, small sets first.

    Who knows more than a set that already tells all rows apart knows no more than that.
    """
    all_apart = Count(int(alone.sum()), len(alone))
    counts: Counts = {}
    enough = [2 ** len(columns) - 1]
    for _, level in groupby(sorted(masks, key=int.bit_count), key=int.bit_count):
        asked = []
        for mask in level:
            if any(mask & one == one for one in enough):
                counts[mask] = all_apart
            else:
                asked.append(mask)
        counts |= _counted(columns, alone, asked)
        enough += [mask for mask in asked if counts[mask] == all_apart]
    return counts


def _counted(
    columns: Sequence[ColumnCodes], alone: NDArray[np.bool_], masks: Sequence[int]
) -> Counts:
    def work(start: int, stop: int) -> list[Count]:
        return [
            counted([one for place, one in enumerate(columns) if mask >> place & 1], alone)
            for mask in masks[start:stop]
        ]

    found = [count for part in over_blocks(work, len(masks), MASKS_AT_ONCE) for count in part]
    return dict(zip(masks, found, strict=True))


def _exact_share(
    counts: Counts, column: int, number: int, people: int
) -> tuple[Estimate, Estimate]:
    """Over all sets without the column, each as likely as its orders."""
    totals = [0, 0]
    for mask, before in counts.items():
        if not mask >> column & 1:
            size, after = mask.bit_count(), counts[mask | 1 << column]
            orders = math.factorial(size) * math.factorial(number - size - 1)
            for part in (0, 1):
                totals[part] += orders * (after[part] - before[part])
    unique, groups = (Fraction(total, math.factorial(number) * people) for total in totals)
    return Estimate.computed(float(unique), EXACT), Estimate.computed(float(groups), EXACT)


def _orders(number: int, rows: int, seed: int) -> list[list[int]]:
    """Random orders of the columns, as many as there is time for."""
    affordable = MOST_WORK // (number * rows)
    many = min(max(affordable, FEWEST_ORDERS), MOST_ORDERS)
    draws = uniforms(seed=seed, purpose="singling/orders", users=np.arange(many), count=number)
    return [[int(column) for column in order] for order in np.argsort(draws, axis=1)]


def _sampled_shares(
    counts: Counts, orders: list[list[int]], people: int
) -> list[tuple[Estimate, Estimate]]:
    """Over random orders; what a column adds is between 0 and 1."""
    added = np.empty((2, len(orders), len(orders[0])))
    for row, order in enumerate(orders):
        for place, column in enumerate(order):
            before, after = counts[_mask(order[:place])], counts[_mask(order[: place + 1])]
            added[:, row, column] = np.subtract(after, before) / people
    unique, groups = added.swapaxes(1, 2)
    return [
        (mean_of_numbers(one), mean_of_numbers(other))
        for one, other in zip(unique, groups, strict=True)
    ]


def _mask(columns: Sequence[int]) -> int:
    return sum(1 << column for column in columns)
