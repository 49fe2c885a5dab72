"""From a table to who is alone in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.core.checks import whole_number
from reidrisk.core.machine import check_fits
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.formats.protocol import TEXT
from reidrisk.io.labels import NOTHING, no_user
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Source
from reidrisk.risk.given import given
from reidrisk.risk.tables.singling.contributions import contributions
from reidrisk.risk.tables.singling.groups import Codes, Whole, coded, keys, numbered
from reidrisk.risk.tables.singling.register import crowds, register_crowds
from reidrisk.risk.tables.singling.result import Singling
from reidrisk.risk.tables.singling.sizes import by_size
from reidrisk.risk.tables.singling.values import LEAST, value_parts

# Codes of cells, and again of those that are left; keys, groups and their sizes.
_BYTES_PER_CELL, _BYTES_PER_ROW = 16, 64


def singling(
    table: Any,
    *,
    columns: Sequence[str],
    user: str | None = None,
    register: Any = None,
    least: int = LEAST,
    seed: int = 0,
    header: bool | None = None,
    separator: str | None = None,
) -> Singling:
    """Find who is alone in a table with what some columns say of them.

    Every row is a person, and all figures are exact for the table as the whole world of an attacker
    who knows these columns and that the person is in it. An empty cell is a value of its own.

    Args:
        table: A file, or columns in memory: a dictionary, an Arrow table, a data frame.
        columns: What the attacker knows.
        user: The column of users, if there is one. Equal rows of one user are one person; rows of
            one user that differ are refused.
        register: A table of the whole population with the same columns, every row a person.
        least: A value held by fewer people is not named in the result.
        seed: Of random orders of columns, where there are too many for exact fair shares.
        header: Whether the first line of files names the columns; looked at, if not given.
        separator: What stands between two columns of a file; looked at, if not given.

    Example:
        >>> table = {"age": [30, 30, 40, 50], "town": ["A", "A", "A", "B"]}
        >>> found = rr.singling(table, columns=["age", "town"])
        >>> found.unique, found.smallest, found.optimum.value
        (2, 1, 0.75)
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    least = whole_number("least", least, least=1)
    if not names or len(set(names)) < len(names):
        raise InvalidInput(
            "an attacker must know something: name columns, each once, such as "
            f"{setting('columns', 'age,postcode')}",
            code="missing-argument",
        )
    layout = Layout(user=user, columns=names, header=header, separator=separator)
    content, source = _content(table, (*names, *((user,) if user else ())), layout)
    rows, per_row = content.num_rows, _BYTES_PER_CELL * len(names) + _BYTES_PER_ROW
    check_fits(rows * per_row, f"{source}: {rows:,} rows", "use fewer rows or columns")
    known = [coded(content[name], name, source) for name in names]
    group, groups = numbered(keys(known))
    # Persons are rows, or the first rows of users.
    person = _first_rows(content[user], group, user, source) if user else slice(None)
    size = np.bincount(group[person], minlength=groups)
    k = size[group]
    crowd, found = None, None
    if register is not None:
        others, place = _content(register, names, layout)
        crowd = crowds(known, [coded(others[name], name, place) for name in names])
        found = register_crowds(k[person], crowd[person], others.num_rows)
    people = [column.take(person) for column in known]
    values, rare = value_parts(people, k[person] == 1, least)
    return Singling(
        columns=names,
        people=int(size.sum()),
        groups=groups,
        unique=int((size == 1).sum()),
        smallest=int(size.min()),
        sizes=by_size(np.bincount(size) * np.arange(size.max() + 1)),
        empty=tuple(int(column.empty.sum()) for column in people),
        merged=content.num_rows - int(size.sum()),
        parts=contributions(_distinct(known, group, groups), size == 1, int(size.sum()), seed=seed),
        values=values,
        rare=rare,
        least=least,
        register=found,
        k=k,
        crowd=crowd,
    )


def _content(table: Any, names: Sequence[str], layout: Layout) -> tuple[pa.Table, Source]:
    content, source = given(table, names, layout)
    if not content.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; at least one person is needed", code="empty-table"
        )
    return content, source


def _first_rows(users: pa.ChunkedArray, group: Whole, name: str, source: Source) -> Whole:
    """The first row of each user, if all rows of the user are alike."""
    user = coded(users, name, source)
    if (empty := user.empty).any():
        raise InvalidInput(
            f"{source.place(int(empty.argmax()))}: {name!r} is empty; fill it or remove the row",
            code="empty-cell",
        )
    nothing = pc.is_in(user.values.cast(TEXT), value_set=pa.array(NOTHING, TEXT))
    if (nobody := nothing.to_numpy(zero_copy_only=False)[user.codes]).any():
        raise no_user(int(nobody.argmax()), name, source)
    _, first = np.unique(user.codes, return_index=True)
    if (strange := group[first][user.codes] != group).any():
        row = int(strange.argmax())
        several = len(np.unique(user.codes[strange]))
        who = "1 user has" if several == 1 else f"{several:,} users have"
        raise InvalidInput(
            f"{source.place(row)}: the same user as in {source.place(int(first[user.codes[row]]))} "
            f"with other values; {who} rows that differ: give each one row, or ask for unicity, "
            "which takes people with many rows",
            code="duplicate-user",
        )
    return np.sort(first)


def _distinct(known: Sequence[Codes], group: Whole, groups: int) -> list[Codes]:
    """One row of each group."""
    row = np.empty(groups, np.int64)
    row[group] = np.arange(len(group))
    return [column.take(row) for column in known]
