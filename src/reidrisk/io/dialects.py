"""Detect the separator and header of a text table from its first lines.

Whoever knows says so; otherwise the first lines must leave no doubt. A wrong guess would give
wrong people without a word.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, zip_longest
from math import prod

from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import are_names, numbered, role_of
from reidrisk.io.labels import NOTHING
from reidrisk.io.layouts import ANY_BLANKS, Layout

# Tab and bar hardly ever stand inside of an entry; the space often does, and comes last.
SIGNS = ("\t", "|", "::", ",", ";")
SPACE = " "
OWN = {".csv": ",", ".tsv": "\t"}
SAID = {"\t": "tab", " ": "space", ANY_BLANKS: "blanks"}
# An entry between blanks, perhaps in quotes.
_BETWEEN_BLANKS = re.compile(r'"([^"\r\n]*)"(?=\s|$)|(\S+)')
_ALIGNED = re.compile(r"^[ \t]+\S|\S[ \t]{2,}\S", re.MULTILINE)
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_AMOUNT = re.compile(r"[+-]?[.,']?\d[\d.,' ]*")
WITH_COMMA = r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?"
"""Numbers with a comma before decimals, and perhaps points between thousands."""
_WITH_COMMA = re.compile(WITH_COMMA)
# 1,234 may be a thousand; 1,5 and 1.234,567 are not.
_SURELY_COMMA = re.compile(r"[+-]?(\d+,(\d{1,2}|\d{4,})|\d{1,3}(\.\d{3})+,\d+|0,\d+)")
LINES = 200
# The first line by which Excel is told the separator.
_DECLARED = re.compile(r"\"?sep=([^\w\s\"]|\t)\"?[\r\n]", re.IGNORECASE)
_YEAR = re.compile(r"(18|19|20)\d\d")
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
# What files have where a number is missing.
_MISSING = {*NOTHING, "?", "-", "."}
# A first line that is less likely a row than this is a header.
_UNLIKELY = 0.01
# Lines that say more of columns at most, and rows of data below them at least.
_MOST_HEADERS, _FEWEST_ROWS = 3, 10
# Lines of a title at most, those without anything not counted.
_MOST_TITLE = 10
_AS_MANY = "give each line as many, with nothing between two separators where nothing is"


@dataclass(frozen=True, slots=True)
class _Quoting:
    """How entries that hold the separator or a quote are written.

    Args:
        quote: Around such entries; empty, if there are no quotes.
        escape: Before a quote within an entry: the quote itself, or a backslash.
    """

    quote: str = '"'
    escape: str = '"'

    def rows(self, text: str, separator: str, most: int = LINES) -> list[tuple[str, ...]]:
        """The first rows of a text that are not blank, as Python's own reader cuts them.

        Args:
            text: Whole lines.
            separator: Between columns.
            most: How many rows.
        """
        return [row for row, _ in islice(self.numbered_rows(text, separator), most)]

    def oddities(self, text: str, separator: str) -> int | None:
        """How many entries still seem to be quoted; None if the text cannot be quoted so.

        Args:
            text: Whole lines.
            separator: Between columns.
        """
        doubled = rf"(?<![\\{re.escape(separator)}\r\n]){2 * self.quote}"
        if self.escape != self.quote and re.search(doubled, text[1:]):
            return None
        if self.escape != self.quote and self._is_inside(text, separator):
            return None
        try:
            rows = [row for row, _ in self.numbered_rows(text, separator, strict=True)]
        except csv.Error:
            return None
        if len({len(row) for row in rows}) != 1:
            return None
        entries = [entry.strip() for row in rows for entry in row]
        escaped = "\\" + self.quote
        return sum(_QUOTED.match(one) is not None or escaped in one for one in entries)

    def _is_inside(self, text: str, separator: str) -> bool:
        """Whether a quote that is not escaped stands within an entry."""
        outside = rf"[^{re.escape(separator)}\r\n{self.quote}]"
        plain = re.sub(r"\\.", "", text, flags=re.DOTALL)
        # Blanks may stand between a separator and the quote that opens an entry, or behind it.
        plain = re.sub(rf"({re.escape(separator)}) +{self.quote}", rf"\1{self.quote}", plain)
        plain = re.sub(rf"{self.quote} +({re.escape(separator)})", rf"{self.quote}\1", plain)
        return re.search(f"{outside}{self.quote}{outside}", plain) is not None

    def numbered_rows(
        self, text: str, separator: str, *, strict: bool = False
    ) -> Iterator[tuple[tuple[str, ...], int]]:
        """Rows that are not blank, each with the number of lines up to its end.

        Args:
            text: Whole lines.
            separator: Between columns.
            strict: Whether a quote in the wrong place is an error.
        """
        if separator == ANY_BLANKS:
            yield from _split_at_blanks(text)
            return
        if len(separator) > 1 or not {self.quote, self.escape} & {*text}:
            yield from _split(text, separator)
            return
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=separator, quotechar=self.quote or None,
            doublequote=self.escape == self.quote,
            escapechar=None if self.escape == self.quote else self.escape,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE, strict=strict,
        )  # fmt: skip
        try:
            for row in reader:
                if any(map(str.strip, row)):
                    yield tuple(row), reader.line_num
        except csv.Error:  # an entry is too long for Python, perhaps since a quote is never closed
            if strict:
                raise
            if reader.line_num == 1:
                yield from _split(text, separator)


def _split(text: str, separator: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Rows without quotes that are not blank, each with the number of its line."""
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if line.strip():
            yield tuple(line.rstrip("\r\n").split(separator)), number


def _split_at_blanks(text: Iterable[str] | str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Rows of entries with any number of blanks between them, each with the number of its line."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    for number, line in enumerate(lines, 1):
        if row := entries_between_blanks(line):
            yield row, number


def entries_between_blanks(line: str) -> tuple[str, ...]:
    """The entries of a line that have blanks between them.

    Args:
        line: With or without its end.

    >>> entries_between_blanks(' 18.0   8  "ford torino"')
    ('18.0', '8', 'ford torino')
    """
    return tuple(quoted or plain for quoted, plain in _BETWEEN_BLANKS.findall(line))


PLAIN, SINGLE, NONE = _Quoting(), _Quoting("'", "'"), _Quoting("", "")
_ESCAPED = _Quoting('"', "\\")

# How texts may be quoted, the usual way first.
_WAYS = (PLAIN, SINGLE, _ESCAPED, _Quoting("'", "\\"))
_QUOTED = re.compile(r"""(["']).*\1$""", re.DOTALL)


def _find_quoting(text: str, separator: str) -> _Quoting:
    """The way to quote that leaves the fewest entries with quotes around them.

    Args:
        text: Whole lines.
        separator: Between columns.
    """
    if len(separator) > 1:
        return NONE
    if "'" not in text and "\\" not in text:
        return PLAIN
    left = {way: way.oddities(text, separator) for way in _WAYS}
    if left[PLAIN] is not None and not _all_single(text, separator):
        # Apostrophes around some entries only may be part of them.
        left = {way: number for way, number in left.items() if way.quote != "'"}
    possible = {way: number for way, number in left.items() if number is not None}
    return min(possible, key=possible.__getitem__, default=PLAIN)


def _all_single(text: str, separator: str) -> bool:
    """Whether every entry that is no number stands in single quotes, those of a header aside."""
    rows = PLAIN.rows(text, separator)
    entries = [entry.strip() for row in rows[1:] or rows for entry in row]
    words = [one for one in entries if one and not is_number(one)]
    return bool(words) and all(len(one) > 1 and one[0] == one[-1] == "'" for one in words)


@dataclass(frozen=True, slots=True)
class Cut:
    """How a text is cut.

    Args:
        separator: Between columns.
        quoting: How entries that hold it are written.
        header: Whether the first line names the columns.
        names: The columns: as the header has them, or their numbers.
        skip: Lines before the first row.
        records: The same, if a header of several lines counts once, as DuckDB counts.
        title: How many of these lines are no part of the table.
        sample: Some of the first rows.
        sure: Whether the names are names for certain, and not the first row of data.
    """

    separator: str
    quoting: _Quoting
    header: bool
    names: tuple[str, ...]
    skip: int
    records: int
    title: int
    sample: tuple[tuple[str, ...], ...]
    sure: bool

    def called(self, place: int) -> str:
        """A column as messages call it."""
        return repr(self.names[place]) if self.sure else f"column {place + 1}"


def find_cut(
    file: object, suffix: str, head: str, layout: Layout, wanted: Collection[str] = ()
) -> Cut:
    """Look at the first lines of a text.

    Args:
        file: What messages call it.
        suffix: The type that the name of the file claims, such as ".csv".
        head: Whole lines from the beginning of the text.
        layout: What somebody said of it.
        wanted: Names of columns; a first line that has one of them is a header.
    """
    text = head.removeprefix("\ufeff")
    declared = _DECLARED.match(text) if layout.skip is None else None
    title = 1 if declared else layout.skip
    if title is None:
        title = _title_lines(suffix, text, layout)
    text = _without_lines(text, title)
    if not text.strip():
        raise InvalidInput(
            f"{file}: there are no lines with anything in them; write it again", code="empty-file"
        )
    separator = layout.separator or (declared and declared[1]) or _separator(file, suffix, text)
    quoting = _find_quoting(text, separator)
    numbered_rows = list(islice(quoting.numbered_rows(text, separator), LINES))
    rows = [row for row, _ in numbered_rows] or [tuple(text.splitlines()[0].split(separator))]
    header = layout.header
    if header is not False:
        rows[0] = _with_all_names(rows)
    if header is None:
        header = _has_header(file, rows, {*wanted, *layout.named})
    if header and any("\r" in name for name in rows[0]):
        raise InvalidInput(mixed_ends(file), code="mixed-line-ends")
    numbers = numbered(len(rows[0]))
    # R and pandas write the numbers of rows below an empty name; such a column goes by its number.
    names = (
        [one.strip() or number for one, number in zip(rows[0], numbers, strict=True)]
        if header
        else numbers
    )
    # Above a header, spreadsheets write separators in rows without anything.
    before = title + _blank_lines(text, f'"{separator}' if header else "")
    ends = [title + number for _, number in numbered_rows]
    sample = tuple(rows[header:])
    if header and len(ends) > 1:
        _refuse_short(file, ends[1], sample, len(names), f"the header, line {ends[0]},")
    if header and layout.skip is None and offered("skip"):
        _refuse_second_header(file, ends, sample)
    # Where nobody looked whether there is a header, what is wanted may have been taken from it.
    asked = {*layout.named, *(() if layout.header else wanted)}
    sure = are_names(names) or bool(asked & {*names})
    skip = ends[0] if header and ends else before
    records = before + header
    return Cut(separator, quoting, header, tuple(names), skip, records, title, sample, sure)


def _with_all_names(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The first line, with an empty name more if it has one less than every row has entries.

    R writes no name above the names of rows; others end each row, but not the header, with a
    separator.

    Args:
        rows: The first rows.
    """
    first, *below = rows
    if not _leaves_one_out(rows):
        return first
    if not any(row[-1].strip() for row in below):
        return (*first, "")
    names = [row[0].strip() for row in below]
    return ("", *first) if len({*names}) == len(names) else first


def _leaves_one_out(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row has one entry more than the first line; one word alone may be a title."""
    sizes = {len(row) for row in rows[1:]}
    return len(rows) > 2 and len(rows[0]) > 1 and sizes == {len(rows[0]) + 1}  # noqa: PLR2004


def _blank_lines(text: str, signs: str) -> int:
    """How many lines at the beginning hold nothing but blanks and some signs."""
    lines = enumerate(io.StringIO(text, newline=""))
    return next((number for number, line in lines if line.strip(f" \r\n{signs}")), 0)


def _without_lines(text: str, count: int) -> str:
    """A text without its first lines."""
    return "".join(islice(io.StringIO(text, newline=""), count, None))


def _title_lines(suffix: str, text: str, layout: Layout) -> int:
    """How many lines above the header are too short to be rows, and so a title."""
    if layout.header is False:
        return 0
    signs = [layout.separator] if layout.separator else list(SIGNS)
    # What cuts all lines alike is the separator, whatever others make of them.
    signs = [sign for sign in signs if _entries(text, sign) > 1] or signs
    found = {sign: lines for sign in signs if (lines := _lines_above(text, sign))}
    return next(iter(found.values())) if len(found) == 1 or OWN.get(suffix) in found else 0


def _lines_above(text: str, separator: str) -> int:
    """How many lines are above the first row with something in each column, if they are a title."""
    rows = list(islice(PLAIN.numbered_rows(text, separator), LINES))
    sizes = [len(row) for row, _ in rows]
    width = max(sizes, default=0)
    filled = [sum(bool(entry.strip()) for entry in row) for row, _ in rows]
    whole = [size == width == full for size, full in zip(sizes, filled, strict=True)]
    first = whole.index(True) if width > 1 and True in whole else 0
    # A header may leave out the name of one column, as R writes it, so that one line with one entry
    # less is no title; a last line may hold totals.
    most = width - 1 if first > 1 else max(1, width - 2)
    short = all(
        size <= most or (size == width and 2 * full < width)
        for size, full in zip(sizes[:first], filled[:first], strict=True)
    )
    alike = {*sizes[first:-1], width} == {width} and len(rows) > first + 1
    if not 0 < first <= _MOST_TITLE or not short or not alike:
        return 0
    # Quoted in another way, lines may be parts of entries.
    if min(sizes) < width and any(way.oddities(text, separator) is not None for way in _WAYS):
        return 0
    header = rows[first][0]
    named = len({*header}) == width and not any(map(is_number, header))
    return rows[first - 1][1] if named else 0


def ragged(place: str, found: int, model: str, width: int, advice: str = _AS_MANY) -> str:
    """The message for a line with other than as many entries as it should have."""
    entries = "1 entry" if found == 1 else f"{found} entries"
    return f"{place}: {entries}, and {model} has {width}; {advice}"


def mixed_ends(file: object) -> str:
    """The message for lines that end in several ways."""
    return (
        f"{file}: there is a carriage return within a line, or lines end in several ways; write "
        "the file again with one kind of line ends"
    )


def is_number(text: str) -> bool:
    """Whether a text is a number as tables have them."""
    return NUMBER.fullmatch(text.strip()) is not None


def is_amount(text: str) -> bool:
    """Whether a text is a number as people write them: 1,5 or 1.000 besides."""
    return is_number(text) or _AMOUNT.fullmatch(text.strip()) is not None


def has_decimal_commas(entries: Sequence[str]) -> bool:
    """Whether all entries are numbers with a comma before decimals, and one of them surely.

    Args:
        entries: Of a column; those without content are left out.
    """
    there = [one for one in map(str.strip, entries) if one and one not in _MISSING]
    return any(map(_SURELY_COMMA.fullmatch, there)) and all(map(_WITH_COMMA.fullmatch, there))


def spoken(separator: str) -> str:
    """A separator as messages say it."""
    return SAID.get(separator, f'"{separator}"')


def _refuse_short(
    file: object, number: int, sample: tuple[tuple[str, ...], ...], width: int, model: str
) -> None:
    """Refuse a header that is longer than every row: it may hold the first of them."""
    if sample and all(len(row) < width for row in sample):
        raise InvalidInput(
            ragged(f"{file}, line {number}", len(sample[0]), model, width), code="ragged-row"
        )


def _refuse_second_header(
    file: object, ends: list[int], sample: tuple[tuple[str, ...], ...]
) -> None:
    """Refuse lines below the header that say more of columns: questions, ids of them, units.

    Args:
        file: What messages call it.
        ends: The lines at which the header and each of the rows end.
        sample: The first rows.
    """
    columns = [[entry.strip() for entry in column] for column in zip_longest(*sample, fillvalue="")]
    for more in range(min(_MOST_HEADERS, len(sample) - _FEWEST_ROWS), 0, -1):
        below = [(column[:more], column[more:]) for column in columns]
        numbers = [first for first, rest in below if any(rest) and _above_numbers("x", rest)]
        words = [first for first in numbers if all(_is_word(entry) for entry in first)]
        if len(words) > 1 and 2 * len(words) > len(numbers):
            which = f"line {ends[1]} has" if more == 1 else f"lines {ends[1]} to {ends[more]} have"
            raise InvalidInput(
                f"{file}: {which} words in columns of numbers, as a second header has, and would "
                "count as people; remove what is no row, or take the last of these lines for the "
                f"header with {setting('skip', ends[more - 1])}; {setting('skip', 0)} says that "
                "all are rows",
                code="header-row",
            )


def _is_word(entry: str) -> bool:
    return bool(entry) and entry not in _MISSING and not is_amount(entry)


def _separator(file: object, suffix: str, text: str) -> str:
    """What cuts every line into equally many entries."""
    own = OWN.get(suffix)
    cuts = [
        sign for sign in SIGNS
        if _entries(text, sign) > 1 or ('\\"' in text and _entries(text, sign, _ESCAPED) > 1)
    ]  # fmt: skip
    cuts = cuts or [sign for sign in SIGNS if _entries(text, sign, SINGLE) > 1]
    if own is None and cuts == ["\t"] and _is_aligned(text):
        return ANY_BLANKS
    if own in cuts and not (own == "," and ";" in cuts):
        return str(own)
    if cuts and (len(cuts) == 1 or cuts[0] == "\t"):
        return cuts[0]
    if cuts:
        raise InvalidInput(
            f"{file}: columns may be separated by {' or by '.join(map(spoken, cuts))}; "
            f"{_which_separator(cuts)}",
            code="unclear-separator",
        )
    blank = _blank_separator(text)
    if own and own not in text and blank:
        what = "a space" if blank == SPACE else "blanks"
        raise InvalidInput(
            f"{file}: columns may be separated by {what}, or there may be one column; "
            f"{_which_separator([blank, own])}",
            code="unclear-separator",
        )
    return own or blank or _nearly(file, text)


def _is_aligned(text: str) -> bool:
    """Whether columns are lined up by blanks before the only tab of each line."""
    rows = PLAIN.rows(text, "\t")
    lined_up = all(len(row) == 2 and "  " in row[0].strip() for row in rows)  # noqa: PLR2004
    return lined_up and _entries(text, ANY_BLANKS) > 2  # noqa: PLR2004


def _blank_separator(text: str) -> str | None:
    """Whether each line has as many entries between single blanks, or any number of them."""
    if _entries(text, SPACE) > 1:
        return SPACE
    return ANY_BLANKS if _ALIGNED.search(text) and _entries(text, ANY_BLANKS) > 1 else None


def _nearly(file: object, text: str) -> str:
    """What cuts most lines alike; whoever reads the rows will name those that differ."""
    for sign in (*SIGNS, SPACE):
        if sign in text.splitlines()[0] and _leaves_one_out(PLAIN.rows(text, sign)):
            return sign
    for sign in SIGNS:
        sizes = [len(row) for row in PLAIN.rows(text, sign)]
        if sizes[0] > 1 and 2 * sizes.count(sizes[0]) > len(sizes):
            return sign
    if not any(sign in text.strip() for sign in (*SIGNS, SPACE)):
        return ","
    if offered("skip"):
        _refuse_title(file, text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if 2 * sum("  " in line for line in lines) > len(lines):
        raise InvalidInput(
            f"{file}: blanks stand between columns, and not every line has an entry in each; write "
            "the file again with a comma between them, as with pandas: read_fwf(FILE, dtype=str)"
            ".to_csv('t.csv', index=False)",
            code="unclear-separator",
        )
    say = f", say what separates them, as with {setting('separator', ';')}"
    write = " write it with a comma between columns, and quotes around entries that hold one"
    raise InvalidInput(
        f"{file}: no separator cuts the first lines into equally many columns, so this may not be "
        f"a table; if it is one{say if offered('separator') else write}",
        code="unclear-separator",
    )


def _refuse_title(file: object, text: str) -> None:
    """Refuse a text of which all but the first lines are cut alike."""
    for sign in SIGNS:
        rows = list(islice(PLAIN.numbered_rows(text, sign), LINES))
        width = len(rows[-1][0])
        first = next((at for at, (row, _) in enumerate(rows) if len(row) == width), 0)
        alike = all(len(row) == width for row, _ in rows[first:])
        if width > 1 and 0 < first <= _MOST_TITLE and alike and len(rows) > 2 * _MOST_TITLE:
            lines = rows[first - 1][1]
            which = "line has" if lines == 1 else f"{lines} lines have"
            raise InvalidInput(
                f"{file}: the first {which} fewer or more columns than the rest; if that is no "
                f"part of the table, leave it out with {setting('skip', lines)}",
                code="unclear-separator",
            )


def _which_separator(signs: list[str]) -> str:
    """How to settle a doubt about separators."""
    if not offered("separator"):
        return "write it again with a tab between columns, and none within an entry"
    choices = " or ".join(setting("separator", SAID.get(sign, sign)) for sign in signs)
    return f"say which: {choices}"


def _entries(text: str, sign: str, quoting: _Quoting = PLAIN) -> int:
    """How many entries each row has, 0 if not all have the same number."""
    sizes = {len(row) for row in quoting.rows(text, sign)}
    return sizes.pop() if len(sizes) == 1 else 0


def _has_header(file: object, rows: list[tuple[str, ...]], wanted: Collection[str]) -> bool:
    first = [entry.strip() for entry in rows[0]]
    if any(entry in wanted and not is_number(entry) for entry in first):
        return True
    columns = [
        [row[place].strip() for row in rows[1:] if place < len(row)] for place in range(len(first))
    ]
    pairs = list(zip(first, columns, strict=True))
    again = any(entry and entry in column for entry, column in pairs)
    roles = [role for role in map(role_of, first) if role]
    # One word alone may be an item, unless items come again and it does not.
    repeats = any(2 * len(set(column)) <= len(column) for column in columns if column)
    named = "user" in roles or len(roles) > 1 or bool(roles and repeats and not again)
    above = sum(_above_numbers(*pair) for pair in pairs)
    # The numbers of rows below an empty cell, as R and pandas write them.
    indexed = (
        not first[0]
        and len({*columns[0]}) == len(columns[0]) > 1
        and all(map(str.isdecimal, columns[0]))
    )
    by_number = {name for name in wanted if name.isdecimal()}
    sure = True
    if by_number and by_number <= {str(place + 1) for place in range(len(first))}:
        # Columns are called by their numbers, unless these are their very names.
        header = False
        sure = all(map(is_number, first)) or not by_number <= set(first)
    elif _are_years(first):
        header = True
    elif any(map(is_number, first)):
        # Names of rows below an empty cell: the numbers beside it may be the names of columns.
        corner = not first[0] and all(map(str.strip, columns[0]))
        header, sure = False, "user" not in roles and not corner
    elif named or indexed or above:
        # A word above numbers may be chance, and a name may also be a value below it; two words
        # above numbers, or an index without a name, leave no doubt.
        header, sure = True, indexed or above > 1 or not again
    elif not again and _unlike_rows(pairs):
        header = True
    else:
        header = False
        sure = again or all(_alike(*pair) for pair in pairs)
    if sure:
        return header
    if offered("skip") and len(first) < max(map(len, rows)):
        raise InvalidInput(
            f"{file}: the first line has fewer entries than most; if lines above the table are a "
            f"title, leave them out with {setting('skip', 1)}, or say that there is none with "
            f"{setting('skip', 0)} and {setting('header', value=True)}",
            code="unclear-header",
        )
    choices = f"{setting('header', value=True)} or {setting('header', value=False)}"
    known = f", such as {', '.join(sorted(wanted))}" if wanted else ""
    write = f"give the file a first line with names that we know{known}"
    raise InvalidInput(
        f"{file}: the first line may name the columns or be a row like the others; "
        f"{f'say which: {choices}' if offered('header') else write}",
        code="unclear-header",
    )


def _are_years(first: list[str]) -> bool:
    """Whether all numbers in a line are years one after the other, as above series of years."""
    numbers = [entry for entry in first if is_number(entry)]
    years = [int(entry) for entry in numbers if _YEAR.fullmatch(entry)]
    run = all(later == year + 1 for year, later in pairwise(years))
    return len(years) == len(numbers) < len(first) and len(years) > 2 and run  # noqa: PLR2004


def _above_numbers(entry: str, column: list[str]) -> bool:
    """Whether a word stands above numbers, some of which may be missing."""
    there = [one for one in map(str.strip, column) if one and one not in _MISSING]
    # A missing number in the first row is no name of a column.
    return bool(entry and there) and entry not in _MISSING and all(map(is_number, there))


def _unlike_rows(pairs: list[tuple[str, list[str]]]) -> bool:
    """Whether a row of data would hardly ever have so many entries, or shapes, of its own.

    A further row has a value of its own about as often as the rows before it had (Good and Turing),
    so that little is left of the chance if values repeat and those of the first line do not.
    """
    chances = [
        min(_chance_of_news(entry, column), _chance_of_news(_shape(entry), map(_shape, column)))
        for entry, column in pairs
    ]
    return min(chances) <= _UNLIKELY or prod(chances) <= _UNLIKELY / 10


def _chance_of_news(entry: str, column: Iterable[str]) -> float:
    """How likely it is that a row has a value that no other has; 1 if it has none such."""
    often = Counter(column)
    if entry in often:
        return 1.0
    alone = sum(count == 1 for count in often.values())
    return (alone + 1) / (often.total() + 1)


def _shape(entry: str) -> str:
    """What an entry looks like: runs of digits and of letters as one of them each."""
    return _LETTERS.sub("a", _DIGITS.sub("9", entry.strip()))


def _alike(entry: str, column: list[str]) -> bool:
    """Whether entries look like ids made by a machine: with digits, and all of one length."""
    return (
        bool(column)
        and any(map(str.isdigit, entry))
        and {len(one) for one in column} == {len(entry)}
    )
