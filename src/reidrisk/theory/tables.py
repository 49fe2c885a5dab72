"""Long tables and labels, turned into numbered arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput


def long_columns(table: Any, labels: tuple[str, ...], number: str) -> dict[str, pa.Array]:
    """Pick label columns and one column of numbers, complete and each in one piece."""
    try:
        arrow = table if isinstance(table, pa.Table) else pa.table(table)
    except (TypeError, ValueError) as wrong:  # Arrow's own errors are ValueErrors
        raise InvalidInput(f"cannot read this as a table with columns: {wrong}") from wrong
    wanted = (*labels, number)
    if twice := [name for name in wanted if arrow.column_names.count(name) > 1]:
        raise InvalidInput(f"the table has several columns {twice[0]!r}; keep one")
    if missing := [name for name in wanted if name not in arrow.column_names]:
        raise InvalidInput(
            f"the table has no column {missing[0]!r}; it needs {', '.join(wanted)} and has "
            f"{', '.join(arrow.column_names) or 'none'}"
        )
    if not arrow.num_rows:
        raise InvalidInput("the table is empty; it needs at least one row")
    columns = {name: _plain(name, arrow.column(name).combine_chunks()) for name in wanted}
    kind = columns[number].type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise InvalidInput(f"column {number!r} must hold numbers, got {kind}")
    return columns


def label_column(name: str, values: Sequence[Any] | NDArray[Any]) -> pa.Array:
    """A list of names or numbers as one column."""
    try:
        column = None if isinstance(values, str | bytes) else pa.array(values)
    except (TypeError, ValueError) as wrong:
        raise InvalidInput(f"{name} must be a list of names or numbers: {wrong}") from wrong
    if column is None:
        raise InvalidInput(f"{name} must be a list of names or numbers, not one text")
    if not len(column):
        raise InvalidInput(f"{name} is empty; it needs one entry per user")
    return _plain(name, column)


def encode(name: str, column: pa.Array) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Number the distinct values in sorted order: the number of each row, the sorted values."""
    coded = column.dictionary_encode()
    labels = coded.dictionary.to_numpy(zero_copy_only=False)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.flatnonzero(np.isnan(column.to_numpy(zero_copy_only=False)))[0])
        raise InvalidInput(f"{name} is not a number in row {row}; fill it or drop the row")
    order = np.argsort(labels, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[coded.indices.to_numpy()], labels[order]


def _plain(name: str, column: pa.Array) -> pa.Array:
    """A column of text or numbers, complete; categories are spelled out."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidInput(f"column {name!r} is empty in row {row}; fill it or drop the row")
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InvalidInput(f"column {name!r} must hold names or numbers, got {kind}")
    try:
        column.validate(full=True)
    except ValueError:
        raise InvalidInput(f"column {name!r} holds names that are not UTF-8 text") from None
    return column
