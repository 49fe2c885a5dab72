"""Risk along something, with its interval: the charts that pages, results and curves share.

Rows have `attack`, `value`, `low`, `high`, what they are along, and `said`, the figure in words.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.drawing.axes import floor_of, log_range, log_ticks
from reidrisk.drawing.looks import (
    FILE,
    PEOPLE,
    PERCENT,
    SHOWN,
    Look,
    by_attack,
    chart,
    config,
    switchable,
)
from reidrisk.guests import guest

Rows = Sequence[Mapping[str, Any]]

TOLD = "share of people correctly identified"
_HEIGHT, _WIDTH = 340, 560


def over_slots(
    rows: Rows, look: Look, attacks: Sequence[str], name: str, *, told: str = TOLD
) -> Any:
    """A line with its interval for each attack, over slots.

    Args:
        rows: Also with `slots` and `targets`, how many were assessed.
        look: Of the chart.
        attacks: All of the result, which decide how each looks.
        name: What slots are called.
        told: What is shown of each attack.
    """
    alt = guest("altair")
    ticks = sorted({int(row["slots"]) for row in rows})
    axis: dict[str, Any] = {"values": ticks, "format": "d", "grid": False}
    title: str | list[str] = name
    if behind := _assessed(rows):
        # A second line under each tick.
        axis["labelExpr"] = f"[datum.label, {json.dumps(behind)}[datum.label]]"
        title = [name, "(second line: how many could be assessed)"]
    base = (
        chart(rows)
        .transform_filter(SHOWN)
        .encode(x=alt.X("slots:Q", title=title, axis=alt.Axis(**axis)))
    )
    style = by_attack(attacks, look, _attacks(rows))
    share_axis = alt.Axis(title=told, labelExpr=PERCENT, tickCount=6)
    value = alt.Y("value:Q", axis=share_axis)
    tips = [
        alt.Tooltip("attack:N"),
        alt.Tooltip("slots:Q", title=name),
        alt.Tooltip("said:N", title="right"),
        alt.Tooltip("targets:Q", title="assessed", format=","),
    ]
    return switchable(
        alt.layer(
            base.mark_area(opacity=0.16).encode(
                y=alt.Y("low:Q", axis=share_axis), y2="high:Q", color=style["color"]
            ),
            base.mark_line(strokeWidth=2.5).encode(
                y=value, color=style["color"], strokeDash=style["strokeDash"]
            ),
            base.mark_point(filled=True, size=80, opacity=1).encode(
                y=value, color=style["color"], shape=style["shape"], tooltip=tips
            ),
        ),
        attacks,
    ).properties(height=_HEIGHT)


def over_users(rows: Rows, look: Look, attacks: Sequence[str]) -> Any:
    """A line with intervals for each attack over the number of users, both axes logarithmic.

    A law is a thinner and lighter line; its band begins where its fit ends, and what it predicts
    is drawn as open points.

    Args:
        rows: Also with `users`, and `kind`: measured, law or extrapolated.
        look: Of the chart.
        attacks: All of the result, which decide how each looks.
    """
    alt = guest("altair")
    floor = floor_of(float(row["value"] or 0) for row in rows)
    last = {row["attack"]: row["users"] for row in rows if row["kind"] == "law"}
    data = [
        {
            **row,
            "at": row["value"] or None,
            "from": max(float(row["low"] or 0), floor),
            "to": max(float(row["high"] or 0), floor),
            "beyond": row["kind"] == "extrapolated" or row["users"] == last.get(row["attack"]),
        }
        for row in rows
    ]
    style = by_attack(attacks, look, _attacks(rows))
    across = log_range(float(row["users"]) for row in rows)
    up = log_range((float(row[end]) for row in data for end in ("from", "to")), most=1.0)
    x = alt.X("users:Q", **_log(across, title="people to choose among", labels=PEOPLE, grid=False))
    shares = _log(up, title=TOLD, labels=PERCENT, grid=True)
    y, ends = alt.Y("at:Q", **shares), {"y": alt.Y("from:Q", **shares), "y2": "to:Q"}
    marks = {
        "y": y,
        "shape": style["shape"],
        "tooltip": [
            alt.Tooltip("attack:N"),
            alt.Tooltip("users:Q", title="people", format=","),
            alt.Tooltip("said:N", title="right"),
            alt.Tooltip("kind:N"),
        ],
    }
    base = chart(data).transform_filter(SHOWN).encode(x=x, color=style["color"])
    points = base.transform_filter("datum.kind == 'measured'")
    law = base.transform_filter("datum.kind != 'measured'")
    beyond = base.transform_filter("datum.kind == 'extrapolated'")
    layers = (
        law.transform_filter("datum.beyond").mark_area(opacity=0.16).encode(**ends),
        law.mark_line(strokeWidth=1.2, opacity=0.6).encode(y=y, strokeDash=style["strokeDash"]),
        points.mark_line(strokeWidth=2.2).encode(y=y, strokeDash=style["strokeDash"]),
        points.mark_rule(strokeWidth=2, opacity=0.6).encode(**ends),
        points.mark_point(filled=True, size=80, opacity=1).encode(**marks),
        beyond.mark_point(filled=False, size=80, opacity=1).encode(**marks),
        *_edge(rows, look, x),
    )
    return switchable(alt.layer(*layers), attacks).properties(height=_HEIGHT + 20)


def _assessed(rows: Rows) -> dict[int, str]:
    """How many stand behind the points at each number of slots; nothing, if always as many."""
    by_slots: dict[int, set[int]] = {}
    for row in rows:
        by_slots.setdefault(int(row["slots"]), set()).add(int(row["targets"]))
    if len(set().union(*by_slots.values())) == 1:
        return {}
    return {
        slots: " to ".join(f"{one:,}" for one in sorted({min(some), max(some)}))
        for slots, some in sorted(by_slots.items())
    }


def alone(drawn: Any, title: str) -> Any:
    """A chart that stands by itself, in a notebook or a file."""
    return drawn.properties(title=title, width=_WIDTH).configure(**config(FILE))


def _attacks(rows: Rows) -> set[str]:
    return {str(row["attack"]) for row in rows}


def _log(ends: tuple[float, float], *, title: str, labels: str, grid: bool) -> dict[str, Any]:
    alt = guest("altair")
    axis = alt.Axis(title=title, labelExpr=labels, values=log_ticks(*ends), grid=grid)
    return {"scale": alt.Scale(type="log", nice=False, domain=list(ends)), "axis": axis}


def _edge(rows: Rows, look: Look, x: Any) -> tuple[Any, ...]:
    """A line where measurement ends."""
    if all(row["kind"] != "extrapolated" for row in rows):
        return ()
    alt = guest("altair")
    measured = max(int(row["users"]) for row in rows if row["kind"] == "measured")
    edge = chart([{"users": measured, "text": "extrapolated"}]).encode(x=x)
    return (
        edge.mark_rule(color=look.muted, strokeWidth=1, opacity=0.5),
        edge.mark_text(align="right", color=look.muted).encode(
            x=alt.value("width"), y=alt.value(6), text="text:N"
        ),
    )
