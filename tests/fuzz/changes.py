"""Changes of tables and files that leave every figure as it is."""

import csv
import gzip
import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
from pyarrow import parquet
from tests.fuzz.running import NAME
from tests.fuzz.world import Table, as_text

Writer = Callable[[Table, Path], None]


def _text(
    separator: str = ",", end: str = "\n", before: str = "", *, quoted: bool = False
) -> Writer:
    def write(table: Table, path: Path) -> None:
        stream = io.StringIO()
        how = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
        writer = csv.writer(stream, delimiter=separator, lineterminator=end, quoting=how)
        writer.writerows((table.names, *table.rows))
        path.write_bytes((before + stream.getvalue()).encode())

    return write


def _gzip(table: Table, path: Path) -> None:
    path.write_bytes(gzip.compress(as_text(table).encode(), mtime=0))


def _zip(table: Table, path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.csv", as_text(table))


def _parquet(table: Table, path: Path, *, packed: bool = False) -> None:
    columns = {name: pa.array(table.column(name)) for name in table.names}
    for name, column in columns.items():
        if name in {"count", "weight", "probability"}:
            columns[name] = column.cast(pa.float64())
        elif packed and name != "tokens":
            columns[name] = column.dictionary_encode()
    parquet.write_table(pa.table(columns), path)


def _parquet_with_dictionaries(table: Table, path: Path) -> None:
    _parquet(table, path, packed=True)


def _folder(table: Table, path: Path) -> None:
    path.mkdir()
    half = len(table.rows) // 2
    for name, rows in (("a.csv", table.rows[:half]), ("b.csv", table.rows[half:])):
        (path / name).write_text(as_text(replace(table, rows=rows)))


FORMATS: dict[str, tuple[str, Writer]] = {
    "TSV": ("file.tsv", _text("\t")),
    "semicolons": ("file.csv", _text(";")),
    "bars": ("file.txt", _text("|")),
    "quotes": ("file.csv", _text(quoted=True)),
    "Windows line ends": ("file.csv", _text(end="\r\n")),
    "a byte order mark": ("file.csv", _text(before="\ufeff")),
    "gzip": ("file.csv.gz", _gzip),
    "zip": ("file.csv.zip", _zip),
    "Parquet": ("file.parquet", _parquet),
    "Parquet with dictionaries": ("file.parquet", _parquet_with_dictionaries),
    "a folder": ("file", _folder),
}
"""Other files of the same table."""


def shuffled_rows(rng: Random, table: Table) -> Table:
    return replace(table, rows=tuple(rng.sample(table.rows, len(table.rows))))


def shuffled_columns(rng: Random, table: Table) -> Table:
    order = rng.sample(range(len(table.names)), len(table.names))
    return Table(tuple(table.names[at] for at in order),
                 tuple(tuple(row[at] for at in order) for row in table.rows))  # fmt: skip


def another_column(rng: Random, table: Table) -> Table:
    return Table((*table.names, "remark"), tuple((*row, rng.choice("xyz")) for row in table.rows))


def blanks(_rng: Random, table: Table) -> Table:
    return replace(table, rows=tuple(tuple(f" {cell} " for cell in row) for row in table.rows))


ARRANGED = {
    "rows in another order": shuffled_rows,
    "columns in another order": shuffled_columns,
    "another column": another_column,
    "blanks around cells": blanks,
}

LABELS: dict[str, Callable[[int], str]] = {
    "numbers": str,
    "zeros in front": lambda at: f"{at // 3 + 1:0{at % 3 + 1}}",
    "points behind": lambda at: f"{at // 3 + 1}{('', '.0', '.00')[at % 3]}",
    "true and True": lambda at: (
        f"{('true', 'True', 'TRUE', '1')[at % 4]}{'' if at < 4 else at // 4}"
    ),
    "64-bit hashes": lambda at: str(9_007_199_254_740_993 + at),
    "hashes beyond 64 bits": lambda at: str(2**70 + at),
    "exponents": lambda at: f"{at // 2 + 1}{('e1', '0')[at % 2]}",
    "dates": lambda at: f"2023-{at // 2 % 9 + 1}-{('1', '01')[at % 2]}{'' if at < 18 else at}",
    "signs": lambda at: f"{('-', '+', '')[at % 3]}{at // 3 + 1}",
    "words": lambda at: f"{NAME}label {at:03}",
    "accents": lambda at: ("é", "e\u0301")[at % 2] + str(at // 2),
    "great and small letters": lambda at: f"{('label', 'Label')[at % 2]}{at // 2}",
}
"""Names for 0, 1, 2, ... all of them different texts."""

SORTED: dict[str, Callable[[int], str]] = {
    "zeros in front": lambda at: f"{at + 1:02}",
    "days": lambda at: f"2023-05-{at + 1:02}",
    "days without dashes": lambda at: f"202305{at + 1:02}",
    "words and padded numbers": lambda at: f"week {at + 1:02}",
}
"""Names that letter by letter have the order of their numbers."""

EPOCHS: dict[str, Callable[[int], str]] = {
    **SORTED,
    "numbers": lambda at: str(at + 1),
    "numbers with a point": lambda at: f"{at + 1}.0",
    "words and numbers": lambda at: f"week {at + 1}",
    "months": lambda at: f"{2023 + at // 12}-{at % 12 + 1:02}",
    "times": lambda at: f"2023-05-{at + 1:02}T08:30:00",
}
"""Names in an order that everybody sees."""

SIDES: dict[str, Callable[[str], str]] = {
    "a point behind": lambda text: f"{text}.0",
    "a zero in front": lambda text: f"0{text}",
    "blanks": lambda text: f" {text} ",
    "a word in front": lambda text: f"no {text}",
}
"""Ways to write the same on one side only."""


def renamed(
    tables: dict[str, Table], column: str, name: Callable[[int], str], order: Sequence[str]
) -> dict[str, Table]:
    """Other names in a column, the same in all tables."""
    new = {old: name(at) for at, old in enumerate(order)}
    assert len(set(new.values())) == len(new)
    return {key: table.replaced(column, new.__getitem__) for key, table in tables.items()}


def natural(entries: set[str]) -> list[str]:
    """Numbers by their size, other text by its letters."""
    return sorted(entries, key=lambda text: (int(text), "") if text.isdecimal() else (0, text))
