"""Groups of people who share the values of some columns, and what each column adds to them.

Two whole numbers are counted for a set of columns: the people who are unique, and the groups, each
of which is worth one right answer to the best attacker. The fair share of a column (Shapley's
value) is what it adds to them, averaged over all orders in which the columns may become known.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby, pairwise
from operator import or_
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.parallel import over_blocks
from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, mean_of_numbers
from reidrisk.io.columns import holds_text, one_piece, without_blanks
from reidrisk.io.labels import text_of
from reidrisk.io.provenance import Origin
from reidrisk.risk.tables.records import EXACT, ColumnPart, GroupSize

Whole = NDArray[np.int64]

MOST_KEYS = 2**62
"""Most combinations in a 64-bit key: `counted` doubles keys once, to add one bit."""


@dataclass(frozen=True, eq=False, slots=True)
class ColumnCodes:
    """A column as numbers into its distinct values; an empty cell is a value too."""

    name: str
    codes: NDArray[np.int32]
    values: pa.Array

    @property
    def distinct(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Whether each cell is empty."""
        place = np.flatnonzero(self.values.is_null().to_numpy(zero_copy_only=False))
        return np.isin(self.codes, place)

    def take(self, rows: NDArray[Any] | slice) -> "ColumnCodes":
        """The same column for some rows."""
        return ColumnCodes(self.name, self.codes[rows], self.values)


def coded(column: pa.ChunkedArray, name: str, source: Origin) -> ColumnCodes:
    """Number the values of a column; empty text and null are the same empty cell."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if holds_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        column = text_of(column, name, source)
    try:
        # Nulls get a code as well: an empty cell is a value.
        values = without_blanks(one_piece(column)).dictionary_encode(null_encoding="encode")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InvalidInput(
            f"{source}: column {name!r} holds {kind}, but a column that tells people apart holds "
            "text, numbers or dates; write it as one of them",
            code="wrong-column-type",
        ) from None
    return ColumnCodes(name, values.indices.to_numpy(), values.dictionary)


def keys(columns: Sequence[ColumnCodes]) -> Whole:
    """A number for each row, equal where all columns are, below `MOST_KEYS`."""
    # Mixed-radix numbers; where they would overflow, those so far are renumbered from 0.
    key, most = np.zeros(len(columns[0].codes), np.int64), 1
    for column in columns:
        if most * column.distinct > MOST_KEYS:
            key, most = numbered(key)
        key = key * column.distinct + column.codes
        most *= column.distinct
    return key


def numbered(key: Whole) -> tuple[Whole, int]:
    """Renumber keys from 0 by first appearance; returns also the number of distinct keys."""
    found = pa.array(key).dictionary_encode()
    return found.indices.to_numpy().astype(np.int64), len(found.dictionary)


def reference_sizes(rows: Sequence[tuple[object, ...]]) -> list[int]:
    """For each row the number of equal rows, slowly: the definition."""
    return [sum(other == row for other in rows) for row in rows]


_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1_000)
"""Where each class of sizes begins; the last class has no end."""


def by_size(people: Whole, *, whole: bool = True) -> tuple[GroupSize, ...]:
    """Count people by the size of their group.

    Args:
        people: Number of people in groups of each size, `people[size]`.
        whole: Whether all people of each group are counted, so that groups can be counted too.
    """
    sizes = np.flatnonzero(people)
    place = np.searchsorted(_EDGES, sizes, side="right") - 1
    held, groups = np.zeros((2, len(_EDGES)), np.int64)
    np.add.at(held, place, people[sizes])
    # Divides without a rest if all people of each group are counted; else it is not told.
    np.add.at(groups, place, people[sizes] // sizes)
    ends = [*(edge - 1 for edge in _EDGES[1:]), None]
    return tuple(
        GroupSize(edge, end, int(groups[at]) if whole else None, int(held[at]))
        for at, (edge, end) in enumerate(zip(_EDGES, ends, strict=True))
    )


_MOST_COLUMNS = 12
"""Up to so many, all sets of columns may be counted."""

MOST_WORK = 2**28
"""Rows that may be sorted for exact fair shares: some seconds."""

FEWEST_ORDERS, MOST_ORDERS = 64, 1_000
"""Random orders of columns, where there are too many sets."""

_MASKS_AT_ONCE = 2


class _Count(NamedTuple):
    """What attackers get who know some columns: people who are unique, and groups."""

    unique: int
    groups: int


Counts = dict[int, _Count]
"""By set of columns, a bit for each."""


def contributions(
    columns: Sequence[ColumnCodes], alone: NDArray[np.bool_], people: int, *, seed: int
) -> tuple[ColumnPart, ...]:
    """What each column adds.

    Args:
        columns: Columns of the distinct rows.
        alone: Whether each distinct row is that of one person only.
        people: Number of people.
        seed: Seed of random orders, used if there are too many sets of columns.
    """
    number = len(columns)
    every = 2**number - 1
    exact = number <= _MOST_COLUMNS and (every + 1) * len(alone) <= MOST_WORK
    if exact:
        counts = _counts(columns, alone, range(every + 1))
        shares = [_exact_share(counts, column, number, people) for column in range(number)]
    else:
        orders = _orders(number, len(alone), seed)
        masks = {mask for order in orders for mask in _masks(order)}
        # Besides the sets on the way of some order: what is unique without each column.
        left = {every - (1 << column) for column in range(number)}
        counts = _counts(columns, alone, masks | left)
        shares = _sampled_shares(counts, orders, people)
    return tuple(
        ColumnPart(column.name, column.distinct, *counts[every - (1 << place)], *shares[place])
        for place, column in enumerate(columns)
    )


def counted(columns: Sequence[ColumnCodes], alone: NDArray[np.bool_]) -> _Count:
    """Unique people and groups of attackers who know these columns of the distinct rows."""
    if not columns:
        # Whoever knows no column sees everybody as one group.
        return _Count(int(len(alone) == 1 and alone[0]), 1)
    # The lowest bit marks rows of several people, so that one sort finds groups and unique people.
    key = np.sort(2 * keys(columns) + ~alone)
    begins = np.ones(len(key) + 1, np.bool_)
    np.not_equal(key[1:] >> 1, key[:-1] >> 1, out=begins[1:-1])
    # A group of one distinct row, which is that of one person.
    single = begins[:-1] & begins[1:] & (key & 1 == 0)
    return _Count(int(single.sum()), int(begins.sum()) - 1)


def _counts(
    columns: Sequence[ColumnCodes], alone: NDArray[np.bool_], masks: Collection[int]
) -> Counts:
    """Counts of sets of columns, small sets first.

    A set that contains one which tells all rows apart tells no more, and need not be counted.
    """
    all_apart = _Count(int(alone.sum()), len(alone))
    counts: Counts = {}
    # All columns together tell the distinct rows apart, by definition.
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
    def work(start: int, stop: int) -> list[_Count]:
        return [
            counted([one for place, one in enumerate(columns) if mask >> place & 1], alone)
            for mask in masks[start:stop]
        ]

    found = [count for part in over_blocks(work, len(masks), _MASKS_AT_ONCE) for count in part]
    return dict(zip(masks, found, strict=True))


def _exact_share(
    counts: Counts, column: int, number: int, people: int
) -> tuple[Estimate, Estimate]:
    """Over all sets without the column, each as likely as its orders."""
    # Whole numbers, divided once at the end: no share is rounded twice.
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
    """Random orders of the columns, as many as `MOST_WORK` allows."""
    affordable = MOST_WORK // (number * rows)
    many = min(max(affordable, FEWEST_ORDERS), MOST_ORDERS)
    draws = uniforms(seed=seed, purpose="singling/orders", users=np.arange(many), count=number)
    return [[int(column) for column in order] for order in np.argsort(draws, axis=1)]


def _sampled_shares(
    counts: Counts, orders: list[list[int]], people: int
) -> list[tuple[Estimate, Estimate]]:
    """Fair shares as means over random orders, in each of which a column adds from 0 to 1."""
    added = np.empty((2, len(orders), len(orders[0])))
    for row, order in enumerate(orders):
        for column, (before, after) in zip(order, pairwise(_masks(order)), strict=True):
            added[:, row, column] = np.subtract(counts[after], counts[before]) / people
    unique, groups = added.swapaxes(1, 2)
    return [
        (mean_of_numbers(one), mean_of_numbers(other))
        for one, other in zip(unique, groups, strict=True)
    ]


def _masks(order: Sequence[int]) -> list[int]:
    """The sets of columns on the way of an order, from none to all."""
    return list(accumulate((1 << column for column in order), or_, initial=0))
