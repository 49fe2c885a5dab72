"""Tables and bars of figures in bits."""

from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.plotting import Style, chart, fixed, layer, of, settings
from reidrisk.report.exhibits import Column, Row, span
from reidrisk.study.text.information import ends, said
from reidrisk.study.text.numbers import percent

_BAR = 46
"""Height of a bar with its name above it."""


def bit_columns(level: float) -> tuple[Column, Column]:
    """Bits and their interval."""
    return (
        Column("Bits", said, "value"),
        Column(f"{percent(level)} interval", ends, "high"),
    )


def bars(rows: Sequence[Row], look: Style, title: str, names: Sequence[str]) -> Any:
    """A bar with its interval for each row, from 0; lighter where the row is `measured`.

    Colours are those of attacks, so here are none.

    Args:
        rows: Figures in bits.
        look: Of the chart.
        title: Of the axis.
        names: Of the rows, above the bars.
    """
    data: list[Mapping[str, Any]] = [
        {
            **row,
            "said": said(row),
            "ends": ends(row),
            "place": place,
            "what": name,
            "filled": 0.4 if row.get("measured") else 1.0,
            "beside": max(span(row).high, 0.0),
        }
        for place, (row, name) in enumerate(zip(rows, names, strict=True))
    ]
    axis = {"title": title, "axis": settings(tickCount=6)}
    base = chart(data).encode(y=of("place:O", axis=None))
    tips = [
        of("what:N", title="figure"),
        of("said:N", title="bits"),
        of("ends:N", title="interval"),
    ]
    return layer(
        base.mark("bar", size=12, color=look.muted).encode(
            x=of("value:Q", **axis),
            opacity=of("filled:Q", scale=None, legend=None),
            tooltip=tips,
        ),
        base.mark("rule", color=look.ink, strokeWidth=2).encode(x=of("low:Q", **axis), x2="high:Q"),
        base.mark("text", align="left", dx=6).encode(x=of("beside:Q", **axis), text="said:N"),
        base.mark("text", align="left", baseline="bottom", dy=-9).encode(x=fixed(0), text="what:N"),
    ).properties(height=_BAR * len(rows))
