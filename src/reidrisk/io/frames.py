"""Make an Arrow table of a frame of any library, as its rows would stand in a file."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from reidrisk.errors import InvalidInput
from reidrisk.io.array_files import list_column
from reidrisk.io.provenance import Origin

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_TABLE = 2
_TABLES = "a dictionary of columns, or a frame of pandas, polars, Arrow or DuckDB"


def table_of(given: Any) -> tuple[pa.Table, Origin]:
    """A dictionary of columns or a frame as an Arrow table, and what messages call it.

    Categories become their values, and times that are all midnight become days. Of pandas, numbers
    that are all whole become whole numbers, since a column of them with empty cells is one of
    floats; an index counts as a column if it has a name; and a column of several kinds becomes
    text, as it does in a file.

    Args:
        given: The table.
    """
    kind = type(given)
    if any(one.__name__ == "DataFrame" and _is_of(one, "pandas") for one in kind.__mro__):
        table = _of_pandas(given)
    elif isinstance(given, pa.Table):
        table = given
    else:
        _refuse_no_table(given, kind)
        try:
            table = pa.table(_with_lists(given) if isinstance(given, Mapping) else given)
        except (TypeError, ValueError, OverflowError):  # Arrow would quote the entry, maybe a user
            raise InvalidInput(
                "the table must have columns of equal length, and in each of them entries of one "
                "kind only: whole numbers, numbers, or text; write it so",
                code="malformed-table",
            ) from None
    return _plain(table), Origin.memory(table.num_rows)


def _with_lists(columns: Mapping[Any, Any]) -> dict[Any, Any]:
    """Columns in which arrays of two dimensions have become lists."""
    return {
        name: list_column(one) if isinstance(one, np.ndarray) and one.ndim == _TABLE else one
        for name, one in columns.items()
    }


def _is_of(kind: type, library: str) -> bool:
    return kind.__module__.partition(".")[0] == library


def _refuse_no_table(given: Any, kind: type) -> None:
    """Refuse what is not a table, and say how to make one of it."""
    several = len(getattr(given, "shape", (0, 0))) > 1 and not isinstance(given, pa.ChunkedArray)
    if kind.__name__ == "LazyFrame":
        how = "it has not been computed; give what .collect() returns"
    elif _is_of(kind, "pyspark"):
        how = (
            "it lies on a cluster; write it with .write.parquet(folder) and give the folder, or "
            "give what .toArrow() returns if that fits into memory"
        )
    elif isinstance(given, Mapping) or (several and hasattr(given, "__arrow_c_stream__")):
        return
    else:
        how = f"give the path of a file or folder, {_TABLES}"
    raise InvalidInput(f"got {kind.__name__}, which is not a table: {how}", code="not-a-table")


def _of_pandas(frame: Any) -> pa.Table:
    """A frame of pandas, column by column where Arrow cannot take it as a whole."""
    names = [*(name for name in frame.index.names if name is not None), *frame.columns]
    names = [str(name) for name in names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"the table has two columns, or a column and an index, of the name {twice!r}; rename "
            "or remove one",
            code="duplicate-column",
        )
    frame = frame.copy(deep=False)
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        categories = getattr(kind, "categories", None)
        if kind.name == "object" and not _arrow_takes(frame[name]):
            frame[name] = frame[name].map(partial(_text, name), na_action="ignore")
        elif any(_is_of_pandas_alone(one) for one in (kind, getattr(categories, "dtype", None))):
            frame[name] = frame[name].astype(object).map(str, na_action="ignore")
    table = pa.Table.from_pandas(frame)
    kept = [name for name in table.column_names if not _UNNAMED_INDEX.fullmatch(name)]
    table = table.select(kept).replace_schema_metadata()
    for place, column in enumerate(table.columns):
        if column.type == pa.float64() and (whole := _whole(column)) is not None:
            table = table.set_column(place, table.field(place).name, whole)
    return table


def _is_of_pandas_alone(kind: Any) -> bool:
    """Whether no other library has this type: spans, which pandas.cut makes, and periods."""
    return type(kind).__name__ in {"IntervalDtype", "PeriodDtype"}


def _arrow_takes(column: Any) -> bool:
    try:
        pa.array(column, from_pandas=True)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _text(name: object, entry: Any) -> str:
    """An entry of a column of several kinds, as a file would have it; 3.0 is 3, as without gaps."""
    if isinstance(entry, bytes) or (hasattr(entry, "__iter__") and not isinstance(entry, str)):
        raise InvalidInput(
            f"the table: column {str(name)!r} holds bytes or lists beside other entries; write it "
            "as text",
            code="malformed-table",
        )
    return str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """A column of floats as whole numbers, if all of them are."""
    if not len(column) or column.null_count == len(column):
        return None
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _plain(table: pa.Table) -> pa.Table:
    """The same table with values in place of categories, and days in place of midnights."""
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if pa.types.is_dictionary(field.type):
            column = pa.chunked_array(
                [_values(chunk) for chunk in column.chunks], _computable(field.type.value_type)
            )
        elif pa.types.is_string_view(field.type):
            column = column.cast(_computable(field.type))
        elif pa.types.is_timestamp(field.type) and field.type.tz is None:
            days = column.cast(pa.date32())
            column = days if days.cast(field.type).equals(column) else column
        if "halffloat" in str(column.type):  # which DuckDB does not take
            column = column.cast(_in_single_precision(column.type))
        if column.type != field.type:
            table = table.set_column(place, field.name, column)
    return table


def _in_single_precision(kind: pa.DataType) -> pa.DataType:
    """Numbers of half precision, or lists of them, as those of single precision."""
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_in_single_precision(kind.value_type), kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(_in_single_precision(kind.value_type))
    return pa.float32() if pa.types.is_float16(kind) else kind


def _values(categories: pa.DictionaryArray) -> pa.Array:
    dictionary = categories.dictionary
    dictionary = dictionary.cast(_computable(dictionary.type))
    return pa.DictionaryArray.from_arrays(categories.indices, dictionary).dictionary_decode()


def _computable(kind: pa.DataType) -> pa.DataType:
    """Arrow has no functions for texts as polars exports them."""
    return pa.large_string() if pa.types.is_string_view(kind) else kind
