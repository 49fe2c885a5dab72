"""Bars of what was measured, with a line where the published value lies."""

from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.drawing import Chart, Look, chart, layer, of, settings

_ROW = 34


def bars(rows: Sequence[Mapping[str, Any]], look: Look, axis: str, unit: str) -> Chart:
    """A bar for each point.

    Args:
        rows: With `attack`, `slots`, `value`, `said`, and `published`, which may be None.
        look: Of the chart.
        axis: What slots are called.
        unit: Of the values.
    """
    data = [{**row, "label": f"{row['attack']}, {row['slots']:g} {axis}"} for row in rows]
    names = of("label:N", sort=None, title=None, axis=settings(labelLimit=300))
    base = chart(data).encode(y=names)
    scale = settings(title=unit, tickCount=6)
    return layer(
        base.mark("bar", height=18, color=look.colour(0)).encode(
            x=of("value:Q", axis=scale),
            tooltip=[of("label:N"), of("said:N", title="ours"), of("published:Q")],
        ),
        base.filter("datum.published != null")
        .mark("tick", color=look.ink, thickness=3, size=26)
        .encode(x=of("published:Q", axis=scale)),
        base.mark("text", align="left", dx=8, color=look.ink).encode(
            x=of("value:Q", axis=scale), text="said:N"
        ),
    ).properties(height=_ROW * len(data))
