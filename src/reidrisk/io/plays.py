"""Read people from rows of a user and an item: plays, purchases, visits.

Of the text of a file only the distinct users and items are held, each once.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.settings_syntax import offered, offering, setting, warn
from reidrisk.errors import InvalidInput
from reidrisk.io.assembly import Choices, Duplicates, LongRows, assemble, check_weights
from reidrisk.io.column_roles import listed, of_role
from reidrisk.io.dialects import is_number
from reidrisk.io.labels import Coded, empty_cell, label_array, refuse_empty
from reidrisk.io.layouts import Layout
from reidrisk.io.numbering import Columns, NumberedRows, number_rows
from reidrisk.io.returns import net_returns, skip_returns, with_note
from reidrisk.io.table_files import TEXT, TableFile
from reidrisk.io.tables import (
    LAYOUT,
    OpenTables,
    check_columns,
    column_names,
    doubtful_counts,
    files_of,
    is_path,
    open_tables,
    read_table,
    refuse_unknown,
    refuse_unlike,
    taken_columns,
    unsure_of_count,
)
from reidrisk.io.unpacking import Progress
from reidrisk.people.profiles import Counts, Profiles

_ROLES = ("user", "item", "count", "epoch")
PEOPLE = {"user": "user", "epoch": "epoch", "token": "item", "weight": "count"}
"""Columns of tables of people, and what each is."""


def read_profiles(
    path: Any,
    *,
    columns: Mapping[str, str] | None = None,
    layout: Layout = LAYOUT,
    **choices: Any,
) -> Profiles:
    """Read people from a long table of `user`, `epoch`, `token` and perhaps `weight`.

    Args:
        path: A file of text, Parquet or JSON lines, packed or not, a folder of them, or a data
            frame.
        columns: The names in the file of the columns that are called otherwise there, such as
            `{"user": "household_id"}`.
        layout: The same in other words, `Layout(user="household_id", item="cat_id",
            count="items", epoch="week")`, and how the file is cut.
        choices: `taxonomy`, `epochs`, `absent` and `duplicates`, as explained at `Choices`.

    Without a column of weights every row weighs 1; a column that seems to hold weights is refused
    unless it is named. Other columns are not read.

    Example:
        >>> from pyarrow import parquet, table
        >>> rows = table({"user": [1, 1, 2], "epoch": [1, 2, 1], "token": ["x", "y", "x"]})
        >>> parquet.write_table(rows, "people.parquet")
        >>> people = rr.data.read_profiles("people.parquet")
        >>> people.users, people.epochs, people.complete
        (2, 2, False)
    """
    chosen = Choices(**choices)
    refuse_unknown(columns or {}, PEOPLE)
    said = people_columns(layout, columns)
    names = {name: said.get(name, name) for name in PEOPLE}
    with open_tables(path, layout, names.values()) as opened:
        taken = [taken_columns(file, names, said, ("weight",)) for file in opened.files]
        refuse_unlike({tuple(one) for one in taken}, opened.source(()), ("weight",))
        roles = [{PEOPLE[name]: column for name, column in one.items()} for one in taken]
        kept, skipped = skip_returns(opened, roles, layout)

        def build(rows: NumberedRows) -> Profiles:
            called = {role: name for name, role in PEOPLE.items()}
            return _assembled(rows, called, layout, chosen, skipped)

        people = number_rows(kept, roles, build)
    warn(people.warnings, calls=1)
    return people


def people_columns(layout: Layout, columns: Mapping[str, str] | None) -> dict[str, str]:
    """The names in files of columns of people that are called otherwise there.

    Args:
        layout: Which column is what.
        columns: Names in the file of some columns.
    """
    said = {"user": layout.user, "epoch": layout.epoch, "token": layout.item,
            "weight": layout.count}  # fmt: skip
    named = {name: column for name, column in said.items() if column is not None}
    return named | dict(columns or {})


@offering("column")
def read_taxonomy(path: Any, *, column: str | None = None) -> NDArray[Any]:
    """Labels of all tokens from a column of a table with a header, by default its first.

    Args:
        path: The file.
        column: Its name; by default the first.

    Example:
        >>> from pyarrow import parquet, table
        >>> parquet.write_table(table({"topic": ["jazz", "rock"]}), "topics.parquet")
        >>> rr.data.read_taxonomy("topics.parquet").tolist()
        ['jazz', 'rock']
    """
    layout = Layout(header=True)
    name = column or column_names(path, layout)[0]
    table, source = read_table(path, {"token": TEXT}, {"token": name}, layout=layout)
    if not table.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; a taxonomy names at least one token", code="empty-table"
        )
    return label_array(f"{source}: the taxonomy", table["token"].combine_chunks())


def read_plays(
    path: Any,
    *,
    layout: Layout = LAYOUT,
    taxonomy: Any = None,
    duplicates: Duplicates = "add",
    progress: Progress | None = None,
) -> Profiles:
    """Read people from rows of a user, an item and perhaps a count and an epoch.

    Where a table has types, a row may hold a list of items: each is taken for a row of its own.

    Args:
        path: A file of text, Parquet or JSON lines, packed or not, a folder of them, or a data
            frame.
        layout: Which column is what, and how the file is cut. What it does not say is found as
            `plays_layout` explains.
        taxonomy: All items there are; by default those of the rows.
        duplicates: Whether the counts of several rows of one user, item and epoch are added, the
            default, or such rows are refused.
        progress: Called with the bytes that have been read and all bytes there are.

    Without a column of counts every row counts once; without one of epochs there is one epoch.

    Example:
        >>> from pyarrow import parquet, table
        >>> rows = table({"user": [1, 1, 2], "track": ["x", "y", "x"], "plays": [3, 1, 2]})
        >>> parquet.write_table(rows, "plays.parquet")
        >>> people = rr.data.read_plays("plays.parquet")
        >>> people.users, people.labels.tolist()
        (2, ['x', 'y'])
    """
    choices = Choices(taxonomy=taxonomy, duplicates=duplicates)
    with open_tables(path, layout) as opened:
        columns = [take_columns(file, layout) for file in opened.files]
        _refuse_other_columns(opened, columns)
        kept, skipped = skip_returns(opened, columns, layout)

        def build(rows: NumberedRows) -> Profiles:
            names = {role: columns[0].get(role, role) for role in _ROLES}
            return _assembled(rows, names, layout, choices, skipped)

        people = number_rows(kept, columns, build, progress=progress)
    warn(people.warnings, calls=1)
    return people


def _refuse_other_columns(opened: OpenTables, columns: Sequence[Columns]) -> None:
    """Refuse a folder of files that do not have the same columns.

    Args:
        opened: The files.
        columns: The columns of each.
    """
    for file, taken in zip(opened.files, columns, strict=True):
        if taken.keys() != columns[0].keys():
            raise InvalidInput(
                f"{file.place}: the columns are not those of {opened.files[0].place}; write all "
                "files of a folder with the same columns",
                code="columns-differ",
            )


def _assembled(
    rows: NumberedRows, names: Columns, layout: Layout, choices: Choices, skipped: int
) -> Profiles:
    """People from numbered rows, with what becomes of returns.

    Args:
        rows: The rows.
        names: What columns are called, for messages.
        layout: What becomes of returns.
        choices: How to build.
        skipped: Returns that are not among the rows.
    """
    net = layout.returns == "net"
    long, source = _long_rows(rows, names, net=net), rows.source
    counts = Counts(rows=len(long) + skipped, returns=skipped)
    if net:
        long, source, counts = net_returns(long, source)
    return assemble(long, with_note(source, counts), choices, counts=counts)


def _long_rows(rows: NumberedRows, names: Columns, *, net: bool) -> LongRows:
    """Rows of users, epochs, items and counts, checked.

    Args:
        rows: The rows; without a column of counts each counts once, without epochs there is one.
        names: What columns are called, for messages.
        net: Whether counts may be below zero.
    """
    source = rows.source
    if not len(rows):
        raise InvalidInput(
            f"{source}: there are no rows; at least one is needed", code="empty-table"
        )
    for role, coded in rows.labels.items():
        refuse_empty(coded, names[role], source)
    count = len(rows)
    weights: NDArray[Any] = np.ones(count, np.float32)
    if rows.counts is not None:
        weights = rows.counts
        name = names["count"]
        if rows.empty is not None:
            raise empty_cell(source.place(int(rows.empty.argmax())), name)
        advice = (
            "; if these are returns, leave them out with "
            f"{setting('returns', 'skip')}, or add them up with {setting('returns', 'net')}"
        )
        check_weights(
            np.abs(weights) if net else weights, source,
            name if name == "weight" else repr(name), advice if offered("returns") else "",
        )  # fmt: skip
    epochs = rows.labels.get("epoch", Coded(np.zeros(count, np.int32), np.zeros(1, np.int64)))
    return LongRows(rows.labels["user"], epochs, rows.labels["item"], weights)


def plays_layout(path: Any, layout: Layout = LAYOUT, *, counts: bool = True) -> Layout:
    """The layout by which `read_plays` reads a file, with everything said that was left open.

    A column is the one that the layout names; else the one whose name says what it is, such as
    `household_id`, `track` or `plays`, or that holds lists of items; else, in a file of two or
    three columns without a header, the first is the user, the second the item, the third the
    count. A count holds numbers. Epochs are taken only where the layout names them. Whatever leaves
    a doubt is refused, also a column that is nearly called a count, such as `vists`.

    Args:
        path: The file, a folder of files of which the first is looked at, or a data frame.
        layout: What is known.
        counts: Whether counts are looked for.

    Example:
        >>> from pyarrow import parquet, table
        >>> rows = table({"listener": ["ann", "bob"], "track": ["x", "y"], "plays": [3, 2]})
        >>> parquet.write_table(rows, "plays.parquet")
        >>> layout = rr.data.plays_layout("plays.parquet")
        >>> layout.user, layout.item, layout.count
        ('listener', 'track', 'plays')
    """
    first = files_of(path)[0] if is_path(path) else path
    with open_tables(first, layout.cut) as opened:
        file = opened.files[0]
    taken = take_columns(file, layout, counts=counts)
    if file.cut is not None and file.facts["format"] == "text":
        skip = file.cut.title or layout.skip
        layout = replace(layout, header=file.cut.header, separator=file.cut.separator, skip=skip)
    return replace(
        layout, user=taken["user"], item=taken["item"],
        count=taken.get("count"), epoch=taken.get("epoch"),
    )  # fmt: skip


def take_columns(file: TableFile, layout: Layout, *, counts: bool = True) -> dict[str, str]:
    """Which column is what, by role.

    Args:
        file: The table.
        layout: What is known of it.
        counts: Whether counts are looked for.
    """
    names, said = list(file.names), _said(layout)
    check_columns(file.place, names, said.values(), _advice(), told=file.told)
    left = [name for name in names if name not in said.values()]
    if file.cut is not None and not file.cut.header:
        return said if {"user", "item"} <= said.keys() else said | _by_place(file, said)
    found = dict(said)
    for role in ("user", "item", "count") if counts else ("user", "item"):
        fitting = [] if role in said else _fitting(role, left, file)
        check_columns(file.place, names, fitting, "")
        if len(fitting) > 1 or (not fitting and role not in ("count", *said)):
            raise InvalidInput(_unclear(file, role, fitting), code="unclear-column")
        if fitting:
            found[role] = fitting[0]
            left.remove(fitting[0])
    if counts and "count" not in found and (doubtful := doubtful_counts(left, file)):
        raise InvalidInput(unsure_of_count(file.place, doubtful, "count"), code="unclear-column")
    return found


def _fitting(role: str, left: list[str], file: TableFile) -> list[str]:
    """The columns that may be this by their names and by what they hold."""
    found = [name for name in of_role(role, left) if name not in file.lists or role == "item"]
    if role == "count" and file.cut is not None:
        found = [name for name in found if file.holds_amounts(name)]
    return found or [name for name in left if role == "item" and name in file.lists]


def _by_place(file: TableFile, said: dict[str, str]) -> dict[str, str]:
    """Without names: user, item and count in this order, if there are no other columns."""
    rows = () if file.cut is None else file.cut.sample
    sample = [row[2] for row in rows if len(row) > 2]  # noqa: PLR2004
    if said or len(file.names) not in (2, 3) or not all(map(is_number, sample)):
        raise InvalidInput(_unclear(file, "user", []), code="unclear-column")
    return dict(zip(_ROLES, file.names, strict=False))


def _unclear(file: TableFile, role: str, fitting: list[str]) -> str:
    names = listed(file.names) if file.told else f"{len(file.names)}"
    what = (
        f"{' and '.join(map(repr, fitting))} may each be the {role}"
        if fitting
        else f"no column is plainly the {role}"
    )
    look = f"look at the file with `reidrisk inspect {shlex.quote(file.place)}`"
    if file.frame is not None:
        look = "look at the table with `rr.inspect`"
    return f"{file.place}: {what} (the columns are {names}); {_naming(role)}{look}"


def _naming(role: str) -> str:
    return f"name it with {setting(role)}, or " if offered(role) else ""


def _advice() -> str:
    return f"name the right one with {', '.join(map(setting, offered(*_ROLES)))}"


def _said(layout: Layout) -> dict[str, str]:
    said = {role: getattr(layout, role) for role in _ROLES}
    return {role: name for role, name in said.items() if name is not None}
