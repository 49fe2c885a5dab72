"""Five releases of the same people: how many are found, and how much of what is shown is real."""

from typing import Any

import reidrisk as rr
from reidrisk.plotting import PERCENT, Chart, Style, chart, fixed, layer, of, settings
from reidrisk.releases import observe, prepared, utility

_ITEMS = rr.ItemSamples(samples=4)
_RELEASES = {
    "four items": _ITEMS,
    "rare items withheld": rr.MinimumUsers(users=500, of=_ITEMS),
    "rare items merged": rr.Generalised(users=500, of=_ITEMS),
    "randomised response, epsilon 4": rr.RandomisedResponse(epsilon=4.0),
    "cohorts of 50": rr.Cohorts(users=50),
}


def compute() -> list[dict[str, Any]]:
    people = rr.data.synthetic_topics(users=5_000, epochs=4, seed=1)
    rows = []
    for name, release in _RELEASES.items():
        ready = prepared(release, people)
        seen = observe(ready, people, targets=1_000, seed=7)
        curves = rr.measure(seen, [rr.Overlap(), rr.Hamming()])
        found = max((curve[seen.slots] for curve in curves), key=lambda one: one.value)
        useful = utility(ready, people, seed=7)
        rows.append(
            {
                "release": name,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "kept": f"{useful.real.value:.0%} real, {useful.withheld.value:.0%} withheld"
                if useful.real
                else "a cohort in place of tokens",
            }
        )
    return rows


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    axis = settings(
        title="share of 5,000 people correctly identified", labelExpr=PERCENT, tickCount=6
    )
    names = settings(title=None, labelLimit=300)
    base = chart(rows).encode(y=of("release:N", sort=list(_RELEASES), axis=names))
    return layer(
        base.mark("rule", color=look.colour(0), strokeWidth=3, opacity=0.5).encode(
            x=of("low:Q", axis=axis, scale=settings(domain=[0, 0.09])), x2="high:Q"
        ),
        base.mark("point", color=look.colour(0), filled=True, size=90, opacity=1).encode(
            x=of("value:Q", axis=axis)
        ),
        base.mark("text", align="right", color=look.muted).encode(x=fixed("width"), text="kept:N"),
    ).properties(height=200)
