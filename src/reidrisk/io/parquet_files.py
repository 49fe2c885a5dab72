"""Open Parquet files, and refuse those that are damaged or far larger than they look.

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
from reidrisk.io.labels import is_utf8
from reidrisk.io.unpacking import most_from, refuse_expansion

MAGIC, SUFFIX = b"PAR1", ".parquet"
# Names of columns that are not UTF-8 raise a ValueError.
DAMAGED = (OSError, ValueError, pa.ArrowException)

TEXT = "BYTE_ARRAY"
# Bytes that a value takes in memory.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8}
# Rows that are read at once.
BATCH = 1 << 20


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


def no_text(file: Path) -> tuple[str, int] | None:
    """The first column and row of a file that hold bytes instead of text, if any do.

    Args:
        file: Which.
    """
    rows = 0
    for batch in parquet_file(file).iter_batches(BATCH):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if holds_text(column.type) or pa.types.is_binary(column.type):
                texts = enumerate(column.cast(pa.large_binary()).to_pylist())
                wrong = next((row for row, text in texts if not is_utf8(text or b"")), None)
                if wrong is not None:
                    return name, rows + wrong
        rows += batch.num_rows
    return None


def is_amount_type(kind: pa.DataType) -> bool:
    """Whether a type is one of numbers.

    Args:
        kind: Of a column.
    """
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


def check_pages(file: Path, names: Collection[str]) -> None:
    """Refuse a file that unpacks to far too much, or whose pages do not have their checksums.

    Args:
        file: Which.
        names: Of the columns to read.
    """
    _check_expansion(file, names)
    # DuckDB looks at no checksum.
    with refusing_damage(file):
        for _ in parquet_file(file).iter_batches(BATCH, columns=list(names)):
            pass


def _check_expansion(file: Path, names: Collection[str]) -> None:
    """Refuse a file that unpacks to far too much."""
    opened, size = parquet_file(file), file.stat().st_size
    with refusing_damage(file):
        notes = opened.metadata
        groups = range(notes.num_row_groups)
        total = sum(notes.row_group(group).total_byte_size for group in groups)
        refuse_expansion(file, total, size)
        leaves = {place: one.path for place, one in enumerate(notes.schema)
                  if one.path in names or one.path.partition(".")[0] in names}  # fmt: skip
        looked = _with_dictionaries(file, notes.schema, leaves)
        parts = [part for group in groups for part in _parts(looked, group, leaves)]
        given = sum(part.size for part in parts)
        refuse_expansion(file, given, size)
        if given + sum(part.longest * part.values for part in parts) <= most_from(size):
            return
        for part in (part for part in parts if part.longest):
            for batch in looked.iter_batches(BATCH, row_groups=[part.group], columns=[part.path]):
                given += _written_out(batch.column(0))
                refuse_expansion(file, given, size)


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
