"""Inspect a table: what its columns hold, who is alone by them, and which questions it allows.

No user is ever shown, nor a value that looks like one: an example is a value that several people
share, and no address, number or key. Where no column is known to hold users, any column may hold
them, so that only columns that are known to hold something else have examples.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.optional import frame, html_table, in_frames_of
from reidrisk.errors import InvalidInput
from reidrisk.io.column_kinds import (
    DECIMAL_COMMAS,
    DIRECT,
    EMPTY_SIGNS,
    HIDDEN,
    KEYS,
    NUMBERS,
    OF_PEOPLE,
    TIMES,
    ColumnSummary,
    ColumnValues,
    contents_of,
    count_values,
    of_events,
)
from reidrisk.io.column_roles import of_role, perhaps_of_role, role_of
from reidrisk.io.layouts import Layout
from reidrisk.io.parquet_files import check_pages
from reidrisk.io.plays import take_columns
from reidrisk.io.questions import Described, Suggestion, shape_of, warnings_of
from reidrisk.io.table_files import TableFile, sql_text
from reidrisk.io.tables import (
    LAYOUT,
    OpenTables,
    doubtful_counts,
    files_of,
    is_path,
    open_tables,
    refuse_empty_lines,
)
from reidrisk.io.unpacking import Progress
from reidrisk.io.vector_columns import COORDINATES, VECTORS, FoundVectors, find_vectors

# Of longer files only the first rows are looked at.
MOST_ROWS = 10_000_000
# A value is shown if so many people hold it.
SHARED, SHOWN, LONGEST = 10, 3, 24
# Addresses, telephone and card numbers, hashes and keys.
_IDENTIFYING = re.compile(r".*@.*|[+(]?\d[\d ()/-]{6,}|(?=.*\d)[0-9a-fA-F-]{8,}|(?=.*\d)[\w-]{12,}")
_ROLES = ("user", "item", "count", "epoch")
# Whole numbers up to it may be ages.
_OLDEST = 120
# If no larger a share of users with several rows has others in a column, it describes people.
_SELDOM = 0.1
# No more numbers than this may be answers to a question.
_ANSWERS = 10
# By so many columns, the most identifying ones, everybody may be alone in a table of hundreds.
_ENOUGH = 50
# In so many rows, two users are rather two choices.
_MANY = 50

_SIGNS = ", ".join(map(sql_text, ("", *EMPTY_SIGNS)))

_Roles = dict[str, tuple[str, str]]
"""What columns probably are, and what they are taken for that by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Rows per user."""

    least: int
    median: float
    mean: float
    nine_in_ten: float
    most: int


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What a table looks like, and what to ask of it.

    Args:
        file: Its path.
        size: Bytes on disk.
        facts: Format, packing, separator, header.
        rows: How many.
        looked_at: How many rows were looked at.
        columns: What each holds.
        users: How many there are among the rows that were looked at, if there is such a column.
        rows_per_user: How many rows they have.
        people: How many people the figures are of: users, or else rows.
        describing: Columns that describe people, the most identifying first.
        alone: How many people are alone with what all these columns say together.
        repeated: Rows that are the same as an earlier one in every column, where no column names
            users: perhaps people who come twice.
        warnings: What to do before anything else: remove direct identifiers.
        shape: What the table is: vectors, log, table, linked, matrix, history, taxonomy or unknown.
        meaning: The same in a sentence.
        suggestions: Questions that the table allows, the worst first, each with its command.

    Example:
        >>> found = rr.inspect({"age": [30, 30, 41, 52], "town": ["A", "B", "A", "A"]})
        >>> found.people, found.describing, found.alone
        (4, ('age', 'town'), 4)
    """

    file: str
    size: int
    facts: Mapping[str, str]
    rows: int
    looked_at: int
    columns: tuple[ColumnSummary, ...]
    users: int | None
    rows_per_user: Spread | None
    people: int
    describing: tuple[str, ...]
    alone: int
    repeated: int
    warnings: tuple[str, ...]
    shape: str
    meaning: str
    suggestions: tuple[Suggestion, ...]

    @property
    def command(self) -> str:
        """What to run next: the worst question."""
        return self.suggestions[0].command

    @property
    def record(self) -> dict[str, Any]:
        """All of it as JSON knows it."""
        return {**asdict(self), "command": self.command}

    def to_frame(self) -> Any:
        """A row for each column, in a frame of the library that came in, or else of pandas."""
        return frame([asdict(one) for one in self.columns], self)

    def __str__(self) -> str:
        from reidrisk.io.inspection_text import inspection_text

        return inspection_text(self)

    def _repr_html_(self) -> str:
        from reidrisk.io.inspection_text import HEADINGS, cells_of_columns, sentences

        asked = (
            f"<p>{escape(one.question)}</p><pre>{escape(one.command)}</pre>"
            for one in self.suggestions
        )
        return "".join((
            html_table(self.file, HEADINGS, [*cells_of_columns(self)]),
            *(f"<p>{escape(text)}</p>" for text in sentences(self)), *asked,
        ))  # fmt: skip


def inspect_file(
    path: Any, layout: Layout = LAYOUT, *, progress: Progress | None = None
) -> Inspection:
    """Inspect a file, the first file of a folder, or a data frame.

    Args:
        path: The file or frame.
        layout: What is known of it; the rest is guessed.
        progress: Called with the bytes that have been read and all bytes there are.
    """
    first = files_of(path)[0] if is_path(path) else path
    with open_tables(first, layout) as opened:
        file = opened.files[0]
        _refuse_same_names(file)
        seen = _Seen.of(opened, file, progress)
        if not seen.rows:
            raise InvalidInput(
                f"{file.place}: there are no rows; at least one is needed", code="empty-table"
            )
        held = _Held.of(seen, *_roles(file, layout, seen))
        total = opened.rows_of(file) if seen.rows == MOST_ROWS else seen.rows
        columns = held.columns()
        describing = _most_identifying(columns)
        alone = held.alone_together(describing)
        # Whoever is alone by some columns has no equal in all of them.
        unlike = alone == seen.rows or held.user is not None or bool(file.lists)
        repeated = 0 if unlike else seen.repeated()
        size = opened.size
    counts = held.counts
    shape = shape_of(
        Described(
            file=file.place if is_path(path) else None, columns=columns, rows=seen.rows,
            people=held.people_are_rows, describing=describing, numbers=_readable(seen),
            vectors=seen.vectors, layout=layout,
        )
    )  # fmt: skip
    return Inspection(
        file=file.place, size=size, facts=dict(file.facts), rows=total, looked_at=seen.rows,
        columns=columns, users=None if counts is None else len(counts),
        rows_per_user=None if counts is None else _spread(counts),
        people=held.people, describing=describing, alone=alone, repeated=repeated,
        warnings=warnings_of(columns), shape=shape.name, meaning=shape.meaning,
        suggestions=shape.suggestions,
    )  # fmt: skip


def inspect(
    table: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    count: str | None = None,
    epoch: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    skip: int | None = None,
    where: str | None = None,
    time_format: str | None = None,
) -> Inspection:
    """Show what a table looks like, who is alone in it, and what to ask of it.

    The same as `reidrisk inspect`. Users are counted, never shown.

    Args:
        table: A file, the first file of a folder, a dictionary of columns, or a frame of pandas,
            polars, Arrow or DuckDB.
        user: The column of users; guessed if not given, as are all others.
        item: The column of items.
        count: The column of how often, or how much.
        epoch: The column of times.
        header: Whether the first line of a file names the columns.
        separator: Separator of columns in a file.
        encoding: Of a file of text; UTF-8, if not given.
        skip: Lines above the table, such as a title.
        where: Only rows that meet it are looked at, one SQL expression over the names of columns.
        time_format: How the column of epochs writes times, such as "%d.%m.%Y %H:%M".

    Example:
        >>> sales = {"customer": ["ann", "ann", "bob"], "product": ["tea", "jam", "tea"]}
        >>> found = rr.inspect(sales)
        >>> found.users, [(one.name, one.role) for one in found.columns]
        (2, [('customer', 'user'), ('product', 'item')])
    """
    layout = Layout(
        user=user, item=item, count=count, epoch=epoch, header=header, separator=separator,
        encoding=encoding, skip=skip, where=where, time_format=time_format,
    )  # fmt: skip
    return in_frames_of(inspect_file(table, layout), table)


def _refuse_same_names(file: TableFile) -> None:
    names = list(file.names)
    if len(set(names)) < len(names):
        first = next(place for place, name in enumerate(names) if names.count(name) > 1)
        second = names.index(names[first], first + 1)
        raise InvalidInput(
            f"{file.place}: columns {first + 1} and {second + 1} have the same name; rename or "
            "remove one",
            code="duplicate-column",
        )


def _spread(counts: NDArray[np.int64]) -> Spread:
    return Spread(
        least=int(counts.min()), median=float(np.median(counts)), mean=float(counts.mean()),
        nine_in_ten=float(np.quantile(counts, 0.9)), most=int(counts.max()),
    )  # fmt: skip


def _readable(seen: "_Seen") -> frozenset[str]:
    """The columns that can be read as numbers."""
    return frozenset(
        name for name, values in seen.values.items()
        if values.form in NUMBERS
        or (values.form == DECIMAL_COMMAS and seen.file.has_decimal_commas(name))
    )  # fmt: skip


def _most_identifying(columns: Iterable[ColumnSummary]) -> tuple[str, ...]:
    """The columns to ask about: those by which the most people are alone first."""
    left = [one for one in columns if not one.left_out]
    left.sort(key=lambda one: (one.alone or 0, one.distinct or 0), reverse=True)
    return tuple(one.name for one in left)


@dataclass(frozen=True, eq=False)
class _Seen:
    """The first rows of a table, and how often each value of a column comes in them.

    Args:
        opened: Holds the table, and the table `often`: a `place` of a column, a value `v` of it,
            and in how many `rows` it comes.
        file: The table.
        rows: How many rows were looked at.
    """

    opened: OpenTables
    file: TableFile
    rows: int

    @classmethod
    def of(cls, opened: OpenTables, file: TableFile, progress: Progress | None) -> "_Seen":
        """Count the values of all columns in one pass."""
        if file.facts["format"] == "Parquet":
            check_pages(Path(file.place), file.names)
        refuse_empty_lines(opened, file)
        opened.run(
            "create temp table often as select place, v, count(*) as rows "
            f"from {_cells(_rows(file), range(len(file.names)))} group by place, v",
            progress,
        )
        ((rows,),) = opened.run("select coalesce(sum(rows), 0) from often where place = 0")
        return cls(opened, file, int(rows))

    def place(self, name: str) -> int:
        """Where a column is."""
        return self.file.names.index(name)

    def value(self, name: str) -> str:
        """A column of the rows."""
        return f"v{self.place(name)}"

    def fetched(self, query: str) -> tuple[Any, ...]:
        """The only row that a query finds."""
        return self.opened.run(query)[0]

    def number(self, query: str) -> int:
        """The only number that a query finds; 0 for none."""
        return int(self.fetched(query)[0] or 0)

    def counts(self, name: str) -> NDArray[np.int64]:
        """How often each value of a column comes, without signs for no value."""
        filled = f"place = {self.place(name)} and v not in ({_SIGNS})"
        table = self.opened.arrow(f"select rows from often where {filled}")
        return np.asarray(table.column(0).to_numpy(), np.int64)

    @cached_property
    def values(self) -> dict[str, ColumnValues]:
        """What the values of each column look like, without columns of lists."""
        found = count_values(self.opened.run, self.file.names)
        return {name: found[name] for name in found if name not in self.lists}

    @cached_property
    def lists(self) -> frozenset[str]:
        """The columns of lists."""
        return frozenset(self.file.lists)

    @cached_property
    def tallies(self) -> dict[str, "_Tally"]:
        """What is counted of the cells of each column."""
        found = self.opened.run(
            "select place, count(*), count(*) filter (rows = 1), "
            "coalesce(sum(rows) filter (v = ''), 0), "
            "coalesce(sum(rows) filter (try_cast(v as double) < 0), 0) from often group by place"
        )
        signs = self.opened.run(
            f"select place, v, rows from often where v in ({_SIGNS}) and v <> '' "
            "order by place, rows desc, v"
        )
        return {
            self.file.names[place]: _Tally(
                int(distinct), int(once), int(empty), int(negative),
                {sign: rows for at, sign, rows in signs if at == place},
            )
            for place, distinct, once, empty, negative in found
        }  # fmt: skip

    def common(self, user: str | None) -> dict[str, list[tuple[str, int]]]:
        """The most common values of each column, with how many hold them: rows, or users.

        Args:
            user: The column of users, if they have several rows.
        """
        self.opened.run(
            "create temp table common as select place, unnest(most).v as v, "
            "-unnest(most).less as holders from (select place, "
            f"min({{'less': -rows, 'v': v}}, {SHOWN}) as most from often where v not in ({_SIGNS}) "
            "group by place)"
        )
        holders = "select place, v, holders from common"
        if user is not None:
            places = [self.place(name) for name in self.values]
            cells = _cells(self.rows_of(user), places, f"{self.value(user)} as who")
            holders = (
                "select place, v, count(distinct who) from common join "
                f"{cells} using (place, v) group by place, v, holders"
            )
        found: dict[str, list[tuple[str, int]]] = {}
        for place, value, number in self.opened.run(f"{holders} order by place, holders desc, v"):
            found.setdefault(self.file.names[place], []).append((value, int(number)))
        return found

    @cached_property
    def contents(self) -> dict[str, str | None]:
        """What each column holds, if it is recognised."""
        return contents_of(self.values)

    @cached_property
    def vectors(self) -> tuple[FoundVectors, ...]:
        """The vectors, such as embeddings, that rows hold."""
        return find_vectors(self.opened.run, self.file, self.values, self.contents)

    @cached_property
    def of_vectors(self) -> frozenset[str]:
        """The columns that hold them."""
        return frozenset(name for found in self.vectors for name in found.columns)

    def rows_of(self, user: str) -> str:
        """The rows that name a user, in SQL."""
        return f"(from {_rows(self.file)} where {self.value(user)} not in ({_SIGNS}))"

    def differing(self, user: str) -> dict[str, int]:
        """How many users have rows that differ, by column."""
        names = [name for name in self.values if name != user]
        values = [self.value(name) for name in names]
        if not values:
            return {}
        other = ", ".join(f"min({value}) <> max({value}) as {value}" for value in values)
        every = ", ".join(f"count_if({value})" for value in values)
        of_each = f"select {other} from {self.rows_of(user)} group by {self.value(user)}"
        found = self.fetched(f"select {every} from ({of_each})")
        return {name: int(users) for name, users in zip(names, found, strict=True)}

    def repeated(self) -> int:
        """How many rows are the same as an earlier one in every column."""
        values = ", ".join(map(self.value, self.values))
        rows = f"select count(*) as rows from {_rows(self.file)} group by {values}"
        return self.number(f"select sum(rows - 1) from ({rows})")

    def is_numbered(self, name: str) -> bool:
        """Whether a column numbers the rows: codes of which none comes twice, in their order."""
        values, content = self.values[name], self.contents[name]
        if content is not None or not values.unique or not values.is_code:
            return False
        number = f"try_cast({self.value(name)} as hugeint)"
        ascends = f"select {number} > lag({number}) over () as is_so from {_rows(self.file)}"
        return bool(self.fetched(f"select coalesce(bool_and(is_so), true) from ({ascends})")[0])

    @cached_property
    def moments(self) -> list[str]:
        """The columns of times."""
        return [name for name, content in self.contents.items() if content in TIMES]

    def distinct(self, name: str) -> int:
        """How many values a column has, without empty ones; 0 for lists."""
        return self.values[name].distinct if name in self.values else 0


@dataclass(frozen=True, slots=True)
class _Tally:
    """What is counted of the cells of a column.

    Args:
        distinct: Values, an empty one too.
        once: Values that come once.
        empty: Rows without a value.
        negative: Rows with a number below zero.
        signs: Signs that stand for no value, and in how many rows they come, the most common first.
    """

    distinct: int
    once: int
    empty: int
    negative: int
    signs: dict[str, int]


def _cells(rows: str, places: Iterable[int], beside: str = "") -> str:
    """The cells of some columns, each in a row of its own, in SQL.

    Args:
        rows: Of the table.
        places: Of the columns.
        beside: What else of a row stands beside each of its cells.
    """
    columns = [*places]
    values = ", ".join(f"v{place}" for place in columns)
    more = f", {beside}" if beside else ""
    return f"(select unnest({columns}) as place, unnest([{values}]) as v{more} from {rows})"


def _rows(file: TableFile) -> str:
    """The first rows of a table in SQL, all columns as text; of lists, whether there is one."""
    columns = ", ".join(
        f"case when c{place} is null then '' else 'x' end as v{place}" if pa.types.is_nested(kind)
        else f"{_text(file, name, kind)} as v{place}"
        for place, (name, kind) in enumerate(zip(file.names, file.types, strict=True))
    )  # fmt: skip
    return f"(select {columns} from {file.relation} limit {MOST_ROWS})"


def _text(file: TableFile, name: str, kind: pa.DataType) -> str:
    column = file.column(name)
    if (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or (pa.types.is_fixed_size_binary(kind))
    ):
        column = f"decode({column})"
    return column if file.cut is not None else f"coalesce(cast({column} as varchar), '')"


def _roles(file: TableFile, layout: Layout, seen: _Seen) -> tuple[_Roles, dict[str, int]]:
    """What each column probably is, and why; and how many users have rows that differ in it."""
    names = [name for name in file.names if name not in {*file.lists, *seen.of_vectors}]
    said = {role: name for role in _ROLES if (name := getattr(layout, role)) is not None}
    taken = _by_name(file, layout, seen)
    found: _Roles = {
        name: (role, _why(role, name, said, file)) for role, name in taken.items()
        if name not in seen.of_vectors
    }  # fmt: skip
    lists_items = "item" in taken and seen.distinct(taken["item"]) == seen.rows
    if "user" not in taken and not (lists_items and not _of_people(seen)):
        found |= _likely_user(names, seen)
    users = [name for name, (role, _) in found.items() if role == "user"]
    differing: dict[str, int] = {}
    if users and (again := int((seen.counts(users[0]) > 1).sum())):
        differing = seen.differing(users[0])
        # What hardly ever differs describes people who move or marry, and is no item.
        most = [name for name in names if differing.get(name, 0) > _SELDOM * again]
        left = [name for name in most if name not in found]
        if "item" not in taken:
            found |= _likely_item(left, seen)
        moments = [name for name in left if name not in found and name in seen.moments]
        # Days since the first visit are times, too.
        moments = moments or [name for name in left if seen.values[name].counts_time]
        if "epoch" not in taken and moments:
            found[max(moments, key=seen.distinct)] = "epoch", "values"
        roles = {role for role, _ in found.values()}
        # What is nearly called a count is refused by other commands until somebody names it.
        unnamed = [name for name in names if name not in found]
        doubtful = doubtful_counts(unnamed, file) if "item" in roles else []
        if doubtful and "count" not in roles:
            found[doubtful[0]] = "count", "name"
        amounts = [name for name in left if seen.contents[name] == "amounts"]
        if not roles & {"item", "count"} and amounts:
            found[max(amounts, key=seen.distinct)] = "count", "values"
    return found, differing


def _why(role: str, name: str, said: Mapping[str, str], file: TableFile) -> str:
    if said.get(role) == name:
        return "option"
    if role_of(name) == role:
        return "name"
    return "type" if name in file.lists else "place"


def _by_name(file: TableFile, layout: Layout, seen: _Seen) -> dict[str, str]:
    """Columns by their roles, as far as options, names, types and places tell."""
    try:
        taken = take_columns(file, layout)
    except InvalidInput as unclear:
        if unclear.code != "unclear-column":
            raise
        taken = {role: name for role in _ROLES if (name := getattr(layout, role)) is not None}
        for role in ("user", "item", "count"):
            fitting = [name for name in of_role(role, file.names) if name not in taken.values()
                       and (role != "count" or _form(seen, name) in NUMBERS)]  # fmt: skip
            if role not in taken and fitting:
                # Of an artist and a track, the track says more.
                taken[role] = max(fitting, key=seen.distinct) if role == "item" else fitting[0]
        if not taken and not role_of(file.names[0]) and file.names[0] == "1":
            taken = _by_repeats(file.names, seen)
    if "item" in taken and pa.types.is_struct(file.type_of(taken["item"])):
        del taken["item"]
    if layout.user is None and "user" in taken and not _are_users(taken["user"], file, seen):
        taken = {role: name for role, name in taken.items() if role_of(name) == role != "user"}
    if layout.count is None and seen.contents.get(taken.get("count", "")) in TIMES:
        taken["epoch"] = taken.pop("count")
    epochs = of_role("epoch", [name for name in file.names if name not in taken.values()])
    if "epoch" not in taken and epochs:
        taken["epoch"] = max(epochs, key=seen.distinct)
    return taken


def _form(seen: _Seen, name: str) -> str:
    return seen.values[name].form if name in seen.values else "lists"


def _by_repeats(names: tuple[str, ...], seen: _Seen) -> dict[str, str]:
    """Users and items in a file without names: the first two columns, if their values repeat."""
    # Beside times, some users come once and some again.
    often = 1 if seen.moments else 2
    again = [0 < often * seen.distinct(name) < seen.rows for name in names[:2]]
    if not all(again):
        return {}
    timed = seen.moments == [names[1]]
    return {"user": names[0]} if timed else dict(zip(("user", "item"), names, strict=False))


def _are_users(name: str, file: TableFile, seen: _Seen) -> bool:
    """Whether a column that is taken for users may hold them: one called member may say yes or no.

    Args:
        name: Of the column.
        file: The table.
        seen: Its rows.
    """
    if name == "1" and file.names[0] == "1":
        return _may_be_users(name, seen)
    return seen.distinct(name) > 2 or seen.rows < _MANY  # noqa: PLR2004


def _may_be_users(name: str, seen: _Seen) -> bool:
    """Whether a column without a name holds users, and not ages or a few choices."""
    values, distinct = seen.values[name], seen.distinct(name)
    if distinct < 2 or values.form == "numbers":  # noqa: PLR2004
        return False
    if values.form == "whole numbers":
        least, most = values.ends
        # From 0 or 1 on, ids; a few of them are the answers to a question.
        if least <= 1 and most < 2 * distinct:
            return distinct * _ANSWERS >= seen.rows or distinct > _ANSWERS
        if most <= _OLDEST:
            return False
    return distinct * distinct >= seen.rows


def _of_people(seen: _Seen) -> bool:
    """Whether a column holds what only people have."""
    return any(content in OF_PEOPLE for content in seen.contents.values())


def _likely_user(names: list[str], seen: _Seen) -> _Roles:
    """The column of users by a word in its name, or the ids of a table."""
    fitting = [
        name for name in perhaps_of_role("user", names)
        if seen.contents[name] not in TIMES and not of_events(name) and _may_be_users(name, seen)
    ]  # fmt: skip
    # In a log with times, what never comes twice numbers rows, not people.
    repeated = [name for name in fitting if seen.moments and not seen.values[name].unique]
    if fitting:
        return {(repeated or fitting)[0]: ("user", "name")}
    keys = [name for name in names if _tells_apart(name, seen)]
    # Without times, only what stands first.
    if keys and (seen.moments or keys[0] == names[0]):
        return {keys[0]: ("user", "values")}
    ids = [
        name for name in names
        if seen.contents[name] == "ids" and seen.values[name].unique and not of_events(name)
    ]  # fmt: skip
    if not ids and names and not of_events(names[0]) and seen.is_numbered(names[0]):
        ids = names[:1]
    # Numbers of rows below an empty name, as R and pandas write them, are nobody's ids.
    named = [name for name in ids if not name.isdecimal()]
    return {(named or ids)[0]: ("user", "values")} if ids else {}


def _tells_apart(name: str, seen: _Seen) -> bool:
    """Whether a column has the keys of people who come again."""
    return (
        seen.contents[name] in KEYS
        and not seen.values[name].unique
        and not of_events(name)
        and _may_be_users(name, seen)
    )


def _likely_item(names: list[str], seen: _Seen) -> _Roles:
    """The column of items by a word in its name, or the one with the most values."""
    fitting = [
        name for name in names
        if seen.distinct(name) > 1 and seen.contents[name] not in _NO_ITEM and not of_events(name)
        and seen.values[name].form in ("text", "whole numbers") and not seen.values[name].unique
        and not seen.values[name].is_measure
    ]  # fmt: skip
    if named := perhaps_of_role("item", fitting):
        return {named[0]: ("item", "name")}
    # Yes and no are no items.
    several = [name for name in fitting if seen.distinct(name) > 2]  # noqa: PLR2004
    texts = [name for name in several if seen.values[name].form == "text"] or several
    return {max(texts, key=seen.distinct): ("item", "values")} if texts else {}


_NO_ITEM = HIDDEN - {"ids", "post codes"} | {"amounts", "times of day"}


@dataclass(frozen=True, eq=False)
class _Held:
    """Who holds which values.

    Args:
        seen: The rows.
        roles: What columns probably are.
        user: The column of users, if there is one with users in it.
        counts: Rows of each user.
        differing: How many users have rows that differ, by column.
    """

    seen: _Seen
    roles: _Roles
    user: str | None
    counts: NDArray[np.int64] | None
    differing: Mapping[str, int]

    @classmethod
    def of(cls, seen: _Seen, roles: _Roles, differing: Mapping[str, int]) -> "_Held":
        """Count rows of users; where users have several, look who holds what."""
        user = next((name for name, (role, _) in roles.items() if role == "user"), None)
        counts = None if user is None else seen.counts(user)
        if user is None or counts is None or not len(counts):
            return cls(seen, roles, None, None, differing)
        found = cls(seen, roles, user, counts, differing)
        if counts.max() > 1 and found._describing:
            cells = _cells(seen.rows_of(user), found._describing, f"{seen.value(user)} as who")
            seen.opened.run(
                "create temp table held as select place, v, min(who) as one, max(who) as other "
                f"from {cells} group by place, v"
            )
        return found

    @property
    def _describing(self) -> list[int]:
        """The places of all columns but that of users, without those of lists."""
        return [self.seen.place(name) for name in self.seen.values if name != self.user]

    @property
    def people_are_rows(self) -> bool:
        """Whether each row is a person, as far as is known."""
        return self.counts is None or int(self.counts.max()) == 1

    @property
    def people(self) -> int:
        """How many people there are: users, or else rows."""
        if self.counts is None or self.people_are_rows:
            return self.seen.rows
        return len(self.counts)

    def columns(self) -> tuple[ColumnSummary, ...]:
        """What each column holds."""
        return tuple(map(self._column, self.seen.file.names))

    def _column(self, name: str) -> ColumnSummary:
        seen, tally = self.seen, self.seen.tallies[name]
        role, why = self.roles.get(name, (None, ""))
        if name in seen.lists:
            content = VECTORS if name in seen.of_vectors else None
            return ColumnSummary(
                name=name, kind="lists", content=content, distinct=None, alone=None,
                empty=tally.empty, blank=0, signs=(), negative=0, role=role, why=why,
                left_out="list", examples=(),
            )  # fmt: skip
        values = seen.values[name]
        content = _content(seen.contents[name], role, values)
        content = COORDINATES if name in seen.of_vectors else content
        return ColumnSummary(
            name=name, kind=values.form, content=content,
            distinct=tally.distinct - bool(tally.empty), alone=self._alone[name],
            empty=tally.empty, blank=sum(tally.signs.values()), signs=tuple(tally.signs),
            negative=tally.negative, role=role, why=why, left_out=self._left_out(name, content),
            examples=self._examples(name, content),
        )  # fmt: skip

    @cached_property
    def _alone(self) -> dict[str, int]:
        """How many people have a value that nobody else has; an empty cell is a value, too."""
        seen = self.seen
        if self.people_are_rows:
            return {name: seen.tallies[name].once for name in seen.values}
        alone = "select place, count(distinct one) filter (one = other) from held group by place"
        others = seen.opened.run(alone) if self._describing else []
        found = {seen.file.names[place]: int(number) for place, number in others}
        return found | {self.user or "": 0 if self.counts is None else len(self.counts)}

    def _left_out(self, name: str, content: str | None) -> str:
        """Why a column does not describe people, if it does not."""
        role, _ = self.roles.get(name, (None, ""))
        users = self.differing.get(name, 0)
        reasons = {
            "direct identifier": content in DIRECT,
            "the user": role == "user",
            "id": content == "ids",
            "a number of a vector": content == COORDINATES,
            "free text: look for names in it": content == "free text",
            "empty": not self.seen.values[name].distinct,
            "same in every row": self.seen.tallies[name].distinct == 1,
            "differs between the rows of few users: give each one row to ask about it": (
                0 < users <= self._few
            ),
            "differs between the rows of a user": users > self._few,
            "its name holds a comma: rename it": "," in name,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    @cached_property
    def _few(self) -> float:
        """How many users are few among those with several rows."""
        return 0 if self.counts is None else _SELDOM * int((self.counts > 1).sum())

    def alone_together(self, names: tuple[str, ...]) -> int:
        """How many people are alone with what these columns say together.

        Args:
            names: Columns that describe people.
        """
        few = names[:_ENOUGH]
        found = self._alone_by(few) if few else 0
        # More columns leave nobody less alone.
        return found if found == self.people or few == names else self._alone_by(names)

    def _alone_by(self, names: tuple[str, ...]) -> int:
        values = ", ".join(map(self.seen.value, names))
        rows = _rows(self.seen.file)
        if not self.people_are_rows and self.user is not None:
            who = self.seen.value(self.user)
            rows = f"(select distinct {who}, {values} from {self.seen.rows_of(self.user)})"
        return self.seen.number(
            f"select count(*) from (select count(*) from {rows} group by {values} "
            "having count(*) = 1)"
        )

    def _examples(self, name: str, content: str | None) -> tuple[str, ...]:
        """The most common values that several people share, if all of them can be shown."""
        role, _ = self.roles.get(name, (None, ""))
        # Ids that nobody named may be those of rows.
        known = self.user is not None and self.roles[self.user][1] != "values"
        # A list may hold users.
        unnamed = content in HIDDEN or _form(self.seen, name) == "lists"
        hidden = content in DIRECT or (role is None and unnamed)
        if role == "user" or hidden or not (role or known):
            return ()
        shared = self._common.get(name, [])
        return _shown([text for text, holders in shared if holders >= SHARED])

    @cached_property
    def _common(self) -> dict[str, list[tuple[str, int]]]:
        return self.seen.common(None if self.people_are_rows else self.user)


_SPANS = TIMES | {"birth dates", "times of day"}


def _content(found: str | None, role: str | None, values: ColumnValues) -> str | None:
    """What a column holds, as far as its role does not say so."""
    if role == "user":
        return found if found in DIRECT else "ids"
    if role == "item":
        return "item codes" if values.is_code else None
    if role == "count":
        return "quantities" if values.form in NUMBERS else found
    return None if role == "epoch" and found not in _SPANS else found


def _shown(found: list[str]) -> tuple[str, ...]:
    """Examples, if none of them looks like a person."""
    if any(_IDENTIFYING.fullmatch(one) for one in found):
        return ()
    return tuple(one if len(one) <= LONGEST else one[: LONGEST - 1] + "…" for one in found)
