"""Format: Parquet."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.columns import holds_text
from reidrisk.io.formats.parquet_size import rows_at_once
from reidrisk.io.formats.protocol import Head
from reidrisk.io.labels import is_utf8, not_utf8
from reidrisk.io.layouts import Layout
from reidrisk.io.streams import Progress

MAGIC, SUFFIX = b"PAR1", ".parquet"
# Names of columns that are not UTF-8 raise a ValueError.
DAMAGED = (OSError, ValueError, pa.ArrowException)


def knows(head: Head) -> bool:
    """By its first bytes, or its name."""
    return head.data.startswith(MAGIC) or head.suffix == SUFFIX


def open(head: Head, layout: Layout, wanted: Collection[str]) -> "ParquetTable":  # noqa: A001
    """The file has its own header and types: nothing is looked for."""
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
    """Refuse a file just written that others could not read: its end, and its last rows.

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
            room = rows_at_once(self.file, opened, names)
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
        """Arrow promises that strings are UTF-8, and damaged files do not keep it."""
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
