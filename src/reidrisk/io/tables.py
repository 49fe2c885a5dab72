"""Open any table as columns of a locked DuckDB connection, and read columns of it.

Files of text are read as text: labels keep their spelling, and nothing is guessed from the first
rows except what separates columns and whether the first line names them (see `dialects`). Parquet,
JSON and frames have types of their own. Whatever DuckDB cannot open by itself is first unpacked or
recoded into a private folder, which also takes what does not fit into memory.
"""

import glob
import os
import re
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.core.checks import shown
from reidrisk.core.files import existing_file
from reidrisk.core.machine import cores, to_get_more, usable_memory, within_memory
from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.io.array_files import is_array_file, table_of_arrays
from reidrisk.io.column_roles import are_names, like_count, listed, nearest
from reidrisk.io.columns import holds_text
from reidrisk.io.conditions import bound_condition, wrong_condition
from reidrisk.io.dialects import (
    Cut,
    mixed_ends,
    ragged,
)
from reidrisk.io.frames import table_of
from reidrisk.io.labels import not_utf8
from reidrisk.io.layouts import Layout
from reidrisk.io.parquet_files import check_pages, no_text
from reidrisk.io.provenance import Origin
from reidrisk.io.table_files import (
    BLANKS,
    BUFFER,
    LONGEST,
    FilePlan,
    TableFile,
    other_encoding,
    sql_text,
    too_long,
)
from reidrisk.io.unpacking import SUFFIXES, Progress, unchanged

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

AnyPath = str | os.PathLike[str]

LAYOUT = Layout()
# Rows that are handed over at a time.
BATCH = 1 << 20
_LEAST_MEMORY = 1 << 28
_SMALL = 1 << 20

# The settings that name columns of people.
_SETTINGS = {"user": "user", "epoch": "epoch", "token": "item", "item": "item", "weight": "count",
             "count": "count", "vector": "vector"}  # fmt: skip
_USUAL = (".csv", ".tsv")
_OTHER = (".txt", ".dat", ".data", ".test")
_TYPED = (".parquet", ".jsonl", ".ndjson", ".json", ".xlsx", ".xls", ".ods")
_PACKED = ("", *SUFFIXES)
# File types of a folder of tables; files of other types in it may be notes.
_PARTS = (*(kind + packed for packed in _PACKED for kind in _USUAL), *_TYPED)
TYPES = (*_PARTS, *(kind + packed for packed in _PACKED for kind in _OTHER), ".zip")


@dataclass(frozen=True, eq=False)
class OpenTables:
    """Tables that are open together, in one connection.

    Args:
        connect: Gives a locked connection, which reads these files and its own folder, and nothing
            else. It is made when it is first asked for: whoever looks at columns needs none.
        files: The tables.
        size: Bytes of all files, for progress.
        notes: What was left out of them or seems odd, a sentence each.
        warnings: Likewise, where figures may be far off for it.
    """

    connect: Callable[[], "DuckDBPyConnection"]
    files: tuple[TableFile, ...]
    size: int
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def connection(self) -> "DuckDBPyConnection":
        """Holds the tables."""
        return self.connect()

    def source(self, rows: Sequence[int]) -> Origin:
        """Where rows came from, for messages.

        Args:
            rows: How many each table has.
        """
        places = tuple(one.place for one in self.files)
        return Origin(places, tuple(rows), notes=self.notes, warnings=self.warnings)

    def run(self, query: str, progress: Progress | None = None) -> list[tuple[Any, ...]]:
        """Run a query; what is wrong with the files is refused in our words.

        Args:
            query: In SQL.
            progress: Told how many bytes were read, more or less, and how many there are.
        """
        import duckdb

        connection = self.connection
        try:
            with _watched(connection, self.size, progress):
                return connection.execute(query).fetchall()
        except duckdb.Error as wrong:
            found = wrong
        # Outside of the block: an error of DuckDB may quote cells, and must not be the context.
        raise self._refusal(found)

    def batches(self, query: str, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """What a query finds, some rows at a time.

        Args:
            query: In SQL.
            progress: As above.
        """
        import duckdb

        connection = self.connection
        try:
            with _watched(connection, self.size, progress):
                yield from connection.sql(query).to_arrow_reader(BATCH)
        except (duckdb.Error, pa.ArrowException, OSError) as wrong:
            found = wrong
        else:
            return
        raise self._refusal(found)

    def arrow(self, query: str) -> pa.Table:
        """What a query finds, in order.

        Args:
            query: In SQL.
        """
        import duckdb

        connection = self.connection
        try:
            return connection.sql(query).to_arrow_table()
        except (duckdb.Error, pa.ArrowException) as wrong:
            found = wrong
        raise self._refusal(found)

    def first_row(self, file: TableFile, condition: str) -> int | None:
        """The first row of a table that meets a condition, counted from 0.

        Args:
            file: The table.
            condition: In SQL.
        """
        query = f"select row from {file.numbered} where {condition} limit 1"
        found = self.run(query)
        return int(found[0][0]) if found else None

    def rows_of(self, file: TableFile) -> int:
        """How many rows a table has, those that do not meet a condition too."""
        return int(self.run(f"select count(*) from {file.every or file.relation}")[0][0])

    def refuse_no_number(self, file: TableFile, name: str) -> None:
        """Name the first row in which a column of text holds something else than a number.

        Args:
            file: The table.
            name: Of the column.
        """
        if file.is_written:
            empty = f"trim(coalesce(c{file.names.index(name)}, ''), {BLANKS}) = ''"
            row = self.first_row(file, f"{file.number(name)} is null and not {empty}")
            if row is not None:
                raise InvalidInput(_not_a_number(file, name, row), code="malformed-line")

    def _refusal(self, wrong: Exception) -> Exception:
        """The error of DuckDB in our words; it names the first file that is wrong."""
        import duckdb

        ours = (
            duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException,
            duckdb.ResourceInUseException,
        )  # fmt: skip
        if isinstance(wrong, ours):  # no file can cause these
            return wrong
        if isinstance(wrong, duckdb.OutOfMemoryException):
            return TooLarge(
                f"{self.files[0].place}: there is not enough memory, or no room in the folder of "
                f"temporary files, to read it; {to_get_more()}, or name a folder with more room "
                "in TMPDIR",
                code="out-of-memory",
            )
        for file in self.files:
            if file.cut is not None and file.text is not None:
                found = self._wrong_line(file, file.cut, file.text)
            else:
                found = self._wrong_types(file)
            if found is not None:
                return found
        return InvalidInput(
            f"{self.files[0].place}: the file is damaged; write it again", code="damaged-file"
        )

    def _wrong_types(self, file: TableFile) -> InvalidInput | None:
        """What is wrong with a file that has types of its own."""
        import duckdb

        if file.facts["format"] == "Parquet" and (found := no_text(Path(file.place))) is not None:
            name, row = found
            place = f"{file.place}, row {row + 1}"
            return InvalidInput(not_utf8(place, repr(name)), code="not-utf8")
        try:
            self.connection.execute(f"select count(columns(*)) from {file.relation}").fetchall()
        except duckdb.Error as wrong:
            line = re.search(r"in (?:line|record/value) (\d+)", str(wrong))
        else:
            return None
        if file.facts["format"] == "JSON":
            where = f"{file.place}, line {line[1]}" if line else file.place
            return InvalidInput(
                f"{where}: this is not JSON; write an object with the same keys in each line",
                code="malformed-line",
            )
        return InvalidInput(
            f"{file.place}: the file is damaged; write it again", code="damaged-file"
        )

    def _wrong_line(self, file: TableFile, cut: Cut, text: Path) -> InvalidInput | None:
        """What is wrong with the first line that DuckDB rejects."""
        import duckdb

        rejecting = file.scan[:-1] + ", store_rejects = true, rejects_limit = 64)"
        try:
            self.connection.execute(f"select count(columns(*)) from {rejecting}").fetchall()
            first = self.connection.execute(
                "select line_byte_position, column_idx, error_type, error_message "
                "from reject_errors order by line, column_idx limit 1"
            ).fetchall()
        except duckdb.Error:
            return InvalidInput(mixed_ends(file.place), code="mixed-line-ends")
        if not first:
            return None
        start, column, kind, message = first[0]
        line = _line_at(text, start - 1)
        if kind == "LINE SIZE OVER MAXIMUM":
            return InvalidInput(too_long(file.place, line), code="line-too-long")
        place = f"{file.place}, line {line}"
        if kind == "INVALID ENCODING":
            name = cut.called(min(max(column - 1, 0), len(cut.names) - 1))
            return InvalidInput(other_encoding(place, name), code="malformed-line")
        if kind == "UNQUOTED VALUE":
            return InvalidInput(
                f"{place}: a quote is not closed, or something stands behind it; write quotes "
                "around the whole entry, and those within it twice",
                code="ragged-row",
            )
        model = f"the header, line {cut.skip}," if cut.header else f"line {cut.skip + 1}"
        found = re.search(r"Found: (\d+)", message)
        many = int(found[1]) if found else 0
        if many > len(cut.names):  # DuckDB stops counting there
            many = max(many, _entries_at(text, start - 1, cut))
        sentence = ragged(place, many, model, len(cut.names))
        second = cut.skip + (1 if cut.header else 2)
        if many > len(cut.names) and line == second and offered("skip"):
            sentence += f"; if lines above it are a title, leave them out with {setting('skip', 1)}"
        return InvalidInput(sentence, code="ragged-row")


def _not_a_number(file: TableFile, name: str, row: int) -> str:
    # The entry is not quoted: whoever names the wrong column would see a user.
    called = repr(name) if file.cut is None else file.cut.called(file.names.index(name))
    return (
        f"{file.place}, row {row + 1}: {called} must be a number; correct the entry or remove the "
        "row; write one and a half as 1.5, or as 1,5 in the whole column"
    )


def _line_at(text: Path, start: int) -> int:
    """The number of the line that begins so many bytes after the beginning of a file."""
    feeds = returns = 0
    with text.open("rb") as file:
        while start and (data := file.read(min(start, BUFFER))):
            start -= len(data)
            feeds, returns = feeds + data.count(b"\n"), returns + data.count(b"\r")
    return (feeds or returns) + 1


def _entries_at(text: Path, start: int, cut: Cut) -> int:
    """How many entries the line has that begins so many bytes after the beginning of a file."""
    with text.open("rb") as file:
        file.seek(start)
        line = file.readline(LONGEST).decode("utf-8", "replace")
    rows = cut.quoting.rows(line, cut.separator)
    return len(rows[0]) if rows else 0


@contextmanager
def _watched(
    connection: "DuckDBPyConnection", size: int, progress: Progress | None
) -> Iterator[None]:
    """Report how far the query is that runs inside."""
    if progress is None:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            share = connection.query_progress()
            if share > 0:
                progress(min(int(size * share / 100), size), size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    progress(size, size)


def connect(
    paths: Iterable[Path],
    folder: Path,
    frames: Mapping[str, pa.Table] | None = None,
    *,
    size: int | None = None,
) -> "DuckDBPyConnection":
    """A connection that can read these files and use one folder, and do nothing else outside.

    Nothing is installed or loaded, and nothing of this can be changed afterwards.

    Args:
        paths: The files.
        folder: Private; takes what does not fit into memory.
        frames: Tables of this process, by name.
        size: Bytes of all that is read, if that is known: starting threads for little costs more
            than they save.
    """
    import duckdb

    # The other half is left for arrays that are made from what DuckDB found.
    memory = max(usable_memory() // 2, _LEAST_MEMORY)
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
            "memory_limit": f"{memory >> 20}MiB",
            "threads": cores() if size is None or size > _SMALL else 1,
            "temp_directory": str(folder / "spilled"),
            "arrow_large_buffer_size": True,
            # It takes a file for small, and would build the hash table of a join from it.
            "disabled_optimizers": "join_order,build_side_probe_side",
        }
    )
    try:
        # In a notebook DuckDB would print a bar of its own; where it cannot, it refuses this too.
        with suppress(duckdb.InvalidInputException):
            connection.execute("set enable_progress_bar_print = false")
        for name, frame in (frames or {}).items():
            connection.register(name, frame)
        connection.execute("set allowed_paths = ?", [[str(path.absolute()) for path in paths]])
        connection.execute("set allowed_directories = ?", [[str(folder)]])
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def open_tables(
    given: Any, layout: Layout = LAYOUT, wanted: Collection[str] = ()
) -> Iterator[OpenTables]:
    """Open a file, a folder, or a table of this process, without reading its rows.

    Args:
        given: The path of a file or folder, perhaps with wildcards; or a dictionary of columns, a
            data frame of pandas or polars, a DuckDB relation, anything that offers an Arrow stream.
        layout: What is known of it.
        wanted: Names that columns are expected to have.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reidrisk-")))
        if not is_path(given):
            yield _chosen(_of_frame(given, folder, stack), layout)
            return
        files = files_of(given, TYPES)
        if is_array_file(files[0]):
            yield _chosen(_of_array_file(files, folder, stack), layout)
            return
        plans = [FilePlan.of(file, folder / str(place), layout) for place, file in enumerate(files)]
        if len(files) > 1 and (cases := [plan for plan in plans if plan.kind == "cases"]):
            raise InvalidInput(
                f"{cases[0].file}: every file of this format numbers its users from the beginning, "
                "so that they cannot be told apart in a folder; read the files one by one",
                code="several-files",
            )
        for file in files:
            stack.enter_context(unchanged(file))
        size = sum(file.stat().st_size for file in files)
        connection = cache(lambda: stack.enter_context(closing(connect(files, folder, size=size))))
        opened = tuple(plan.opened(connection, layout, wanted) for plan in plans)

        @cache
        def ready() -> "DuckDBPyConnection":
            for plan, table in zip(plans, opened, strict=True):
                if plan.kind != "json":  # has been written, for its columns to be known
                    plan.write(table.cut)
            return connection()

        yield _chosen(OpenTables(ready, opened, size), layout)


def _chosen(opened: OpenTables, layout: Layout) -> OpenTables:
    """The rows that a layout chooses, with times as it says that they are written."""
    files, notes = opened.files, opened.notes
    if layout.time_format is not None:
        name, form = layout.time or layout.epoch or "epoch", layout.time_format
        role = "epoch" if layout.time is None else "time"
        files = tuple(_with_times(opened, file, name, form, role) for file in files)
    if layout.where is not None:
        chosen = [_with_condition(opened, file, layout.where) for file in files]
        files = tuple(file for file, _, _ in chosen)
        kept, rows = sum(here for _, here, _ in chosen), sum(there for _, _, there in chosen)
        if not kept:
            raise wrong_condition("is met by no row", "check how the file spells what it asks for")
        notes = (*notes, f"{opened.source(())}: {kept:,} of {rows:,} rows meet the condition")
    return replace(opened, files=files, notes=notes)


def _with_condition(opened: OpenTables, file: TableFile, where: str) -> tuple[TableFile, int, int]:
    """The rows that meet a condition, how many they are, and how many there are in all."""
    import duckdb

    condition, numbers = bound_condition(opened.connection, where, file)
    for name in numbers:
        opened.refuse_no_number(file, name)
    some = file.only(condition)
    found = []
    # Suppressed: the error of DuckDB would quote an entry, also as a context.
    with suppress(duckdb.Error):
        found = opened.connection.execute(
            f"select count(*) filter ({condition}), count(*) from {file.relation}"
        ).fetchall()
    if not found:  # a line of the file is wrong, or an entry that a function does not take
        opened.rows_of(file)
        raise wrong_condition(
            f"fails at an entry of {file.place}",
            "use functions that take whatever the columns hold, such as try_cast and try_strptime "
            "in place of cast and strptime",
        )
    return some, *found[0]


def _with_times(opened: OpenTables, file: TableFile, name: str, form: str, role: str) -> TableFile:
    """The table with times as ISO 8601 in place of those in a form."""
    import duckdb

    advice = f"name the column of times with {setting(role)}"
    check_columns(file.place, file.names, (name,), advice, told=file.told)
    if not holds_text(file.type_of(name)):
        raise InvalidInput(
            f"{file.place}: the column {name!r} holds {file.type_of(name)} and not text, so that "
            f"nobody need say how times are written; leave {setting('time_format')} out",
            code="wrong-column-type",
        )
    column = f"c{file.names.index(name)}"
    entry = f"trim({column}, {BLANKS})"
    time = f"try_strptime({entry}, {sql_text(form)})"
    try:
        opened.connection.execute(f"select try_strptime('', {sql_text(form)})").fetchall()
    except duckdb.Error:
        raise InvalidInput(
            f"{setting('time_format')} is not a form of times; write one such as "
            f"{setting('time_format', '%d.%m.%Y %H:%M')}",
            code="invalid-time-format",
        ) from None
    row = opened.first_row(file, f"{entry} <> '' and {time} is null")
    if row is not None:
        raise InvalidInput(
            f"{file.place}, row {row + 1}: {name!r} is not a time as {setting('time_format')} says "
            "times are written; correct the form or the entry",
            code="invalid-timestamp",
        )
    iso = f"strftime(make_timestamp(epoch_us({time})), {sql_text(_iso(form))})"
    relation = f"(select * replace (coalesce({iso}, '') as {column}) from {file.relation})"
    return replace(file, relation=relation, frame=None)


def _iso(form: str) -> str:
    """The ISO 8601 form that holds as much as another."""
    parts = set(re.findall(r"%-?(.)", form))
    if not parts & set("HIMScXf"):
        return "%Y-%m-%d"
    exact = "%Y-%m-%d %H:%M:%S" + (".%f" if parts & set("fgn") else "")
    return exact + ("+00:00" if parts & set("zZ") else "")


def is_path(given: Any) -> bool:
    """Whether something is a path, and not a table.

    Args:
        given: Any.
    """
    return isinstance(given, str | os.PathLike)


def path_or_table(given: Any) -> Any:
    """A path as it is, and a frame as an Arrow table, so that it is converted only once.

    Args:
        given: A path or a table.
    """
    return given if is_path(given) else table_of(given)[0]


def _of_array_file(files: Sequence[Path], folder: Path, stack: ExitStack) -> OpenTables:
    if len(files) > 1:
        raise InvalidInput(
            f"{files[0]}: arrays are read from one file, and there are {len(files)}; join them",
            code="several-files",
        )
    (file,) = files
    stack.enter_context(unchanged(file))
    table = table_of_arrays(file)
    opened = _of_table(table, Origin((str(file),), (table.num_rows,)), folder, stack)
    facts = {"format": "arrays"}
    return replace(opened, files=(replace(opened.files[0], facts=facts),), size=file.stat().st_size)


def _of_frame(given: Any, folder: Path, stack: ExitStack) -> OpenTables:
    return _of_table(*table_of(given), folder, stack)


def _of_table(table: pa.Table, source: Origin, folder: Path, stack: ExitStack) -> OpenTables:
    columns = [f"c{place}" for place in range(table.num_columns)]
    renamed = table.rename_columns(columns)
    frames, size = {"frame": renamed}, table.nbytes
    connection = cache(lambda: stack.enter_context(closing(connect((), folder, frames, size=size))))
    file = TableFile(
        str(source), "frame", tuple(table.column_names), tuple(table.schema.types),
        {"format": "table"}, frame=table,
    )  # fmt: skip
    return OpenTables(connection, (file,), size)


def read_table(
    given: Any,
    types: Mapping[str, pa.DataType | None],
    columns: Mapping[str, str] | None = None,
    *,
    optional: tuple[str, ...] = (),
    layout: Layout = LAYOUT,
    check: Callable[[OpenTables, list[dict[str, str]]], OpenTables] | None = None,
) -> tuple[pa.Table, Origin]:
    """Read some columns of one table, or of all files of a folder.

    Args:
        given: A file or folder, or a table of this process.
        types: The columns, with their types in text; None leaves the type to the content.
        columns: The names of columns that are called otherwise in the file.
        optional: Columns that may be absent, unless `columns` names them.
        layout: Whether there is a header, and what separates columns, if somebody said so.
        check: Looks at the tables before they are read, with the columns that are taken of each,
            and refuses them or adds notes and warnings.

    Returns:
        The columns under the names of `types`, and where their rows came from.
    """
    renamed = columns or {}
    refuse_unknown(renamed, types)
    names = {name: renamed.get(name, name) for name in types}
    with open_tables(given, layout, names.values()) as opened:
        taken = [taken_columns(file, names, renamed, optional) for file in opened.files]
        checked = opened if check is None else check(opened, taken)
        tables = [
            _read(checked, file, {name: (here[name], types[name]) for name in here})
            for file, here in zip(checked.files, taken, strict=True)
        ]
        source = _source(checked, tables)
    refuse_unlike({tuple(table.column_names) for table in tables}, source, optional)
    return joined(tables, source), source


def _source(opened: OpenTables, tables: Sequence[pa.Table]) -> Origin:
    """Where rows came from, also if only some of the rows of files are there."""
    if not any(file.condition for file in opened.files):
        return opened.source([table.num_rows for table in tables])
    source = opened.source([opened.rows_of(file) for file in opened.files])
    before = np.concatenate([[0], np.cumsum(source.rows)])
    rows = np.concatenate([
        opened.arrow(f"select row from {file.numbered}")["row"].to_numpy() + first
        for file, first in zip(opened.files, before, strict=False)
    ])  # fmt: skip
    return replace(source, record=lambda row: int(rows[row]))


def refuse_unknown(renamed: Collection[str], names: Collection[str]) -> None:
    """Refuse new names for columns that are none.

    Args:
        renamed: The columns that somebody renames.
        names: All columns there are.
    """
    if unknown := set(renamed) - set(names):
        raise InvalidInput(
            f"columns renames {', '.join(sorted(unknown))}; it can rename {', '.join(names)}",
            code="unknown-column",
        )


def taken_columns(
    file: TableFile, names: Mapping[str, str], renamed: Collection[str], optional: tuple[str, ...]
) -> dict[str, str]:
    """The columns of a table that are read, by our names.

    Args:
        file: The table.
        names: What columns are called in it.
        renamed: Columns whose names somebody said.
        optional: Columns that may be absent, unless somebody named them.
    """
    taken = {
        name: column for name, column in names.items()
        if name not in optional or name in renamed or column in file.names
    }  # fmt: skip
    check_columns(file.place, file.names, taken.values(), _advice(names), told=file.told)
    if "weight" in optional and "weight" not in taken:
        left = [name for name in file.names if name not in taken.values()]
        if doubtful := doubtful_counts(left, file):
            message = unsure_of_count(file.place, doubtful, "weight")
            raise InvalidInput(message, code="unclear-column")
    return taken


def _read(
    opened: OpenTables, file: TableFile, columns: Mapping[str, tuple[str, pa.DataType | None]]
) -> pa.Table:
    """Some columns of one table, in the order of its rows."""
    if file.frame is not None:
        return file.frame.select([name for name, _ in columns.values()]).rename_columns(
            list(columns)
        )
    if file.facts["format"] == "Parquet":
        check_pages(Path(file.place), [name for name, _ in columns.values()])
    parts = [
        f"{file.number(name) if kind == pa.float64() else file.column(name)} as v{place}"
        for place, (name, kind) in enumerate(columns.values())
    ]
    refuse_empty_lines(opened, file)
    query = f"select {', '.join(parts)} from {file.relation}"
    batches = list(within_memory(opened.batches(query), file.place))
    table = pa.Table.from_batches(batches) if batches else opened.arrow(query)
    for place, (name, kind) in enumerate(columns.values()):
        if kind == pa.float64() and table[place].null_count:
            opened.refuse_no_number(file, name)
    if file.cut is not None:
        for place, (_, kind) in enumerate(columns.values()):
            if kind is None:
                table = table.set_column(place, table.field(place).name, _by_content(table[place]))
    return table.rename_columns(list(columns))


def _by_content(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of text as whole numbers or as numbers, if all of its entries are; null if empty."""
    filled = pc.if_else(pc.equal(column, ""), None, column)
    for kind in (pa.int64(), pa.float64()):
        try:
            return filled.cast(kind)
        except pa.ArrowInvalid:
            continue
    return filled


def refuse_empty_lines(opened: OpenTables, file: TableFile) -> None:
    """In one column an empty line may be an empty cell, except at the end.

    Args:
        opened: Holds the table.
        file: The table.
    """
    if file.cut is None or len(file.names) > 1:
        return
    ((row, last),) = opened.run(
        "select min(row) filter (c0 is null), max(row) filter (c0 is not null) from "
        f"(select row_number() over () - 1 as row, c0 from {file.scan})"
    )
    if row is not None and last is not None and row < last:
        raise InvalidInput(
            f"{file.place}, line {row + file.cut.skip + 1}: the line is empty, and in a table of "
            'one column it may be an empty cell; write "" there, or remove the line',
            code="empty-line",
        )


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


def files_of(path: AnyPath, types: tuple[str, ...] = TYPES) -> list[Path]:
    """The file itself, or the files of these types in a folder, sorted by name.

    Args:
        path: The file or folder, perhaps with wildcards.
        types: Endings of the names of files in a folder.
    """
    place = Path(path)
    if place.is_dir():
        inside = sorted(place.iterdir())
        usual = tuple(kind for kind in types if kind in _PARTS)
        found = [file for file in inside if _has_type(file, usual)]
        found = found or [file for file in inside if _has_type(file, types)]
        if not found:
            raise InvalidInput(
                f"{place}: the folder has no file of type {_spoken(types)}; give one that has",
                code="no-files",
            )
        return found
    many = glob.has_magic(str(place)) and not place.exists()
    if many and (found := sorted(map(Path, glob.glob(str(place))))):  # noqa: PTH207  absolute
        return found
    return [existing_file(place)]


def _spoken(types: tuple[str, ...]) -> str:
    """The types for messages, without compressed variants."""
    plain = [kind for kind in types if not kind.endswith((*SUFFIXES, ".zip"))]
    packed = " (text also packed, .gz or .zip)" if ".csv.gz" in types else ""
    return f"{', '.join(plain)}{packed}"


def _has_type(file: Path, types: tuple[str, ...]) -> bool:
    # Spark marks success with _SUCCESS and checksums with .name.crc
    return file.name.lower().endswith(types) and not file.name.startswith((".", "_"))


def doubtful_counts(names: Sequence[str], file: TableFile) -> list[str]:
    """The columns that seem to hold counts or weights, by their names and by what they hold.

    Args:
        names: Of the columns that are not taken.
        file: The table.
    """
    return [name for name in like_count(names) if file.holds_amounts(name)]


def unsure_of_count(file: str, doubtful: Sequence[str], word: str) -> str:
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
    # Columns that describe a person are numbered here, and are named together.
    known = ("columns" if name.startswith("column ") else _SETTINGS.get(name) for name in names)
    settings = offered(*filter(None, known))
    settings = settings or offered("columns", "column")
    other = f", or say what it is called there with {', '.join(map(setting, settings))}"
    return f"name it so in the file{other if settings else ''}"


def check_columns(
    place: object, there: Collection[str], wanted: Iterable[str], advice: str, *, told: bool = True
) -> None:
    """Refuse a table in which a column is missing, or comes twice.

    Args:
        place: The file, for messages.
        there: The columns of the table.
        wanted: The columns that must be there.
        advice: What to do about it.
        told: Whether the message may name the columns.
    """
    names = list(there)
    for name in wanted:
        if name not in names:
            near = nearest(name, names) if told else []
            known = (
                f"the nearest is {' or '.join(map(repr, near))}" if near
                else f"there are {len(names)}" if not told
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


def column_names(given: Any, layout: Layout = LAYOUT) -> list[str]:
    """The names of the columns of a table; without a header their numbers, from 1 on.

    Args:
        given: A file, or a folder of which the first is looked at.
        layout: What is known of it.
    """
    first = files_of(given)[0] if is_path(given) else given
    with open_tables(first, layout.cut) as opened:
        file = opened.files[0]
    if not file.told:
        raise InvalidInput(
            f"{file.place}: there are no rows; at least one is needed", code="empty-table"
        )
    return list(file.names)
