"""The page that compares two runs."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reidrisk.core.sanitize import cleaned
from reidrisk.plotting import Style, by_attack, chart, layer, of, settings
from reidrisk.report.exhibits import Column, Exhibit, Row, Section, words_column
from reidrisk.report.page import Sheet, save
from reidrisk.study._compare import Comparison, Difference
from reidrisk.study.run_store import versions
from reidrisk.study.text.differences import (
    NOT_COVERED,
    assumptions,
    change,
    changes,
    explained,
    had,
    interval_heading,
    missing,
    points,
    points_interval,
    share_beside,
    targets,
    verdict,
)
from reidrisk.study.text.numbers import opening
from reidrisk.study.text.verdict import Sentence

_POINTS = "datum.value == 0 ? '0' : format(100 * datum.value, '+.3~r')"


def html(
    found: Comparison,
    path: str | os.PathLike[str],
    *,
    names: tuple[str, str] = ("the first", "the second"),
    command: str = "reidrisk compare RUN-A RUN-B",
) -> Path:
    """Write the page about two runs.

    Args:
        found: What `reidrisk.compare` found.
        path: Where to.
        names: What the runs are called.
        command: That found it.
    """
    known, called = cleaned(found), cleaned(names)
    one = known.headline
    sheet = Sheet(
        title=f"{called[1]} compared with {called[0]}",
        statements=(
            Sentence("found", verdict(known, called), warns=one.worse),
            *(Sentence("unfit", text, warns=True) for text in missing(known, called)),
        ),
        basis=f"{called[0]}: {known.before}. {called[1]}: {known.after}. {explained(known)}",
        figure=None,
        study={"before": known.before, "after": known.after, "slots": known.slots},
        command=command,
        assumptions=assumptions(known),
        not_covered=NOT_COVERED,
        versions=versions(),
    )
    return save(sheet, sections(known, called), path)


def sections(
    found: Comparison, names: tuple[str, str] = ("the first", "the second")
) -> tuple[Section, ...]:
    """The differences, and what differs between the studies."""
    return _differences(found, names), _changes(found, names)


def _differences(found: Comparison, names: tuple[str, str]) -> Section:
    exhibit = Exhibit(
        name="differences",
        title=f"How much more often attacks are right in {names[1]}",
        sentence=" ".join(change(one) for one in found.differences),
        rows=tuple(_row(one) for one in found.differences),
        columns=(
            words_column("Attack", "attack"),
            Column(names[0], lambda row: str(row["before_said"]), "before"),
            Column(names[1], lambda row: str(row["after_said"]), "after"),
            Column("Points", lambda row: str(row["points"]), "value"),
            Column(opening(interval_heading(found)), lambda row: str(row["interval"]), "high"),
            words_column("Targets", "targets"),
        ),
        draw=_drawn,
        open=True,
    )  # fmt: skip
    return Section(
        "differences",
        f"Which attacks are right more often {had(found)}?",
        exhibits=(exhibit,),
    )


def _row(one: Difference) -> Row:
    return {
        "attack": one.attack,
        "before": one.before.value,
        "before_said": share_beside(one.before, one.change),
        "after": one.after.value,
        "after_said": share_beside(one.after, one.change),
        "value": one.change.value,
        "low": one.change.low,
        "high": one.change.high,
        "points": points(one.change),
        "interval": points_interval(one.change),
        "targets": targets(one),
    }


def _changes(found: Comparison, names: tuple[str, str]) -> Section:
    title = "How do the studies differ?"
    if not found.changes:
        return Section("changes", title, (changes(found),))
    rows: tuple[Row, ...] = tuple(
        {"what": one.what, "before": one.before, "after": one.after} for one in found.changes
    )
    exhibit = Exhibit(
        name="changes",
        title="What differs",
        sentence=changes(found),
        rows=rows,
        columns=(
            words_column("What", "what"),
            words_column(names[0], "before"),
            words_column(names[1], "after"),
        ),
        open=True,
    )
    return Section("changes", title, exhibits=(exhibit,))


def _drawn(rows: Sequence[Row], look: Style) -> Any:
    """A mark with its interval for each attack, and a line where nothing differs."""
    data = [
        {**row, "place": f"{row['attack']} ({place})" if _twice(rows, row) else row["attack"],
         "said": f"{row['points']} points ({row['interval']})"}
        for place, row in enumerate(rows, 1)
    ]  # fmt: skip
    y = of("place:N", sort=None, title=None, axis=settings(labelLimit=160))
    axis = settings(title="difference in points", labelExpr=_POINTS, tickCount=5)
    base = chart(data).encode(y=y)
    attacks = list(dict.fromkeys(str(row["attack"]) for row in rows))
    style = by_attack(attacks, replace(look, legend=False))  # the axis names them
    tips = [of("attack:N"), of("said:N", title="difference")]
    return layer(
        chart([{"zero": 0}]).mark("rule", color=look.muted, opacity=0.6).encode(x="zero:Q"),
        base.mark("rule", strokeWidth=2.5).encode(
            x=of("low:Q", axis=axis), x2="high:Q", color=style["color"]
        ),
        base.mark("point", filled=True, size=90, opacity=1).encode(
            x=of("value:Q", axis=axis), tooltip=tips, color=style["color"], shape=style["shape"]
        ),
        base.mark("text", align="center", dy=-12, color=look.ink).encode(
            x=of("value:Q", axis=axis), text="points:N"
        ),
    ).properties(height=54 * len(rows))


def _twice(rows: Sequence[Row], one: Row) -> bool:
    return sum(row["attack"] == one["attack"] for row in rows) > 1
