"""Bits that two sites share, counted among few users and among many."""

from typing import Any

from pictures._lines import level, lines

import reidrisk as rr
from reidrisk.plotting import Chart, Style

_USERS = (500, 1_000, 2_000, 5_000, 10_000, 20_000)


def compute() -> dict[str, Any]:
    rows = []
    for users in _USERS:
        people = rr.data.synthetic_topics(users=users, epochs=8, seed=1)
        seen = rr.TopicsApi().observe(people, seed=7)
        found = rr.information.count_information(seen).pooled
        ours, plain = found.mutual_information, found["plug-in"].mutual_information
        rows += [
            {"attack": "balanced, with its interval", "x": users, **_ends(ours)},
            {"attack": "frequencies as chances (plug-in)", "x": users, "value": plain.value},
        ]
    return {"rows": rows, "exact": people.mutual_information(noise=0.05)}


def _ends(one: Any) -> dict[str, float]:
    return {"value": one.value, "low": one.low, "high": one.high}


def draw(result: dict[str, Any], look: Style) -> Chart:
    drawn = lines(
        result["rows"],
        look,
        x={
            "title": "users counted",
            "format": ",",
            "values": list(_USERS),
            "scale": {"type": "log", "nice": False},
        },
        y={"title": "bits shared per week", "labelExpr": "datum.label"},
    )
    return level(drawn, look, result["exact"], "exact", below=True)
