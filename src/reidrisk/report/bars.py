"""Bar charts of bits."""

from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.plotting import Style, chart, fixed, layer, of, settings
from reidrisk.report.exhibits import Row, span
from reidrisk.study.analyses.information import ends, said

_BAR = 46
"""Height of a bar with its name above it."""


def bit_bars(rows: Sequence[Row], look: Style, title: str, names: Sequence[str]) -> Any:
    """A bar with its interval for each row, lighter where the row is `measured`.

    Args:
        rows: Figures in bits.
        look: Of the chart.
        title: Of the axis.
        names: Of the rows, above the bars.
    """
    # Bars are grey: in a report a colour always stands for an attack.
    data: list[Mapping[str, Any]] = [
        {
            **row,
            "said": said(row),
            "ends": ends(row),
            "place": place,
            "what": name,
            "filled": 0.4 if row.get("measured") else 1.0,
            # The number stands behind bar and interval, even where both lie below 0.
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
