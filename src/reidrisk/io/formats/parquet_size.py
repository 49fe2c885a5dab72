"""How much memory a Parquet file needs, before it is unpacked.

What pages hold stands in the file's own notes. A text that comes again and again is kept once, in a
dictionary, and is as large as its numbers until it is written out: the dictionary of each part is
looked at, and where its longest text could be too much, every text is counted.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.io.streams import most_from, refuse_expansion

TEXT = "BYTE_ARRAY"
# Bytes that a value takes in memory.
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8}
# Rows, and bytes of text, that are read at once.
BATCH, ROOM = 1 << 20, 1 << 28


@dataclass(frozen=True, slots=True)
class _Part:
    """A column in a group of rows: what its pages and values take, and the longest text."""

    group: int
    path: str
    size: int
    values: int
    longest: int


def rows_at_once(file: Path, opened: Any, names: Collection[str]) -> int:
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
        width = WIDTHS.get(notes.physical_type, 0)
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
