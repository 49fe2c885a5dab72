"""What the same search comes to, by how ties are broken."""

from typing import Any

import numpy as np
from pictures._lines import lines

import reidrisk as rr
from reidrisk.plotting import Chart, Style

_WEEKS = (1, 2, 3, 4, 6, 8)
_BROKEN = ("always luckily", "at random: the mean credit", "never luckily")


def compute() -> list[dict[str, Any]]:
    api = rr.TopicsApi()
    people = rr.data.synthetic_topics(users=20_000, epochs=8, seed=1)
    seen = api.observe(people, targets=2_000, seed=7)
    rows = []
    for weeks in _WEEKS:
        shown = seen.prefix(weeks)
        score = rr.Hamming().fit(rr.attacks.View.of(shown))
        found = rr.LocalEngine().search(shown, score)
        among = found.credit > 0
        shares = (among.mean(), found.credit.mean(), (found.credit == 1).mean())
        rows += [
            {"attack": name, "x": weeks, "value": float(share)}
            for name, share in zip(_BROKEN, np.asarray(shares), strict=True)
        ]
    return rows


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    return lines(
        rows,
        look,
        x={"title": "weeks seen", "values": list(_WEEKS), "format": "d"},
        y={"title": "share of people named"},
    )
