"""How many people visited all of two places that an attacker knows of somebody.

Every pair of places of each target, as scikit-mobility goes through them; each person visited four
places, once each.
"""

from itertools import combinations

import numpy as np

from benchmarks.comparison import Comparison, cost, equal
from benchmarks.worlds import draw, popularity
from reidrisk.risk.tables.points import Points

PEERS = ("scikit-mobility",)
PLACES, EACH, KNOWN = 60, 4, 2
USERS, TARGETS = 60, 3
QUICK_USERS, QUICK_TARGETS = 8, 1


def visits(users):
    """Who was where; nobody twice at a place."""
    random, chances = np.random.default_rng(2), popularity(PLACES)
    rows = np.empty((users, EACH), np.int64)
    for row in rows:
        places = draw(random, (PLACES * EACH,), chances)
        _, first = np.unique(places, return_index=True)
        row[:] = places[np.sort(first)[:EACH]]
    return rows


def compare(peer, *, quick):
    users, targets = (QUICK_USERS, QUICK_TARGETS) if quick else (USERS, TARGETS)
    places = visits(users)
    theirs = location_attack(places, targets)
    our_cost, crowds = cost(lambda: crowds_of(places, targets))
    their_cost, chances = cost(theirs, repeat=1, first=False)
    pairs = targets * len(list(combinations(range(EACH), KNOWN)))
    yield Comparison(
        "unicity", f"{users} users, {targets} targets, {pairs} pairs of points",
        "Points.crowds, as in unicity", peer, "LocationAttack", our_cost, their_cost,
        equal([crowds], [np.rint(1 / chances)], "people who have both points"),
    )  # fmt: skip


def crowds_of(places, targets):
    """From the rows on, as for the peer."""
    users = np.repeat(np.arange(len(places)), EACH)
    points = Points.of(np.arange(len(places)), users, places.ravel())
    pairs = [pair for target in places[:targets] for pair in combinations(target, KNOWN)]
    return points.crowds(np.array(pairs, np.int32))[:, -1]


def location_attack(places, targets):
    import pandas as pd
    from shapely import ops

    # A name that shapely has dropped, for maps, which the attack does not draw.
    ops.cascaded_union = ops.unary_union
    from skmob import TrajDataFrame
    from skmob.privacy.attacks import LocationAttack

    order = np.arange(places.size)
    rows = TrajDataFrame(
        pd.DataFrame({
            "lat": places.ravel() // 10 + 0.0,
            "lng": places.ravel() % 10 + 0.0,
            "datetime": pd.Timestamp("2026-01-01") + pd.to_timedelta(order, unit="h"),
            "uid": order // EACH,
        })
    )  # fmt: skip

    def search():
        attack = LocationAttack(KNOWN)
        found = attack.assess_risk(rows, targets=list(range(targets)), force_instances=True)
        return found["prob"].to_numpy()[::KNOWN]

    return search
