"""Number the labels of columns in sorted order, in one pass over the files.

DuckDB hands over entries in the order of the files. Arrow keeps each as a number and every distinct
text once, so that what is held goes by rows and not by the length of entries. At the end
the distinct texts are put in order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.machine import within_memory
from reidrisk.core.parallel import ahead, over_blocks
from reidrisk.errors import InvalidInput
from reidrisk.io.columns import holds_text, trimmed
from reidrisk.io.labels import NOTHING, Coded, encode_texts
from reidrisk.io.nobody import skip_nobody
from reidrisk.io.parquet_files import check_pages
from reidrisk.io.provenance import Origin
from reidrisk.io.row_checks import check_users
from reidrisk.io.table_files import TEXT, TableFile
from reidrisk.io.tables import OpenTables, refuse_empty_lines
from reidrisk.io.unpacking import Progress

Result = TypeVar("Result")
Columns = Mapping[str, str]
"""What columns are called in a table, by what they are."""

_COUNT, _USER = "count", "user"
# Batches whose distinct texts are merged at once: fewer take more time, more take memory.
_TOGETHER = 8


@dataclass(frozen=True, eq=False, slots=True)
class NumberedRows:
    """Rows of some tables.

    Args:
        labels: The columns of labels, as numbers into their distinct labels.
        counts: The column of counts, if there is one.
        empty: Which counts are missing, if any is.
        source: Where the rows came from.
    """

    labels: Mapping[str, Coded]
    counts: NDArray[Any] | None
    empty: NDArray[np.bool_] | None
    source: Origin

    def __len__(self) -> int:
        return len(next(iter(self.labels.values())).codes)


def number_rows(
    opened: OpenTables,
    columns: Sequence[Columns],
    build: Callable[[NumberedRows], Result],
    *,
    anything: bool = False,
    ordered: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Build something from rows whose labels are numbered; rows that name no user are left out.

    Args:
        opened: The tables.
        columns: The columns of each table: labels, and perhaps `count`.
        build: Makes something of the rows, or refuses one of them.
        anything: Whether times and fractions are labels too.
        ordered: Whether the source can name rows from the beginning, not only for a refusal.
        progress: Told how many bytes were read.
    """
    query = _Query(opened, columns, anything)
    query.check()
    try:
        rows = query.rows(progress, numbered=ordered and query.rows_differ)
    except _NamesNobody:
        query = query.with_users()
        rows = query.rows(None, numbered=ordered and query.rows_differ)
    try:
        return build(rows)
    except InvalidInput as wrong:
        if ordered or not query.rows_differ:
            raise
        refused = wrong
    # Only now rows are numbered, which takes long, to name the first that is wrong.
    build(query.rows(None, numbered=True))
    raise refused


class _NamesNobody(Exception):
    """Some rows name no user."""


class _Entries:
    """The entries of a column, as numbers into their distinct texts."""

    def __init__(self) -> None:
        self._parts: list[pa.DictionaryArray] = []
        self._new: list[pa.DictionaryArray] = []

    def add(self, texts: pa.Array) -> None:
        """Take some entries.

        Args:
            texts: The entries.
        """
        self._new.append(texts.dictionary_encode())
        if len(self._new) == _TOGETHER:
            self._parts.append(_unified(self._new).combine_chunks())
            self._new = []

    def numbered(self) -> tuple[list[NDArray[np.int32]], pa.Array]:
        """The number of each entry, and the text of each number; the entries are given up."""
        whole = _unified(self._parts + self._new)
        self._parts, self._new = [], []
        texts = whole.chunk(0).dictionary if whole.num_chunks else pa.array([], TEXT)
        return [part.indices.to_numpy() for part in whole.chunks], texts


def _unified(parts: list[pa.DictionaryArray]) -> pa.ChunkedArray:
    """The same parts, as numbers into the distinct texts of all."""
    return pa.chunked_array(parts, pa.dictionary(pa.int32(), TEXT)).unify_dictionaries()


@dataclass(frozen=True)
class _Query:
    opened: OpenTables
    columns: Sequence[Columns]
    anything: bool

    @property
    def roles(self) -> list[str]:
        """The columns of labels."""
        return [role for role in self.columns[0] if role != _COUNT]

    @property
    def all_text(self) -> bool:
        """Whether all tables are files of text, in which blanks around entries mean nothing."""
        return all(file.cut is not None for file in self.opened.files)

    def _files(self) -> Iterator[tuple[TableFile, Columns]]:
        return zip(self.opened.files, self.columns, strict=True)

    def check(self) -> None:
        """Refuse columns of the wrong type, and lists without items."""
        for file, columns in self._files():
            if file.facts["format"] == "Parquet":
                check_pages(Path(file.place), list(columns.values()))
            refuse_empty_lines(self.opened, file)
            for role, name in columns.items():
                kind = file.type_of(name)
                if role == _COUNT:
                    _refuse_no_numbers(file, name, kind)
                elif pa.types.is_nested(kind) and role == "item":
                    self._refuse_empty_lists(file, name)
                elif not (pa.types.is_floating(kind) and self._holds_whole(file, name)):
                    _refuse_no_labels(file, name, kind, anything=self.anything)

    def _holds_whole(self, file: TableFile, name: str) -> bool:
        """Whether a column of fractions holds whole numbers, as frames have them beside gaps."""
        column = file.column(name)
        return (
            self.opened.first_row(file, f"{column} <> trunc({column}) or isinf({column})") is None
        )

    def _refuse_empty_lists(self, file: TableFile, name: str) -> None:
        column = file.column(name)
        row = self.opened.first_row(file, f"{column} is null or len({column}) = 0")
        if row is not None:
            place = f"{file.place}, row {row + 1}"
            if self.opened.first_row(file, f"{column} is null") == row:
                raise InvalidInput(
                    f"{place}: {name!r} is empty; fill it or remove the row", code="empty-cell"
                )
            raise InvalidInput(
                f"{place}: the list of {name!r} is empty; remove the row", code="empty-lists"
            )

    @property
    def rows_differ(self) -> bool:
        """Whether what is handed over are not the rows of the files, one by one."""
        return any(file.lists or file.condition for file in self.opened.files)

    def _query(self, file: TableFile, columns: Columns, *, numbered: bool) -> str:
        """The columns of a table under their roles."""
        chosen = [
            f"{_expression(file, name, role, all_text=self.all_text)} as {role}"
            for role, name in columns.items()
        ]
        relation = file.numbered if numbered else file.relation
        return f"select {', '.join([*chosen, *['row'] * numbered])} from {relation}"

    def rows(self, progress: Progress | None, *, numbered: bool) -> NumberedRows:
        """All rows, as numbers of their labels.

        Args:
            progress: Told how many bytes were read.
            numbered: Whether the number of each row in its file is found too.
        """
        found = {role: _Entries() for role in self.roles}
        parts: dict[str, list[NDArray[Any]]] = {_COUNT: [], "row": []}
        empty: list[NDArray[np.bool_]] = []
        sizes = []
        for place, (file, columns) in enumerate(self._files()):
            query, rows = self._query(file, columns, numbered=numbered), 0
            told = _part_of(progress, place, len(self.columns))
            batches = ahead(self.opened.batches(query, told))
            for batch in within_memory(batches, self.opened.files[0].place):
                rows += len(batch)
                for role, entries in found.items():
                    entries.add(batch[role].cast(TEXT))
                if _COUNT in columns:
                    counts = batch[_COUNT]
                    parts[_COUNT].append(_short(counts.to_numpy(zero_copy_only=False)))
                    empty.append(counts.is_null().to_numpy(zero_copy_only=False))
                if numbered:
                    parts["row"].append(batch["row"].to_numpy())
            sizes.append(rows)
        columns_of = list(found.values())
        coded = over_blocks(lambda at, _: columns_of[at].numbered(), len(found), 1)
        by_role = dict(zip(found, coded, strict=True))
        opened = self._checked(by_role[_USER][1]) if _USER in by_role else self.opened
        labels = {role: self._in_order(*one) for role, one in by_role.items()}
        if nulls := any(one.any() for one in empty):
            self._refuse_no_numbers()
        return NumberedRows(
            labels,
            _joined(parts[_COUNT]) if _COUNT in self.columns[0] else None,
            np.concatenate(empty) if nulls else None,
            self._source(opened, sizes, _joined(parts["row"]) if numbered else None),
        )

    def with_users(self) -> "_Query":
        """The same for rows that name a user."""
        users = [
            _expression(file, columns[_USER], _USER, all_text=False)
            for file, columns in self._files()
        ]
        return replace(self, opened=skip_nobody(self.opened, users))

    def _labels(self, texts: pa.Array) -> pa.Array:
        """Entries as labels; blanks are left out here, where each entry is looked at once."""
        return trimmed(texts) if self.all_text else texts

    def _checked(self, users: pa.Array) -> OpenTables:
        """The tables with what is odd about their users.

        Args:
            users: The distinct entries.
        """
        if pc.any(pc.is_in(trimmed(users), value_set=pa.array(["", *NOTHING], TEXT))).as_py():
            raise _NamesNobody
        names = [columns[_USER] for columns in self.columns]
        connection = self.opened.connection
        connection.register("users", pa.table({"label": self._labels(users)}))
        checked = check_users(self.opened, names, "(select distinct label from users)")
        connection.unregister("users")
        return checked

    def _in_order(self, parts: list[NDArray[np.int32]], texts: pa.Array) -> Coded:
        """Number a column in the order of its labels: as numbers if all are plain whole ones."""
        coded = encode_texts(pa.chunked_array([self._labels(texts)]))
        codes = np.empty(sum(map(len, parts)), np.int32)
        end = len(codes)
        while parts:
            part = parts.pop()
            np.take(coded.codes, part, out=codes[end - len(part) : end], mode="clip")
            end -= len(part)
        return Coded(codes, coded.labels)

    def _refuse_no_numbers(self) -> None:
        for file, columns in self._files():
            self.opened.refuse_no_number(file, columns[_COUNT])

    def _source(self, opened: OpenTables, sizes: list[int], row: NDArray[Any] | None) -> Origin:
        """Where rows came from.

        Args:
            opened: The tables, checked.
            sizes: How many rows each file gave.
            row: The number of each row in its file, if what was handed over is not all of them.
        """
        if not self.rows_differ:
            return opened.source(sizes)
        files = opened.files
        source = opened.source([opened.rows_of(file) for file in files])
        if row is None:
            return replace(source, record=lambda _: 0)
        before = np.concatenate([[0], np.cumsum(source.rows[:-1])]).repeat(sizes)
        record = before + row
        return replace(source, record=lambda at: int(record[at]))


def _expression(file: TableFile, name: str, role: str, *, all_text: bool) -> str:
    """A column in SQL: a number, or a label as text, empty where there is none."""
    kind = file.type_of(name)
    if file.cut is not None:
        return file.number(name) if role == _COUNT else file.entry(name, trimmed=not all_text)
    column = file.column(name)
    if role == _COUNT:
        return file.number(name)
    if pa.types.is_nested(kind):
        return f"unnest([coalesce(one, '') for one in cast({column} as varchar[])])"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return f"coalesce(decode({column}), '')"
    if pa.types.is_floating(kind) and role in {_USER, "item"}:
        whole = f"case when {column} = trunc({column}) then cast({column} as bigint) end"
        return f"coalesce(cast({whole} as varchar), cast({column} as varchar), '')"
    return f"coalesce(cast({column} as varchar), '')"


def _refuse_no_numbers(file: TableFile, name: str, kind: pa.DataType) -> None:
    if not file.is_written and not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise InvalidInput(
            f"{file.place}: column {name!r} holds {kind}, but must hold numbers; write it as "
            "numbers",
            code="wrong-column-type",
        )


def _refuse_no_labels(file: TableFile, name: str, kind: pa.DataType, *, anything: bool) -> None:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    types = pa.types
    fits = (
        holds_text(kind) or types.is_binary(kind) or types.is_large_binary(kind)
        or types.is_integer(kind) or types.is_boolean(kind) or types.is_date(kind)
        or types.is_null(kind)
    )  # fmt: skip
    more = types.is_temporal(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if not (fits or (anything and more)):
        raise InvalidInput(
            f"{file.place}: column {name!r} holds {kind}, but labels are whole numbers or text; "
            "write the column as one of the two",
            code="wrong-column-type",
        )


def _short(counts: NDArray[Any]) -> NDArray[Any]:
    """In single precision if that loses nothing; numpy widens all if one part is not."""
    counts = counts.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        short = counts.astype(np.float32)
    return short if np.array_equal(short, counts) else counts


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """One array; the parts are given up."""
    whole = np.concatenate(parts) if parts else np.empty(0, np.int32)
    parts.clear()
    return whole


def _part_of(progress: Progress | None, which: int, files: int) -> Progress | None:
    """Progress of one file as that of all."""
    if progress is None:
        return None
    return lambda done, total: progress((done + which * total) // files, total)
