"""How DuckDB opens a file: as it is, or as a private copy that is unpacked and recoded."""

import codecs
import csv
import re
import shutil
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import Assumed, InvalidInput
from reidrisk.io.dialects import (
    PLAIN,
    WITH_COMMA,
    Cut,
    entries_between_blanks,
    find_cut,
    has_decimal_commas,
    is_amount,
    spoken,
)
from reidrisk.io.labels import not_utf8
from reidrisk.io.layouts import ANY_BLANKS, Layout
from reidrisk.io.parquet_files import MAGIC as PARQUET
from reidrisk.io.parquet_files import is_amount_type, parquet_file
from reidrisk.io.unpacking import (
    UTF_8,
    Stream,
    has_mixed_ends,
    plain_copy,
    write_one_line_end,
)
from reidrisk.io.web_cases import COLUMNS as CASES
from reidrisk.io.web_cases import is_web_cases, write_cases

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXT = pa.large_string()
_LISTS = pa.large_list(TEXT)
# Bytes of a line at most, and of text that is looked at to see how it is cut.
LONGEST, HEAD = 1 << 23, 1 << 18
# DuckDB cuts files between threads at buffers, so that a large buffer leaves threads without work.
BUFFER = 1 << 25
BLANKS = "' ' || chr(9)"
"""What is left out around entries, in SQL: people line up columns with it."""
# Columns of a table of which nothing but the header is there.
_FEW = 12
# What no entry is, in SQL: entries without content are empty texts, as those in quotes.
_NEVER = "chr(1) || chr(2) || chr(1)"
# What cannot be in the name of a file that DuckDB opens: it would look for several files.
_ODD = re.compile(r"[*?\[\]{}\\]")


@dataclass(frozen=True, slots=True)
class TableFile:
    """One table, of a file or a frame, as a relation with the columns `c0`, `c1`, ...

    Args:
        place: What messages call it.
        relation: What stands after FROM.
        names: The columns.
        types: What each holds; text in files of text.
        facts: What to say of it: its format, its packing, its separator, its header.
        text: The file of text that DuckDB reads, if it is one.
        cut: How that is cut.
        scan: The call that reads it, for which `relation` may stand in part.
        frame: The table itself, if it is one of this process and is read as it is.
        every: What stands after FROM for all rows, if `relation` has only some of them.
        condition: What the rows of `relation` meet, in SQL.
    """

    place: str
    relation: str
    names: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    facts: Mapping[str, str]
    text: Path | None = None
    cut: Cut | None = None
    scan: str = ""
    frame: pa.Table | None = None
    every: str = ""
    condition: str = ""

    @property
    def numbered(self) -> str:
        """What stands after FROM for rows with their number in the file, `row`, from 0 on."""
        rows = f"select row_number() over () - 1 as row, * from {self.every or self.relation}"
        return f"(from ({rows}) where {self.condition})" if self.condition else f"({rows})"

    def only(self, condition: str) -> "TableFile":
        """The rows that meet a condition.

        Args:
            condition: In SQL, over `c0`, `c1`, ...
        """
        both = f"({self.condition}) and ({condition})" if self.condition else condition
        every = self.every or self.relation
        relation = f"(from {every} where {both})"
        return replace(self, relation=relation, every=every, condition=both, frame=None)

    @property
    def lists(self) -> tuple[str, ...]:
        """The columns that hold lists."""
        return self._of_type(pa.types.is_nested)

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns that hold numbers."""
        return self._of_type(is_amount_type)

    def _of_type(self, is_such: Callable[[pa.DataType], bool]) -> tuple[str, ...]:
        both = zip(self.names, self.types, strict=True)
        return tuple(name for name, kind in both if is_such(kind))

    @property
    def told(self) -> bool:
        """Whether messages may name columns: in a file of one long line, names may be all of it."""
        alone = self.cut is not None and self.cut.header and not self.cut.sample
        return not alone or len(self.names) <= _FEW

    def type_of(self, name: str) -> pa.DataType:
        """What a column holds."""
        return self.types[self.names.index(name)]

    def column(self, name: str) -> str:
        """A column in SQL, as the table has it; text without the blanks around it."""
        column = f"c{self.names.index(name)}"
        return column if self.cut is None else self.entry(name, trimmed=True)

    def entry(self, name: str, *, trimmed: bool) -> str:
        """A column of a file of text in SQL, with or without the blanks around entries."""
        column = f"c{self.names.index(name)}"
        return f"trim({column}, {BLANKS})" if trimmed else column

    def number(self, name: str) -> str:
        """A column of numbers in SQL; null where there is none, or something else."""
        column = f"c{self.names.index(name)}"
        if not self.is_written:
            return column
        if self.has_decimal_commas(name):
            written = f"trim({column}, {BLANKS})"
            plain = f"replace(replace({written}, '.', ''), ',', '.')"
            return (
                f"case when regexp_full_match({written}, {sql_text(WITH_COMMA)}) "
                f"then try_cast({plain} as double) end"
            )
        # DuckDB leaves out blanks, and signs that nobody writes between digits.
        return f"case when contains({column}, '_') then null else try_cast({column} as double) end"

    @property
    def is_written(self) -> bool:
        """Whether numbers are written as text."""
        return self.text is not None

    def has_decimal_commas(self, name: str) -> bool:
        """Whether numbers of a column are written 1.299,50, as the first rows leave no doubt."""
        if self.cut is None:
            return False
        place = self.names.index(name)
        return has_decimal_commas([row[place] for row in self.cut.sample if place < len(row)])

    def holds_amounts(self, name: str) -> bool:
        """Whether a column holds numbers as people write them, in any row of the sample."""
        if self.cut is None:
            return self.text is not None or name in self.amounts
        place = self.names.index(name)
        rows = [row for row in self.cut.sample if place < len(row)]
        return not self.cut.sample or any(is_amount(row[place]) for row in rows)


def sql_text(text: object) -> str:
    """A text as SQL writes it.

    Args:
        text: Any.
    """
    return "'" + str(text).replace("'", "''") + "'"


def too_long(place: object, line: int) -> str:
    """The message for a line that is too long for a table.

    Args:
        place: The file.
        line: Its number, from 1 on.
    """
    return (
        f"{place}, line {line}: the line is longer than {LONGEST >> 20} MiB; check that the file "
        "is a table, that its lines end, and that every quote is closed"
    )


@dataclass(frozen=True, slots=True)
class FilePlan:
    """How DuckDB will open a file, by its first lines; the rest of it is not looked at yet.

    Args:
        file: As it was given.
        private: Where a copy or link goes.
        kind: parquet, json, text or cases; a sheet is a text by now.
        head: The first lines of a text.
        suffix: The type that the name claims, such as ".csv".
        facts: What to say of it.
        encoding: That of a text that DuckDB cannot read as it is, and reads as a private copy.
        one_end: Whether line ends of Windows must first be seen to be the only ones.
        written: Whether the private copy is there already.
    """

    file: Path
    private: Path
    kind: str
    head: str
    suffix: str
    facts: Mapping[str, str]
    encoding: str | None = None
    one_end: bool = False
    written: bool = False

    @classmethod
    def of(cls, file: Path, private: Path, layout: Layout) -> "FilePlan":
        """Look at the first bytes of a file.

        Args:
            file: The file.
            private: Where a copy or link goes.
            layout: What is known of it.
        """
        with Stream(file) as stream:
            data, more = _head_of(stream)
            packing, sheet = stream.packing, stream.sheet
        suffix = Path(packing.name if packing else file.name).suffix.lower()
        said = {} if packing is None else {"packed": packing.kind}
        if data.startswith(PARQUET) or suffix == ".parquet":
            if packing is not None:
                raise InvalidInput(
                    f"{file}: a Parquet file is packed in itself and cannot be read inside of "
                    f"{packing.kind}; unpack it",
                    code="packed-parquet",
                )
            parquet_file(file)
            return cls(file, private, "parquet", "", suffix, {})
        if sheet:
            _write_sheet(file, private)
            with private.open(encoding="utf-8", newline="") as written:
                head = written.read(HEAD)
            return cls(file, private, "text", head[: head.rfind("\n") + 1], ".csv",
                       {"format": "sheet"}, written=True)  # fmt: skip
        if suffix in (".xlsx", ".xls", ".ods"):
            raise InvalidInput(
                f"{file}: this is not a workbook, whatever its name says; save the sheet again, or "
                "as CSV",
                code="damaged-file",
            )
        if is_web_cases(data):
            return cls(file, private, "cases", "", suffix, {"format": "UCI cases and votes"})
        encoding = _encoding(file, data, layout)
        text = _text_of(file, data, encoding)
        # DuckDB would take the mark for a part of the first entry where there is no header.
        marked = data.startswith(codecs.BOM_UTF8)
        copied = packing is not None or encoding != UTF_8 or marked
        if encoding != UTF_8:
            said["encoding"] = encoding
        if len(data) > LONGEST and not more:
            raise InvalidInput(too_long(file, 1), code="line-too-long")
        kind = "json" if _is_json(text, suffix) else "text"
        return cls(
            file, private, kind, text.replace("\r\n", "\n"), suffix, said,
            encoding if copied else None, one_end="\r\n" in text,
        )  # fmt: skip

    @property
    def path(self) -> Path:
        """What DuckDB opens: the file itself, or a private copy or link."""
        path = self.file.absolute()
        # DuckDB would take some names for patterns.
        own = self.written or self.encoding is not None or self.one_end or self.kind == "cases"
        return self.private if own or _ODD.search(str(path)) else path

    def write(self, cut: Cut | None = None) -> None:
        """Write what DuckDB opens, if that is not the file itself.

        Args:
            cut: How a text is cut.
        """
        if self.kind == "cases":
            write_cases(self.file, self.private)
        elif self.path == self.private and not self.written:
            self._write_plain()
        if cut is not None and (rewrite := self._rewriting(cut)) is not None:
            rewrite(self.path, self._rewritten, cut)

    def _write_plain(self) -> None:
        """Unpack or recode the file, or link to it; DuckDB takes one kind of line ends only."""
        if self.encoding is not None:
            plain_copy(self.file, self.private, self.encoding)
            mixed = self.one_end and has_mixed_ends(self.private)
        elif mixed := self.one_end and has_mixed_ends(self.file):
            plain_copy(self.file, self.private, UTF_8)
        else:
            self.private.symlink_to(self.file.absolute())
        if mixed:
            write_one_line_end(self.private)

    @property
    def _rewritten(self) -> Path:
        return self.private.with_name(f"{self.private.name}-rewritten")

    def _rewriting(self, cut: Cut) -> Callable[[Path, Path, Cut], None] | None:
        """What rewrites a text that DuckDB cannot cut as it is."""
        quoting = cut.quoting
        if cut.separator == ANY_BLANKS:
            return _without_blanks
        if quoting.escape != quoting.quote:
            return _without_escapes
        return (
            _without_title if cut.title and quoting.quote and quoting.quote in self.head else None
        )

    def opened(
        self,
        connection: Callable[[], "DuckDBPyConnection"],
        layout: Layout,
        wanted: Collection[str],
    ) -> TableFile:
        """The table.

        Args:
            connection: Gives one that may read it.
            layout: What is known of it.
            wanted: Names that columns are expected to have.
        """
        if self.kind == "parquet":
            schema = parquet_file(self.file).schema_arrow
            relation = f"read_parquet({sql_text(self.path)}, hive_partitioning = false)"
            named = f"(select * from {relation}) as t({_columns(len(schema))})"
            facts = {"format": "Parquet"}
            return TableFile(str(self.file), named, tuple(schema.names), tuple(schema.types), facts)
        if self.kind == "json":
            return self._opened_json(connection())
        if self.kind == "cases":
            cut = Cut(",", PLAIN, True, CASES, 0, 0, 0, (), True)  # noqa: FBT003  as a header says
            return self._opened_text(cut, self.facts)
        cut = find_cut(self.file, self.suffix, self.head, layout, wanted)
        facts = {
            "format": "text", "separator": spoken(cut.separator),
            "header": "yes" if cut.header else "no", **self.facts,
        }  # fmt: skip
        if cut.title and layout.skip is None:
            facts["title"] = f"{cut.title} line{'s' * (cut.title > 1)}"
            _say_title(self.file, cut.title)
        return self._opened_text(cut, facts)

    def _opened_text(self, cut: Cut, facts: Mapping[str, str]) -> TableFile:
        rewriting = self._rewriting(cut)
        path = self.path if rewriting is None else self._rewritten
        plain = rewriting in (_without_escapes, _without_blanks)
        quoting = PLAIN if plain else cut.quoting
        options = {
            "auto_detect": "false",
            "header": "false",
            "skip": cut.records,
            "delim": sql_text("," if rewriting is _without_blanks else cut.separator),
            "quote": sql_text(quoting.quote),
            "escape": sql_text(quoting.escape),
            # An empty line in a table of one column is null, and an empty entry in quotes is not.
            "nullstr": "''" if len(cut.names) == 1 else _NEVER,
            "allow_quoted_nulls": "false",
            "compression": "'none'",
            "max_line_size": LONGEST,
            "buffer_size": max(BUFFER, LONGEST),
            "columns": "{" + ", ".join(f"c{at}: 'VARCHAR'" for at in range(len(cut.names))) + "}",
        }
        said = ", ".join(f"{name} = {value}" for name, value in options.items())
        scan = f"read_csv({sql_text(path)}, {said})"
        # Empty lines of one column are null; at the end of a file they are no rows.
        relation = f"(from {scan} where c0 is not null)" if len(cut.names) == 1 else scan
        types = (TEXT,) * len(cut.names)
        return TableFile(str(self.file), relation, cut.names, types, facts, path, cut, scan)

    def _opened_json(self, connection: "DuckDBPyConnection") -> TableFile:
        import duckdb

        self.write()
        path = sql_text(self.path)
        try:
            # Three levels: objects within objects, and what is in lists within those.
            found = connection.sql(
                f"select * from read_json({path}, maximum_depth = 3, sample_size = -1)"
            )
            keys = list(zip(found.columns, found.types, strict=True))
        except duckdb.Error:
            keys = []
        if not keys:
            raise InvalidInput(
                f"{self.file}: this is not JSON; write an object with the same keys in each line",
                code="malformed-line",
            )
        read = ", ".join(f"{sql_text(key)}: '{_read_as(kind)}'" for key, kind in keys)
        columns = [one for place, key in enumerate(keys) for one in _json_columns(place, *key)]
        relation = (
            f"(select {', '.join(column for _, column, _ in columns)} "
            f"from read_json({path}, columns = {{{read}}}) as k({_columns(len(keys), 'k')})) "
            f"as t({_columns(len(columns))})"
        )
        names, _, types = zip(*columns, strict=True)
        return TableFile(
            str(self.file), relation, names, types, {"format": "JSON", **self.facts}, self.path
        )


def _read_as(kind: Any) -> str:
    """The type as which the values of a key are read."""
    return {"list": "VARCHAR[]", "struct": "JSON"}.get(kind.id, "VARCHAR")


def _json_columns(place: int, key: str, kind: Any) -> Iterator[tuple[str, str, pa.DataType]]:
    """The columns that the values of a key become, an object one for each key of its own.

    Args:
        place: Of the key.
        key: Its name.
        kind: What its values are, as a type of DuckDB.

    Yields:
        The name of each, what it is in SQL, and what it holds.
    """
    if kind.id != "struct":
        yield key, f"k{place}", _LISTS if kind.id == "list" else TEXT
        return
    for inner, one in kind.children:
        pointer = sql_text("/" + inner.replace("~", "~0").replace("/", "~1"))
        if one.id == "list":
            column = f"cast(json_extract(k{place}, {pointer}) as varchar[])"
            yield f"{key}.{inner}", column, _LISTS
        else:
            yield f"{key}.{inner}", f"json_extract_string(k{place}, {pointer})", TEXT


def _without_escapes(path: Path, target: Path, cut: Cut) -> None:
    """Copy a text with doubled quotes in place of escapes, which DuckDB takes only within quotes.

    Args:
        path: The text.
        target: Is written, with an empty line for each of a title.
        cut: How the text is cut.
    """
    quoting = cut.quoting
    with (
        path.open(newline="", encoding="utf-8", errors="surrogateescape") as text,
        target.open("x", newline="", encoding="utf-8", errors="surrogateescape") as out,
    ):
        rows = csv.reader(text, delimiter=cut.separator, quotechar=quoting.quote,
                          doublequote=False, escapechar=quoting.escape)  # fmt: skip
        writer = csv.writer(out, delimiter=cut.separator, quoting=csv.QUOTE_ALL,
                            lineterminator="\n")  # fmt: skip
        writer.writerows([()] * cut.title)
        for _ in range(cut.title):
            text.readline()
        writer.writerows(rows)


def _without_blanks(path: Path, target: Path, _: Cut) -> None:
    """Copy a text with commas in place of blanks between entries; each line stays a line.

    Args:
        path: The text.
        target: Is written.
    """
    with (
        path.open(encoding="utf-8", errors="surrogateescape") as text,
        target.open("x", newline="", encoding="utf-8", errors="surrogateescape") as out,
    ):
        csv.writer(out, lineterminator="\n").writerows(map(entries_between_blanks, text))


def _without_title(path: Path, target: Path, cut: Cut) -> None:
    """Copy a text with empty lines for a title, whose quotes DuckDB would take for those of rows.

    Args:
        path: The text.
        target: Is written.
        cut: How the text is cut.
    """
    with (
        path.open(newline="", encoding="utf-8", errors="surrogateescape") as text,
        target.open("x", newline="", encoding="utf-8", errors="surrogateescape") as out,
    ):
        for _ in range(cut.title):
            line = text.readline()
            out.write(line[len(line.rstrip("\r\n")) :])
        shutil.copyfileobj(text, out)


def _say_title(file: Path, lines: int) -> None:
    """Warn that lines above the table were left out."""
    first = "the first line is" if lines == 1 else f"the first {lines} lines are"
    settle = ""
    if offered("skip"):
        settle = f"; {setting('skip', lines)} says so, and {setting('skip', 0)} that there is none"
    warnings.warn(
        f"{file}: {first} taken for a title and left out, with fewer entries than the lines below"
        f"{settle}",
        Assumed,
        stacklevel=2,
    )


def _columns(count: int, letter: str = "c") -> str:
    return ", ".join(f"{letter}{place}" for place in range(count))


def _head_of(stream: Stream) -> tuple[bytes, bool]:
    """Whole lines from the beginning, and whether there is a line end at all."""
    data = more = stream.read(HEAD)
    # A header and a row, however long.
    while more and data.count(b"\n") + data.count(b"\r") < 3 and len(data) <= LONGEST:  # noqa: PLR2004
        more = stream.read(HEAD)
        data += more
    if not data:
        raise InvalidInput(
            f"{stream.file}: what is packed in it is empty; write it again", code="empty-file"
        )
    end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    # If there is more, the last line is cut.
    whole = data[:end] if more and stream.read(1) and end else data
    return whole, bool(end)


def _encoding(file: Path, data: bytes, layout: Layout) -> str:
    """What is said, or what the mark at the beginning says; else it must be UTF-8."""
    if layout.encoding is not None:
        return layout.encoding
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    zeros = max(data[::2].count(0), data[1::2].count(0))
    if 4 * zeros > len(data):
        how = f"say so with {setting('encoding', 'utf-16-le')}" if offered("encoding") else (
            "convert it to UTF-8, as with `iconv -f UTF-16 -t UTF-8`")  # fmt: skip
        raise InvalidInput(
            f"{file}: the file seems to be UTF-16, not UTF-8; {how}", code="not-utf8"
        )
    if zeros:
        raise InvalidInput(
            f"{file}: this is not text: it holds zero bytes; export it as CSV", code="not-text"
        )
    return UTF_8


def _text_of(file: Path, data: bytes, encoding: str) -> str:
    """The first lines; of the header every byte must be right."""
    lines = data.lstrip(b"\r\n").splitlines() if encoding == UTF_8 else []
    try:
        (lines or [b""])[0].decode()
        return data.decode(encoding, "replace")
    except (UnicodeError, LookupError):
        raise InvalidInput(other_encoding(f"{file}, header", "header"), code="not-utf8") from None


def other_encoding(place: str, column: str) -> str:
    """The message for text that is not UTF-8, with the setting that says what it is.

    Args:
        place: File and line.
        column: Its name.
    """
    latin = f", or say which with {setting('encoding', 'latin-1')} (western European; others are "
    say = f"{latin}cp1251, gbk, shift_jis)" if offered("encoding") else ""
    return not_utf8(place, column) + say


def _is_json(text: str, suffix: str) -> bool:
    begin = text.lstrip("\ufeff \t\r\n")[:1]
    return begin == "{" or (begin == "[" and suffix == ".json")


def _write_sheet(file: Path, target: Path) -> None:
    """Write the only sheet of a workbook as CSV."""
    from datetime import datetime

    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InvalidInput(
            f"{file}: sheets are read by python-calamine, which is not installed; install it with "
            "`pip install 'reidrisk[sheets]'`, or save the sheet as CSV",
            code="missing-library",
        ) from None
    try:
        book = CalamineWorkbook.from_path(str(file))
        sheets = [
            rows for name in book.sheet_names if (rows := book.get_sheet_by_name(name).to_python())
        ]
    except (CalamineError, OSError, ValueError):
        raise InvalidInput(
            f"{file}: the file is damaged; save the sheet again, or as CSV", code="damaged-file"
        ) from None
    if len(sheets) != 1:
        raise InvalidInput(
            f"{file}: there must be one sheet with rows, and there are {len(sheets)}; save the one "
            "you want as a file of its own",
            code="several-files",
        )

    def text(cell: object) -> str:
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, float) and cell.is_integer():
            return str(int(cell))
        if isinstance(cell, datetime):
            return cell.isoformat(sep=" ")
        return str(cell)

    with target.open("x", newline="", encoding="utf-8") as out:
        csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
            [text(cell) for cell in row] for row in sheets[0]
        )
