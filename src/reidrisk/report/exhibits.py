"""The parts of a report: sections, and exhibits with a table and a chart."""

import csv
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from reidrisk.core.csv_safe import guarded
from reidrisk.plotting import COLOURS, GLYPHS, Style
from reidrisk.study.analyses.information import ends, said
from reidrisk.study.result import Risk
from reidrisk.study.text.numbers import (
    Interval,
    count,
    interval,
    percent,
    share,
    share_with_interval,
)

Cell = str | int | float | None
Row = Mapping[str, Cell]
NOTHING = "\N{EN DASH}"
_NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class _Span:
    """A value between two ends."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Column:
    """A column of a table: what people read, and the exact number behind it.

    Attributes:
        heading: Its heading.
        show: The text of a cell, from a row.
        key: The key of the row that holds the exact number.
        number: Whether there is such a number.
        breaks: Whether an interval may wrap below its value where the page is narrow.

    Example:
        >>> risk = rr.report.Column("risk", lambda row: f"{row['risk']:.1%}", "risk")
        >>> risk.show({"risk": 0.023})
        '2.3%'
    """

    heading: str
    show: Callable[[Row], str]
    key: str
    number: bool = True
    breaks: bool = False


@dataclass(frozen=True)
class Key:
    """A mark of a chart and what it stands for; one that can be switched off names an attack.

    Attributes:
        text: What it stands for.
        glyph: How it looks.
        colour: The place of the attack that it stands for; ink, if it stands for none.
        switch: Whether it can be switched off.
    """

    text: str
    glyph: str
    colour: int | Literal["ink"] = "ink"
    switch: bool = False


@dataclass(frozen=True)
class Exhibit:
    """Rows of data, shown as a table and, if `draw` is there, as a chart.

    Attributes:
        name: Of its files and of its place in the page.
        title: Over the chart.
        sentence: What it shows, computed from the rows; also the chart's text alternative.
        rows: The data, exact.
        columns: What of it the table shows.
        draw: Makes the chart from rows and a look.
        keys: Marks explained beside the chart.
        open: Whether the table is always shown.
        folded: Whether all but the title is folded away, until somebody asks.
        printed: Places of the rows that are enough on paper; all, if not given.

    Example:
        >>> risk = rr.report.Column("risk", lambda row: f"{row['risk']:.1%}", "risk")
        >>> exhibit = rr.report.Exhibit("risk", "Risk", "It is small.", ({"risk": 0.023},), (risk,))
        >>> exhibit.columns[0].show(exhibit.rows[0])
        '2.3%'
    """

    name: str
    title: str
    sentence: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    draw: Callable[[Sequence[Row], Style], Any] | None = None
    keys: tuple[Key, ...] = ()
    open: bool = False
    folded: bool = False
    printed: frozenset[int] | None = None

    def csv(self) -> str:
        """The rows as CSV with all digits; text that a spreadsheet would run is quoted."""
        text = io.StringIO()
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        # With this line end, csv quotes cells that hold either \r or \n.
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(map(guarded, names))
        writer.writerows([guarded(row.get(name, "")) for name in names] for row in self.rows)
        return text.getvalue().replace("\r\n", "\n")


@dataclass(frozen=True)
class Section:
    """A heading, sentences and exhibits.

    Attributes:
        name: Of its place in the page.
        title: The heading: a question that the section answers.
        sentences: Paragraphs under the heading.
        exhibits: Tables and charts.
        panels: Whether exhibits stand side by side.

    Example:
        >>> def section(result):
        ...     says = f"{result.users:,} users."
        ...     return rr.report.Section("size", "How many are there?", (says,))
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> result = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40)).run(people)
        >>> rr.report.html(result, "report.html", sections=[section]).name
        'report.html'
    """

    name: str
    title: str
    sentences: tuple[str, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    panels: bool = False


def span(row: Row, prefix: str = "") -> _Span:
    """The value, low and high of a row."""
    value, low, high = (row[f"{prefix}{part}"] for part in ("value", "low", "high"))
    return _Span(float(value or 0), float(low or 0), float(high or 0))


def said_rows(rows: Sequence[Row]) -> list[Row]:
    """Rows with their figures in words under `said`, for tooltips of charts.

    Args:
        rows: Each with a value and its interval.
    """
    return [{**row, "said": share_with_interval(span(row))} for row in rows]


def share_over_interval(number: Interval) -> str:
    """Such as `1.7 % (1.2 % to 2.3 %)`, which may wrap only before its interval.

    Args:
        number: A value and its interval.
    """
    whole = share_with_interval(number).replace(" ", _NO_BREAK)
    return whole.replace(f"{_NO_BREAK}(", " (")


def words_column(heading: str, key: str) -> Column:
    """Text as it is."""
    return Column(heading, lambda row: str(row[key]), key, number=False)


def count_column(heading: str, key: str) -> Column:
    """A whole number."""
    return Column(heading, lambda row: count(float(row[key] or 0)), key)


def share_columns(heading: str, level: str, prefix: str = "") -> tuple[Column, Column]:
    """A percentage and its interval; a dash where there is no number."""

    def shown(how: Callable[[_Span], str]) -> Callable[[Row], str]:
        return lambda row: NOTHING if row[f"{prefix}value"] is None else how(span(row, prefix))

    def either(number: _Span) -> str:
        return interval(number) or "exact"

    return (
        Column(heading, shown(share), f"{prefix}value"),
        Column(f"{level} interval", shown(either), f"{prefix}high"),
    )


def bit_columns(level: float) -> tuple[Column, Column]:
    """Bits and their interval.

    Args:
        level: Of the interval.
    """
    return Column("Bits", said, "value"), Column(f"{percent(level)} interval", ends, "high")


def risk_row(risk: Risk) -> Row:
    """The fields of a risk without its setting, which has columns of its own.

    Args:
        risk: How often an attack is right.
    """
    return {part.name: getattr(risk, part.name) for part in fields(risk) if part.name != "setting"}


def attack_keys(
    attacks: Sequence[str], used: Collection[str] | None = None, *, switch: bool = True
) -> tuple[Key, ...]:
    """A key for each attack that is used, in the place that gives it its colour and shape."""
    return tuple(
        Key(attack, GLYPHS[place % len(GLYPHS)], place % COLOURS, switch)
        for place, attack in enumerate(attacks)
        if used is None or attack in used
    )


def figure_cells(figure: Interval | None, prefix: str = "") -> Row:
    """The value and the ends of a figure, which may be missing."""
    parts = ("value", "low", "high")
    return {f"{prefix}{part}": None if figure is None else getattr(figure, part) for part in parts}
