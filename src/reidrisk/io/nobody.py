"""Rows that name no user: left out, counted, and doubted where they are many."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.core.doubts import CodedWarning
from reidrisk.errors import InvalidInput
from reidrisk.io.labels import NOTHING
from reidrisk.io.provenance import Origin
from reidrisk.io.table_files import TEXT, sql_text
from reidrisk.io.tables import OpenTables

_NO_USER = f"({', '.join(map(sql_text, ('', *NOTHING)))})"
"""How programs write that there is no user, in SQL."""

_MANY = 0.05
"""Share of rows without a user above which figures are doubted."""
_EXACT = 2.0**53
"""Fractions below it tell all whole numbers apart."""


def skip_nobody(opened: OpenTables, users: Sequence[str]) -> OpenTables:
    """The tables without rows that name no user.

    Args:
        opened: The tables.
        users: The user of a row in SQL, of each table.
    """
    every, left_out, files = 0, 0, []
    for file, user in zip(opened.files, users, strict=True):
        ((rows, nobody),) = opened.run(
            f"select count(*), count(*) filter ({user} in {_NO_USER}) from {file.relation}"
        )
        every, left_out = every + rows, left_out + nobody
        files.append(file.only(f"{user} not in {_NO_USER}"))
    notes, warnings = _remarks(left_out, every, str(opened.source(())))
    return replace(
        opened, files=tuple(files), notes=(*opened.notes, *notes),
        warnings=(*opened.warnings, *warnings),
    )  # fmt: skip


def with_users(table: pa.Table, user: str, source: Origin) -> tuple[pa.Table, Origin]:
    """The rows of a table that name a user, and where they came from.

    Args:
        table: The rows.
        user: The column of users.
        source: Where the rows came from.
    """
    column = table[user]
    if pa.types.is_floating(column.type):
        # A frame makes fractions of whole numbers if some of them are missing.
        column = pc.if_else(pc.is_nan(column), None, column)
        whole = pc.and_(pc.equal(column, pc.trunc(column)), pc.less(pc.abs(column), _EXACT))
        if pc.all(whole).as_py():
            column = column.cast(pa.int64())
        table = table.set_column(table.column_names.index(user), user, column)
    nothing = pc.is_in(column.cast(TEXT), value_set=pa.array([None, "", *NOTHING], TEXT))
    if not pc.any(nothing).as_py():
        return table, source
    rows = np.flatnonzero(~nothing.to_numpy())
    notes, warnings = _remarks(table.num_rows - len(rows), table.num_rows, str(source))
    origin = replace(
        source, record=lambda row: source.record(int(rows[row])),
        notes=(*source.notes, *notes), warnings=(*source.warnings, *warnings),
    )  # fmt: skip
    return table.filter(pc.invert(nothing)), origin


def _remarks(left_out: int, rows: int, place: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What to say of rows that were left out, as a note or as a warning."""
    if left_out == rows:
        raise InvalidInput(
            f"{place}: no row names a user; name the column that does, or fill it",
            code="missing-user",
        )
    text = f"{place}: {left_out:,} of {rows:,} rows name no user and are left out"
    if left_out <= _MANY * rows:
        return (text,), ()
    share = 100 * left_out / rows
    warning = f"{text}, {share:.3g} % of all: whoever they are of is in no figure"
    return (), (CodedWarning(warning, "rows-left-out"),)
