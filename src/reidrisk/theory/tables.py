"""Long tables and labels, turned into numbered arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput


def long_columns(table: Any, labels: tuple[str, ...], number: str) -> dict[str, pa.Array]:  # noqa: ANN401
    """Pick label columns and one column of numbers, complete and each in one piece."""
    try:
        arrow = table if isinstance(table, pa.Table) else pa.table(table)
    except (TypeError, ValueError) as wrong:  # Arrow's own errors are ValueErrors
        raise InvalidInput(f"cannot read this as a table with columns: {wrong}") from wrong
    wanted = (*labels, number)
    if missing := [name for name in wanted if name not in arrow.column_names]:
        raise InvalidInput(
            f"the table has no column {missing[0]!r}; it needs {', '.join(wanted)} and has "
            f"{', '.join(arrow.column_names) or 'none'}"
        )
    if not arrow.num_rows:
        raise InvalidInput("the table is empty; it needs at least one row")
    columns = {name: arrow.column(name).combine_chunks() for name in wanted}
    for name, column in columns.items():
        _refuse_nulls(name, column)
    kind = columns[number].type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise InvalidInput(f"column {number!r} must hold numbers, got {kind}")
    return columns


def label_column(name: str, values: Sequence[Any] | NDArray[Any]) -> pa.Array:
    """A list of names or numbers as one column."""
    try:
        column = pa.array(values)
    except (TypeError, ValueError) as wrong:
        raise InvalidInput(f"{name} must be a list of names or numbers: {wrong}") from wrong
    if not len(column):
        raise InvalidInput(f"{name} is empty; it needs one entry per user")
    _refuse_nulls(name, column)
    return column


def encode(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Number the distinct values in sorted order: the number of each row, the sorted values."""
    coded = column.dictionary_encode()
    labels = coded.dictionary.to_numpy(zero_copy_only=False)
    order = np.argsort(labels, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[coded.indices.to_numpy()], labels[order]


def _refuse_nulls(name: str, column: pa.Array) -> None:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InvalidInput(f"column {name!r} is empty in row {row}; fill it or drop the row")
