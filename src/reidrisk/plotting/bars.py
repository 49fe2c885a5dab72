"""Bar charts of shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.plotting.style import PERCENT, Style
from reidrisk.plotting.vega import Chart, chart, layer, of, settings

_BAR = 26
"""Height of a bar."""


def share_bars(
    rows: Sequence[Mapping[str, Any]],
    look: Style,
    what: str,
    *,
    axis: str | None = None,
    colour: int = 0,
) -> Chart:
    """A bar for each row, with its number behind it, since most bars may be short.

    Args:
        rows: Each with its `label`, its `value` and that in words, `said`.
        look: Of the chart.
        what: The shares are of.
        axis: Title of the axis of labels.
        colour: The place of the attack whose colour bars have.
    """
    base = chart(rows).encode(y=of("label:N", sort=None, title=axis, axis=settings(labelLimit=160)))
    x = of("value:Q", axis=settings(title=what, labelExpr=PERCENT, tickCount=5))
    tips = [of("label:N", title=axis or " "), of("said:N", title=what)]
    return layer(
        base.mark("bar", color=look.colour(colour), size=15).encode(x=x, tooltip=tips),
        base.mark("text", align="left", dx=5, color=look.ink).encode(x=x, text="said:N"),
    ).properties(height=_BAR * len(rows))
