"""Columns of a table as arrays.

No message quotes an entry of a column of users: it says where the entry stands instead.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.io.provenance import Origin

# In CSV files a list is text, with nothing between two of these where nothing was seen: 3;;7
_BETWEEN = ";"


def column_of(name: str, values: Any) -> pa.ChunkedArray:
    """A list of labels as a column with at least one entry."""
    try:
        column = None if isinstance(values, str | bytes) else pa.chunked_array([pa.array(values)])
    except (TypeError, ValueError, OverflowError):  # Arrow would quote the entry
        column = None
    if column is None:
        raise InvalidInput(
            f"{name} must be a list of whole numbers or a list of texts; write it as one of the "
            "two",
            code="wrong-label-type",
        )
    if not len(column):
        raise InvalidInput(f"{name} is empty; it needs at least one label", code="empty-list")
    return column


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a choice that is not there."""
    if value not in allowed:
        raise InvalidInput(
            f"{name} is one of {', '.join(allowed)}; got {value!r}", code="unknown-choice"
        )


def refuse_nulls(column: pa.ChunkedArray, name: str, source: Origin) -> None:
    """Name the first row in which the column is empty."""
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise InvalidInput(
            f"{source.place(row)}: {name!r} is empty; fill it or remove the row", code="empty-cell"
        )


def one_piece(column: pa.ChunkedArray) -> pa.Array:
    """A column without its chunks."""
    whole = column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def numbers(column: pa.ChunkedArray, name: str, source: Origin) -> NDArray[Any]:
    """A column of numbers, in single precision if that is how it came."""
    refuse_nulls(column, name, source)
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise InvalidInput(
            f"{source}: column {name!r} holds {kind}, but must hold numbers; write it as numbers",
            code="wrong-column-type",
        )
    exact = np.float32 if kind == pa.float32() else np.float64
    return np.asarray(one_piece(column).to_numpy(zero_copy_only=False), dtype=exact)


def lists(column: pa.ChunkedArray, name: str, source: Origin) -> pa.Array:
    """A column of lists; text is cut into lists."""
    if holds_text(column.type):
        tight = pc.replace_substring_regex(
            column.cast(pa.large_string()), rf"[ \t]*{_BETWEEN}[ \t]*", _BETWEEN
        )
        column = pc.split_pattern(tight, _BETWEEN)
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise InvalidInput(
            f"{source}: column {name!r} holds {column.type}, but must hold lists; write lists, or "
            f"text such as 3{_BETWEEN}17",
            code="wrong-column-type",
        )
    return one_piece(column)


def without_blanks(values: pa.Array) -> pa.Array:
    """Text without blanks around it, and null instead of empty text."""
    if not holds_text(values.type):
        return values
    values = trimmed(values)
    return pc.if_else(pc.equal(values, ""), None, values)


def trimmed(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Text without blanks around it, as files of text are read; other columns as they are."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not holds_text(kind):
        return column
    return pc.ascii_trim(column.cast(kind).cast(pa.large_string()), characters=" \t")


def holds_text(kind: pa.DataType) -> bool:
    """Whether a type is one of Arrow's types of text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )
