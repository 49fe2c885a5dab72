"""Rows of vectors in Parquet files: read a few row groups at a time, and written.

A column holds the vectors of a slot, as lists of one length. Whole numbers of 8 or 16 bits are
taken as they are, and files that we wrote say what grid they are on; floats are rounded to a grid
that is given.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.files import ONLY_ME, existing_file, written_whole
from reidrisk.core.machine import check_fits, cores
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import Rows
from reidrisk.core.vector_rows import Grid, VectorCodec
from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.column_roles import listed
from reidrisk.io.parquet_files import parquet_file, read_back, refusing_damage
from reidrisk.io.parquet_survey import ParquetSurvey, kind_of_users
from reidrisk.io.parquet_table import ParquetTable, files_named
from reidrisk.io.shards import BLOCK, GROUP, USER
from reidrisk.io.tables import AnyPath
from reidrisk.io.unpacking import Progress, refuse_expansion

_GRID = b"reidrisk:grid"
"""The note in Parquet files of whole numbers: how many steps make 1.0, in JSON."""

_VECTOR = "vector"
"""The column of vectors of one slot; those of several have its number behind."""

Array = NDArray[Any]


class ParquetVectors(ParquetTable):
    """Rows of vectors, in Parquet files, of which a few row groups are read at a time.

    Args:
        path: A file, several, or a folder, whose files come in the order of their names.
        columns: The column of vectors, lists of one length, or one such column for each slot. If
            not given, `vector` if there is such a column, else all others than `user`. Null where
            nothing came.
        grid: To which floats are rounded. Whole numbers of 8 or 16 bits are taken as they are.
        progress: Called as `progress(rows_done, rows)` while rows are checked, from any thread.

    All rows are read once to check them. Row groups of 50,000 to 500,000 rows serve best. It
    travels as names of files: see `ParquetRows`.

    Example:
        >>> rows = rr.VectorRows(np.array([[3, -1], [0, 2]], np.int8))
        >>> rr.data.write_vector_rows(rows, "vectors.parquet")
        >>> again = rr.ParquetVectors("vectors.parquet")
        >>> again.users, again.slots, again.block(0, 1).tolist()
        (2, 1, [[[3, -1]]])
    """

    stored: VectorCodec
    """How all slots that the files have are stored."""
    rounds: bool
    """Whether the files hold floats."""

    def __init__(
        self,
        path: AnyPath | Sequence[AnyPath],
        columns: str | Sequence[str] | None = None,
        *,
        grid: Grid | None = None,
        progress: Progress | None = None,
    ) -> None:
        paths = files_named(path)
        found = over_blocks(lambda at, _: _survey(paths[at], columns), len(paths), 1)
        first = found[0]
        for one in found[1:]:
            _refuse_difference(first, one)
        self._set_groups([one.file for one in found], [one.rows for one in found])
        used = first.grid_of(grid)
        self._set(
            columns=first.names,
            named=first.users,
            slots=len(first.names),
            rounds=first.floats,
            stored=VectorCodec((len(first.names), 1), used.dtype, scale=used.scale),
        )
        self._check(progress)

    @property
    def codec(self) -> VectorCodec:
        """How rows of these slots are stored."""
        return self.stored.prefix(self.slots)

    @property
    def grid(self) -> Grid:
        """The grid to which the vectors are rounded."""
        return self.stored.grid

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return self.stored.dimensions

    @property
    def complete(self) -> bool:
        """Whether it is certain that nothing is missing."""
        return self.stored.complete

    def _told(self) -> tuple[Any, ...]:
        return self.columns, self.stored.scale, str(self.stored.dtype)

    def _check(self, progress: Progress | None) -> None:
        """Read all row groups once, on all cores."""
        sizes = np.diff(self.starts)
        dimensions = self._first_length()
        self._set(stored=VectorCodec(
            (self.slots, dimensions), self.stored.dtype, scale=self.stored.scale
        ))  # fmt: skip
        check_fits(
            int(sizes.max()) * self.slots * dimensions * 8 * cores(),
            f"{self.files[0].path}: {int(sizes.max()):,} rows in one row group",
            "write row groups of about 100,000 rows",
        )
        done, lock = 0, threading.Lock()

        def work(group: int, _: int) -> bool:
            nonlocal done
            rows = self._whole(group)
            with lock:
                done += len(rows)
                if progress is not None:
                    progress(done, self.users)
            return self.stored.filled(rows)

        filled = over_blocks(work, len(sizes), 1)
        self._set(stored=self.stored.certain(complete=all(filled)))

    def _first_length(self) -> int:
        """How many numbers the first vector has."""
        for group in range(len(self.groups)):
            for column in self._columns(group):
                if len(there := column.drop_null()):
                    if length := len(there[0]):
                        return length
                    raise InvalidInput(
                        f"{self._file(group).path}: a vector of column {self.columns[0]} is empty; "
                        "give each row as many numbers",
                        code="empty-lists",
                    )
        raise InvalidInput(
            f"{self.files[0].path}: all vectors are null; there is nobody to search",
            code="empty-table",
        )

    def _columns(self, group: int) -> list[pa.ChunkedArray]:
        """The vectors of each slot in a row group."""
        table = self._file(group).table(int(self.groups[group]), self.columns[: self.slots])
        return table.columns  # type: ignore[no-any-return]

    def _read(self, group: int, into: Array) -> None:
        """The vectors of a row group."""
        begin = int(self.starts[group] - self.before[self.owners[group]])
        for slot, column in enumerate(self._columns(group)):
            name, start = f"{self._file(group).path}, column {self.columns[slot]}", 0
            for chunk in column.chunks:
                here = chunk.is_valid().to_numpy(zero_copy_only=False)
                numbers = self._numbers(chunk.drop_null(), name)
                place = into[start : start + len(chunk), slot]
                if self.rounds:
                    floats = np.zeros((len(chunk), self.dimensions))
                    floats[here] = numbers
                    place[:] = self.grid.round(floats, f"{name}, from row {begin + start} on")
                else:
                    place[here] = numbers
                place[~here] = self.stored.gap
                start += len(chunk)

    def _numbers(self, vectors: pa.Array, name: str) -> Array:
        """The numbers of vectors that are not null."""
        lengths, flat = pc.list_value_length(vectors), pc.list_flatten(vectors)
        if len(flat) != len(vectors) * self.dimensions or (
            len(vectors) and pc.max(lengths).as_py() != self.dimensions
        ):
            raise InvalidInput(
                f"{name} holds lists of different lengths: vectors of {self.dimensions} numbers "
                "and others; give all vectors as many numbers, and null for a gap",
                code="unequal-lists",
            )
        if flat.null_count:
            raise InvalidInput(
                f"{name}: a number of a vector is null; give it a number, or null for the whole "
                "vector",
                code="missing-number",
            )
        numbers: Array = flat.to_numpy(zero_copy_only=False).reshape(-1, self.dimensions)
        return numbers


def write_vector_rows(rows: Rows, path: AnyPath, *, users: ArrayLike | None = None) -> None:
    """Write rows of vectors as a Parquet file, block by block; `ParquetVectors` reads them.

    Args:
        rows: Of vectors, wherever they are; gaps are null.
        path: The file.
        users: The user of each row, if they have ids.

    Example:
        >>> rows = rr.VectorRows(np.array([[3, -1], [0, 2]], np.int8))
        >>> rr.data.write_vector_rows(rows, "vectors.parquet", users=["ann", "bob"])
        >>> rr.ParquetVectors("vectors.parquet").ids(0, 2).tolist()
        ['ann', 'bob']
    """
    from pyarrow import parquet

    codec: VectorCodec = rows.codec  # type: ignore[assignment]
    names = (
        [_VECTOR] if rows.slots == 1 else [f"{_VECTOR}_{slot + 1}" for slot in range(rows.slots)]
    )
    number = pa.from_numpy_dtype(codec.dtype)
    # Older versions of pyarrow write no gaps among lists of one size.
    kind = pa.list_(number, codec.dimensions) if codec.complete else pa.list_(number)
    ids = None if users is None else pa.array(np.asarray(users))
    if ids is not None and len(ids) != rows.users:
        raise InvalidInput(
            f"users is the user of each of {rows.users} rows; got {len(ids)}", code="wrong-shape"
        )
    fields = dict.fromkeys(names, kind) | ({} if ids is None else {USER: ids.type})
    schema = pa.schema(fields, {_GRID: json.dumps({"scale": codec.scale}).encode()})
    with written_whole(path, mode=ONLY_ME) as (part,):
        # Numbers of vectors seldom come again: a dictionary would only take time.
        with parquet.ParquetWriter(
            part, schema, use_dictionary=False, compression="zstd", write_page_checksum=True
        ) as file:
            for start in range(0, rows.users, BLOCK):
                block = rows.block(start, start + BLOCK)
                here = codec.present(block)
                columns = [
                    _lists(block[:, slot], here[:, slot], kind) for slot in range(rows.slots)
                ]
                some = [] if ids is None else [ids.slice(start, len(block))]
                file.write_table(pa.table([*columns, *some], schema=schema), row_group_size=GROUP)
        read_back(part, schema, rows.users, types=False)


def _lists(vectors: NDArray[Any], here: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """Vectors as lists, null where there is none."""
    numbers = pa.array(vectors[here].ravel())
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(numbers, vectors.shape[1])
    starts = np.concatenate([[0], np.cumsum(here * vectors.shape[1])])
    gaps = np.concatenate([~here, [False]])
    return pa.ListArray.from_arrays(pa.array(starts, pa.int32(), mask=gaps), numbers)


@dataclass(frozen=True, slots=True)
class _Survey:
    """What the metadata of a file says.

    Args:
        file: As it is now.
        rows: Number of rows of each row group.
        names: The columns of vectors.
        numbers: The type of their numbers.
        scale: How many steps make 1.0, if the file says it.
        users: What the column of users holds; None if there is none.
    """

    file: ParquetSurvey
    rows: tuple[int, ...]
    names: tuple[str, ...]
    numbers: pa.DataType
    scale: float | None
    users: str | None

    @property
    def floats(self) -> bool:
        """Whether vectors are floats, which are rounded."""
        return bool(pa.types.is_floating(self.numbers))

    def grid_of(self, given: Grid | None) -> Grid:
        """The grid that the vectors are on, or are rounded to."""
        if self.floats:
            if given is None:
                raise InvalidInput(
                    f"{self.file.path} holds {self.numbers}: vectors are compared as whole "
                    "numbers; give grid=, to which they are rounded, such as Grid.of(a sample)",
                    code="grid-unknown",
                )
            return given
        bits = self.numbers.bit_width
        held = Grid(self.scale or (given.scale if given is not None else 1.0), bits)
        if given is not None and given != held:
            raise InvalidInput(
                f"{self.file.path} holds whole numbers of {held.bits} bits, {held.scale:g} steps "
                f"for 1.0, and grid has {given.bits} bits and {given.scale:g} steps; leave grid "
                "out",
                code="grid-mismatch",
            )
        return held


def _survey(path: Path, columns: str | Sequence[str] | None) -> _Survey:
    """Read the metadata of a file."""
    file = ParquetSurvey.of(existing_file(path))
    opened = parquet_file(path)
    schema = opened.schema_arrow
    names = _names(path, schema, columns)
    kinds = {str(name): schema.field(name).type for name in names}
    with refusing_damage(path):
        rows = tuple(_rows(opened, path, names))
    numbers = {_numbers_of(path, name, kind) for name, kind in kinds.items()}
    if len(numbers) > 1:
        raise InvalidInput(
            f"{path}: its columns of vectors hold {' and '.join(sorted(map(str, numbers)))}; write "
            "all as one type",
            code="columns-differ",
        )
    scale = _scale(path, schema.metadata)
    return _Survey(file, rows, names, numbers.pop(), scale, kind_of_users(schema))


def _names(path: Path, schema: pa.Schema, said: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns of vectors."""
    if said is None:
        said = _VECTOR if _VECTOR in schema.names else [one for one in schema.names if one != USER]
    names = (said,) if isinstance(said, str) else tuple(said)
    for name in names:
        if schema.names.count(name) != 1:
            many = "two columns" if name in schema.names else "no column"
            raise InvalidInput(
                f"{path} has {many} {name}; it has {listed(schema.names)}",
                code="duplicate-column" if name in schema.names else "column-not-found",
            )
    if not names:
        raise InvalidInput(
            f"{path} has no column of vectors; it has {listed(schema.names)}",
            code="column-not-found",
        )
    return names


def _numbers_of(path: Path, name: str, kind: pa.DataType) -> pa.DataType:
    """The type of the numbers of a column of vectors."""
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if lists or pa.types.is_fixed_size_list(kind):
        numbers = kind.value_type
        if pa.types.is_floating(numbers) or numbers in (pa.int8(), pa.int16()):
            return numbers
    raise InvalidInput(
        f"{path}, column {name} holds {kind}: a vector is a list of floats, or of whole numbers of "
        "8 or 16 bits with sign",
        code="wrong-column-type",
    )


def _rows(opened: Any, path: Path, names: Sequence[str]) -> list[int]:
    """The rows of each row group; what expands without measure is refused."""
    notes, size = opened.metadata, path.stat().st_size
    sealed = manifest.FOLDER in (opened.schema_arrow.metadata or {})
    given, rows = 0, []
    for group in range(notes.num_row_groups):
        if not sealed:
            # Damaged column metadata makes Arrow abort the process, unless rows are read first.
            next(opened.iter_batches(1, row_groups=[group], columns=list(names)), None)
        held = notes.row_group(group)
        given += sum(
            held.column(place).total_uncompressed_size
            for place in range(notes.num_columns)
            if notes.schema.column(place).path.partition(".")[0] in names
        )
        refuse_expansion(path, given, size)
        if held.num_rows < 0:
            raise pa.ArrowInvalid("the notes do not agree")
        rows.append(held.num_rows)
    return rows


def _scale(path: Path, notes: Mapping[bytes, bytes] | None) -> float | None:
    """How many steps make 1.0, if the file says it."""
    if notes is None or _GRID not in notes:
        return None
    try:
        said = float(json.loads(notes[_GRID])["scale"])
    except (ValueError, TypeError, KeyError, RecursionError):
        said = 0.0
    if not (np.isfinite(said) and said > 0):
        raise InvalidInput(
            f"{path}: the note {_GRID.decode()} is damaged; write the file again",
            code="damaged-file",
        )
    return said


def _refuse_difference(one: _Survey, other: _Survey) -> None:
    """Refuse two files that cannot be rows of one table."""
    for what in ("names", "numbers", "scale", "users"):
        mine, theirs = getattr(one, what), getattr(other, what)
        if mine != theirs:
            raise InvalidInput(
                f"{other.file.path} differs from {one.file.path}: {what} {theirs}, and {mine}; "
                "write all files alike",
                code="columns-differ",
            )
