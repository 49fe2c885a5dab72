"""Exact optima and bounds of a small world, by noise."""

from typing import Any

from pictures._lines import level, lines

import reidrisk as rr
from reidrisk import theory
from reidrisk.plotting import Chart, Style

_USERS = 30
_NOISES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def compute() -> list[dict[str, Any]]:
    small = rr.data.synthetic_topics(users=_USERS, topics=20, epochs=2, types=4, seed=1)
    rows = []
    for noise in _NOISES:
        release = rr.TopicsApi(topics=20, noise=noise)
        chances = release.rows(small).chances
        weeks = {"epsilon": release.epsilon, "users": _USERS, "slots": 2}
        found = {
            "local privacy, at most": float(theory.sharp_upper_from_local_dp(**weeks)),
            "matching everybody, at most": float(theory.upper_matching(chances)),
            "one random user, exactly": theory.random_user_optimum(chances),
        }
        rows += [{"attack": name, "x": noise, "value": share} for name, share in found.items()]
    return rows


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    drawn = lines(
        rows,
        look,
        x={"title": "noise", "format": "%", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
        y={"title": "share of 30 people named"},
    )
    return level(drawn, look, 1 / _USERS, "guessing")
