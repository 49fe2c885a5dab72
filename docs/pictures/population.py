"""How often topics are in a top set: in the whole population, and in three types of it."""

from typing import Any

from reidrisk.data import Interests
from reidrisk.plotting import PERCENT, Chart, Style, by_attack, chart, layer, of, settings

_TYPES = (0, 1, 2)
_RANKS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320)
_ALL = "everybody"
_LEAST = 1e-5


def compute() -> list[dict[str, Any]]:
    interests = Interests()
    shares = {f"type {one + 1}": interests.type_inclusion()[one] for one in _TYPES}
    return [
        {"attack": name, "rank": rank, "value": max(float(chances[rank - 1]), _LEAST)}
        for name, chances in {_ALL: interests.popularity, **shares}.items()
        for rank in _RANKS
    ]


def draw(rows: list[dict[str, Any]], look: Style) -> Chart:
    names = list(dict.fromkeys(str(row["attack"]) for row in rows))
    style = by_attack(names, look)
    ticks = settings(title="popularity rank of a topic", values=[1, 3, 10, 30, 100, 300])
    shares = settings(
        title="chance to be in the top set", labelExpr=PERCENT, values=[1, 0.1, 0.01, 1e-3, 1e-4]
    )
    log = settings(type="log", nice=False)
    base = chart(rows).encode(
        x=of("rank:Q", axis=ticks, scale=log),
        y=of("value:Q", axis=shares, scale=settings(type="log", nice=False, domain=[_LEAST, 1])),
        color=style["color"],
    )
    return layer(
        base.filter(f"datum.attack == '{_ALL}'").mark("line", strokeWidth=2.5),
        base.mark("point", filled=True, size=70, opacity=0.9).encode(shape=style["shape"]),
    ).properties(height=320)
