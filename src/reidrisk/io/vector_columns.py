"""Recognise vectors in a table: lists of numbers of one length, numbered columns of decimals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reidrisk.io.column_kinds import NUMBERS, ColumnValues
from reidrisk.io.column_roles import by_number, common_stem
from reidrisk.io.table_files import TableFile

VECTORS, COORDINATES = "vectors", "numbers of a vector"
"""What such columns hold."""

_LOOKED_AT = 10_000
"""Rows of lists that are looked at."""
_FEWEST = 4
"""With fewer numbered columns of decimals, they may be anything."""
_MOSTLY = 0.5
"""Share of the rows in which a number of a vector is another, and of columns that have decimals."""


@dataclass(frozen=True, slots=True)
class FoundVectors:
    """One vector of each row.

    Args:
        setting: How a link names its columns: `vector` or `vectors`.
        value: The column of lists, or a pattern of the columns of numbers.
        columns: All of them.
    """

    setting: str
    value: str
    columns: tuple[str, ...]


def find_vectors(
    run: Callable[[str], Sequence[tuple[Any, ...]]],
    file: TableFile,
    values: Mapping[str, ColumnValues],
    contents: Mapping[str, str | None],
) -> tuple[FoundVectors, ...]:
    """The vectors of a table.

    Args:
        run: Runs a query and gives its rows.
        file: The table.
        values: What is counted of columns that hold no lists.
        contents: What each of these holds, if it is recognised.
    """
    lists = [name for name in file.lists if _holds_vectors(run, file, name)]
    return (
        *(FoundVectors("vector", name, (name,)) for name in lists),
        *(_named(group, file.names) for group in _groups(values, contents)),
    )


def _holds_vectors(
    run: Callable[[str], Sequence[tuple[Any, ...]]], file: TableFile, name: str
) -> bool:
    """Whether lists are of numbers, some with decimals, and of one length."""
    rows = f"(select {file.column(name)} as v from {file.relation} limit {_LOOKED_AT})"
    ((broken, least, most),) = run(
        "select count(*) filter (x is null), min(len(x)), max(len(x)) "
        f"from (select try_cast(v as double[]) as x from {rows} where v is not null)"
    )
    if broken or least is None or not 1 < least == most:
        return False
    ((decimals,),) = run(
        "select bool_or(n <> floor(n)) from "
        f"(select unnest(try_cast(v as double[])) as n from {rows})"
    )
    return bool(decimals)


def _groups(
    values: Mapping[str, ColumnValues], contents: Mapping[str, str | None]
) -> list[list[str]]:
    """Columns of unrecognised numbers whose names differ by a number alone, most with decimals."""
    stems: dict[str, list[str]] = {}
    for name, column in values.items():
        stem = "" if name.isdecimal() else common_stem([name])
        mostly = column.distinct >= _MOSTLY * column.rows
        if stem is not None and column.form in NUMBERS and mostly and contents[name] is None:
            stems.setdefault(stem, []).append(name)
    return [
        group for group in stems.values()
        if len(group) >= _FEWEST
        and sum(values[name].form == "numbers" for name in group) > _MOSTLY * len(group)
    ]  # fmt: skip


def _named(group: list[str], names: Sequence[str]) -> FoundVectors:
    """A group of columns by a pattern, if that means no other; else by their names."""
    stem = common_stem(group) or ""
    others = [name for name in names if name.startswith(stem) and name not in group]
    # Of columns without names, the users are left out by themselves.
    pattern = f"{stem}*" if not others or (not stem and len(others) == 1) else ",".join(group)
    return FoundVectors("vectors", pattern, tuple(group))


def span(names: Sequence[str]) -> str:
    """The columns of a vector in few words: the first and the last.

    Args:
        names: Of the columns.

    >>> span(["v1", "v10", "v2"])
    'v1 … v10'
    """
    ordered = by_number(names)
    return f"{ordered[0]} … {ordered[-1]}"
