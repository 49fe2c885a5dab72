"""The page of a reproduction: marks first, then each chapter."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reidrisk.core.sanitize import cleaned
from reidrisk.plotting import COLOURS, GLYPHS, Chart, Style, chart, layer, of, settings
from reidrisk.plotting.curves import over_slots
from reidrisk.report.exhibits import (
    NOTHING,
    Column,
    Exhibit,
    Key,
    Section,
    attack_keys,
    words_column,
)
from reidrisk.report.exhibits import Row as Cells
from reidrisk.report.page import Sheet, save
from reidrisk.reproduction.chapter import Row
from reidrisk.reproduction.record import MARKS, Part, Reproduction
from reidrisk.reproduction.text import MEANING, figure, ours, signed, summary
from reidrisk.study.text.verdict import Sentence

_ROW = 34
_ROOM = 1.3
"""How far the axis goes beyond the longest bar: words stand there."""


def _bars(rows: Sequence[Mapping[str, Any]], look: Style, axis: str, unit: str) -> Chart:
    """A bar for each point.

    Args:
        rows: With `attack`, `slots`, `value`, `said`, and `published`, which may be None.
        look: Of the chart.
        axis: What slots are called.
        unit: Of the values.
    """
    data = [{**row, "label": f"{row['attack']}, {axis}: {row['slots']:g}"} for row in rows]
    most = _ROOM * max(float(row["high"]) for row in data)
    names = of("label:N", sort=None, title=None, axis=settings(labelLimit=300))
    base = chart(data).encode(y=names)
    ends = settings(domain=[0, most])

    def value(name: str) -> dict[str, Any]:
        return of(name, axis=settings(title=unit, tickCount=6), scale=ends)

    return layer(
        base.mark("bar", height=18, color=look.colour(0)).encode(
            x=value("value:Q"),
            tooltip=[of("label:N"), of("said:N", title="ours"), of("published:Q")],
        ),
        base.filter("datum.published != null")
        .mark("tick", color=look.ink, thickness=3, size=26)
        .encode(x=value("published:Q")),
        base.mark("text", align="left", dx=8, color=look.ink).encode(
            x=value("value:Q"), text="said:N"
        ),
    ).properties(height=_ROW * len(data))


TITLE = "Measuring Re-identification Risk, reproduced"

_ASSUMED = (
    "The calibrated population is synthetic. It was fitted to the bits of one epoch, and no more.",
    "Ties are counted as chances. Intervals are of 95 % and come with the number of targets.",
)
_NOT_COVERED = (
    "Whether the authors' people would give the authors' figures: their data are not public.",
    "The values of curves that the paper shows only as pictures.",
)


def html(found: Reproduction, path: str | os.PathLike[str]) -> Path:
    """Write the page of a reproduction: one file that needs no network.

    Args:
        found: What `run` gave, or `Reproduction.read`.
        path: Where to.

    Raises:
        MissingExtra: The libraries that draw are not installed.
    """
    told = cleaned(found)
    sheet = Sheet(
        title=TITLE,
        statements=(Sentence("found", summary(told)), *_statements(told)),
        basis=f"{told.users:,} users and {told.targets:,} targets in the large experiment, scale "
        f"{told.scale}; {_learned(told)}",
        figure=None,
        study={
            "scale": told.scale, "users": told.users, "targets": told.targets,
            "seconds": told.seconds, "seed": told.seed,
        },
        command=_command(told),
        seed=told.seed,
        assumptions=_ASSUMED,
        not_covered=_NOT_COVERED,
        inputs=told.inputs,
        versions=told.versions,
    )  # fmt: skip
    sections = (_marks(told), *(_chapter(part) for part in told.chapters), *_slips(told))
    return save(sheet, sections, path)


def _statements(found: Reproduction) -> Iterator[Sentence]:
    differing = [row for row in found.rows if row.mark == "differs"]
    if differing:
        where = ", ".join(dict.fromkeys(row.where for row in differing))
        yield Sentence("unfit", f"What differs: {where}. Each row says why.", warns=True)


def _learned(found: Reproduction) -> str:
    if not found.seconds:
        return "nothing was learned."
    return f"at most {found.seconds:g} processor seconds for what is learned."


def _command(found: Reproduction) -> str:
    files = "".join(f" --file {name}=FILE" for name in found.inputs)
    return f"reidrisk reproduce --scale {found.scale} --seconds {found.seconds:g}{files} -o DIR"


def _marks(found: Reproduction) -> Section:
    counted = found.marks
    exhibit = Exhibit(
        name="marks",
        title="Rows by mark",
        sentence="Marks are computed from ours and the published, never written down.",
        rows=tuple(
            {"mark": signed(mark), "rows": counted[mark], "meaning": MEANING[mark]}
            for mark in MARKS
        ),
        columns=(
            words_column("Mark", "mark"),
            Column("Rows", lambda row: str(row["rows"]), "rows"),
            words_column("What it means", "meaning"),
        ),
        open=True,
    )
    return Section("marks", "How much comes out again?", exhibits=(exhibit,))


def _chapter(part: Part) -> Section:
    name = part.name.replace("_", "-")
    table = Exhibit(
        name=f"{name}-rows",
        title="Ours beside the published",
        sentence=_counted(part),
        rows=tuple(_cells(row) for row in part.rows),
        columns=tuple(
            words_column(heading, key)
            for heading, key in (
                ("Where", "where"), ("What", "what"), ("Published", "published"),
                ("Ours", "ours"), ("Mark", "mark"), ("Why", "why"),
            )
        ),
        open=True,
    )  # fmt: skip
    return Section(name, part.title, (f"Source: {part.source}.",), (*_figures(part), table))


def _cells(row: Row) -> Cells:
    slip = f" In the text: {row.slip}" if row.slip else ""
    return {
        "where": row.where,
        "what": row.what,
        "published": row.published,
        "ours": ours(row),
        "mark": signed(row.mark),
        "why": f"{row.why}{slip}",
        "value": None if row.ours is None else row.ours.value,
        "low": None if row.ours is None else row.ours.low,
        "high": None if row.ours is None else row.ours.high,
    }


def _counted(part: Part) -> str:
    said = [f"{number} {mark}" for mark, number in part.marks.items() if number]
    return f"{len(part.rows)} rows: {', '.join(said)}."


def _figures(part: Part) -> Iterator[Exhibit]:
    """A chart for all rows that are points over the same axis, in the same unit."""
    kinds = dict.fromkeys((row.axis, row.unit) for row in part.rows if row.points)
    for place, (axis, unit) in enumerate(kinds):
        rows = [row for row in part.rows if row.points and (row.axis, row.unit) == (axis, unit)]
        name = f"{part.name.replace('_', '-')}-figure-{place + 1}"
        yield _figure(name, rows, axis, unit)


def _figure(name: str, rows: Sequence[Row], axis: str, unit: str) -> Exhibit:
    series = list(dict.fromkeys(point.series for row in rows for point in row.points))
    cells = tuple(
        {
            "attack": point.series, "slots": point.at, "value": point.ours.value,
            "low": point.ours.low, "high": point.ours.high, "targets": point.ours.trials,
            "said": figure(point.ours, unit), "published": point.published,
        }
        for row in rows
        for point in row.points
    )  # fmt: skip
    where = " and ".join(dict.fromkeys(row.where for row in rows))
    shares = unit == "%"

    def draw(data: Sequence[Cells], look: Style) -> Any:
        if shares:
            return over_slots(data, look, series, axis)
        return _bars(data, look, axis, unit)

    published = any(cell["published"] is not None for cell in cells)
    columns = [
        words_column("Series", "attack"),
        Column(axis.capitalize(), lambda row: f"{row['slots']:g}", "slots"),
        Column("Ours", lambda row: str(row["said"]), "value"),
    ]
    if published:
        columns.append(Column("Published", _told, "published"))
    return Exhibit(
        name=name,
        title=f"{where}, as it comes out here",
        sentence=_sentence(cells, axis, published=published),
        rows=cells,
        columns=tuple(columns),
        draw=draw,
        keys=attack_keys(series) if shares else _keys(published=published),
    )


def _told(row: Cells) -> str:
    return NOTHING if row["published"] is None else f"{row['published']:g}"


def _keys(*, published: bool) -> tuple[Key, ...]:
    ink = (Key("published", "▏"),) if published else ()
    return (Key("ours", GLYPHS[1], 0 % COLOURS), *ink)


def _sentence(cells: Sequence[Cells], axis: str, *, published: bool) -> str:
    last = max(float(cell["slots"] or 0) for cell in cells)
    ends = [f"{cell['attack']} {cell['said']}" for cell in cells if cell["slots"] == last]
    beside = "; the line across a bar is the published value" if published else ""
    return f"At {last:g} {axis}: {'; '.join(ends)}{beside}."


def _slips(found: Reproduction) -> Iterator[Section]:
    slips = dict.fromkeys((row.where, row.slip) for row in found.rows if row.slip)
    if not slips:
        return
    exhibit = Exhibit(
        name="slips",
        title="Where the text says something else than it means",
        sentence="They matter to whoever implements the paper.",
        rows=tuple({"where": where, "slip": slip} for where, slip in slips),
        columns=(words_column("Where", "where"), words_column("In the text", "slip")),
        open=True,
    )
    yield Section("slips", "Slips in the text", exhibits=(exhibit,))
