"""Tell in text what an inspection found: a table of columns, sentences and commands."""

import shlex
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from reidrisk.core.sanitize import cleaned
from reidrisk.io.column_kinds import DECIMAL_COMMAS
from reidrisk.io.column_roles import column_name, common_stem
from reidrisk.io.vector_columns import COORDINATES, span

if TYPE_CHECKING:
    from reidrisk.io.column_kinds import ColumnSummary
    from reidrisk.io.inspect import Inspection

HEADINGS = ("column", "holds", "distinct", "alone", "empty", "taken for", "examples")
_NUMBERS = {"distinct", "alone", "empty"}
_WIDTH, _LONGEST_LINE = 78, 100
_LEAST_EXAMPLES = 12
_WIDEST, _INDENT = 24, 2
_ABOUT_PEOPLE = ("table", "log", "unknown")
_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_MOST_LISTED = 12


def inspection_text(inspection: "Inspection", width: int = _WIDTH) -> str:
    """All that an inspection found, in lines.

    Args:
        inspection: What was found.
        width: Of the longest line; commands may be longer.
    """
    found = cleaned(inspection)
    text = min(width, _LONGEST_LINE)
    told = (_wrapped(sentence, text) for sentence in sentences(found))
    return "\n".join((
        found.file, "  " + " · ".join(_facts(found)), "", *_grid(found, width), "",
        *(f"{paragraph}\n" for paragraph in told), *_asked(found, text),
    )).rstrip()  # fmt: skip


def cells_of_columns(found: "Inspection") -> Iterator[tuple[str, ...]]:
    """The table of columns: a row for each, and one for all numbers of a vector.

    Args:
        found: What was found.
    """
    for (content, _), group in groupby(found.columns, _kind_of_row):
        columns = list(group)
        if content == COORDINATES and len(columns) > 1:
            empty = sum(one.empty + one.blank for one in columns)
            names = span([one.name for one in columns])
            yield (names, content, "many", "-", f"{empty:,}" if empty else "-", "-", "-")
        else:
            yield from map(_column_cells, columns)


def _kind_of_row(column: "ColumnSummary") -> tuple[str | None, str | None]:
    """The same for columns that hold the numbers of one vector."""
    together = column.content == COORDINATES
    return column.content, common_stem([column.name]) if together else column.name


def _column_cells(column: "ColumnSummary") -> tuple[str, ...]:
    """A row of the table of columns.

    Args:
        column: Which.
    """
    name = column.name if len(column.name) <= _WIDEST else column.name[: _WIDEST - 1] + "…"
    return (
        name, column.holds, "many" if column.distinct is None else f"{column.distinct:,}",
        "-" if column.alone is None else f"{column.alone:,}",
        f"{column.empty + column.blank:,}" if column.empty or column.blank else "-",
        f"{column.role}, by {column.why}" if column.role else "-",
        ", ".join(column.examples) or "-",
    )  # fmt: skip


def sentences(found: "Inspection") -> list[str]:
    """What there is to say, a paragraph each.

    Args:
        found: What was found.
    """
    warnings = [f"Warning: {text}" for text in found.warnings]
    people = " ".join(
        filter(None, (_users(found), _sample(found), _alone(found), _repeated(found)))
    )
    notes = " ".join(filter(None, (*_signs(found), _commas(found), _left_out(found))))
    return [text for text in (*warnings, people, notes, found.meaning) if text]


def _grid(found: "Inspection", width: int) -> Iterable[str]:
    """The table of columns; examples get what is left of the width."""
    rows = [HEADINGS, *cells_of_columns(found)]
    widths = [max(map(_cells_of, cells)) for cells in zip(*rows, strict=True)]
    left = width - sum(widths[:-1]) - 2 * len(widths) + 1
    # Narrower examples would say nothing.
    shown = len(widths) if left >= _LEAST_EXAMPLES or widths[-1] <= left else len(widths) - 1
    widths[-1] = min(widths[-1], left)
    lines = [_line(cells[:shown], widths) for cells in rows]
    yield lines[0]
    yield " " + "─" * (sum(widths[:shown]) + 2 * shown - 2)
    yield from lines[1:]


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = []
    for heading, cell, width in zip(HEADINGS, cells, widths, strict=False):
        text = cell
        # Whole examples, as many as there is room for.
        while _cells_of(text) > width and ", " in text:
            text = text.rpartition(", ")[0]
        while _cells_of(text) > width:
            text = text.removesuffix("…")[:-1] + "…"
        blank = " " * (width - _cells_of(text))
        padded.append(blank + text if heading in _NUMBERS else text + blank)
    return " " + "  ".join(padded).rstrip()


def _cells_of(text: str) -> int:
    """How wide a text is in a terminal."""
    from rich.cells import cell_len

    return cell_len(text)


def _asked(found: "Inspection", width: int) -> Iterable[str]:
    many = len(found.suggestions) > 1
    yield "Ask next, the worst first:" if many else "Next:"
    for one in found.suggestions:
        yield f"\n{' ' * _INDENT}{one.question}"
        yield textwrap.indent(_broken(one.command, width - 2 * _INDENT), " " * 2 * _INDENT)


def _broken(command: str, width: int) -> str:
    """A command in lines that a terminal holds, and that a shell takes for one."""
    if len(command) <= width or command.startswith("rr."):
        return command
    lines: list[str] = []
    for option in _options(shlex.split(command)):
        if lines and len(lines[-1]) + len(option) + len(" \\") < width:
            lines[-1] += f" {option}"
        else:
            lines.append(f"  {option}" if lines else option)
    return " \\\n".join(lines)


def _options(words: list[str]) -> Iterable[str]:
    """The words of a command, options together with their values."""
    group: list[str] = []
    for word in words:
        if word.startswith("-") and group:
            yield shlex.join(group)
            group = []
        group.append(word)
    yield shlex.join(group)


def _wrapped(text: str, width: int) -> str:
    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _users(found: "Inspection") -> str:
    rows = found.rows_per_user
    if rows is None:
        return ""
    if rows.least == rows.most:
        each = "one row" if rows.most == 1 else f"{rows.most:,} rows"
        return "1 user." if found.users == 1 else f"{found.users:,} users with {each} each."
    return (
        f"{found.users:,} users. Rows per user: {rows.least:,} to {rows.most:,}, median "
        f"{rows.median:,.10g}, mean {rows.mean:,.1f}; nine in ten have at most "
        f"{rows.nine_in_ten:,.0f}."
    )


def _sample(found: "Inspection") -> str:
    if found.looked_at == found.rows:
        return ""
    return f"All this is from the first {found.looked_at:,} rows."


def _alone(found: "Inspection") -> str:
    if not found.describing or found.shape not in _ABOUT_PEOPLE:
        return ""
    share = 100 * found.alone / found.people
    columns = len(found.describing)
    which = (
        f"By {column_name(found.describing[0])}" if columns == 1
        else f"By {'both' if columns == 2 else f'all {columns}'} describing columns together"  # noqa: PLR2004
    )  # fmt: skip
    whom = f"{found.alone:,} of {found.people:,} people ({share:.3g} %) are alone"
    return f"{which}, {whom}: nobody else has the same values."


def _repeated(found: "Inspection") -> str:
    if not found.repeated or found.shape not in _ABOUT_PEOPLE:
        return ""
    rows = "1 row is" if found.repeated == 1 else f"{found.repeated:,} rows are"
    return (
        f"{rows} the same as an earlier one in every column. Where that is the same person again, "
        "remove the row: more people are alone than it seems."
    )


def _signs(found: "Inspection") -> Iterable[str]:
    for signs in dict.fromkeys(one.signs for one in found.columns if one.signs):
        columns = [one for one in found.columns if one.signs == signs]
        cells = _cells(sum(one.blank for one in columns))
        stand = (
            f"{signs[0]} stands for no value ({cells}) and counts as a value of its own"
            if len(signs) == 1
            else f"{' and '.join(signs)} stand for no value ({cells}), each a value of its own"
        )
        yield f"In {_listed([one.name for one in columns])}, {stand}."


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number:,} cells"


def _commas(found: "Inspection") -> str:
    names = [one.name for one in found.columns if one.kind == DECIMAL_COMMAS]
    return f"Numbers in {_listed(names)} have decimal commas." if names else ""


def _left_out(found: "Inspection") -> str:
    if found.shape not in _ABOUT_PEOPLE:
        return ""
    said: dict[str, list[str]] = {}
    for one in found.columns:
        if one.left_out and one.role is None:
            said.setdefault(one.left_out, []).append(one.name)
    parts = [f"{_listed(names)} ({why})" for why, names in said.items()]
    return f"Left out: {'; '.join(parts)}." if parts else ""


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    if len(every) == 1:
        return column_name(every[0])
    more = len(every) - _MOST_LISTED
    last = f"{more} more" if more > 0 else every[-1]
    first = ", ".join(every[: min(_MOST_LISTED, len(every) - 1)])
    return f"{'columns ' if all(map(str.isdecimal, every)) else ''}{first} and {last}"


def _facts(found: "Inspection") -> list[str]:
    facts = dict(found.facts)
    said = [facts["format"] + (f" in {facts['packed']}" if "packed" in facts else "")]
    if "separator" in facts:
        said += [f"separated by {facts['separator']}"]
        said += ["with a header" if facts["header"] == "yes" else "no header"]
    if "encoding" in facts:
        said += [facts["encoding"]]
    return [*said, f"{found.rows:,} rows", _size(found.size)]


def _size(size: int) -> str:
    number, unit = float(size), 0
    while number >= 1000 and unit < len(_UNITS) - 1:  # noqa: PLR2004
        number, unit = number / 1000, unit + 1
    return f"{number:.3g} {_UNITS[unit]}" if unit else f"{size} bytes"
