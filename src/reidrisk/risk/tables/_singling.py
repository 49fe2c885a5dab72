"""Singling out: who is alone in a table with a row per person."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.machine import check_fits
from reidrisk.core.optional import in_frames_of
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.io.inspect import inspect_file
from reidrisk.io.layouts import Layout
from reidrisk.io.nobody import with_users
from reidrisk.io.provenance import Origin
from reidrisk.io.table_columns import columns_of
from reidrisk.io.tables import path_or_table
from reidrisk.risk.tables.groups import (
    ColumnCodes,
    Whole,
    by_size,
    coded,
    contributions,
    keys,
    numbered,
)
from reidrisk.risk.tables.records import (
    EXACT,
    RareValues,
    RegisterCrowds,
    Singling,
    ValuePart,
)

_NOWHERE = -1


def _crowds(columns: Sequence[ColumnCodes], register: Sequence[ColumnCodes]) -> Whole:
    """For each record, the number of people of the register with the same values (k-map)."""
    translated = [_in_terms_of(one, other) for one, other in zip(columns, register, strict=True)]
    # People of the register with a value that the table lacks share no record.
    inside = np.logical_and.reduce([codes != _NOWHERE for codes in translated])
    both = [
        ColumnCodes(one.name, np.concatenate([one.codes, codes[inside]]), one.values)
        for one, codes in zip(columns, translated, strict=True)
    ]
    group, groups = numbered(keys(both))
    records = len(columns[0].codes)
    return np.bincount(group[records:], minlength=groups)[group[:records]]


def _register_crowds(k: Whole, crowd: Whole, people: int) -> RegisterCrowds:
    """Summarise the crowds of a table's records in a register.

    Args:
        k: Size of each record's group in the table.
        crowd: Number of people of the register with the values of each record.
        people: Number of people in the register.
    """
    found = crowd > 0
    # People of the table belong to the population, so a register with fewer is incomplete.
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
    """The register's cells in the codes of the table's values; -1 for other values."""
    values, wanted = column.values, register.values
    if values.type != wanted.type:  # a number in one file may be text in the other
        values, wanted = values.cast(pa.large_string()), wanted.cast(pa.large_string())
    place = pc.index_in(wanted, value_set=values).fill_null(_NOWHERE)
    return np.asarray(place.to_numpy(zero_copy_only=False), np.int64)[register.codes]


_LEAST = 10
"""People who must hold a value for it to be named, unless somebody says otherwise."""

_MOST_SHOWN = 10
"""Values of a column that are named."""


def _value_parts(
    columns: Sequence[ColumnCodes], unique: NDArray[np.bool_], least: int
) -> tuple[tuple[ValuePart, ...], tuple[RareValues, ...]]:
    """Values with the most unique people, of all columns; and counts of values too rare to name.

    A rare value would itself point to a person, so it is only counted.

    Args:
        columns: The columns of the table.
        unique: Whether each person is unique by all columns.
        least: Number of people who must hold a value for it to be named.
    """
    named: list[ValuePart] = []
    rare: list[RareValues] = []
    for column in columns:
        held = np.bincount(column.codes, minlength=column.distinct)
        alone = np.bincount(column.codes[unique], minlength=column.distinct)
        few = (held > 0) & (held < least)
        rare.append(RareValues(column.name, *(int(n.sum()) for n in (few, held[few], alone[few]))))
        # Most unique people first, then most holders, then by code: nothing is left to chance.
        order = np.lexsort((np.arange(column.distinct), -held, -alone))
        shown = [place for place in order if held[place] >= least and alone[place]][:_MOST_SHOWN]
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
    columns: Sequence[str] | None = None,
    user: str | None = None,
    register: Any = None,
    least: int = _LEAST,
    seed: int = 0,
    header: bool | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    where: str | None = None,
    skip: int | None = None,
) -> Singling:
    """Find who is alone in a table with what some columns say of them.

    Every row is a person. All figures are exact for an attacker who knows these columns of a person
    and that the person is in the table. An empty cell is a value of its own.

    Args:
        table: A file, or columns in memory: a dictionary, an Arrow table, a data frame.
        columns: What the attacker knows; if not given, every column that describes people, as
            `inspect` lists them.
        user: The column of users, if there is one. Equal rows of one user are one person; rows of
            one user that differ are refused.
        register: A table of the whole population with the same columns, every row a person.
        least: A value held by fewer people is not named in the result.
        seed: Seed of random orders of columns, where there are too many for exact fair shares.
        header: Whether the first line of files names the columns; detected if not given.
        separator: Separator of columns in a file; detected if not given.
        encoding: Of a file of text; UTF-8, if not given.
        where: A condition on the rows of both tables, an SQL expression over the names of columns.
        skip: Lines above the table, such as a title; recognised if not given.

    Example:
        >>> table = {"age": [30, 30, 40, 50], "town": ["A", "A", "A", "B"]}
        >>> found = rr.singling(table, columns=["age", "town"])
        >>> found.unique, found.smallest, found.optimum.value
        (2, 1, 0.75)
    """
    least = whole_number("least", least, least=1)
    cut = Layout(
        user=user, header=header, separator=separator, encoding=encoding, where=where, skip=skip
    )
    opened = path_or_table(table)
    given = _describing(opened, cut) if columns is None else columns
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or len(set(names)) < len(names):
        raise InvalidInput(
            "an attacker must know something: name columns, each once, such as "
            f"{setting('columns', 'age,postcode')}",
            code="missing-argument",
        )
    layout = replace(cut, columns=names)
    content, source = _content(opened, (*names, *((user,) if user else ())), layout)
    rows, per_row = content.num_rows, _BYTES_PER_CELL * len(names) + _BYTES_PER_ROW
    check_fits(rows * per_row, f"{source}: {rows:,} rows", "use fewer rows or columns")
    known = [coded(content[name], name, source) for name in names]
    group, groups = numbered(keys(known))
    # A person is a row; with a column of users, the first row of each user.
    person = _first_rows(content[user], group, user, source) if user else slice(None)
    size = np.bincount(group[person], minlength=groups)
    k = size[group]
    crowd, found, sources = None, None, [source]
    if register is not None:
        others, place = _content(register, names, layout)
        sources.append(place)
        crowd = _crowds(known, [coded(others[name], name, place) for name in names])
        found = _register_crowds(k[person], crowd[person], others.num_rows)
    people = [column.take(person) for column in known]
    values, rare = _value_parts(people, k[person] == 1, least)
    counted, unique = int(size.sum()), int((size == 1).sum())
    figures = Singling(
        columns=names,
        people=counted,
        groups=groups,
        unique=unique,
        smallest=int(size.min()),
        # `by_size` takes people: the groups of each size, times the size.
        sizes=by_size(np.bincount(size) * np.arange(size.max() + 1)),
        empty=tuple(int(column.empty.sum()) for column in people),
        merged=content.num_rows - counted,
        parts=contributions(_distinct(known, group, groups), size == 1, counted, seed=seed),
        values=values,
        rare=rare,
        least=least,
        register=found,
        share_unique=Estimate.computed(float(Fraction(unique, counted)), EXACT),
        optimum=Estimate.computed(float(Fraction(groups, counted)), EXACT),
        k=k,
        crowd=crowd,
    )
    return in_frames_of(figures.read_from(*sources), table, register)


def _describing(table: Any, layout: Layout) -> tuple[str, ...]:
    """Every column that describes people, of a table with a row for each."""
    found = inspect_file(table, layout)
    if found.shape != "table" or not found.describing:
        meaning = f"{found.meaning[:1].lower()}{found.meaning[1:]}".removesuffix(".")
        raise InvalidInput(
            f"{found.file}: {meaning}; name the columns that an attacker knows, such as "
            f"{setting('columns', 'age,postcode')}",
            code="missing-argument",
        )
    return found.describing


def _content(table: Any, names: Sequence[str], layout: Layout) -> tuple[pa.Table, Origin]:
    content, source = columns_of(table, names, layout)
    if not content.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; at least one person is needed", code="empty-table"
        )
    if layout.user is None or layout.user not in names:
        return content, source
    return with_users(content, layout.user, source)


def _first_rows(users: pa.ChunkedArray, group: Whole, name: str, source: Origin) -> Whole:
    """The first row of each user; refuses users whose rows differ."""
    user = coded(users, name, source)
    _, first = np.unique(user.codes, return_index=True)
    # Every code occurs, so `first` can be indexed by codes of users.
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
    """The columns of one row of each group."""
    row = np.empty(groups, np.int64)
    # The last row of a group wins; any would do, since they are equal.
    row[group] = np.arange(len(group))
    return [column.take(row) for column in known]
