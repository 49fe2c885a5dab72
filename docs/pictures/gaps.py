"""What empty weeks give away: people who are away at times, found by three attacks."""

from typing import Any

import numpy as np
from pictures._lines import lines

import reidrisk as rr
from reidrisk.attacks import Gaps
from reidrisk.plotting import Chart, Style

_AWAY = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
_NOISE = 0.3


def compute() -> list[dict[str, Any]]:
    api = rr.TopicsApi(noise=_NOISE)
    attacks = [rr.WeightedHamming(api), rr.Hamming(), Gaps()]
    rows = []
    for away in _AWAY:
        seen = api.observe(_people(away), targets=1_000, seed=7)
        rows += [
            {"attack": curve.attack, "x": away, **_ends(curve[8])}
            for curve in rr.measure(seen, attacks, slots=8)
        ]
    return rows


def _people(away: float) -> Any:
    """People of whom everybody is away in each week with the same chance."""
    some = rr.data.synthetic_topics(users=5_000, epochs=8, seed=1)
    sets = some.top_sets(0, some.users, top=5, seed=0)
    there = np.random.default_rng(1).random((some.users, 8)) >= away
    user, week = np.nonzero(there)
    return rr.data.make_profiles(
        np.repeat(user, 5), np.repeat(week, 5), sets[there].ravel(), taxonomy=np.arange(349)
    )


def _ends(one: rr.Estimate) -> dict[str, float]:
    return {"value": one.value, "low": one.low, "high": one.high}


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    return lines(
        rows,
        look,
        x={"title": "chance of being away in a week", "format": "%", "values": list(_AWAY)},
        y={"title": "share of people correctly identified"},
    )
