"""How much a Parquet file holds once it is unpacked, known before it is.

What pages hold stands in the file's own notes. A text that comes again and again is kept once, in a
dictionary, and is as large as its numbers until it is written out: the dictionary of each part is
looked at, and where its longest text could be too much, every text is counted.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.inputs.streams import most_from, refuse_expansion

TEXT = "BYTE_ARRAY"
# Bytes that a value takes in memory.
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8}
# Rows, and bytes of text, that are read at once.
BATCH, ROOM = 1 << 20, 1 << 28


@dataclass(frozen=True, slots=True)
class _Part:
    """A column in a group of rows."""

    group: int
    path: str
    size: int
    values: int
    text: bool


def rows_at_once(file: Path, opened: Any, names: Collection[str]) -> int:
    """How many rows of some columns fit into the room; what expands without measure is refused."""
    size = file.stat().st_size
    parts = list(_parts(opened.metadata, names))
    given = sum(part.size for part in parts)
    refuse_expansion(file, given, size)
    texts = [part for part in parts if part.text]
    if not texts:
        return BATCH
    looked = _with_dictionaries(file, texts)
    longest = {part: _longest(looked, part) for part in texts}
    if given + sum(longest[part] * part.values for part in texts) > most_from(size):
        for part in texts:
            for batch in looked.iter_batches(BATCH, row_groups=[part.group], columns=[part.path]):
                given += _written_out(batch.column(0))
                refuse_expansion(file, given, size)
    return max(1, min(BATCH, ROOM // max(1, *longest.values())))


def _parts(metadata: Any, names: Collection[str]) -> Iterator[_Part]:
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group)
        for place in range(rows.num_columns):
            column = rows.column(place)
            path, values = column.path_in_schema, column.num_values
            if path in names or path.partition(".")[0] in names:
                size = max(column.total_uncompressed_size,
                           values * WIDTHS.get(column.physical_type, 0))  # fmt: skip
                yield _Part(group, path, size, values, column.physical_type == TEXT)


def _with_dictionaries(file: Path, texts: list[_Part]) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(file, read_dictionary=list({part.path for part in texts}))


def _longest(looked: Any, part: _Part) -> int:
    """The longest text of a dictionary, which comes as a whole with the first row."""
    first = next(looked.iter_batches(1, row_groups=[part.group], columns=[part.path]), None)
    if first is None:
        return 0
    return max((pc.max(pc.binary_length(one.dictionary)).as_py() or 0
                for one in _dictionaries(first.column(0))), default=0)  # fmt: skip


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
