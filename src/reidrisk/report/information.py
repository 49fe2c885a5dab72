"""Information figures: bits for each slot."""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from reidrisk.drawing import Look, chart
from reidrisk.guests import guest
from reidrisk.report.parts import Column, Exhibit, Row, Section, count_column, words_column
from reidrisk.study.result import Result
from reidrisk.study.saying.numbers import bits, count
from reidrisk.study.saying.words import unit, units


def section(result: Result) -> Section | None:
    """Bits as bars."""
    if not result.information:
        return None
    rows: tuple[Row, ...] = tuple(
        {part.name: getattr(one, part.name) for part in fields(one)} for one in result.information
    )
    exhibit = Exhibit(
        name="information",
        title=f"Bits per {unit(result, 1)}",
        sentence=_sentence(result, rows),
        rows=rows,
        columns=(
            words_column("Figure", "name"),
            count_column(unit(result).capitalize(), "slots"),
            Column("Bits", _said, "value"),
            Column(
                "Standard error",
                lambda row: f"{row['error']:.1g}" if row["error"] else "exact",
                "error",
            ),
            words_column("Note", "note"),
        ),
        draw=lambda rows, look: _draw(result, rows, look),
        open=True,
    )  # fmt: skip
    return Section(
        "information",
        "How much does it reveal?",
        (f"Telling {count(result.users)} people apart takes {math.log2(result.users):.1f} bits.",),
        (exhibit,),
    )


def _said(row: Row) -> str:
    return bits(float(row["value"] or 0), float(row["error"] or 0))


def _sentence(result: Result, rows: Sequence[Row]) -> str:
    parts = [f"{row['name']} {_said(row)} over {_slots(result, row)}" for row in rows]
    return f"Bits per {unit(result, 1)}: {'; '.join(parts)}."


def _slots(result: Result, row: Row) -> str:
    return units(result, int(row["slots"] or 0))


def _draw(result: Result, rows: Sequence[Row], look: Look) -> Any:
    alt = guest("altair")
    data = [
        {
            **row,
            "said": _said(row),
            "place": place,
            "what": f"{row['name']} · {_slots(result, row)}",
        }
        for place, row in enumerate(rows)
    ]
    base = chart(data).encode(y=alt.Y("place:O", axis=None))
    x = alt.X("value:Q", title=f"bits per {unit(result, 1)}", axis=alt.Axis(tickCount=6))
    tips = [alt.Tooltip("what:N", title="figure"), alt.Tooltip("said:N", title="bits")]
    return alt.layer(
        base.mark_bar(color=look.muted, size=12).encode(x=x, tooltip=tips),
        base.mark_text(align="left", dx=5).encode(x=x, text="said:N"),
        base.mark_text(align="left", baseline="bottom", dy=-9).encode(
            x=alt.value(0), text="what:N"
        ),
    ).properties(height=46 * len(rows))
