"""How many people are found by embeddings of real logs, under attacks and protections.

Each log is cut into two sides of the same people, and both sides are embedded by what a fifth of
the people, who are left out, teach. The attacker holds the vectors of one side as they are; those
of the other are protected. Data that is not there is left out.
"""

import time

import numpy as np
import pandas as pd
from tests import real_tables
from tests.shared_data import DATA

from benchmarks.tools import figures
from reidrisk import (
    GaussianNoise,
    Microaggregated,
    Projected,
    Quantised,
    TwoCovariance,
    data,
    link,
    releases,
)

DIMENSIONS = (16, 64, 256)
ATTACKS = ("cosine", "nearest", "cosine-csls", TwoCovariance())
_PANEL = 0.2


def main():
    if DATA is None:
        return
    for name, sides, most in logs():
        start = time.process_time()
        rows = [
            (dimensions, *row)
            for dimensions in DIMENSIONS
            if dimensions <= most
            for row in protected(*sides, dimensions)
        ]
        (alike, people), spent = by_items(*sides), time.process_time() - start
        figures(
            f"{name}: {people:,} people; items in common name {alike}; {spent:.0f} CPU s",
            ("d", "protection", *(getattr(one, "name", one) for one in ATTACKS)),
            rows,
        )


def logs():
    """Two sides of logs of the same people, and how many dimensions their items give."""
    listens, songs = real_tables.listens(), real_tables.songs()
    yield "shopping, weeks 1-26 and 27-52", real_tables.shopping(range(1, 27), range(27, 53)), 256
    yield "Last.fm, 50 plays and 50", real_tables.split_plays(listens), 256
    yield "Last.fm, each artist on one side", real_tables.split_by_item(listens), 256
    yield "songs, each song on one side", real_tables.split_by_item(songs), 256
    yield (
        "areas of a web site, each area on one side",
        real_tables.split_by_item(real_tables.visits()),
        64,
    )


def by_items(known, shown):
    """How many an attack names that counts items in common, and of how many people."""
    result = link(known, shown, user="user", item="item", attacks=["overlap"])
    return _percent(result.risks[0].value), result.users


def protected(known, shown, dimensions):
    """What attacks find under each protection."""
    clean, other = embedded(known, shown, dimensions)
    for name, release in (
        ("none", None),
        *((f"noise {scale}", GaussianNoise(scale=scale, clip=1.0)) for scale in (0.05, 0.1, 0.2)),
        ("1 bit", Quantised(bits=1)),
        (f"projected to {dimensions // 4}", Projected(dimensions=dimensions // 4, seed=1)),
        ("groups of 5", Microaggregated(5)),
    ):
        # Whoever compares with projected vectors projects the known ones likewise.
        mine = _vectors(clean, release if isinstance(release, Projected) else None)
        tables = (
            {"user": people.ids, "vector": vectors}
            for people, vectors in ((clean, mine), (other, _vectors(other, release)))
        )
        result = link(*tables, user="user", vector="vector", attacks=list(ATTACKS))
        yield name, *(_percent(one.value) for one in result.risks)


def embedded(known, shown, dimensions):
    """Both sides as people with vectors, but for the panel."""
    items = sorted({*known["item"], *shown["item"]})
    users = np.unique(known["user"])
    taught = np.random.default_rng(2).choice(users, int(_PANEL * len(users)), replace=False)
    both = pd.concat([known, shown])
    made = data.ItemEmbedding.fit(_people(both[both["user"].isin(taught)], items), dimensions)
    return tuple(
        made.users(_people(side[~side["user"].isin(taught)], items)) for side in (known, shown)
    )


def _people(rows, items):
    return data.make_profiles(
        rows["user"], np.zeros(len(rows), int), rows["item"], taxonomy=items, duplicates="add"
    )


def _vectors(people, release):
    """What a site is shown of people; their own vectors if nothing protects them."""
    if release is None:
        return people.vectors
    shows = releases.prepared(release, people)
    return shows.drawn(people, 0, people.users, site=2, seed=3)[:, 0]


def _percent(share):
    return f"{100 * share:.1f} %"
