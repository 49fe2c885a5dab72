"""Our trial: how many are named if half of the visitors are strangers, by each rule.

20,000 known people of the embedded population after 8 weeks. Then households of the Complete
Journey, if `REIDRISK_SHARED_DATA` names the folder that holds the file: 2,170 by the Topics rules
for 8 weeks, and all 2,469 by 32 purchases each.
"""

import os
from pathlib import Path

from rich.console import Console
from rich.table import Table

import reidrisk as rr
from reidrisk.releases import observe

HOUSEHOLDS = "completejourney_household_week_category.csv.gz"
COLUMNS = {"user": "household_id", "epoch": "week", "token": "cat_id", "weight": "items"}
LAYOUT = rr.data.Layout(user="household_id", item="cat_id", count="items")
USERS, TARGETS, PURCHASES = 40_000, 10_000, 32


def embedded():
    topics = rr.TopicsApi()
    people = rr.data.synthetic_topics(users=USERS, epochs=8, seed=1)
    seen = topics.observe(people, targets=TARGETS, strangers=0.5, seed=7)
    yield "embedded population, 8 weeks", seen, rr.WeightedHamming(topics)


def households(path):
    people = rr.data.read_profiles(path, columns=COLUMNS, epochs=range(5, 13), absent="pad")
    topics = rr.TopicsApi(topics=people.tokens)
    seen = topics.observe(people, strangers=0.5, seed=1)
    yield "households, 8 weeks", seen, rr.WeightedHamming(topics)
    bought = rr.data.read_plays(path, layout=LAYOUT)
    seen = observe(rr.ItemSamples(samples=PURCHASES), bought, strangers=0.5, seed=1)
    yield f"households, {PURCHASES} purchases", seen, rr.RarityOverlap()


def worlds():
    yield from embedded()
    path = Path(os.environ.get("REIDRISK_SHARED_DATA", "")) / HOUSEHOLDS
    if path.is_file():
        yield from households(path)
    else:
        print(f"{HOUSEHOLDS} is not here: households are left out")


def main():
    grid = Table("of whom", "known", "attack", "rule", title="Named rightly, by who is accused")
    for heading in ("0.1 %", "1 %", "5 %", "all"):
        grid.add_column(heading)
    for who, seen, attack in worlds():
        for one in rr.measure_strangers(seen, attack):
            points = {each.wanted: each.right for each in one.decisions}
            points[None] = one.decisions[-1].right
            shown = (points.get(share) for share in (0.001, 0.01, 0.05, None))
            cells = (
                "too few"
                if each is None
                else f"{each.value:.1%}\n{each.low:.1%} to {each.high:.1%}"
                for each in shown
            )
            grid.add_row(who, f"{one.users:,}", one.attack, one.rule, *cells)
    Console(width=130).print(grid)
