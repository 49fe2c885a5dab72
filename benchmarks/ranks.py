"""What it costs to count ranks beside the best: with all of them, and as far as crowds need.

A million users of the embedded population. Where match patterns are counted, all ranks are to cost
next to nothing; elsewhere they are counted as far as crowds of a hundredth of the users need, and
the cost is told.
"""

import numpy as np

from benchmarks.tools import seconds, table
from reidrisk.attacks import (
    Hamming,
    Overlap,
    RarityOverlap,
    Repetition,
    TokenTable,
    TypeAware,
    View,
    WeightedHamming,
)
from reidrisk.data import synthetic_topics
from reidrisk.engines import LocalEngine, ranks_are_free
from reidrisk.estimates.crowds import ranks_for
from reidrisk.releases import TopicsApi

USERS, TARGETS, FEW_TARGETS = 1_000_000, 10_000, 1_000
FREE, DEAR = 1.3, 60


def main():
    engine, api, rows = LocalEngine(), TopicsApi(), []
    people = synthetic_topics(users=USERS, seed=1)
    seen = api.observe(people, targets=TARGETS, seed=7)
    view = View.of(seen, release=api, population=people.interests)
    two = [attack.fit(view) for attack in (Hamming(), WeightedHamming(api))]

    def curves(slots, ranks):
        return seconds(lambda: engine.curves(seen, two, slots, ranks=ranks), repeat=3)

    for slots in ((8,), (1, 2, 4, 6, 8)):
        alone, best = curves(slots, 1)
        counted, found = curves(slots, None)
        for one, other in zip(best, found, strict=True):
            np.testing.assert_array_equal(one[8].credit, other[8].credit)
        name = f"hamming and weighted-hamming, r = {', '.join(map(str, slots))}"
        rows.append((f"{name}: all ranks", counted, "the best", alone, FREE))
    few, ranks = seen.only(slice(FEW_TARGETS)), ranks_for(USERS, [USERS // 100])
    for attack in (Overlap(), RarityOverlap(), Repetition(), TokenTable(api), TypeAware()):
        score = attack.fit(view)
        assert not ranks_are_free(few, score)
        alone, _ = seconds(lambda score=score: engine.search(few, score), repeat=1)
        for limit, name in ((ranks, f"{ranks} ranks"), (None, "all ranks")):
            counted, _ = seconds(
                lambda score=score, limit=limit: engine.search(few, score, ranks=limit), repeat=1
            )
            what = f"{attack.name}, {FEW_TARGETS:,} targets: {name}"
            rows.append((what, counted, "the best", alone, DEAR))
    table(f"ranks: {USERS:,} users, {TARGETS:,} targets", rows)
