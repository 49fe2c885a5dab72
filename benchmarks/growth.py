"""How cost grows with users, targets, slots and the alphabet: fits on log-log scales, and plots.

One of the four grows, the others stay; the embedded population, processor seconds of all threads,
the least of two runs. The exponent is the slope of a straight line through
all points: 1 is twice the cost for twice the size.
"""

import time
from dataclasses import dataclass

import numpy as np

import reidrisk as rr
from benchmarks.tools import figures
from benchmarks.worlds import type_mixture
from reidrisk.attacks import TokenTable, View
from reidrisk.engines import LocalEngine
from reidrisk.plotting import FILE, chart, config, layer, of

BASE = {"users": 400_000, "targets": 2_000, "slots": 8, "tokens": 349}
GROWING = {
    "users": (50_000, 100_000, 200_000, 400_000, 800_000),
    "targets": (250, 500, 1_000, 2_000, 4_000),
    "slots": (2, 4, 8, 12, 16, 32),
    "tokens": (50, 100, 200, 349, 700),
}
QUICK_BASE = {"users": 2_000, "targets": 50, "slots": 4, "tokens": 60}
QUICK_GROWING = {
    "users": (1_000, 2_000, 4_000),
    "targets": (25, 50, 100),
    "slots": (2, 4, 8),
    "tokens": (30, 60, 120),
}
MOST_TABLE = 1 << 26
"""Entries of the tables of an attack, of 8 bytes each."""

ATTACKS = ("hamming, weighted-hamming", "token-table", "type-aware")
WIDTH, HEIGHT = 430, 260


@dataclass(frozen=True)
class Point:
    """What a search cost.

    Attributes:
        grows: Which of the four sizes.
        size: How large it was.
        attack: Who searched.
        seconds: Of processors.
    """

    grows: str
    size: int
    attack: str
    seconds: float


def fit(points):
    """The exponent of a power law through points, and the share of the spread that it explains."""
    sizes, seconds = (
        np.log([getattr(one, name) for one in points]) for name in ("size", "seconds")
    )
    slope, height = np.polyfit(sizes, seconds, 1)
    left = ((seconds - slope * sizes - height) ** 2).sum()
    spread = ((seconds - seconds.mean()) ** 2).sum()
    return float(slope), float(1 - left / spread) if spread else 1.0


def processor(work):
    """The least seconds of two runs, since the first may compile."""
    taken = []
    for _ in range(2):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)


def searches(size):
    """What is searched at a size, by the names of attacks; none whose tables would be too large."""
    users, targets, slots, tokens = (size[name] for name in BASE)
    api, engine = rr.TopicsApi(topics=tokens), LocalEngine()
    people = rr.data.synthetic_topics(users=users, topics=tokens, epochs=slots, seed=1)
    seen = api.observe(people, targets=targets, seed=7)
    view = View.of(seen, release=api)
    scores = [attack.fit(view) for attack in (rr.Hamming(), rr.WeightedHamming(api))]
    yield ATTACKS[0], lambda: engine.curves(seen, scores, [slots])
    table = TokenTable(api, pairs=people.interests.pairs).fit(view)
    yield ATTACKS[1], lambda: engine.search(seen, table)
    if len(people.interests.type_weights) * tokens**2 <= MOST_TABLE:
        mixture = type_mixture(people.interests)
        yield ATTACKS[2], lambda: engine.search(seen, mixture)


def measured(*, quick=False):
    """Points of all attacks, one size growing after the other."""
    base, growing = (QUICK_BASE, QUICK_GROWING) if quick else (BASE, GROWING)
    return [
        Point(grows, size, attack, processor(search))
        for grows, sizes in growing.items()
        for size in sizes
        for attack, search in searches({**base, grows: size})
    ]


def fitted(points):
    """For each size that grows and each attack: the points, the exponent and how well it fits."""
    for grows in BASE:
        for attack in ATTACKS:
            own = [one for one in points if (one.grows, one.attack) == (grows, attack)]
            if len(own) > 1:
                yield grows, attack, own, *fit(own)


def specification(points, grows):
    """A plot: points, and the fitted lines."""
    dots, lines = [], []
    for name, attack, own, slope, _ in fitted(points):
        if name != grows:
            continue
        sizes = np.log([one.size for one in own])
        height = np.mean(np.log([one.seconds for one in own]) - slope * sizes)
        dots += [{"size": one.size, "seconds": one.seconds, "attack": attack} for one in own]
        lines += [
            {"size": one.size, "seconds": float(np.exp(height + slope * np.log(one.size))),
             "attack": attack}
            for one in (own[0], own[-1])
        ]  # fmt: skip
    sizes = sorted({dot["size"] for dot in dots})
    x = of("size:Q", scale={"type": "log", "nice": False}, title=grows,
           axis={"values": sizes, "format": ",d", "grid": False})  # fmt: skip
    y = of("seconds:Q", scale={"type": "log"}, title="processor seconds", axis={"format": "~r"})
    domain = list(ATTACKS)
    colour = of("attack:N", scale={"domain": domain, "range": list(FILE.series[: len(domain)])},
                legend={"title": None, "orient": "top"})  # fmt: skip
    shape = of("attack:N", scale={"domain": domain}, legend=None)
    shown = layer(
        chart(lines).mark("line", strokeWidth=1.5).encode(x=x, y=y, color=colour),
        chart(dots).mark("point", filled=True, size=60).encode(x=x, y=y, color=colour, shape=shape),
    )
    return shown.properties(width=WIDTH, height=HEIGHT, config=config(FILE)).to_dict()


def rows(points):
    """For a table: what grows, from where to where, the exponent, and the cost at the end."""
    for grows, attack, own, slope, explained in fitted(points):
        sizes = f"{own[0].size:,} to {own[-1].size:,}"
        yield grows, sizes, attack, f"{slope:.2f}", f"{explained:.3f}", f"{own[-1].seconds:.3g}"


HEADINGS = ("what grows", "from, to", "attack", "exponent", "R²", "processor s at the end")


def main():
    base = ", ".join(f"{size:,} {name}" for name, size in BASE.items())
    figures(f"growth around {base}", HEADINGS, rows(measured()))
