"""Measure who is alone in a table of people."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.machine import check_fits
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.io.formats.protocol import TEXT
from reidrisk.io.labels import NOTHING, no_user
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Source
from reidrisk.io.table_columns import columns_of
from reidrisk.risk.tables.singling.contributions import contributions
from reidrisk.risk.tables.singling.groups import ColumnCodes, Whole, by_size, coded, keys, numbered
from reidrisk.risk.tables.singling.result import (
    EXACT,
    RareValues,
    RegisterCrowds,
    Singling,
    ValuePart,
)

NOWHERE = -1


def crowds(columns: Sequence[ColumnCodes], register: Sequence[ColumnCodes]) -> Whole:
    """For each record, how many people of the register have the same values."""
    translated = [_in_terms_of(one, other) for one, other in zip(columns, register, strict=True)]
    inside = np.logical_and.reduce([codes != NOWHERE for codes in translated])
    both = [
        ColumnCodes(one.name, np.concatenate([one.codes, codes[inside]]), one.values)
        for one, codes in zip(columns, translated, strict=True)
    ]
    group, groups = numbered(keys(both))
    records = len(columns[0].codes)
    return np.bincount(group[records:], minlength=groups)[group[:records]]


def register_crowds(k: Whole, crowd: Whole, people: int) -> RegisterCrowds:
    """What the crowds say of a table with groups of these sizes."""
    found = crowd > 0
    # At least as many people share the values as the table itself holds.
    shared = np.maximum(crowd, k)[found]
    people_of = np.bincount(shared, minlength=2)
    sizes = np.flatnonzero(people_of)
    right = sum((Fraction(int(people_of[size]), int(size)) for size in sizes), Fraction(0))
    return RegisterCrowds(
        people=people,
        found=len(shared),
        not_found=int((~found).sum()),
        short=int((crowd[found] < k[found]).sum()),
        unique=int(people_of[1]),
        smallest=int(sizes[0]) if len(sizes) else 0,
        sizes=by_size(people_of, whole=False),
        optimum=Estimate.computed(float(right / max(len(shared), 1)), EXACT),
    )


def _in_terms_of(column: ColumnCodes, register: ColumnCodes) -> Whole:
    """The register's cells as numbers of the table's values."""
    values, wanted = column.values, register.values
    if values.type != wanted.type:  # a number in one file may be text in the other
        values, wanted = values.cast(pa.large_string()), wanted.cast(pa.large_string())
    place = pc.index_in(wanted, value_set=values).fill_null(NOWHERE)
    return np.asarray(place.to_numpy(zero_copy_only=False), np.int64)[register.codes]


LEAST = 10
"""People who must hold a value for it to be named, unless somebody says otherwise."""

MOST_SHOWN = 10
"""Values of a column that are named."""


def value_parts(
    columns: Sequence[ColumnCodes], unique: NDArray[np.bool_], least: int
) -> tuple[tuple[ValuePart, ...], tuple[RareValues, ...]]:
    """Values with the most unique people, of all columns; and what is too rare to be named.

    Args:
        columns: Of the table.
        unique: Whether each person is unique by all of them.
        least: People who must hold a value for it to be named.
    """
    named: list[ValuePart] = []
    rare: list[RareValues] = []
    for column in columns:
        held = np.bincount(column.codes, minlength=column.distinct)
        alone = np.bincount(column.codes[unique], minlength=column.distinct)
        few = (held > 0) & (held < least)
        rare.append(RareValues(column.name, *(int(n.sum()) for n in (few, held[few], alone[few]))))
        order = np.lexsort((np.arange(column.distinct), -held, -alone))
        shown = [place for place in order if held[place] >= least and alone[place]][:MOST_SHOWN]
        named += [
            ValuePart(column.name, _text(column, place), int(held[place]), int(alone[place]))
            for place in shown
        ]
    named.sort(key=lambda part: (-part.unique, part.people, part.column, part.value or ""))
    return tuple(named), tuple(rare)


def _text(column: ColumnCodes, place: int) -> str | None:
    value = column.values[int(place)].as_py()
    return None if value is None else str(value)


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
    content, source = columns_of(table, names, layout)
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


def _distinct(known: Sequence[ColumnCodes], group: Whole, groups: int) -> list[ColumnCodes]:
    """One row of each group."""
    row = np.empty(groups, np.int64)
    row[group] = np.arange(len(group))
    return [column.take(row) for column in known]
