"""Detect the separator and header of a text table from its first lines.

Whoever knows says so; otherwise the first lines must leave no doubt. A wrong guess would give
wrong people without a word.
"""

import csv
import re
from collections.abc import Collection
from dataclasses import dataclass

from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import are_names, numbered, role_of
from reidrisk.io.labels import NOTHING, not_utf8
from reidrisk.io.layouts import Layout

# Tab and bar hardly ever stand inside of an entry; the space often does, and comes last.
SIGNS = ("\t", "|", "::", ",", ";")
SPACE = " "
OWN = {".csv": ",", ".tsv": "\t"}
SAID = {"\t": "tab", " ": "space"}
UTF_8_MARK, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_AMOUNT = re.compile(r"[+-]?[.,']?\d[\d.,' ]*")
LINES = 200
_AS_MANY = "give each line as many, with nothing between two separators where nothing is"


@dataclass(frozen=True, slots=True)
class Cut:
    """How a text is cut.

    Args:
        separator: Between columns.
        header: Whether the first line names the columns.
        names: The columns: as the header has them, or their numbers.
        skip: Bytes before the first row.
        before: Lines before the first row.
        line_end: What ends a line, a line feed or a carriage return.
        sample: Some of the first rows.
        sure: Whether the names are names for certain, and not the first row of data.
    """

    separator: str
    header: bool
    names: tuple[str, ...]
    skip: int
    before: int
    line_end: bytes
    sample: tuple[tuple[str, ...], ...]
    sure: bool

    def called(self, place: int) -> str:
        """A column as messages call it."""
        return repr(self.names[place]) if self.sure else f"column {place + 1}"


def find_cut(
    file: object, suffix: str, head: bytes, layout: Layout, wanted: Collection[str] = ()
) -> Cut:
    """Look at the first lines of a text.

    Args:
        file: What messages call it.
        suffix: The type that the name of the file claims, such as ".csv".
        head: Whole lines from the beginning of the text.
        layout: What somebody said of it.
        wanted: Names of columns; a first line that has one of them is a header.
    """
    _refuse_no_text(file, head)
    mark = len(UTF_8_MARK) if head.startswith(UTF_8_MARK) else 0
    line_end = b"\r" if b"\r" in head and b"\n" not in head else b"\n"
    raw = head[mark:].split(line_end)
    blank = next((place for place, line in enumerate(raw) if line.strip()), None)
    if blank is None:
        raise InvalidInput(
            f"{file}: there are no lines with anything in them; write it again", code="empty-file"
        )
    try:
        raw[blank].decode()
    except UnicodeDecodeError:
        raise InvalidInput(not_utf8(f"{file}, header", "header"), code="not-utf8") from None
    lines = [line.decode(errors="replace").rstrip("\r") for line in raw[blank:] if line.strip()]
    lines = lines[:LINES]
    separator = layout.separator or _separator(file, suffix, lines)
    rows = [tuple(split(line, separator)) for line in lines]
    header = layout.header
    if header is None:
        header = _has_header(file, rows, {*wanted, *layout.named})
    if header and any("\r" in name for name in rows[0]):
        raise InvalidInput(mixed_ends(file), code="mixed-line-ends")
    names = [one.strip() for one in rows[0]] if header else numbered(len(rows[0]))
    skipped = raw[: blank + header]
    skip = mark + sum(map(len, skipped)) + len(skipped)
    sample = tuple(rows[header:])
    if header and not any(unclosed(line, separator) for line in lines):
        number = next((at for at, line in enumerate(raw, 1) if at > blank + 1 and line.strip()), 0)
        _refuse_short(file, number, sample, len(names), f"the header, line {blank + 1},")
    # Where nobody looked whether there is a header, what is wanted may have been taken from it.
    asked = {*layout.named, *(() if layout.header else wanted)}
    sure = are_names(names) or bool(asked & {*names})
    return Cut(separator, header, tuple(names), skip, len(skipped), line_end, sample, sure)


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


def split(line: str, separator: str) -> list[str]:
    """The entries of a line; those in quotes may hold the separator."""
    if '"' not in line or len(separator) > 1:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # an entry is too long for Python, because a quote is never closed
        return line.split(separator)


def unclosed(line: str, separator: str) -> bool:
    """Whether an entry in quotes does not end in its line."""
    if '"' not in line or len(separator) > 1:
        return False
    reader = csv.reader((line, ""), delimiter=separator)
    try:
        next(reader)
    except csv.Error:  # as above
        return line.count('"') % 2 == 1
    return reader.line_num > 1


def is_number(text: str) -> bool:
    """Whether a text is a number as tables have them."""
    return NUMBER.fullmatch(text.strip()) is not None


def is_amount(text: str) -> bool:
    """Whether a text is a number as people write them: 1,5 or 1.000 besides."""
    return is_number(text) or _AMOUNT.fullmatch(text.strip()) is not None


def spoken(separator: str) -> str:
    """A separator as messages say it."""
    return SAID.get(separator, f'"{separator}"')


def _refuse_no_text(file: object, head: bytes) -> None:
    zeros = max(head[::2].count(0), head[1::2].count(0))
    if head.startswith(UTF_16) or 4 * zeros > len(head):
        raise InvalidInput(
            f"{file}: the file is UTF-16, not UTF-8; convert it to UTF-8, as with "
            "`iconv -f UTF-16 -t UTF-8`",
            code="not-utf8",
        )
    if zeros:
        raise InvalidInput(
            f"{file}: this is not text: it holds zero bytes; export it as CSV", code="not-text"
        )


def _refuse_short(
    file: object, number: int, sample: tuple[tuple[str, ...], ...], width: int, model: str
) -> None:
    """Refuse a header that is longer than every row: it may hold the first of them."""
    if sample and all(len(row) < width for row in sample):
        raise InvalidInput(
            ragged(f"{file}, line {number}", len(sample[0]), model, width), code="ragged-row"
        )


def _separator(file: object, suffix: str, lines: list[str]) -> str:
    """What cuts every line into equally many entries."""
    own = OWN.get(suffix)
    cuts = [sign for sign in SIGNS if _entries(lines, sign) > 1]
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
    if own and not any(own in line for line in lines) and _entries(lines, SPACE) > 1:
        raise InvalidInput(
            f"{file}: columns may be separated by a space, or there may be one column; "
            f"{_which_separator([SPACE, own])}",
            code="unclear-separator",
        )
    return own or _nearly(file, lines)


def _nearly(file: object, lines: list[str]) -> str:
    """What cuts most lines alike; whoever reads the rows will name those that differ."""
    if _entries(lines, SPACE) > 1:
        return SPACE
    for sign in SIGNS:
        sizes = [len(split(line, sign)) for line in lines]
        if sizes[0] > 1 and 2 * sizes.count(sizes[0]) > len(sizes):
            return sign
    if all(len(split(line, sign)) == 1 for sign in (*SIGNS, SPACE) for line in lines):
        return ","
    say = f", say what separates them, as with {setting('separator', ';')}"
    write = " write it with a comma between columns, and quotes around entries that hold one"
    raise InvalidInput(
        f"{file}: no separator cuts the first lines into equally many columns, so this may not be "
        f"a table; if it is one{say if offered('separator') else write}",
        code="unclear-separator",
    )


def _which_separator(signs: list[str]) -> str:
    """How to settle a doubt about separators."""
    if not offered("separator"):
        return "write it again with a tab between columns, and none within an entry"
    choices = " or ".join(setting("separator", SAID.get(sign, sign)) for sign in signs)
    return f"say which: {choices}"


def _entries(lines: list[str], sign: str) -> int:
    """How many entries each line has, 0 if not all have the same number."""
    sizes = {len(split(line, sign)) for line in lines}
    return sizes.pop() if len(sizes) == 1 else 0


def _has_header(file: object, rows: list[tuple[str, ...]], wanted: Collection[str]) -> bool:
    first = [entry.strip() for entry in rows[0]]
    if any(entry in wanted and not is_number(entry) for entry in first):
        return True
    columns = [[row[place] for row in rows[1:] if place < len(row)] for place in range(len(first))]
    pairs = list(zip(first, columns, strict=True))
    again = any(entry in column for entry, column in pairs)
    roles = [role for role in map(role_of, first) if role]
    # One word alone may be an item, unless items come again and it does not.
    repeats = any(2 * len(set(column)) <= len(column) for column in columns if column)
    named = "user" in roles or len(roles) > 1 or bool(roles and repeats and not again)
    by_number = {name for name in wanted if name.isdecimal()}
    sure = True
    if by_number and by_number <= {str(place + 1) for place in range(len(first))}:
        # Columns are called by their numbers, unless these are their very names.
        header = False
        sure = all(map(is_number, first)) or not by_number <= set(first)
    elif any(map(is_number, first)):
        header, sure = False, "user" not in roles
    elif named or any(column and all(map(is_number, column)) for column in columns):
        # A cell without content above numbers may be one of them.
        header, sure = True, not (named and again) and (named or not {"", *NOTHING} & {*first})
    else:
        header = False
        sure = again or all(_alike(*pair) for pair in pairs)
    if sure:
        return header
    choices = f"{setting('header', value=True)} or {setting('header', value=False)}"
    known = f", such as {', '.join(sorted(wanted))}" if wanted else ""
    write = f"give the file a first line with names that we know{known}"
    raise InvalidInput(
        f"{file}: the first line may name the columns or be a row like the others; "
        f"{f'say which: {choices}' if offered('header') else write}",
        code="unclear-header",
    )


def _alike(entry: str, column: list[str]) -> bool:
    """Whether entries look like ids made by a machine: with digits, and all of one length."""
    return (
        bool(column)
        and any(map(str.isdigit, entry))
        and {len(one) for one in column} == {len(entry)}
    )
