"""Read people from rows of a user and an item: plays, purchases, visits.

The file is read once, from front to back, and never held as a whole: of its text only the distinct
users and items stay, each once.
"""

import operator
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.machine import within_memory
from reidrisk.core.parallel import ahead
from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.assembly import Choices, Duplicates, LongRows, assemble, check_weights
from reidrisk.io.column_roles import listed, of_role
from reidrisk.io.columns import lists, numbers, refuse_nulls
from reidrisk.io.formats import open_table
from reidrisk.io.formats.delimited import DelimitedTable
from reidrisk.io.formats.parquet import ParquetTable
from reidrisk.io.formats.protocol import TEXT, TableFile
from reidrisk.io.labels import Coded, encode_numbers, refuse_blanks, refuse_nobody, text_of
from reidrisk.io.layouts import Layout
from reidrisk.io.numbering import Numbering
from reidrisk.io.provenance import Origin
from reidrisk.io.signs import is_number
from reidrisk.io.streams import Progress, unchanged
from reidrisk.io.tables import (
    LAYOUT,
    TYPES,
    AnyPath,
    check_columns,
    doubtful_counts,
    files_of,
    holding_amounts,
    refuse_mixed_cases,
    unsure_of_count,
)
from reidrisk.people.profiles import Profiles

_ROLES = ("user", "item", "count", "epoch")


def read_plays(
    path: AnyPath,
    *,
    layout: Layout = LAYOUT,
    taxonomy: Any = None,
    duplicates: Duplicates = "add",
    progress: Progress | None = None,
) -> Profiles:
    """Read people from rows of a user, an item and perhaps a count and an epoch.

    In Parquet a row may hold a list of items: each is taken for a row of its own.

    Args:
        path: A file of text or Parquet, packed or not, or a folder of them.
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
    files = files_of(path, TYPES)
    sizes = [file.stat().st_size for file in files]
    columns: dict[str, Any] = {"user": Labels(), "item": Labels(), "epoch": Labels(), "count": [],
                               "row": []}  # fmt: skip
    rows: list[int] = []
    first: dict[str, str] = {}
    for place, file in enumerate(files):
        with unchanged(file):
            opened = open_table(file, layout)
            refuse_mixed_cases(opened, len(files))
            taken = take_columns(file, opened, layout)
            first = first or taken
            if taken.keys() != first.keys():
                raise InvalidInput(
                    f"{file}: the columns are not those of {files[0]}; write all files of a folder "
                    "with the same columns",
                    code="columns-differ",
                )
            watch = _part(progress, sum(sizes[:place]), sum(sizes))
            here = Origin((str(file),), (0,))
            rows.append(_stream(opened, taken, columns, here, watch, before=sum(rows)))
    source = Origin(tuple(map(str, files)), tuple(rows))
    if not sum(rows):
        raise InvalidInput(
            f"{source}: there are no rows; at least one is needed", code="empty-table"
        )
    if columns["row"]:
        source = replace(source, record=np.concatenate(columns["row"]).__getitem__)
    return assemble(_long_rows(columns, source), source, choices)


def plays_layout(path: AnyPath, layout: Layout = LAYOUT, *, counts: bool = True) -> Layout:
    """The layout by which `read_plays` reads a file, with everything said that was left open.

    A column is the one that the layout names; else the one whose name says what it is, such as
    `household_id`, `track` or `plays`, or that holds lists of items; else, in a file of two or
    three columns without a header, the first is the user, the second the item, the third the
    count. A count holds numbers. Epochs are taken only where the layout names them. Whatever leaves
    a doubt is refused, also a column that is nearly called a count, such as `vists`.

    Args:
        path: The file, or a folder of files of which the first is looked at.
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
    file = files_of(path, TYPES)[0]
    opened = open_table(file, layout)
    taken = take_columns(file, opened, layout, counts=counts)
    if isinstance(opened, DelimitedTable):
        layout = replace(layout, header=opened.cut.header, separator=opened.cut.separator)
    return replace(
        layout, user=taken["user"], item=taken["item"],
        count=taken.get("count"), epoch=taken.get("epoch"),
    )  # fmt: skip


class Labels:
    """A column of labels that comes in parts: whole numbers, or text that is numbered."""

    def __init__(self) -> None:
        self.parts: list[NDArray[Any]] = []
        self._texts = Numbering()
        self._whole: bool | None = None

    def add(self, column: pa.ChunkedArray, name: str, source: Origin) -> None:
        """The next rows."""
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        refuse_nulls(column, name, source)
        whole = pa.types.is_integer(kind) and kind != pa.uint64()
        if self._whole is None:
            self._whole = whole
        if whole and self._whole:
            self.parts += [part.cast(pa.int64()).to_numpy() for part in column.chunks]
            return
        if self._whole:
            self.parts = [self._numbered(pa.array(part).cast(TEXT)) for part in self.parts]
            self._whole = False
        # Text of the type that formats give has been checked there.
        text = column if kind == TEXT else text_of(column, name, source)
        refuse_blanks(text.chunks, name, source)
        self.parts += self._texts.add(text.chunks)

    def coded(self, name: str, source: Origin) -> Coded:
        """All rows, their labels in sorted order."""
        rows = np.concatenate(self.parts)
        self.parts = []
        return encode_numbers(rows) if self._whole else self._texts.coded(rows, name, source)

    def _numbered(self, part: pa.LargeStringArray) -> NDArray[np.int32]:
        return self._texts.add([part])[0]


def _stream(
    opened: TableFile,
    taken: dict[str, str],
    columns: dict[str, Any],
    source: Origin,
    progress: Progress | None,
    before: int,
) -> int:
    """Add the rows of a file to the columns; returns how many they are."""
    kinds = {name: pa.float64() if role == "count" else TEXT for role, name in taken.items()}
    rows = 0
    for read in within_memory(ahead(opened.batches(list(kinds), kinds, progress)), str(source)):
        total = rows + read.num_rows
        here = Origin(source.files, (total,), record=partial(operator.add, rows))
        batch, owner = _unpacked(read, taken["item"], here)
        if owner is not None:
            here = replace(here, record=(rows + owner).__getitem__)
            columns["row"].append(before + rows + owner)
        for role, name in taken.items():
            if role == "count":
                counts = numbers(batch[name], name, here)
                check_weights(counts, here, repr(name))
                columns[role].append(_short(counts))
            else:
                columns[role].add(batch[name], name, here)
        if "count" not in taken:
            columns["count"].append(np.ones(batch.num_rows, np.float32))
        rows = total
    return rows


def _unpacked(
    rows: pa.Table, name: str, source: Origin
) -> tuple[pa.Table, NDArray[np.int64] | None]:
    """A row for each item where rows hold lists of them, and the row that each came from."""
    if not pa.types.is_nested(rows.schema.field(name).type):
        return rows, None
    refuse_nulls(rows[name], name, source)
    column = lists(rows[name], name, source)
    empty = column.value_lengths().to_numpy() == 0
    if empty.any():
        raise InvalidInput(
            f"{source.place(int(empty.argmax()))}: the list of {name!r} is empty; remove the row",
            code="empty-lists",
        )
    owner = column.value_parent_indices().to_numpy().astype(np.int64)
    items = pa.chunked_array([column.flatten()])
    return rows.take(owner).set_column(rows.column_names.index(name), name, items), owner


def _long_rows(columns: dict[str, Any], source: Origin) -> LongRows:
    users = columns["user"].coded("user", source)
    refuse_nobody(users, "user", source)
    items = columns["item"].coded("item", source)
    if columns["epoch"].parts:
        epochs = columns["epoch"].coded("epoch", source)
    else:
        epochs = Coded(np.zeros(len(users.codes), np.int32), np.zeros(1, np.int64))
    return LongRows(users, epochs, items, np.concatenate(columns["count"]))


def take_columns(
    file: Path, opened: TableFile, layout: Layout, *, counts: bool = True
) -> dict[str, str]:
    """Which column is what, by role."""
    names, said = list(opened.names), _said(layout)
    check_columns(file, names, said.values(), _advice())
    left = [name for name in names if name not in said.values()]
    if isinstance(opened, DelimitedTable) and not opened.cut.header:
        return said if {"user", "item"} <= said.keys() else said | _by_place(file, opened, said)
    found = dict(said)
    for role in ("user", "item", "count") if counts else ("user", "item"):
        fitting = [] if role in said else _fitting(role, left, opened)
        check_columns(file, names, fitting, "")
        if len(fitting) > 1 or (not fitting and role not in ("count", *said)):
            raise InvalidInput(_unclear(file, names, role, fitting), code="unclear-column")
        if fitting:
            found[role] = fitting[0]
            left.remove(fitting[0])
    if counts and "count" not in found and (doubtful := doubtful_counts(left, opened)):
        raise InvalidInput(unsure_of_count(file, doubtful, "count"), code="unclear-column")
    return found


def _fitting(role: str, left: list[str], opened: TableFile) -> list[str]:
    """The columns that may be this by their names and by what they hold."""
    lists = opened.lists if isinstance(opened, ParquetTable) else ()
    found = [name for name in of_role(role, left) if name not in lists or role == "item"]
    if role == "count" and isinstance(opened, DelimitedTable):
        found = holding_amounts(found, opened)
    return found or [name for name in left if role == "item" and name in lists]


def _by_place(file: Path, opened: DelimitedTable, said: dict[str, str]) -> dict[str, str]:
    """Without names: user, item and count in this order, if there are no other columns."""
    names = opened.names
    sample = [row[2] for row in opened.cut.sample if len(row) > 2]  # noqa: PLR2004
    if said or len(names) not in (2, 3) or not all(map(is_number, sample)):
        raise InvalidInput(_unclear(file, list(names), "user", []), code="unclear-column")
    return dict(zip(_ROLES, names, strict=False))


def _unclear(file: Path, names: list[str], role: str, fitting: list[str]) -> str:
    what = (
        f"{' and '.join(map(repr, fitting))} may each be the {role}"
        if fitting
        else f"no column is plainly the {role}"
    )
    return (
        f"{file}: {what} (the columns are {listed(names)}); {_naming(role)}look at the file with "
        f"`reidrisk inspect {shlex.quote(str(file))}`"
    )


def _naming(role: str) -> str:
    return f"name it with {setting(role)}, or " if offered(role) else ""


def _advice() -> str:
    return f"name the right one with {', '.join(map(setting, offered(*_ROLES)))}"


def _said(layout: Layout) -> dict[str, str]:
    said = {role: getattr(layout, role) for role in _ROLES}
    return {role: name for role, name in said.items() if name is not None}


def _short(counts: NDArray[Any]) -> NDArray[Any]:
    """In single precision if that loses nothing; numpy widens all if one part is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        short = counts.astype(np.float32)
    return short if np.array_equal(short, counts) else counts


def _part(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Progress of one file as that of all."""
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)
