"""Right names against accused strangers, by the rule that decides when to speak."""

from typing import Any

from pictures._lines import lines

import reidrisk as rr
from reidrisk.plotting import Chart, Style

_SAID = {"score": "by score", "gap": "by lead over the second", "posterior": "by chance"}
_ACCUSED = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def compute() -> list[dict[str, Any]]:
    topics = rr.TopicsApi()
    people = rr.data.synthetic_topics(users=16_000, epochs=8, seed=1)
    seen = topics.observe(people, targets=4_000, strangers=0.5, seed=7)
    return [
        {"attack": _SAID[by.rule], "x": share, "value": _named(by.decisions, share)}
        for by in rr.measure_strangers(seen, rr.WeightedHamming(topics))
        for share in _ACCUSED
    ]


def _named(decisions: Any, share: float) -> float:
    """The most named rightly while at most this share of strangers is accused."""
    return max((one.right.value for one in decisions if one.accused.value <= share), default=0.0)


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    return lines(
        rows,
        look,
        x={
            "title": "share of strangers accused",
            "labelExpr": "format(datum.value, '.1~%')",
            "values": [0.001, 0.01, 0.1, 1],
            "scale": {"type": "log", "nice": False},
        },
        y={"title": "known people named correctly"},
    )
