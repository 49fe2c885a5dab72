"""Tables that come as a file or are in memory already."""

import os
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from reidrisk.inputs.columns import table_of
from reidrisk.inputs.layouts import Layout
from reidrisk.inputs.sources import Source
from reidrisk.inputs.tables import check_columns, read_table


def called(name: str) -> str:
    """A column as sentences call it; in a file without a header its name is its number."""
    return f"column {name}" if name.isdecimal() else name


def given(
    table: Any, types: Mapping[str, pa.DataType | None], names: Mapping[str, str], layout: Layout
) -> tuple[pa.Table, Source]:
    """Some columns of a table, and what messages call it.

    Args:
        table: A file or folder; or a dictionary of columns, an Arrow table, a data frame.
        types: The columns, with their types in CSV files.
        names: What they are called in the table.
        layout: How a file is cut.
    """
    if isinstance(table, str | os.PathLike):
        return read_table(table, types, names, layout=layout)
    content, source = table_of(table)
    wanted = [names[name] for name in types]
    check_columns(source, content.column_names, wanted, "name one of those, or add it")
    return content.select(wanted).rename_columns(list(types)), source
