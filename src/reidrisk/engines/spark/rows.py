"""`SparkRows`: known rows on a cluster, and where the executors get them from.

`Names`: a handle that holds names of files, not their content, is sent to the executors, and each
task reads its rows itself. `PartitionCells`: rows as bytes, a few MiB in a cell, kept by the
executors in memory, or on their disks if memory is full.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from operator import or_
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import ROWS_AT_A_TIME, Blocks, Merge, Report, Result, Work, unit
from reidrisk.core.optional import guest
from reidrisk.core.rows import (
    ArrayCodec,
    ArrayRows,
    CodecRows,
    HeldRows,
    Rows,
    Tokens,
    read_only,
)
from reidrisk.engines.protocol import FEWEST_ROWS
from reidrisk.engines.spark.blocks import (
    BlockCut,
    Cell,
    Facts,
    Piece,
    cell_of,
    joined_pieces,
    piece_of,
)
from reidrisk.engines.spark.errors import explaining
from reidrisk.engines.spark.jobs import Task, run, unshipped
from reidrisk.errors import InvalidInput
from reidrisk.io.parquet_table import ParquetTable

Numbers = NDArray[np.int64]

# Most bytes of rows that are read from a handle at once.
_READ_BYTES = 1 << 25

MOST_ROWS = 1 << 19
"""Rows in a block at most: kernels do not get faster with more."""

_BLOCK_BYTES = 1 << 26
_ANSWERS, _ANSWER_BYTES = 8, 1 << 24  # answers that are remembered, and the size of the largest


class _RowSource(Protocol):
    """Rows that the executors can get, in units that are never split between partitions."""

    @property
    def context(self) -> Any:
        """Spark's."""

    @property
    def unit(self) -> int:
        """Rows that are together."""

    def parts(self, facts: Facts, cut: BlockCut, units: Numbers | None) -> Any:
        """An RDD of what holds the rows from `first` to `stop`, or the units of these numbers."""

    def opener(self, facts: Facts, units: Numbers | None) -> Any:
        """What makes pieces, in order, of what a partition holds."""


def as_sent(rows: Rows) -> Any:
    """The handle to send instead of the rows; None if the rows themselves must be sent.

    Rows in files are sent by name, and so is any handle that says `travels = True`: it is small
    when pickled, and can be read wherever it arrives.
    """
    if isinstance(rows, ParquetTable) or getattr(rows, "travels", False):
        return rows
    if isinstance(rows, ArrayRows) and isinstance(rows.values, np.memmap):
        return _MappedPart(rows) if rows.values.filename is not None else None
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

    def parts(self, facts: Facts, cut: BlockCut, units: Numbers | None) -> Any:
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
class PartitionCells:
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

    def parts(self, facts: Facts, cut: BlockCut, units: Numbers | None) -> Any:
        """All cells; cut anew if steps do not begin where cells do."""
        if cut.step is None or not cut.first % cut.step:
            return self.rdd
        return aligned(self.rdd, facts, cut, self.rdd.getNumPartitions())

    def opener(self, facts: Facts, units: Numbers | None) -> Any:
        """Takes the bytes for rows."""
        wanted = None if units is None else frozenset(units.tolist())
        return partial(_opened, facts, self.unit, wanted)


def aligned(rdd: Any, facts: Facts, cut: BlockCut, partitions: int) -> Any:
    """The same cells, cut so that units begin at the first row, and none is in two partitions.

    Args:
        rdd: Cells, in order.
        facts: What is known of the rows.
        cut: Which rows, in what blocks.
        partitions: How many partitions.
    """
    size = unit(cut.stop - cut.first)
    units = -(-(cut.stop - cut.first) // size)
    partitions = min(partitions, units)
    fragments = rdd.flatMap(partial(_fragments, facts, cut._replace(step=size)))
    place = partial(_partition, cut.first, size, units, partitions)
    return fragments.repartitionAndSortWithinPartitions(partitions, place)


def cells_made(context: Any, handle: bytes, facts: Facts, partitions: int) -> PartitionCells:
    """Rows that are made when they are asked for, made once, on the executors.

    Args:
        context: The Spark context.
        handle: What makes the rows, as sent.
        facts: What is known of the rows.
        partitions: How many partitions.
    """
    names = Names(context, handle, facts.users, partitions)
    runs = names.parts(facts, whole(facts), None)
    most = facts.cell_rows(names.unit)
    return PartitionCells(runs.mapPartitions(partial(_made, names.handle, most)), names.unit)


def cells_of(context: Any, rows: Rows, facts: Facts, partitions: int) -> PartitionCells:
    """Rows in the driver's memory, sent to the executors once.

    Args:
        context: The Spark context.
        rows: Known rows.
        facts: What is known of the rows.
        partitions: How many partitions.
    """
    size = unit(facts.users)
    starts = np.arange(0, facts.users, size)
    elements = [
        list(_cells(rows, _runs(some, size, facts.users), facts.cell_rows(size)))
        for some in np.array_split(starts, min(partitions, len(starts)))
    ]
    return PartitionCells(context.parallelize(elements, len(elements)).flatMap(list), size)


def whole(facts: Facts, most: int = 1) -> BlockCut:
    """All rows, in blocks of some size."""
    return BlockCut(0, facts.users, facts.codec.slots, None, most, loose=True)


@dataclass(frozen=True, eq=False)
class _MappedPart:
    """Rows in a memory map, sent by the name of its file.

    Args:
        rows: The rows.
    """

    rows: ArrayRows

    def __reduce__(self) -> Any:
        values: Any = self.rows.values
        base = values
        while isinstance(base.base, np.memmap):
            base = base.base
        offset = base.offset + values.ctypes.data - base.ctypes.data
        layout = values.dtype.str, values.shape, values.strides, offset
        return _mapped, (str(values.filename), layout, self.rows.codec)


def _mapped(path: str, layout: tuple[Any, ...], codec: ArrayCodec) -> Rows:
    """The rows of a file, which were checked before they were sent."""
    dtype, shape, strides, offset = layout
    content = np.memmap(path, np.uint8, "r")
    return codec.rows(np.ndarray(shape, dtype, content, offset, strides))


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
    for some in runs:
        yield from _pieces(rows, some, most)


def _pieces(rows: Rows, runs: Iterable[tuple[int, int]], most: int) -> Iterator[Piece]:
    for start, stop in runs:
        for first in range(start, stop, most):
            yield first, rows.codec.held(rows, first, min(first + most, stop))


def _cells(rows: Rows, runs: Iterable[tuple[int, int]], most: int) -> Iterator[Cell]:
    return (cell_of(start, piece) for start, piece in _pieces(rows, runs, most))


def _made(handle: bytes, most: int, runs: Iterator[list[tuple[int, int]]]) -> Iterator[Cell]:
    rows: Rows = unshipped(handle)
    for some in runs:
        yield from _cells(rows, some, most)


def _opened(
    facts: Facts, size: int, units: frozenset[int] | None, cells: Iterator[Cell]
) -> Iterator[Piece]:
    return (piece_of(cell, facts) for cell in cells if units is None or cell[0] // size in units)


def _fragments(facts: Facts, cut: BlockCut, cell: Cell) -> Iterator[Cell]:
    return (cell_of(*piece) for piece in joined_pieces([piece_of(cell, facts)], cut))


def _partition(first: int, size: int, units: int, partitions: int, start: int) -> int:
    return (start - first) // size * partitions // units


def _release(rdd: Any) -> None:
    if rdd.context._jsc is not None:  # noqa: SLF001  it may have been stopped
        rdd.unpersist()


class _OfFacts(CodecRows):
    """What a handle says of rows."""

    facts: Facts

    @property
    def codec(self) -> Any:
        """How the rows are stored."""
        return self.facts.codec

    @property
    def users(self) -> int:
        """Number of rows."""
        return self.facts.users

    @property
    def size(self) -> int:
        """Number of entries of all rows."""
        return self.facts.size

    def __len__(self) -> int:
        return self.facts.users


@dataclass(frozen=True, eq=False)
class _RowsThere(_OfFacts):
    """What a handle on rows becomes on an executor: all that is known of the rows, but no rows.

    Args:
        facts: What is known of them.
    """

    facts: Facts

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise InvalidInput(
            f"work that travels to known rows asked for their {name}; it may use the blocks that "
            "it is given, and nothing else of known rows",
            code="rows-on-cluster",
        )


@dataclass(frozen=True, eq=False)
class SparkRows(_OfFacts):
    """Known rows on a cluster; only a few at a time are ever brought to the driver.

    Made by `SparkEngine.hold` and `SparkEngine.rows_of`.

    Args:
        source: Where executors have them from.
        whole: What is known of all rows there.
        facts: What is known of these, which may be some of them, after some of their slots.
        first: The number of the first of these rows there.
    """

    source: _RowSource
    whole: Facts
    facts: Facts
    first: int = 0
    answers: "_Answers" = field(default_factory=lambda: _Answers(), repr=False)  # noqa: PLW0108

    def __repr__(self) -> str:
        return f"<SparkRows {self.users:,} x {self.slots}>"

    def __reduce__(self) -> Any:
        return _RowsThere, (self.facts,)

    def prefix(self, slots: int) -> "SparkRows":
        """The same users after their first `slots` slots."""
        return replace(self, facts=self.facts.prefix(slots))

    def part(self, start: int, stop: int) -> "SparkRows":
        """Some of the users, neighbours.

        Args:
            start: The first row.
            stop: The row behind the last one.
        """
        users = min(stop, self.users) - start
        size = max(self.size * users // self.users, 1)
        facts = replace(self.facts, users=users, size=size)
        return replace(self, facts=facts, first=self.first + start)

    def block(self, start: int, stop: int) -> Tokens:
        """A few rows; for many, use `over`.

        Args:
            start: The first row.
            stop: The row behind the last one.
        """
        rows = min(stop, self.users) - start
        if rows > self.source.unit:
            raise InvalidInput(
                f"{rows:,} known rows are on the cluster and do not come here together; ask for at "
                f"most {self.source.unit:,}, or let work go over them: mapreduce.over_rows",
                code="rows-on-cluster",
            )
        return read_only(self.take(np.arange(start, start + rows)))

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some rows by their numbers, in this order, as an array."""
        held = self.select(rows)
        return np.array(held.block(0, held.users))

    def select(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """Some users by their numbers, in this order, as rows in memory."""
        return self._taken(np.asarray(rows)).prefix(self.slots)

    def present(self) -> NDArray[np.bool_]:
        """Whether something came, users x slots, of a few rows."""
        return self.codec.present(self.block(0, self.users))  # type: ignore[no-any-return]

    def over(
        self,
        work: Work[Result],
        merge: Merge[Result],
        *,
        step: int | None = None,
        most: int = ROWS_AT_A_TIME,
        report: Report | None = None,
        loose: bool = False,
    ) -> Result:
        """Let `work` see each block once, on the executors, and merge the results there.

        Args:
            work: Called once for each partition.
            merge: Puts two results together.
            step: Rows in a block, exactly, but for the last.
            most: Rows in a block at most, if `step` is not given.
            report: Told now and then what share is done.
            loose: Rows are given as rows, not as an array.
        """
        fits = max(self.facts.rows_in(_BLOCK_BYTES), FEWEST_ROWS)
        most = max(min(most, MOST_ROWS, fits), FEWEST_ROWS)
        cut = BlockCut(self.first, self.first + self.users, self.slots, step, most, loose)
        return self._run(cut, work, merge, report=report, what=f"{self.users:,} known rows")

    def _run(
        self,
        cut: BlockCut,
        work: Work[Result],
        merge: Merge[Result],
        *,
        units: Numbers | None = None,
        report: Report | None = None,
        what: str,
    ) -> Result:
        with explaining(self.source.context):
            parts = self.source.parts(self.whole, cut, units)
        task = Task(self.source.opener(self.whole, units), cut, work)
        return run(parts, task, merge, report=report, what=what)  # type: ignore[no-any-return]

    def _taken(self, rows: NDArray[np.integer[Any]]) -> HeldRows:
        """Some rows by their numbers, with all slots there are, by one job."""
        numbers = rows.astype(np.int64)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= self.users):
            raise InvalidInput(
                f"known rows have the numbers 0 to {self.users - 1:,}", code="row-out-of-range"
            )
        return self.answers.get(numbers + self.first, self._fetched)  # type: ignore[no-any-return]

    def _fetched(self, numbers: Numbers) -> Any:
        wanted, places = np.unique(numbers, return_inverse=True)
        size = self.source.unit
        cut = BlockCut(0, self.whole.users, self.whole.codec.slots, None, size, loose=True)
        units = np.unique(wanted // size) if len(wanted) else np.zeros(1, np.int64)
        found = self._run(
            cut, _Take(wanted), or_, units=units, what=f"{len(wanted):,} known rows taken"
        )
        codec = self.whole.codec
        parts = [codec.unpack([each.tobytes() for each in found[start]]) for start in sorted(found)]
        return codec.join(parts).select(places)


class _Answers:
    """The last few answers: the same rows are asked for several times."""

    def __init__(self) -> None:
        self.held: OrderedDict[bytes, Any] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, numbers: Numbers, fetch: Any) -> Any:
        """What was fetched for these numbers, now or before."""
        key = numbers.tobytes()
        with self.lock:
            if key in self.held:
                self.held.move_to_end(key)
                return self.held[key]
        found = fetch(numbers)
        size = found.users * found.codec.row_bytes(found.size, found.users)
        if size + len(key) <= _ANSWER_BYTES:
            with self.lock:
                self.held[key] = found
                while len(self.held) > _ANSWERS:
                    self.held.popitem(last=False)
        return found


@dataclass(frozen=True, slots=True)
class _Take:
    """Work that picks rows by their numbers, and packs those of each block.

    Args:
        numbers: In order, each once.
    """

    numbers: Numbers

    def __call__(self, blocks: Blocks) -> dict[int, tuple[NDArray[np.uint8], ...]]:
        found = {}
        for start, rows in blocks:
            low, high = np.searchsorted(self.numbers, [start, start + len(rows)])
            some: Any = rows.select(self.numbers[low:high] - start)  # type: ignore[attr-defined]
            found[start] = tuple(np.frombuffer(part, np.uint8) for part in some.codec.pack(some))
        return found
