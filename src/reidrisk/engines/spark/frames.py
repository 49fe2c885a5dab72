"""Known rows of a Spark DataFrame: sorted by user, checked, numbered and kept as cells.

The number of a row is the rank of its user among all users, as for tables that are read locally: it
does not depend on how the DataFrame was partitioned or shuffled. Spark sorts by user, which makes
duplicate users neighbours. Each partition passes through Python as Arrow batches and is packed into
cells; then cells are cut so that units begin where they must.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from operator import or_
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.digest import sha256, sha256_bytes
from reidrisk.core.mapreduce import Blocks, unit
from reidrisk.core.optional import guest
from reidrisk.core.rows import MISSING, ArrayCodec, TokenCodec, Tokens, smallest_type
from reidrisk.core.vector_rows import Grid, VectorCodec
from reidrisk.engines.spark.blocks import BlockCut, Cell, Facts, cell_of, joined_pieces, piece_of
from reidrisk.engines.spark.errors import explaining
from reidrisk.engines.spark.jobs import in_group, merged_in_tree, one
from reidrisk.engines.spark.outcomes import found_in, merged, outcome
from reidrisk.engines.spark.rows import PartitionCells, SparkRows, aligned, whole
from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import listed

Numbers = NDArray[np.int64]

NOT_KNOWN = -1
"""Instead of a row number, of a user who is not known."""

_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_FLOATS = {"array<float>", "array<double>"}
_BYTE = 8
_USER = "user"
_CELL_BYTES = 1 << 22
_DIGESTED = 1 << 12
_PACKED = pa.schema(
    {
        "part": pa.int32(),
        "first": pa.int64(),
        "rows": pa.int64(),
        "shape": pa.list_(pa.int32()),
        "complete": pa.bool_(),
        "wrong": pa.string(),
        "code": pa.string(),
        "cell": pa.binary(),
        "users": pa.binary(),
    }
)
_IN_SPARK = (
    "part int, first bigint, rows bigint, shape array<int>, complete boolean, wrong string, "
    "code string, cell binary, users binary"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FrameRows(SparkRows):
    """Known rows of a DataFrame, in the order of users.

    Args:
        packed: What the partitions were packed to; users among it.
        starts: The number of the first row of each partition.
    """

    packed: Any
    starts: dict[int, int]

    def numbers_of(self, users: ArrayLike) -> Numbers:
        """The row numbers of some users, by one job; `NOT_KNOWN` of those who are not there.

        Args:
            users: Ids, of the type of the DataFrame's.
        """
        # Each different user is looked up once.
        wanted = pa.array(np.asarray(users)).dictionary_encode()
        few = wanted.dictionary
        cells = self.packed.select("part", "first", "users").rdd
        with explaining(cells.context):
            places = cells.mapPartitionsWithIndex(partial(_places, sent(few), self.starts))
            tree = merged_in_tree(places, _together)
            found, rows = found_in(one(tree, None, f"{len(few):,} users looked up"))
        numbers = np.full(len(few), NOT_KNOWN)
        numbers[found] = rows - self.first
        numbers[(numbers < 0) | (numbers >= self.users)] = NOT_KNOWN
        asked: Numbers = np.asarray(wanted.indices)
        return np.asarray(numbers[asked])

    def fingerprint(self) -> str:
        """A name for users and rows: the same however the DataFrame was cut and shuffled."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        rows = self.over(_digests_of_rows, or_, step=_DIGESTED)
        size, ids = unit(self.users), self.packed.select("part", "first", "users").rdd
        within = self.first, self.first + self.users
        with explaining(ids.context):
            fragments = ids.flatMap(partial(fragments_of_ids, self.starts, within, size))
            count = min(ids.getNumPartitions(), -(-self.users // size))
            units = fragments.repartitionAndSortWithinPartitions(count, partial(_unit_of, size))
            digests = units.mapPartitionsWithIndex(partial(_digests, size))
            tree = merged_in_tree(digests, _all_digests)
            users = found_in(one(tree, None, f"checksums of {self.users:,} users"))
        kind = self.tokens if isinstance(self.codec, TokenCodec) else repr(self.codec)
        said = self.users, self.slots, kind, sorted(rows.items()), sorted(users.items())
        return sha256(repr(said))


class Reading(Protocol):
    """How rows are read off batches."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Where rows are."""

    @property
    def uneven(self) -> str:
        """What is wrong if rows have not one shape."""

    def rows(self, batch: pa.RecordBatch) -> NDArray[Any]:
        """The rows of a batch as an array of their own: the batch dies with the next one."""

    def codec(self, shape: Sequence[int], *, complete: bool) -> ArrayCodec:
        """How rows of a shape are stored."""


@dataclass(frozen=True, slots=True)
class TokenReading:
    """How rows of tokens are read off batches.

    Args:
        columns: The column of lists, or the columns of slots.
        is_list: Which of the two.
        tokens: Size of the alphabet.
    """

    columns: tuple[str, ...]
    is_list: bool
    tokens: int

    @property
    def uneven(self) -> str:
        """What is wrong if rows have not as many slots."""
        return (
            f"column {self.columns[0]} of the DataFrame holds lists of different lengths; rows are "
            "compared slot by slot: fill the shorter lists with nulls"
        )

    def rows(self, batch: pa.RecordBatch) -> Tokens:
        """The tokens of a batch as an array of their own: the batch dies with the next one."""
        if not self.is_list:
            return np.column_stack([self._numbers(batch.column(name)) for name in self.columns])
        lists = batch.column(self.columns[0])
        sizes = pc.unique(lists.value_lengths())
        if lists.null_count or len(sizes) != 1:
            raise InvalidInput(self.uneven, code="unequal-lists")
        if not sizes[0].as_py():
            raise InvalidInput(
                f"column {self.columns[0]} of the DataFrame holds empty lists", code="empty-lists"
            )
        return self._numbers(lists.flatten()).reshape(len(lists), -1)

    def codec(self, shape: Sequence[int], *, complete: bool) -> ArrayCodec:
        """How rows of so many slots are stored."""
        return TokenCodec.of(tuple(shape), self.tokens, complete=complete)

    def _numbers(self, values: pa.Array) -> Tokens:
        ends = pc.min_max(values)
        low, high = ends["min"].as_py(), ends["max"].as_py()
        if low is not None and (low < MISSING or high >= self.tokens):
            raise InvalidInput(
                f"{listed(self.columns)} of the DataFrame holds the token "
                f"{low if low < MISSING else high}: tokens are whole numbers from 0 to "
                f"{self.tokens - 1}, and null where nothing was seen; renumber the tokens or raise "
                "tokens=",
                code="token-out-of-range",
            )
        filled = values.fill_null(MISSING) if values.null_count else values
        return np.array(filled.to_numpy(zero_copy_only=False), smallest_type(self.tokens))


@dataclass(frozen=True, slots=True)
class _VectorReading:
    """How rows of vectors are read off batches.

    Args:
        columns: A column of vectors for each slot.
        grid: To which they are rounded.
        floats: Whether they are floats, not whole numbers of the grid.
    """

    columns: tuple[str, ...]
    grid: Grid
    floats: bool

    @property
    def uneven(self) -> str:
        """What is wrong if vectors have not as many numbers."""
        return (
            f"{listed(self.columns)} of the DataFrame holds vectors of different lengths; give all "
            "as many numbers, and null where nothing came"
        )

    def rows(self, batch: pa.RecordBatch) -> NDArray[Any]:
        """The vectors of a batch, users x slots x dimensions."""
        slots = [batch.column(name) for name in self.columns]
        lengths = [pc.min_max(column.value_lengths()).as_py() for column in slots]
        ends = {end for each in lengths for end in each.values() if end is not None}
        if len(ends) > 1:
            raise InvalidInput(self.uneven, code="unequal-lists")
        if not ends or not max(ends):
            raise InvalidInput(
                f"{listed(self.columns)} of the DataFrame holds no numbers in the vectors of "
                f"{batch.num_rows} neighbouring users; give each user a vector",
                code="empty-lists",
            )
        gap = self.codec((len(slots), *ends), complete=False).gap
        rows = np.full((batch.num_rows, len(slots), *ends), gap, self.grid.dtype)
        for slot, column in enumerate(slots):
            here = column.is_valid().to_numpy(zero_copy_only=False)
            flat = column.drop_null().flatten()
            if flat.null_count:
                raise InvalidInput(
                    f"a number of a vector in {listed(self.columns)} of the DataFrame is null; "
                    "give it a number, or null for the whole vector",
                    code="missing-number",
                )
            numbers = flat.to_numpy(zero_copy_only=False).reshape(-1, *ends)
            name = f"column {self.columns[slot]} of the DataFrame"
            rows[here, slot] = self.grid.round(numbers, name) if self.floats else numbers
        return rows

    def codec(self, shape: Sequence[int], *, complete: bool) -> ArrayCodec:
        """How vectors of so many slots and dimensions are stored."""
        return VectorCodec(tuple(shape), self.grid.dtype, complete, self.grid.scale)


def vectors_of_frame(
    frame: Any, *, grid: Grid, user: str, columns: str | Sequence[str], partitions: int
) -> FrameRows:
    """Known vectors of a DataFrame, in the order of users."""
    types = _types(frame, user)
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    _check_columns(frame, names)
    kinds = {types[name] for name in names}
    whole_numbers = "array<tinyint>" if grid.bits == _BYTE else "array<smallint>"
    if kinds == {whole_numbers} or (kinds and kinds <= _FLOATS):
        reading = _VectorReading(names, grid, kinds != {whole_numbers})
        return _rows_in_order(frame, reading, user, partitions)
    raise InvalidInput(
        f"{listed(names)} of the DataFrame holds {' and '.join(sorted(kinds)) or 'nothing'}: "
        f"vectors are lists of floats, or of whole numbers of the grid, {whole_numbers}",
        code="wrong-column-type",
    )


def rows_of_frame(
    frame: Any, *, tokens: int, user: str, columns: str | Sequence[str] | None, partitions: int
) -> FrameRows:
    """Known rows of a DataFrame, in the order of users."""
    reading = reading_of(frame, tokens=tokens, user=user, columns=columns)
    if tokens < 1:
        raise InvalidInput(
            f"tokens is the size of the alphabet, at least 1; got {tokens}",
            code="not-a-whole-number",
        )
    return _rows_in_order(frame, reading, user, partitions)


def _rows_in_order(frame: Any, reading: Reading, user: str, partitions: int) -> FrameRows:
    """Rows that are read off a DataFrame, sorted by user, checked and kept."""
    sql = guest("pyspark.sql.functions", "spark")
    wanted = [sql.col(f"`{user}`").alias(_USER), *(frame[f"`{name}`"] for name in reading.columns)]
    in_order = (
        frame.select(*wanted).repartitionByRange(partitions, _USER).sortWithinPartitions(_USER)
    )
    # Sorting twice would cost more than the disk; memory is left to the cells.
    level = guest("pyspark", "spark").StorageLevel.DISK_ONLY
    packed = in_order.mapInArrow(partial(_packed, reading), _IN_SPARK).persist(level)
    context = frame.sparkSession.sparkContext
    told = packed.select("part", "first", "rows", "shape", "complete", "wrong", "code")
    with explaining(context):
        parts = in_group(context, told.collect, what="rows in the order of users")
    facts, starts = _numbered(parts, reading)
    size = unit(facts.users)
    cut = whole(facts)._replace(step=size)
    cells = packed.select("part", "first", "cell").rdd.map(partial(_cell, starts))
    joined = aligned(cells, facts, cut, partitions).mapPartitions(
        partial(_joined, facts, cut._replace(step=facts.cell_rows(size))),
        preservesPartitioning=True,
    )
    return FrameRows(PartitionCells(joined, size), facts, facts, packed=packed, starts=starts)


def reading_of(
    frame: Any, *, tokens: int, user: str, columns: str | Sequence[str] | None
) -> TokenReading:
    """How the rows of a DataFrame are read, if its schema is one that we read."""
    types = _types(frame, user)
    others = [name for name in frame.columns if name != user]
    if columns is None:
        columns = "tokens" if "tokens" in others else others
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    _check_columns(frame, names)
    is_list = len(names) == 1 and types[names[0]].startswith("array<")
    allowed = [f"array<{number}>" for number in _WHOLE_NUMBERS] if is_list else _WHOLE_NUMBERS
    for name in names:
        if types[name] not in allowed:
            raise InvalidInput(
                f"column {name} of the DataFrame holds {types[name]}: tokens are whole numbers, in "
                "one column of lists or in one column a slot; number the tokens first",
                code="wrong-column-type",
            )
    if not names:
        raise InvalidInput(
            f"the DataFrame has no column of tokens beside {user}", code="column-not-found"
        )
    return TokenReading(names, is_list, tokens)


def _types(frame: Any, user: str) -> dict[str, str]:
    """The types of columns, if users are of one that we read."""
    types: dict[str, str] = dict(frame.dtypes)
    _check_columns(frame, [user])
    if types[user] not in ("string", *_WHOLE_NUMBERS):
        raise InvalidInput(
            f"column {user} of the DataFrame holds {types[user]}: users are text or whole numbers",
            code="wrong-column-type",
        )
    return types


def _check_columns(frame: Any, names: Sequence[str]) -> None:
    """Refuse columns that are not there."""
    for name in names:
        if name not in frame.columns:
            raise InvalidInput(
                f"the DataFrame has no column {name}; it has {listed(frame.columns)}",
                code="column-not-found",
            )


def _numbered(parts: list[Any], reading: Reading) -> tuple[Facts, dict[int, int]]:
    """What is known of the rows, and the number of the first row of each partition."""
    in_order = sorted(parts, key=lambda part: (part.part, part.first))
    for part in in_order:
        if part.wrong is not None:
            raise InvalidInput(part.wrong, code=part.code)
    if not in_order:
        raise InvalidInput(
            "the DataFrame holds no rows; there is nobody to search", code="empty-table"
        )
    shapes = {tuple(part.shape) for part in in_order}
    if len(shapes) > 1:
        raise InvalidInput(reading.uneven, code="unequal-lists")
    starts: dict[int, int] = {}
    users = 0
    for part in in_order:
        starts.setdefault(part.part, users)
        users += part.rows
    (shape,) = shapes
    complete = all(part.complete for part in in_order)
    codec = reading.codec(shape, complete=complete)
    return Facts(codec, users, users * math.prod(shape)), starts


def _packed(reading: Reading, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A partition in the order of users as cells, or what is wrong with it."""
    part = guest("pyspark", "spark").TaskContext.get().partitionId()
    first = 0
    try:
        for rows, users in gathered(reading, batches):
            shape = list(rows.shape[1:])
            filled = reading.codec(shape, complete=False).filled(rows)
            said = part, first, len(rows), shape, filled, None, None
            yield _row(*said, rows.tobytes(), sent(users))
            first += len(rows)
    except InvalidInput as wrong:  # sent as a row: Spark would retry a task that raises
        yield _row(part, first, 0, [], True, str(wrong), wrong.code, b"", b"")  # noqa: FBT003


def _row(*values: Any) -> pa.RecordBatch:
    columns = zip(values, _PACKED, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array([value], field.type) for value, field in columns], schema=_PACKED
    )


def gathered(
    reading: Reading, batches: Iterator[pa.RecordBatch]
) -> Iterator[tuple[NDArray[Any], pa.Array]]:
    """Batches put together: rows and their users, a few MiB of rows at a time."""
    rows: list[NDArray[Any]] = []
    users: list[pa.Array] = []
    last: Any = None
    for batch in batches:
        if not batch.num_rows:
            continue
        ids = batch.column(0)
        _check_users(ids, last)
        last = ids[-1]
        some = reading.rows(batch)
        if rows and rows[0].shape[1:] != some.shape[1:]:
            raise InvalidInput(reading.uneven, code="unequal-lists")
        rows.append(some)
        users.append(pa.concat_arrays([ids, ids[:0]]))  # a copy, as the rows are
        if sum(array.nbytes for array in rows) >= _CELL_BYTES:
            yield np.concatenate(rows), pa.concat_arrays(users)
            rows, users = [], []
    if rows:
        yield np.concatenate(rows), pa.concat_arrays(users)


def _check_users(users: pa.Array, last: Any) -> None:
    """Refuse missing and duplicate users of a sorted batch; `last` is the last user before it."""
    if users.null_count:
        raise InvalidInput(
            f"{users.null_count} or more rows of the DataFrame have no user (null); fill in the "
            "users, or leave out these rows",
            code="missing-user",
        )
    again = pc.sum(pc.equal(users[1:], users[:-1])).as_py() or 0
    if again or (last is not None and last.equals(users[0])):
        raise InvalidInput(
            "a user is in two rows of the DataFrame; a known row holds all that is known of a "
            "user: put the rows of each user together",
            code="duplicate-user",
        )


def sent(users: pa.Array) -> bytes:
    """Users as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    batch = pa.RecordBatch.from_arrays([users], ["user"])
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def _cell(starts: dict[int, int], packed: Any) -> Cell:
    return starts[packed.part] + packed.first, (bytes(packed.cell),)


def _joined(facts: Facts, cut: BlockCut, cells: Iterator[Cell]) -> Iterator[Cell]:
    """Fragments of units, in order, put together."""
    pieces = joined_pieces((piece_of(cell, facts) for cell in cells), cut)
    return (cell_of(*piece) for piece in pieces)


def _places(
    few: bytes, starts: dict[int, int], place: int, packed: Iterator[Any]
) -> Iterator[bytes]:
    yield outcome(place, lambda: _looked_up(few, starts, packed))


def _looked_up(
    few: bytes, starts: dict[int, int], packed: Iterator[Any]
) -> tuple[Numbers, Numbers]:
    """Which of a few users are in a partition, and their rows."""
    wanted = pa.ipc.open_stream(few).read_all().column(0).combine_chunks()
    found = [np.empty((2, 0), np.int64)]
    for each in packed:
        there = pa.ipc.open_stream(bytes(each.users)).read_all().column(0)
        places = pc.index_in(there, value_set=wanted.cast(there.type))
        rows = np.flatnonzero(pc.is_valid(places).to_numpy())
        mine = places.drop_null().to_numpy().astype(np.int64)
        found.append(np.stack([mine, rows + starts[each.part] + each.first]))
    return tuple(np.concatenate(found, axis=1))


def _digests_of_rows(blocks: Blocks) -> dict[int, bytes]:
    """The checksum of each block, by its first row."""
    return {start: sha256_bytes([rows.tobytes()]) for start, rows in blocks}


def fragments_of_ids(
    starts: dict[int, int], within: tuple[int, int], size: int, packed: Any
) -> Iterator[tuple[int, tuple[bytes, bytes]]]:
    """The users of a cell as lengths and content, cut where units begin, by their first rows."""
    users = pa.ipc.open_stream(bytes(packed.users)).read_all().column(0).combine_chunks()
    number = starts[packed.part] + packed.first
    low, high = max(number, within[0]), min(number + len(users), within[1])
    while low < high:
        first = low - within[0]
        stop = min(low + size - first % size, high)
        yield first, content_of(users[low - number : stop - number])
        low = stop


def content_of(users: pa.Array) -> tuple[bytes, bytes]:
    """Users as lengths and content; numbers, which have no lengths, as content."""
    if pa.types.is_integer(users.type):
        return b"", users.cast(pa.int64()).to_numpy().tobytes()
    texts = [text.encode() for text in users.to_pylist()]
    return np.array([len(text) for text in texts], np.int64).tobytes(), b"".join(texts)


def _unit_of(size: int, first: int) -> int:
    return first // size


def _digests(
    size: int, place: int, fragments: Iterator[tuple[int, tuple[bytes, bytes]]]
) -> Iterator[bytes]:
    yield outcome(place, lambda: digests_of_units(size, fragments))


def digests_of_units(
    size: int, fragments: Iterable[tuple[int, tuple[bytes, bytes]]]
) -> dict[int, bytes]:
    """The checksum of each unit, of fragments in order, wherever these end."""
    found = {}
    for at, some in groupby(fragments, lambda fragment: fragment[0] // size):
        # Lengths and content apart, so that the digest does not depend on where fragments end.
        lengths, content = zip(*(fragment for _, fragment in some), strict=True)
        found[at] = sha256_bytes(lengths) + sha256_bytes(content)
    return found


def _all_digests(results: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    yield merged((result for _, result in results), or_)


def _together(results: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    yield merged((result for _, result in results), _both)


def _both(one: Any, other: Any) -> Any:
    return tuple(np.concatenate(pair) for pair in zip(one, other, strict=True))
