"""The same topics, attacked by who knows less and who knows more."""

from typing import Any

from pictures._lines import lines

import reidrisk as rr
from reidrisk.plotting import Chart, Style

_WEEKS = (1, 2, 3, 4, 6, 8)
_SAID = {
    "full-information": "everybody's interests (full information)",
    "type-aware": "one row each, and the types of people",
    "weighted-hamming": "one row each, and the release",
    "hamming": "one row each",
}


def compute() -> list[dict[str, Any]]:
    api = rr.TopicsApi()
    people = rr.data.synthetic_topics(users=20_000, epochs=8, seed=1)
    seen = api.observe(people, targets=500, seed=7)
    revealed = api.reveal(people, targets=500, seed=7)
    partial = [rr.TypeAware(api, people.interests), rr.WeightedHamming(api), rr.Hamming()]
    curves = [
        rr.measure(revealed, rr.FullInformation(api), slots=_WEEKS),
        *rr.measure(seen, partial, slots=_WEEKS),
    ]
    return [
        {"attack": _SAID[curve.attack], "x": weeks, "value": one.value} | _ends(one)
        for curve in curves
        for weeks, one in curve.items()
    ]


def _ends(one: rr.Estimate) -> dict[str, float]:
    return {"low": one.low, "high": one.high}


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    return lines(
        rows,
        look,
        x={"title": "weeks seen", "values": list(_WEEKS), "format": "d"},
        y={"title": "share of people correctly identified"},
    )
