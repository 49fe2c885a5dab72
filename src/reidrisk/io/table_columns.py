"""Some columns of a table, from a file or from memory."""

import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from reidrisk.core.settings_syntax import setting
from reidrisk.io.columns import table_of
from reidrisk.io.formats import open_table
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Origin
from reidrisk.io.tables import TEXT, TYPES, check_columns, files_of, read_table


def column_name(name: str) -> str:
    """A column as sentences call it; in a file without a header its name is its number."""
    return f"column {name}" if name.isdecimal() else name


def columns_of(table: Any, names: Sequence[str], layout: Layout) -> tuple[pa.Table, Origin]:
    """Some columns of a table, and what messages call it.

    Args:
        table: A file or folder; or a dictionary of columns, an Arrow table, a data frame.
        names: The columns; text, if they come from a file of text.
        layout: How a file is cut.
    """
    advice = f"name the right ones with {setting('columns')}"
    if isinstance(table, str | os.PathLike):
        for file in files_of(table, TYPES):
            check_columns(file, open_table(file, layout, names).names, names, advice)
        return read_table(table, dict.fromkeys(names, TEXT), layout=layout)
    content, source = table_of(table)
    check_columns(source, content.column_names, names, advice)
    return content.select(list(names)), source
