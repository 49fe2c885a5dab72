"""CSV and Parquet files, read whole, checked, with the row of whatever is wrong.

Columns of labels are read from CSV as text and numbered afterwards (see `labels`), so nothing is
guessed from the first rows of a file.
"""

import csv as python_csv
import gzip
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.files import existing_file
from reidrisk.inputs.assembly import Choices, from_table
from reidrisk.inputs.labels import label_array, not_utf8
from reidrisk.inputs.layouts import Layout
from reidrisk.inputs.sources import Source
from reidrisk.people.profiles import Profiles

AnyPath = str | os.PathLike[str]

TEXT = pa.large_string()
TYPES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
# Names of columns that are not UTF-8 raise a ValueError.
DAMAGED = (OSError, ValueError, pa.ArrowException)
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_profiles(
    path: AnyPath,
    *,
    columns: Mapping[str, str] | None = None,
    **choices: Any,
) -> Profiles:
    """Read people from a long table of `user`, `epoch`, `token` and perhaps `weight`.

    Args:
        path: A `.csv`, `.tsv` (both also `.gz`) or `.parquet` file, or a folder of them.
        columns: The names in the file of the columns that are called otherwise there, such as
            `{"user": "household_id"}`.
        choices: `taxonomy`, `epochs`, `absent` and `duplicates`, as explained at `Choices`.

    Without a column of weights every row weighs 1. Other columns are not read.
    """
    chosen = Choices(**choices)
    types = {"user": TEXT, "epoch": TEXT, "token": TEXT, "weight": pa.float64()}
    table, source = read_table(path, types, columns, optional=("weight",))
    return from_table(table, source, chosen)


def read_taxonomy(path: AnyPath, *, column: str | None = None) -> NDArray[Any]:
    """Labels of all tokens from a column of a table, by default its first."""
    files = files_of(path, TYPES)
    name = column or column_names(files[0])[0]
    table, source = read_table(path, {"token": TEXT}, {"token": name})
    if not table.num_rows:
        raise InvalidInput(f"{source}: there are no rows; a taxonomy names at least one token")
    return label_array(f"{source}: the taxonomy", table["token"].combine_chunks())


def read_table(
    path: AnyPath,
    types: Mapping[str, pa.DataType | None],
    columns: Mapping[str, str] | None = None,
    *,
    optional: tuple[str, ...] = (),
    layout: Layout = Layout(),  # noqa: B008  a frozen value
) -> tuple[pa.Table, Source]:
    """Read some columns of one file, or of all files of a folder.

    Args:
        path: The file or folder.
        types: The columns, with their types in CSV files; None leaves the type to the content.
        columns: The names of columns that are called otherwise in the file.
        optional: Columns that may be absent.
        layout: Whether there is a header, and what separates columns, if somebody said so.

    Returns:
        The columns under the names of `types`, and where their rows came from.
    """
    names = {name: (columns or {}).get(name, name) for name in types}
    if unknown := set(columns or {}) - set(types):
        raise InvalidInput(
            f"columns renames {', '.join(sorted(unknown))}; it can rename {', '.join(types)}"
        )
    files = files_of(path, TYPES)
    tables = [_read(file, types, names, optional, layout) for file in files]
    source = Source(tuple(map(str, files)), tuple(table.num_rows for table in tables))
    if len({tuple(table.column_names) for table in tables}) > 1:
        raise InvalidInput(
            f"{source}: some of the files have a column {', '.join(optional)} and some have not; "
            "write all of them with the same columns"
        )
    try:
        return pa.concat_tables(tables, promote_options="permissive"), source
    except (pa.ArrowInvalid, pa.ArrowTypeError) as wrong:
        raise InvalidInput(
            f"{source}: the columns of the files have different types; write them alike: {wrong}"
        ) from wrong


def files_of(path: AnyPath, types: tuple[str, ...]) -> list[Path]:
    """The file itself, or the files of these types in a folder, sorted by name."""
    place = Path(path)
    known = ", ".join(types)
    if place.is_dir():
        found = sorted(file for file in place.iterdir() if _has_type(file, types))
        if not found:
            raise InvalidInput(
                f"{place}: the folder has no file of type {known}; give one that has"
            )
        return found
    if not _has_type(place, types):
        raise InvalidInput(
            f"{place}: unknown file type; it must be one of {known}: convert or rename the file"
        )
    return [existing_file(place)]


def _has_type(file: Path, types: tuple[str, ...]) -> bool:
    # Spark marks success with _SUCCESS and checksums with .name.crc
    return file.name.lower().endswith(types) and not file.name.startswith((".", "_"))


def _read(
    file: Path,
    types: Mapping[str, pa.DataType | None],
    names: Mapping[str, str],
    optional: tuple[str, ...],
    layout: Layout,
) -> pa.Table:
    """The columns of one file under our names."""
    there = column_names(file, layout)
    taken = {name: names[name] for name in types if name not in optional or names[name] in there}
    check_columns(
        file, there, taken.values(), "name it so in the file, or give its name there with columns="
    )
    if file.suffix.lower() == ".parquet":
        table = _read_parquet(file, list(taken.values()))
    else:
        kinds = {taken[name]: kind for name, kind in types.items() if kind and name in taken}
        table = _read_csv(file, list(taken.values()), kinds, layout)
    return table.rename_columns(list(taken))


def check_columns(place: object, there: list[str], wanted: Iterable[str], advice: str) -> None:
    """Refuse a table in which a column is not there, or is there twice."""
    for name in wanted:
        if name not in there:
            raise InvalidInput(
                f"{place}: there is no column {name!r}, only {', '.join(there) or 'none'}; {advice}"
            )
        if there.count(name) > 1:
            raise InvalidInput(f"{place}: there are two columns {name!r}; rename or remove one")


def column_names(file: Path, layout: Layout = Layout()) -> list[str]:  # noqa: B008  as above
    """The names of the columns of a file; without a header their numbers, from 1 on."""
    if file.suffix.lower() == ".parquet":
        return list(parquet_file(file).schema_arrow.names)
    try:
        with gzip.open(file) if _is_packed(file) else file.open("rb") as stream:
            line = stream.readline()
    except (OSError, EOFError, zlib.error) as wrong:
        raise InvalidInput(f"{file}: the file cannot be read; copy it again: {wrong}") from wrong
    if line.startswith(UTF_16):
        raise InvalidInput(f"{file}: the file is UTF-16, not UTF-8; convert it to UTF-8")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(not_utf8(f"{file}, header", "header")) from None
    names = next(python_csv.reader([text], delimiter=_separator(file, layout)), [])
    return [str(place + 1) for place in range(len(names))] if layout.header is False else names


def _is_packed(file: Path) -> bool:
    return file.name.lower().endswith(".gz")


def _separator(file: Path, layout: Layout) -> str:
    if layout.separator is not None:
        return layout.separator
    return "\t" if ".tsv" in file.name.lower()[-len(".tsv.gz") :] else ","


def parquet_file(file: Path) -> Any:
    """An open Parquet file."""
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(file)
    except DAMAGED as wrong:
        raise InvalidInput(
            f"{file}: this is no whole Parquet file; write it again: {wrong}"
        ) from wrong


def _read_parquet(file: Path, columns: list[str]) -> pa.Table:
    try:
        return parquet_file(file).read(columns=columns).select(columns)
    except DAMAGED as wrong:
        raise InvalidInput(f"{file}: the file is damaged; write it again: {wrong}") from wrong


def _read_csv(
    file: Path, columns: list[str], kinds: Mapping[str, pa.DataType], layout: Layout
) -> pa.Table:
    try:
        return _parse_csv(file, columns, kinds, layout, threads=True)
    except (OSError, pa.ArrowException):
        pass
    # Only one thread knows the number of a row.
    try:
        return _parse_csv(file, columns, kinds, layout, threads=False)
    except (OSError, pa.ArrowException) as wrong:
        raise InvalidInput(_explain(file, columns, str(wrong))) from wrong


def _parse_csv(
    file: Path,
    columns: list[str],
    kinds: Mapping[str, pa.DataType],
    layout: Layout,
    *,
    threads: bool,
) -> pa.Table:
    from pyarrow import csv

    return csv.read_csv(
        pa.input_stream(file, compression="gzip" if _is_packed(file) else None),
        read_options=csv.ReadOptions(
            use_threads=threads,
            block_size=1 << 22,
            column_names=column_names(file, layout) if layout.header is False else None,
        ),
        parse_options=csv.ParseOptions(
            delimiter=_separator(file, layout), newlines_in_values=False
        ),
        convert_options=csv.ConvertOptions(
            include_columns=columns, column_types=dict(kinds), null_values=[""]
        ),
    )


def _explain(file: Path, columns: list[str], wrong: str) -> str:
    """Arrow's complaint in our words; its rows count the header."""
    said = re.search(r"(?:In CSV column #(\d+): )?Row #(\d+): (.*)", wrong)
    if not said:
        return f"{file}: the file cannot be read as a table; write it again: {wrong}"
    column, row, reason = said.groups()
    place = f"{file}, row {int(row) - 1}"
    if column is None:
        # Behind the colon Arrow quotes the row, and with it the user.
        return f"{place}: {reason.partition(':')[0]}; give each row as many entries as the header"
    name = columns[int(column)] if int(column) < len(columns) else f"column {column}"
    if "UTF8" in reason:
        return not_utf8(place, name)
    return f"{place}: {name!r} must be a number ({reason}); correct the entry or remove the row"
