"""Groups of people who share the values of some columns, and how large they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.io.columns import holds_text, one_piece, without_blanks
from reidrisk.io.labels import text_of
from reidrisk.io.provenance import Source
from reidrisk.risk.tables.singling.result import GroupSize

Whole = NDArray[np.int64]

MOST_KEYS = 2**62
"""Combinations that a key tells apart; a key is doubled once, to carry one bit more."""


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


def coded(column: pa.ChunkedArray, name: str, source: Source) -> ColumnCodes:
    """Number the values of a column; empty text and null are the same empty cell."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if holds_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        column = text_of(column, name, source)
    try:
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
    key, most = np.zeros(len(columns[0].codes), np.int64), 1
    for column in columns:
        if most * column.distinct > MOST_KEYS:
            key, most = numbered(key)
        key = key * column.distinct + column.codes
        most *= column.distinct
    return key


def numbered(key: Whole) -> tuple[Whole, int]:
    """Keys as numbers from 0 on, and how many there are."""
    found = pa.array(key).dictionary_encode()
    return found.indices.to_numpy().astype(np.int64), len(found.dictionary)


def reference_sizes(rows: Sequence[tuple[object, ...]]) -> list[int]:
    """For each row how many rows are equal, slowly: the definition."""
    return [sum(other == row for other in rows) for row in rows]


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
