"""Bars of what was measured, with a line where the published value lies."""

from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.plotting import Chart, Look, chart, layer, of, settings

_ROW = 34
_ROOM = 1.3
"""How far the axis goes beyond the longest bar: words stand there."""


def bars(rows: Sequence[Mapping[str, Any]], look: Look, axis: str, unit: str) -> Chart:
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
