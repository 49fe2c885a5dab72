"""Read tables of any format, with the row of whatever is wrong.

Columns of labels are read from text as text and numbered afterwards (see `labels`), so nothing is
guessed from the first rows of a file.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.checks import shown
from reidrisk.core.files import existing_file
from reidrisk.core.machine import within_memory
from reidrisk.core.settings_syntax import offered, offering, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.assembly import Choices, from_table
from reidrisk.io.column_roles import are_names, like_count, listed, nearest
from reidrisk.io.formats import open_table
from reidrisk.io.formats.delimited import DelimitedTable
from reidrisk.io.formats.msweb import CasesTable
from reidrisk.io.formats.parquet import ParquetTable, parquet_file
from reidrisk.io.formats.protocol import TEXT, TableFile
from reidrisk.io.labels import label_array
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Origin
from reidrisk.io.signs import is_amount
from reidrisk.io.streams import unchanged
from reidrisk.people.profiles import Profiles

__all__ = [
    "TEXT",
    "TYPES",
    "AnyPath",
    "check_columns",
    "column_names",
    "doubtful_counts",
    "files_of",
    "joined",
    "parquet_file",
    "read_profiles",
    "read_table",
    "read_taxonomy",
]

AnyPath = str | os.PathLike[str]

LAYOUT = Layout()
PEOPLE = {"user": TEXT, "epoch": TEXT, "token": TEXT, "weight": pa.float64()}
"""Columns of people, and what they are in text."""
# The settings that name columns of people.
SETTINGS = {"user": "user", "epoch": "epoch", "token": "item", "item": "item", "weight": "count",
            "count": "count"}  # fmt: skip
_PACKED = ("", ".gz", ".zip")
_USUAL = (".csv", ".tsv")
_OTHER = (".txt", ".dat", ".data", ".test")
# File types of a folder of tables; files of other types in it may be notes.
_PARTS = (*(kind + packed for packed in _PACKED for kind in _USUAL), ".parquet")
TYPES = (*_PARTS, *(kind + packed for packed in _PACKED for kind in _OTHER), ".zip")


def read_profiles(
    path: AnyPath,
    *,
    columns: Mapping[str, str] | None = None,
    layout: Layout = LAYOUT,
    **choices: Any,
) -> Profiles:
    """Read people from a long table of `user`, `epoch`, `token` and perhaps `weight`.

    Args:
        path: A file of text (`.csv`, `.tsv`, `.txt`, `.dat`, `.data`, also packed as `.gz` or
            `.zip`) or `.parquet`, or a folder of them.
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
    named = people_columns(layout, columns)
    table, source = read_table(path, PEOPLE, named, optional=("weight",), layout=layout)
    return from_table(table, source, chosen)


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
def read_taxonomy(path: AnyPath, *, column: str | None = None) -> NDArray[Any]:
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
    name = column or column_names(files_of(path, TYPES)[0], layout)[0]
    table, source = read_table(path, {"token": TEXT}, {"token": name}, layout=layout)
    if not table.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; a taxonomy names at least one token", code="empty-table"
        )
    return label_array(f"{source}: the taxonomy", table["token"].combine_chunks())


def read_table(
    path: AnyPath,
    types: Mapping[str, pa.DataType | None],
    columns: Mapping[str, str] | None = None,
    *,
    optional: tuple[str, ...] = (),
    layout: Layout = LAYOUT,
) -> tuple[pa.Table, Origin]:
    """Read some columns of one file, or of all files of a folder.

    Args:
        path: The file or folder.
        types: The columns, with their types in text; None leaves the type to the content.
        columns: The names of columns that are called otherwise in the file.
        optional: Columns that may be absent, unless `columns` names them.
        layout: Whether there is a header, and what separates columns, if somebody said so.

    Returns:
        The columns under the names of `types`, and where their rows came from.
    """
    if unknown := set(columns or {}) - set(types):
        raise InvalidInput(
            f"columns renames {', '.join(sorted(unknown))}; it can rename {', '.join(types)}",
            code="unknown-column",
        )
    files = files_of(path, TYPES)
    tables = [read_file(file, types, columns or {}, optional, layout, len(files)) for file in files]
    source = Origin(tuple(map(str, files)), tuple(table.num_rows for table in tables))
    refuse_unlike({tuple(table.column_names) for table in tables}, source, optional)
    return joined(tables, source), source


def refuse_unlike(
    columns: Collection[tuple[str, ...]], source: Origin, optional: tuple[str, ...]
) -> None:
    """Refuse files of which only some have an optional column.

    Args:
        columns: The columns of each file, each combination once.
        source: The files.
        optional: Columns that may be absent.
    """
    if len(columns) > 1:
        raise InvalidInput(
            f"{source}: some of the files have a column {', '.join(optional)} and some have not; "
            "write all of them with the same columns",
            code="columns-differ",
        )


def joined(tables: Sequence[pa.Table], source: Origin) -> pa.Table:
    """Tables one after the other; types that do not go together are refused.

    Args:
        tables: With the same columns.
        source: The files.
    """
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as wrong:
        raise InvalidInput(
            f"{source}: the columns of the files have different types; write them alike: {wrong}",
            code="columns-differ",
        ) from wrong


def files_of(path: AnyPath, types: tuple[str, ...]) -> list[Path]:
    """The file itself, or the files of these types in a folder, sorted by name.

    Args:
        path: The file or folder.
        types: Endings of names.
    """
    place = Path(path)
    known = _spoken(types)
    if place.is_dir():
        inside = sorted(place.iterdir())
        usual = tuple(kind for kind in types if kind in _PARTS)
        found = [file for file in inside if _has_type(file, usual)]
        found = found or [file for file in inside if _has_type(file, types)]
        if not found:
            raise InvalidInput(
                f"{place}: the folder has no file of type {known}; give one that has",
                code="no-files",
            )
        return found
    if not _has_type(place, types):
        raise InvalidInput(
            f"{place}: unknown file type; it must be one of {known}: convert or rename the file",
            code="unknown-file-type",
        )
    return [existing_file(place)]


def _spoken(types: tuple[str, ...]) -> str:
    """The types for messages, without compressed variants."""
    plain = [kind for kind in types if not kind.endswith((".gz", ".zip"))]
    packed = " (text also packed, .gz or .zip)" if ".csv.gz" in types else ""
    return f"{', '.join(plain)}{packed}"


def _has_type(file: Path, types: tuple[str, ...]) -> bool:
    # Spark marks success with _SUCCESS and checksums with .name.crc
    return file.name.lower().endswith(types) and not file.name.startswith((".", "_"))


def read_file(
    file: Path,
    types: Mapping[str, pa.DataType | None],
    columns: Mapping[str, str],
    optional: tuple[str, ...],
    layout: Layout,
    files: int,
) -> pa.Table:
    """Read some columns of one file.

    Args:
        file: Which.
        types: The columns, with their types in text; None leaves the type to the content.
        columns: The names of columns that are called otherwise in the file.
        optional: Columns that may be absent.
        layout: Whether there is a header, and what separates columns.
        files: How many files are read together.
    """
    names = {name: columns.get(name, name) for name in types}
    with unchanged(file):
        opened = open_table(file, layout, names.values())
        refuse_mixed_cases(opened, files)
        taken = {
            name: names[name]
            for name in types
            if name not in optional or name in columns or names[name] in opened.names
        }
        check_columns(file, opened.names, taken.values(), _advice(types))
        if "weight" in optional and "weight" not in taken:
            _refuse_weights(file, opened, list(taken.values()))
        kinds = {taken[name]: kind for name, kind in types.items() if kind and name in taken}
        parts = list(within_memory(opened.batches(list(taken.values()), kinds, None), str(file)))
    return joined(parts, Origin((str(file),), (0,))).rename_columns(list(taken))


def refuse_mixed_cases(opened: TableFile, files: int) -> None:
    """Refuse several files of a format that numbers users anew in each file.

    Args:
        opened: One of them.
        files: How many there are.
    """
    if files > 1 and isinstance(opened, CasesTable):
        raise InvalidInput(
            f"{opened.file}: every file of this format numbers its users from the beginning, so "
            "that they cannot be told apart in a folder; read the files one by one",
            code="several-files",
        )


def _refuse_weights(file: Path, opened: TableFile, taken: Sequence[str]) -> None:
    """Refuse a column that seems to hold weights if no column of weights is named."""
    left = [name for name in opened.names if name not in taken]
    if doubtful := doubtful_counts(left, opened):
        raise InvalidInput(unsure_of_count(file, doubtful, "weight"), code="unclear-column")


def doubtful_counts(names: Sequence[str], opened: TableFile) -> list[str]:
    """The columns that seem to hold counts or weights, by their names and by what they hold.

    Args:
        names: Of the columns that are not taken.
        opened: The table.
    """
    found = like_count(names)
    if isinstance(opened, ParquetTable):
        found = [name for name in found if name in opened.amounts]
    return holding_amounts(found, opened) if isinstance(opened, DelimitedTable) else found


def holding_amounts(names: Sequence[str], opened: DelimitedTable) -> list[str]:
    """Columns of text that hold an amount in any row of the sample.

    Args:
        names: Of the columns.
        opened: The table.
    """
    place, sample = list(opened.names).index, opened.cut.sample
    return [
        name for name in names
        if not sample
        or any(is_amount(row[place(name)]) for row in sample if place(name) < len(row))
    ]  # fmt: skip


def unsure_of_count(file: Path, doubtful: Sequence[str], word: str) -> str:
    """The message for columns that may hold counts, and would be ignored.

    Args:
        file: Which.
        doubtful: The columns.
        word: count or weight.
    """
    names = " and ".join(map(repr, doubtful))
    said = f"name it with {setting('count', doubtful[0])}"
    say = said if offered("count") else f"call it {word!r} in the file"
    return (
        f"{file}: {names} may be the {word}, and would be ignored, so that each row counts once; "
        f"{say}, or give it another name if it is something else"
    )


def _advice(names: Collection[str]) -> str:
    """How to name a column, in the syntax of the caller: option, key or argument."""
    settings = offered(*(SETTINGS[name] for name in names if name in SETTINGS))
    settings = settings or offered("columns", "column")
    other = f", or say what it is called there with {', '.join(map(setting, settings))}"
    return f"name it so in the file{other if settings else ''}"


def check_columns(
    place: object, there: Collection[str], wanted: Iterable[str], advice: str
) -> None:
    """Refuse a table in which a column is missing, or comes twice.

    Args:
        place: The file, for messages.
        there: The columns of the table.
        wanted: The columns that must be there.
        advice: What to do about it.
    """
    names = list(there)
    for name in wanted:
        if name not in names:
            near = nearest(name, names)
            known = (
                f"the nearest is {' or '.join(map(repr, near))}" if near
                else f"there {'is only' if are_names(names) else 'are'} {listed(names)}"
            )  # fmt: skip
            raise InvalidInput(
                f"{place}: there is no column {shown(name)}, {known}; {advice}",
                code="column-not-found",
            )
        if names.count(name) > 1:
            raise InvalidInput(
                f"{place}: there are two columns {name!r}; rename or remove one",
                code="duplicate-column",
            )


def column_names(file: Path, layout: Layout = LAYOUT) -> list[str]:
    """The names of the columns of a file; without a header their numbers, from 1 on.

    Args:
        file: Which.
        layout: What is known of it.
    """
    return list(open_table(file, layout).names)
