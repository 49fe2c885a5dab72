"""Lines with intervals, as pictures of concepts need them."""

from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.plotting import PERCENT, Chart, Style, by_attack, chart, fixed, layer, of, settings

Rows = Sequence[Mapping[str, Any]]


def lines(rows: Rows, look: Style, *, x: Mapping[str, Any], y: Mapping[str, Any]) -> Chart:
    """A line for each name in `attack`, with `low` and `high` where rows have them.

    Args:
        rows: With `attack`, `x` and `value`.
        look: Of the page.
        x: How the axis is shown: title, values, scale.
        y: The same; shares are shown in per cent.
    """
    names = list(dict.fromkeys(str(row["attack"]) for row in rows))
    style = by_attack(names, look)
    across = of("x:Q", **_axis(x))
    up = _axis({"labelExpr": PERCENT, "grid": True, "tickCount": 6} | dict(y))
    base = chart(rows).encode(x=across, color=style["color"])
    bands = base.filter("isValid(datum.low)").mark("area", opacity=0.16)
    value = of("value:Q", **up)
    return layer(
        bands.encode(y=of("low:Q", **up), y2="high:Q"),
        base.mark("line", strokeWidth=2.5).encode(y=value, strokeDash=style["strokeDash"]),
        base.mark("point", filled=True, size=80, opacity=1).encode(y=value, shape=style["shape"]),
    ).properties(height=320)


def level(drawn: Chart, look: Style, value: float, text: str, *, below: bool = False) -> Chart:
    """The same with a horizontal line that says what it is."""
    line = chart([{"value": value, "text": text}]).encode(y="value:Q")
    return layer(
        *drawn.layers,
        line.mark("rule", color=look.muted, strokeDash=[4, 4]),
        line.mark(
            "text",
            align="left",
            baseline="top" if below else "bottom",
            dx=6,
            dy=3 if below else -2,
            color=look.muted,
        ).encode(x=fixed(0), text="text:N"),
    ).properties(**drawn.parts)


def _axis(about: Mapping[str, Any]) -> dict[str, Any]:
    plain = {"grid": False, **about}
    scale = plain.pop("scale", None)
    axis = settings(**plain)
    return {"axis": axis} if scale is None else {"axis": axis, "scale": settings(**scale)}
