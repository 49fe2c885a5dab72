"""Some columns of a table, from a file or from memory."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from reidrisk.core.settings_syntax import setting
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Origin
from reidrisk.io.row_checks import check_people
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import check_columns, open_tables, path_or_table, read_table


def columns_of(table: Any, names: Sequence[str], layout: Layout) -> tuple[pa.Table, Origin]:
    """Some columns of a table, and what messages call it.

    Args:
        table: A file or folder; or a dictionary of columns, a data frame, an Arrow table.
        names: The columns; text, if they come from a file of text.
        layout: How a file is cut.
    """
    table = path_or_table(table)
    advice = f"name the right ones with {setting('columns')}"
    with open_tables(table, layout.cut, names) as opened:
        for file in opened.files:
            check_columns(file.place, file.names, names, advice, told=file.told)
    user = layout.user if layout.user in names else None
    return read_table(
        table, dict.fromkeys(names, TEXT), layout=layout,
        check=lambda opened, _: check_people(opened, layout.columns, user),
    )  # fmt: skip
