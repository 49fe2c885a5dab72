"""Format: text with a separator, such as CSV and TSV."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.io.formats.protocol import LONGEST, TEXT, Head, too_long
from reidrisk.io.labels import not_utf8, padded, text_buffers
from reidrisk.io.layouts import Layout
from reidrisk.io.signs import Cut, find_cut, mixed_ends, ragged, split, spoken, unclosed
from reidrisk.io.streams import Progress, Stream

# Read at once; Arrow cuts it into parts for its threads, each of at least one line.
BLOCK = 1 << 26


def knows(head: Head) -> bool:
    """Whatever is nothing else."""
    return bool(head.data)


def open(head: Head, layout: Layout, wanted: Collection[str]) -> "DelimitedTable":  # noqa: A001
    """Look at the first lines."""
    return DelimitedTable(head.file, find_cut(head.file, head.suffix, head.data, layout, wanted))


@dataclass(frozen=True, slots=True)
class _Block:
    """Whole lines of a text, and how many bytes and rows came before."""

    data: pa.Buffer
    start: int
    rows: int


def _trimmed(table: pa.Table) -> pa.Table:
    """Text without the spaces around it, with which people line up columns."""
    for place, column in enumerate(table.columns):
        if column.type == TEXT and any(padded(*text_buffers(part)) for part in column.chunks):
            table = table.set_column(
                place, table.field(place), pc.ascii_trim(column, characters=" \t")
            )
    return table


@dataclass(frozen=True)
class DelimitedTable:
    """A text, and how it is cut."""

    file: Path
    cut: Cut

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.cut.names

    @property
    def facts(self) -> dict[str, str]:
        """What to say of the file."""
        return {
            "format": "text",
            "separator": spoken(self.cut.separator),
            "header": "yes" if self.cut.header else "no",
        }

    def batches(
        self, names: Collection[str], kinds: Mapping[str, pa.DataType], progress: Progress | None
    ) -> Iterator[pa.Table]:
        """The rows of some megabytes at a time."""
        places = [self.cut.names.index(name) for name in names]
        types = {place: kinds[name] for place, name in zip(places, names, strict=True)
                 if name in kinds}  # fmt: skip
        rows = 0
        for data, start in self._blocks(progress):
            table = self._parsed(_Block(data, start, rows), places, types)
            rows += table.num_rows
            if not types.keys() >= set(places) and table.num_rows:
                # As in Arrow, the first rows decide on types that nobody said.
                types = {place: table.schema.field(n).type for n, place in enumerate(places)}
            yield _trimmed(table.rename_columns(list(names)))

    def _blocks(self, progress: Progress | None) -> Iterator[tuple[pa.Buffer, int]]:
        """Whole lines, and how many bytes came before; at least once.

        All stand in the same room, one after the other: who wants to keep them copies them.
        """
        start = self.cut.skip
        with Stream(self.file, progress) as stream:
            stream.read(start)
            block = min(BLOCK, stream.size + 1 if stream.packing is None else BLOCK)
            room = np.empty(LONGEST + block, np.uint8)
            rest, more = 0, True
            while more:
                got = stream.fill(room.data[rest : rest + block])
                more, end = got == block, rest + got
                stop = self._last_end(room[:end]) if more else end
                if end - stop > LONGEST:
                    raise InvalidInput(
                        too_long(self.file, self._line(start + stop)), code="line-too-long"
                    )
                yield pa.py_buffer(room).slice(0, stop), start
                start, rest = start + stop, end - stop
                room[:rest] = room[stop:end]

    def _last_end(self, data: NDArray[np.uint8]) -> int:
        """Where the last whole line ends, unless the one behind is too long."""
        tail = data[-LONGEST - 1 :].tobytes()
        return len(data) - len(tail) + tail.rfind(self.cut.line_end) + 1

    def _line(self, start: int) -> int:
        """The number of the line that begins so many bytes after the beginning."""
        lines = 1
        with Stream(self.file) as stream:
            while start:
                data = stream.read(min(start, BLOCK))
                start -= len(data)
                lines += data.count(self.cut.line_end)
        return lines

    def _parsed(
        self, block: _Block, places: list[int], types: Mapping[int, pa.DataType]
    ) -> pa.Table:
        try:
            table = self._parse(block, places, types, threads=True)
        except pa.ArrowException:
            table = None
        # A quote that is not closed would swallow the lines behind it, without a word.
        if table is not None and table.num_rows == self._rows_in(block, table.num_rows):
            if len(self.cut.names) == 1:
                self._refuse_empty_lines(block)
            return table
        self._refuse_lines(block)
        # Only one thread knows the number of a row.
        try:
            table = self._parse(block, places, types, threads=False)
        except pa.ArrowException as wrong:
            raise InvalidInput(self._explain(str(wrong), block), code="malformed-line") from None
        if table.num_rows == self._rows_in(block, table.num_rows):
            return table
        raise InvalidInput(mixed_ends(self.file), code="mixed-line-ends")

    def _rows_in(self, block: _Block, expected: int) -> int:
        """Lines that are not empty; empty ones are looked for only if lines are not as expected."""
        data = np.frombuffer(block.data, np.uint8)
        end = self.cut.line_end
        lines = int(np.count_nonzero(data == end[0]))
        lines += bool(data.size) and data[-1] != end[0]
        if lines == expected:
            return lines
        return sum(bool(line.strip(b"\r")) for line in block.data.to_pybytes().split(end))

    def _parse(
        self, block: _Block, places: list[int], types: Mapping[int, pa.DataType], *, threads: bool
    ) -> pa.Table:
        from pyarrow import csv

        # A sign twice is the sign once with nothing between.
        twice = len(self.cut.separator)
        columns = [str(place) for place in range(len(self.cut.names) * twice - twice + 1)]
        asked = [str(place * twice) for place in places]
        kinds = {str(place * twice): kind for place, kind in types.items()}
        if not block.data.size:
            return pa.table({n: pa.array([], kinds.get(n, pa.null())) for n in asked})
        return csv.read_csv(
            pa.BufferReader(block.data),
            read_options=csv.ReadOptions(
                use_threads=threads, block_size=LONGEST, column_names=columns
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.cut.separator[0],
                quote_char='"' if twice == 1 else False,
                newlines_in_values=False,
            ),
            convert_options=csv.ConvertOptions(
                include_columns=asked, column_types=kinds, null_values=[""]
            ),
        )

    def _refuse_lines(self, block: _Block) -> None:
        """Name the first line that is too long, or has other than as many entries as it should."""
        width, first = len(self.cut.names), self._line(block.start)
        for place, line in enumerate(block.data.to_pybytes().split(self.cut.line_end)):
            number = first + place
            if len(line) > LONGEST:
                raise InvalidInput(too_long(self.file, number), code="line-too-long")
            text = line.decode(errors="replace").rstrip("\r")
            found = len(split(text, self.cut.separator))
            open_quote = unclosed(text, self.cut.separator)
            if text and (found != width or open_quote):
                raise InvalidInput(
                    self._ragged(number, found, unclosed=open_quote), code="ragged-row"
                )

    def _refuse_empty_lines(self, block: _Block) -> None:
        """In one column an empty line may be an empty cell, except at the end."""
        lines = block.data.to_pybytes().rstrip(b"\r\n").split(self.cut.line_end)
        empty = next((place for place, line in enumerate(lines) if not line.strip(b"\r")), None)
        if empty is not None and len(lines) > 1:
            raise InvalidInput(
                f"{self.file}, line {self._line(block.start) + empty}: the line is empty, and in a "
                'table of one column it may be an empty cell; write "" there, or remove the line',
                code="empty-line",
            )

    def _ragged(self, number: int, found: int, *, unclosed: bool) -> str:
        before = self.cut.before
        model = f"the header, line {before}," if self.cut.header else f"line {before + 1}"
        place, width = f"{self.file}, line {number}", len(self.cut.names)
        if not unclosed:
            return ragged(place, found, model, width)
        advice = "a quote is not closed: an entry must end in the line in which it began"
        if found == width:
            return f"{place}: {advice}"
        return ragged(place, found, model, width, advice)

    def _explain(self, wrong: str, block: _Block) -> str:
        """Arrow's complaint about an entry, in our words; it counts rows from 1."""
        found = re.search(r"In CSV column #(\d+): (?:Row #(\d+): )?(.*)", wrong, re.DOTALL)
        if not found and self.cut.separator == "::":
            return (
                f"{self.file}: an entry holds a single colon, which cannot be told from a half of "
                "the separator; write the file with tabs, as with `sed 's/::/\\t/g'`"
            )
        if not found:
            return f"{self.file}: the file cannot be read as a table; write it again"
        column, row, reason = found.groups()
        called = self.cut.called(int(column) // len(self.cut.separator))
        place = f"{self.file}, row {block.rows + int(row)}" if row else str(self.file)
        if "UTF8" in reason:
            return not_utf8(place, called)
        # The entry is not quoted: whoever names the wrong column would see a user.
        return (
            f"{place}: {called} must be a number; correct the entry or remove the row (decimals "
            "come after a point, not a comma)"
        )
