"""Where the executors have rows from.

Names: a handle that can be sent and read anywhere, since it holds names of files and not their
content, goes to the executors, and each task reads its rows itself. Cells: rows as bytes, a few MiB
in a cell, kept by the executors, in memory as far as it goes and else on their disks.
"""

import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import unit
from reidrisk.core.optional import guest
from reidrisk.core.rows import Rows, SetRows, TokenRows
from reidrisk.engines.spark.blocks import (
    Cell,
    Cut,
    Facts,
    Piece,
    cell_of,
    joined_pieces,
    piece_of,
    read_piece,
)
from reidrisk.engines.spark.serialize import unshipped
from reidrisk.io.parquet_rows import ParquetRows

Numbers = NDArray[np.int64]

# Rows of a handle that are read at once, at most: as many bytes.
_READ_BYTES = 1 << 25


class Source(Protocol):
    """Rows that the executors can get at, in units that no partition parts."""

    @property
    def context(self) -> Any:
        """Spark's."""

    @property
    def unit(self) -> int:
        """Rows that are together."""

    def parts(self, facts: Facts, cut: Cut, units: Numbers | None) -> Any:
        """An RDD of what holds the rows from `first` to `stop`, or the units of these numbers."""

    def opener(self, facts: Facts, units: Numbers | None) -> Any:
        """What makes pieces, in order, of what a partition holds."""


def as_sent(rows: Rows) -> Any:
    """What stands for rows where they are read; None if they must be sent themselves.

    Rows in files go by name, and so does whatever handle says `travels = True`: it pickles to
    little, and can be read wherever it arrives.
    """
    if isinstance(rows, ParquetRows) or getattr(rows, "travels", False):
        return rows
    if isinstance(rows, TokenRows | SetRows) and isinstance(rows.values, np.memmap):
        return Mapped(rows) if rows.values.filename is not None else None
    return None


@dataclass(frozen=True, eq=False)
class Names:
    """Rows that tasks read themselves.

    Args:
        context: Spark's.
        handle: The rows, as sent.
        users: How many there are.
        partitions: How many tasks read them.
    """

    context: Any
    handle: bytes
    users: int
    partitions: int

    @property
    def unit(self) -> int:
        """Rows that are together."""
        return unit(self.users)

    def parts(self, facts: Facts, cut: Cut, units: Numbers | None) -> Any:
        """Which rows each task reads: units that begin where steps do."""
        every = np.arange(cut.first, cut.stop, self.unit)
        starts = every if units is None else units * self.unit
        parts = min(self.partitions, len(starts))
        runs = [_runs(some, self.unit, cut.stop) for some in np.array_split(starts, parts)]
        return self.context.parallelize(runs, parts)

    def opener(self, facts: Facts, units: Numbers | None) -> Any:
        """Reads the rows."""
        return partial(_read, self.handle, facts.rows_in(_READ_BYTES))


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows that the executors keep.

    Args:
        rdd: Cells, in order; no unit is in two partitions.
        unit: Rows that are together.
    """

    rdd: Any
    unit: int

    def __post_init__(self) -> None:
        self.rdd.persist(guest("pyspark", "spark").StorageLevel.MEMORY_AND_DISK)
        weakref.finalize(self, _release, self.rdd).atexit = False

    @property
    def context(self) -> Any:
        """Spark's."""
        return self.rdd.context

    def parts(self, facts: Facts, cut: Cut, units: Numbers | None) -> Any:
        """All cells, of which some may be passed over; cut anew if steps begin elsewhere."""
        if cut.step is None or not cut.first % cut.step:
            return self.rdd
        return aligned(self.rdd, facts, cut, self.rdd.getNumPartitions())

    def opener(self, facts: Facts, units: Numbers | None) -> Any:
        """Takes the bytes for rows."""
        wanted = None if units is None else frozenset(units.tolist())
        return partial(_opened, facts, self.unit, wanted)


def aligned(rdd: Any, facts: Facts, cut: Cut, partitions: int) -> Any:
    """The same cells, cut so that units begin at the first row, and none is in two partitions."""
    size = unit(cut.stop - cut.first)
    units = -(-(cut.stop - cut.first) // size)
    partitions = min(partitions, units)
    fragments = rdd.flatMap(partial(_fragments, facts, cut._replace(step=size)))
    place = partial(_partition, cut.first, size, units, partitions)
    return fragments.repartitionAndSortWithinPartitions(partitions, place)


def cells_made(context: Any, handle: bytes, facts: Facts, partitions: int) -> Cells:
    """Rows that are made when they are asked for, made once, on the executors."""
    names = Names(context, handle, facts.users, partitions)
    runs = names.parts(facts, whole(facts), None)
    most = facts.cell_rows(names.unit)
    return Cells(runs.mapPartitions(partial(_made, names.handle, most)), names.unit)


def cells_of(context: Any, rows: Rows, facts: Facts, partitions: int) -> Cells:
    """Rows in the driver's memory, sent to the executors once."""
    size = unit(facts.users)
    starts = np.arange(0, facts.users, size)
    elements = [
        list(_cells(rows, _runs(some, size, facts.users), facts.cell_rows(size)))
        for some in np.array_split(starts, min(partitions, len(starts)))
    ]
    return Cells(context.parallelize(elements, len(elements)).flatMap(list), size)


def whole(facts: Facts, most: int = 1) -> Cut:
    """All rows, in blocks of some size."""
    return Cut(0, facts.users, facts.slots, None, most, loose=True)


@dataclass(frozen=True, eq=False)
class Mapped:
    """Rows in a memory map, sent by the name of its file.

    Args:
        rows: The rows.
    """

    rows: TokenRows | SetRows

    def __reduce__(self) -> Any:
        values: Any = self.rows.values
        base = values
        while isinstance(base.base, np.memmap):
            base = base.base
        offset = base.offset + values.ctypes.data - base.ctypes.data
        layout = values.dtype.str, values.shape, values.strides, offset
        return _mapped, (
            type(self.rows),
            str(values.filename),
            layout,
            self.rows.tokens,
            self.rows.complete,
        )


def _mapped(kind: Any, path: str, layout: tuple[Any, ...], tokens: int, complete: bool) -> Rows:
    """The rows of a file, which were checked before they were sent."""
    dtype, shape, strides, offset = layout
    content = np.memmap(path, np.uint8, "r")
    values = np.ndarray(shape, dtype, content, offset, strides)
    rows: Rows = kind.checked(values, tokens=tokens, complete=complete)
    return rows


def _runs(starts: Numbers, size: int, stop: int) -> list[tuple[int, int]]:
    """Units as runs of rows, neighbours together."""
    if not len(starts):
        return []
    breaks = np.flatnonzero(np.diff(starts) != size) + 1
    return [
        (int(some[0]), min(int(some[-1]) + size, stop)) for some in np.array_split(starts, breaks)
    ]


def _read(handle: bytes, most: int, runs: Iterator[list[tuple[int, int]]]) -> Iterator[Piece]:
    rows: Rows = unshipped(handle)
    for run in runs:
        yield from _pieces(rows, run, most)


def _pieces(rows: Rows, runs: Iterable[tuple[int, int]], most: int) -> Iterator[Piece]:
    for start, stop in runs:
        for first in range(start, stop, most):
            yield first, read_piece(rows, first, min(first + most, stop))


def _cells(rows: Rows, runs: Iterable[tuple[int, int]], most: int) -> Iterator[Cell]:
    return (cell_of(start, piece) for start, piece in _pieces(rows, runs, most))


def _made(handle: bytes, most: int, runs: Iterator[list[tuple[int, int]]]) -> Iterator[Cell]:
    rows: Rows = unshipped(handle)
    for run in runs:
        yield from _cells(rows, run, most)


def _opened(
    facts: Facts, size: int, units: frozenset[int] | None, cells: Iterator[Cell]
) -> Iterator[Piece]:
    return (piece_of(cell, facts) for cell in cells if units is None or cell[0] // size in units)


def _fragments(facts: Facts, cut: Cut, cell: Cell) -> Iterator[Cell]:
    return (cell_of(*piece) for piece in joined_pieces([piece_of(cell, facts)], cut))


def _partition(first: int, size: int, units: int, partitions: int, start: int) -> int:
    return (start - first) // size * partitions // units


def _release(rdd: Any) -> None:
    if rdd.context._jsc is not None:  # noqa: SLF001  it may have been stopped
        rdd.unpersist()
