"""Format: Parquet.

How much memory a file needs is known before it is unpacked: its metadata says what pages hold. A
text that repeats is stored once, in a dictionary, so the dictionaries are read too, and where the
longest text could be too much, every text is counted.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.columns import holds_text
from reidrisk.io.formats.protocol import Head
from reidrisk.io.labels import is_utf8, not_utf8
from reidrisk.io.layouts import Layout
from reidrisk.io.streams import Progress, most_from, refuse_expansion

MAGIC, SUFFIX = b"PAR1", ".parquet"
# Names of columns that are not UTF-8 raise a ValueError.
DAMAGED = (OSError, ValueError, pa.ArrowException)

TEXT = "BYTE_ARRAY"
# Bytes that a value takes in memory.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8}
# Rows, and bytes of text, that are read at once.
BATCH, ROOM = 1 << 20, 1 << 28


def knows(head: Head) -> bool:
    """Whether a file is Parquet, by its first bytes or its name."""
    return head.data.startswith(MAGIC) or head.suffix == SUFFIX


def open(head: Head, layout: Layout, wanted: Collection[str]) -> "ParquetTable":  # noqa: A001
    """Open a file; it has names and types of its own."""
    del layout, wanted
    if head.packing is not None:
        raise InvalidInput(
            f"{head.file}: a Parquet file is packed in itself and cannot be read inside of "
            f"{head.packing.kind}; unpack it",
            code="packed-parquet",
        )
    return ParquetTable(head.file)


def parquet_file(file: Path, *, memory_map: bool = False) -> Any:
    """Open a Parquet file; a damaged one is refused, as far as checksums tell.

    Args:
        file: Which.
        memory_map: Whether it is mapped into memory instead of read.
    """
    from pyarrow import parquet

    manifest.check_file(file)
    try:
        opened = parquet.ParquetFile(file, memory_map=memory_map, page_checksum_verification=True)
        notes = opened.schema_arrow.metadata or {}
    except MemoryError:
        raise
    except DAMAGED:  # Arrow may quote what it found
        raise InvalidInput(
            f"{file}: this is not a complete Parquet file; write it again", code="damaged-file"
        ) from None
    manifest.check_origin(file, notes)
    return opened


@contextmanager
def refusing_damage(file: Path) -> Iterator[None]:
    """Replace errors of Arrow, which may quote data, by one that says that the file is damaged.

    Args:
        file: That is read inside.
    """
    try:
        yield
    except (InvalidInput, MemoryError):
        raise
    except DAMAGED:
        raise InvalidInput(
            f"{file}: the file is damaged; write it again", code="damaged-file"
        ) from None


def read_back(file: Path, schema: pa.Schema, rows: int, *, types: bool = True) -> None:
    """Read back the end and the last rows of a file just written, and refuse it if it is damaged.

    Args:
        file: Which.
        schema: Of what was written.
        rows: How many were written.
        types: Whether types must be the same, too: not of tables of others, since Parquet has no
            dates in seconds, and names the items of lists itself.
    """
    from pyarrow import parquet

    with refusing_damage(file), parquet.ParquetFile(file, page_checksum_verification=True) as found:
        there = found.schema_arrow
        same = (
            there.equals(schema, check_metadata=True)
            if types
            else (there.names, there.metadata) == (schema.names, schema.metadata)
        )
        if not same or found.metadata.num_rows != rows:
            raise pa.ArrowInvalid("it does not hold what was written")
        if groups := found.metadata.num_row_groups:
            found.read_row_group(groups - 1)


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file."""

    file: Path

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(parquet_file(self.file).schema_arrow.names)

    @property
    def lists(self) -> tuple[str, ...]:
        """The columns that hold lists."""
        schema = parquet_file(self.file).schema_arrow
        return tuple(one.name for one in schema if pa.types.is_nested(one.type))

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns that hold numbers."""
        schema = parquet_file(self.file).schema_arrow
        return tuple(one.name for one in schema if _is_amount(one.type))

    @property
    def facts(self) -> dict[str, str]:
        """What to say of the file."""
        return {"format": "Parquet"}

    def batches(
        self, names: Collection[str], kinds: Mapping[str, pa.DataType], progress: Progress | None
    ) -> Iterator[pa.Table]:
        """About a million rows at a time, fewer if they are long.

        Args:
            names: Of the columns to read.
            kinds: Ignored: the file has types.
            progress: Called with the bytes that have been read and all bytes there are.
        """
        del kinds
        opened = parquet_file(self.file)
        size, rows, total = self.file.stat().st_size, 0, max(opened.metadata.num_rows, 1)
        with refusing_damage(self.file):
            room = _rows_at_once(self.file, opened, names)
            for batch in opened.iter_batches(room, columns=list(names)):
                table = pa.Table.from_batches([batch]).select(list(names))
                self._refuse_no_text(table, rows)
                rows += table.num_rows
                yield table
                if progress is not None:
                    progress(size * rows // total, size)
        if not rows:
            yield opened.schema_arrow.empty_table().select(list(names))

    def _refuse_no_text(self, table: pa.Table, before: int) -> None:
        """Refuse strings that are not UTF-8: in damaged files, Arrow does not check."""
        for name in table.column_names:
            column = table[name]
            if not holds_text(column.type):
                continue
            raw = column.cast(pa.large_binary())
            try:
                raw.cast(pa.large_string())
            except pa.ArrowInvalid:
                texts = enumerate(raw)
                row = next(row for row, text in texts if not is_utf8(text.as_py() or b""))
                place = f"{self.file}, row {before + row + 1}"
                raise InvalidInput(not_utf8(place, repr(name)), code="not-utf8") from None


def _is_amount(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A column in a group of rows: what its pages and values take, and the longest text."""

    group: int
    path: str
    size: int
    values: int
    longest: int


def _rows_at_once(file: Path, opened: Any, names: Collection[str]) -> int:
    """How many rows can be read at once; a file that unpacks to far too much is refused.

    Args:
        file: Which.
        opened: The same, opened.
        names: Of the columns to read.
    """
    size, notes = file.stat().st_size, opened.metadata
    groups = range(notes.num_row_groups)
    refuse_expansion(file, sum(notes.row_group(group).total_byte_size for group in groups), size)
    leaves = {place: one.path for place, one in enumerate(notes.schema)
              if one.path in names or one.path.partition(".")[0] in names}  # fmt: skip
    looked = _with_dictionaries(file, notes.schema, leaves)
    parts = [part for group in groups for part in _parts(looked, group, leaves)]
    given = sum(part.size for part in parts)
    refuse_expansion(file, given, size)
    if given + sum(part.longest * part.values for part in parts) > most_from(size):
        for part in (part for part in parts if part.longest):
            for batch in looked.iter_batches(BATCH, row_groups=[part.group], columns=[part.path]):
                given += _written_out(batch.column(0))
                refuse_expansion(file, given, size)
    return max(1, min(BATCH, ROOM // max((1, *(part.longest for part in parts)))))


def _with_dictionaries(file: Path, schema: Any, leaves: Mapping[int, str]) -> Any:
    from pyarrow import parquet

    texts = [path for place, path in leaves.items() if schema.column(place).physical_type == TEXT]
    return parquet.ParquetFile(file, read_dictionary=texts)


def _parts(looked: Any, group: int, leaves: Mapping[int, str]) -> Iterator[_Part]:
    """The columns of a group of rows.

    With the first row comes the whole dictionary. The row is read before the notes of its columns,
    since Arrow ends the process if these are damaged, unless it has to read by them.
    """
    longest = {}
    for path in leaves.values():
        first = next(looked.iter_batches(1, row_groups=[group], columns=[path]), None)
        longest[path] = 0 if first is None else _longest(first.column(0))
    for place, path in leaves.items():
        notes = looked.metadata.row_group(group).column(place)
        width = _WIDTHS.get(notes.physical_type, 0)
        size = max(notes.total_uncompressed_size, notes.num_values * width)
        yield _Part(group, path, size, notes.num_values, longest[path])


def _longest(column: pa.Array) -> int:
    """The longest text of dictionaries."""
    lengths = [pc.max(pc.binary_length(one.dictionary)).as_py() for one in _dictionaries(column)]
    return max((length or 0 for length in lengths), default=0)


def _written_out(column: pa.Array) -> int:
    """Bytes of all texts."""
    return sum(
        pc.sum(pc.binary_length(one.dictionary).take(one.indices)).as_py() or 0
        for one in _dictionaries(column)
    )


def _dictionaries(column: pa.Array) -> Iterator[pa.DictionaryArray]:
    """The texts of a column, and of lists and structures within it."""
    if pa.types.is_dictionary(column.type):
        yield column
    elif pa.types.is_nested(column.type):
        for inner in column.flatten() if pa.types.is_struct(column.type) else [column.flatten()]:
            yield from _dictionaries(inner)
