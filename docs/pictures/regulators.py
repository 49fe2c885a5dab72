"""Prosecutor's and journalist's risk of each group of a small table."""

from typing import Any

import reidrisk as rr
from reidrisk.plotting import PERCENT, Chart, Style, chart, layer, marked, of, settings

_GROUPS = {"Au": 1, "Bern": 2, "Chur": 5}
_TIMES = 2


def compute() -> list[dict[str, Any]]:
    rows = []
    for town, people in _GROUPS.items():
        table = {"town": [town] * people}
        register = {"town": [town] * people * _TIMES}
        found = rr.singling(table, columns=["town"], register=register)
        rows += [
            {"who": "prosecutor", "group": people, "value": found.prosecutor.maximum.value},
            {"who": "journalist", "group": people, "value": found.journalist.maximum.value},
        ]
    return rows


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    names = ["prosecutor", "journalist"]
    style = marked("who", names, [look.colour(0), look.colour(1)], ["square", "square"], look)
    base = chart(rows).encode(
        x=of("group:O", axis=settings(title="people in the group", labelAngle=0, grid=False)),
        y=of("value:Q", axis=settings(title="risk of a person", labelExpr=PERCENT, tickCount=5)),
        color=style["color"],
    )
    beside = of("who:N", sort=names)
    return layer(
        base.mark("bar").encode(xOffset=beside),
    ).properties(height=240)
