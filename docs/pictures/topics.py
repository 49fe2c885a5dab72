"""What each rule of the browser does to risk, switched on alone."""

from typing import Any

import reidrisk as rr
from reidrisk.plotting import PERCENT, Chart, Style, chart, layer, of, settings

_RULES = {
    "as in the paper": rr.TopicsApi(),
    "no noise": rr.TopicsApi(noise=0.0),
    "noise 20 %": rr.TopicsApi(noise=0.2),
    "visits missed, 20 %": rr.TopicsApi(absence=0.2),
    "witnessed topics only": rr.TopicsApi(presence=0.5),
    "topics blocked, 20 %": rr.TopicsApi(blocked=0.2),
    "up to 2 days late": rr.TopicsApi(delay=2.0),
    "three weeks a call": rr.TopicsApi(per_call=3),
}


def compute() -> list[dict[str, Any]]:
    people = rr.data.synthetic_topics(users=10_000, epochs=6, seed=1)
    rows = []
    for rule, api in _RULES.items():
        seen = api.observe(people, targets=2_000, seed=7)
        found = rr.measure(seen, rr.Hamming())[6]
        rows.append({"rule": rule, "value": found.value, "low": found.low, "high": found.high})
    return rows


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    axis = settings(
        title="share of 10,000 people correctly identified", labelExpr=PERCENT, tickCount=6
    )
    base = chart(rows).encode(
        y=of("rule:N", sort=list(_RULES), axis=settings(title=None, labelLimit=300))
    )
    return layer(
        base.mark("rule", color=look.colour(0), strokeWidth=3, opacity=0.5).encode(
            x=of("low:Q", axis=axis), x2="high:Q"
        ),
        base.mark("point", color=look.colour(0), filled=True, size=90, opacity=1).encode(
            x=of("value:Q", axis=axis)
        ),
    ).properties(height=280)
