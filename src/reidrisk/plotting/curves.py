"""Charts of risk over slots or users, with intervals.

Rows have `attack`, `value`, `low`, `high`, what they are along, and `said`, the figure in words.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.core.optional import guest
from reidrisk.plotting.style import (
    FILE,
    PEOPLE,
    PERCENT,
    SHOWN,
    Style,
    by_attack,
    config,
    switchable,
)
from reidrisk.plotting.vega import (
    Chart,
    chart,
    fixed,
    floor_of,
    layer,
    log_range,
    log_ticks,
    of,
    settings,
)

Rows = Sequence[Mapping[str, Any]]

TOLD = "share of people correctly identified"
_HEIGHT, _WIDTH = 340, 560


def over_slots(
    rows: Rows, look: Style, attacks: Sequence[str], name: str, *, told: str = TOLD
) -> Chart:
    """A line with its interval for each attack, over slots.

    Args:
        rows: Also with `slots` and `targets`, how many were assessed.
        look: Of the chart.
        attacks: All of the result, which decide how each looks.
        name: What slots are called.
        told: What is shown of each attack.
    """
    ticks = sorted({int(row["slots"]) for row in rows})
    axis: dict[str, Any] = {"values": ticks, "format": "d", "grid": False}
    title: str | list[str] = name
    if behind := _assessed(rows):
        # A second line under each tick.
        # Keys become text in JSON, as `datum.label` is.
        axis["labelExpr"] = f"[datum.label, {json.dumps(behind)}[datum.label]]"
        title = [name, "(second line: how many could be assessed)"]
    base = chart(rows).filter(SHOWN).encode(x=of("slots:Q", title=title, axis=settings(**axis)))
    style = by_attack(attacks, look, _attacks(rows))
    share_axis = settings(title=told, labelExpr=PERCENT, tickCount=6)
    value = of("value:Q", axis=share_axis)
    tips = [
        of("attack:N"),
        of("slots:Q", title=name),
        of("said:N", title="right"),
        of("targets:Q", title="assessed", format=","),
    ]
    return switchable(
        layer(
            base.mark("area", opacity=0.16).encode(
                y=of("low:Q", axis=share_axis), y2="high:Q", color=style["color"]
            ),
            base.mark("line", strokeWidth=2.5).encode(
                y=value, color=style["color"], strokeDash=style["strokeDash"]
            ),
            base.mark("point", filled=True, size=80, opacity=1).encode(
                y=value, color=style["color"], shape=style["shape"], tooltip=tips
            ),
        ),
        attacks,
    ).properties(height=_HEIGHT)


def over_users(rows: Rows, look: Style, attacks: Sequence[str]) -> Chart:
    """A line with intervals for each attack over the number of users, both axes logarithmic.

    A law is a thinner and lighter line; its band begins where its fit ends, and what it predicts
    is drawn as open points.

    Args:
        rows: Also with `users`, and `kind`: measured, law or extrapolated.
        look: Of the chart.
        attacks: All of the result, which decide how each looks.
    """
    floor = floor_of(float(row["value"] or 0) for row in rows)
    # The last row of each law stays: there its fit ends and its band begins.
    last = {row["attack"]: row["users"] for row in rows if row["kind"] == "law"}
    data = [
        {
            **row,
            # A logarithmic axis has no 0.
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
    x = of("users:Q", **_log(across, title="people to choose among", labels=PEOPLE, grid=False))
    shares = _log(up, title=TOLD, labels=PERCENT, grid=True)
    y, ends = of("at:Q", **shares), {"y": of("from:Q", **shares), "y2": "to:Q"}
    marks = {
        "y": y,
        "shape": style["shape"],
        "tooltip": [
            of("attack:N"),
            of("users:Q", title="people", format=","),
            of("said:N", title="right"),
            of("kind:N"),
        ],
    }
    base = chart(data).filter(SHOWN).encode(x=x, color=style["color"])
    points = base.filter("datum.kind == 'measured'")
    law = base.filter("datum.kind != 'measured'")
    beyond = base.filter("datum.kind == 'extrapolated'")
    layers = (
        law.filter("datum.beyond").mark("area", opacity=0.16).encode(**ends),
        law.mark("line", strokeWidth=1.2, opacity=0.6).encode(y=y, strokeDash=style["strokeDash"]),
        points.mark("line", strokeWidth=2.2).encode(y=y, strokeDash=style["strokeDash"]),
        points.mark("rule", strokeWidth=2, opacity=0.6).encode(**ends),
        points.mark("point", filled=True, size=80, opacity=1).encode(**marks),
        beyond.mark("point", filled=False, size=80, opacity=1).encode(**marks),
        *_edge(rows, look, x),
    )
    return switchable(layer(*layers), attacks).properties(height=_HEIGHT + 20)


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


def alone(drawn: Chart, title: str) -> Any:
    """A chart of altair that stands by itself, in a notebook or a file."""
    alt = guest("altair")
    spec = drawn.properties(title=title, width=_WIDTH, config=config(FILE)).to_dict()
    rows = spec.pop("data")
    made = alt.LayerChart.from_dict(spec)
    made.data = alt.Data(**rows)
    return made


def _attacks(rows: Rows) -> set[str]:
    return {str(row["attack"]) for row in rows}


def _log(ends: tuple[float, float], *, title: str, labels: str, grid: bool) -> dict[str, Any]:
    axis = settings(title=title, labelExpr=labels, values=log_ticks(*ends), grid=grid)
    return {"scale": settings(type="log", nice=False, domain=list(ends)), "axis": axis}


def _edge(rows: Rows, look: Style, x: Any) -> tuple[Chart, ...]:
    """A line where measurement ends."""
    if all(row["kind"] != "extrapolated" for row in rows):
        return ()
    measured = max(int(row["users"]) for row in rows if row["kind"] == "measured")
    edge = chart([{"users": measured, "text": "extrapolated"}]).encode(x=x)
    return (
        edge.mark("rule", color=look.muted, strokeWidth=1, opacity=0.5),
        edge.mark("text", align="right", color=look.muted).encode(
            x=fixed("width"), y=fixed(6), text="text:N"
        ),
    )
