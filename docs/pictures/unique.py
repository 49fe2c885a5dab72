"""Rows that nobody else has, and people who are found by them."""

from typing import Any

import numpy as np
from pictures._lines import lines

import reidrisk as rr
from reidrisk.plotting import Chart, Style

_WEEKS = (1, 2, 3, 4, 6, 8)


def compute() -> list[dict[str, Any]]:
    api = rr.TopicsApi()
    people = rr.data.synthetic_topics(users=20_000, epochs=8, seed=1)
    seen = api.observe(people, targets=2_000, seed=7)
    found = rr.measure(seen, rr.WeightedHamming(api), slots=_WEEKS)
    alone = {weeks: _share_alone(np.asarray(seen.known)[:, :weeks]) for weeks in _WEEKS}
    return [
        *({"attack": "unique", "x": weeks, "value": alone[weeks]} for weeks in _WEEKS),
        *(
            {
                "attack": "identified",
                "x": weeks,
                "value": one.value,
                "low": one.low,
                "high": one.high,
            }
            for weeks, one in found.items()
        ),
    ]


def _share_alone(rows: Any) -> float:
    _, counts = np.unique(rows, axis=0, return_counts=True)
    return float((counts == 1).sum() / len(rows))


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    return lines(
        rows,
        look,
        x={"title": "weeks seen", "values": list(_WEEKS), "format": "d"},
        y={"title": "share of people"},
    )
