"""The paper's main experiment, end to end: people, release, attacks, curves with intervals.

10,000,000 users of the embedded population, 10,000 targets, r = 1, 2, 4, 6, 8 epochs, exact ties.
Then the stronger attackers and the ceilings after 8 epochs, for the same targets.
"""

import resource
import time

from rich.console import Console
from rich.table import Table

from benchmarks.tools import seconds
from reidrisk import Hamming, LocalEngine, TopicsApi, TypeAware, WeightedHamming, measure, spectrum
from reidrisk.attacks import TokenTable, View
from reidrisk.data import synthetic_topics

USERS, TARGETS, SLOTS = 10_000_000, 10_000, (1, 2, 4, 6, 8)
LIMIT = 45


def main():
    start = time.perf_counter()
    api = TopicsApi(topics=349, top=5, noise=0.05)
    people = synthetic_topics(users=USERS, seed=1)
    seen = api.observe(people, targets=TARGETS, seed=7)
    made = time.perf_counter() - start
    attacks = [WeightedHamming(api), Hamming()]
    start = time.perf_counter()
    curves = measure(seen, attacks, slots=SLOTS)
    attacked = time.perf_counter() - start
    grid = Table("attack", *(f"r = {slots}" for slots in SLOTS), title="10M users, 10,000 targets")
    for curve in curves:
        cells = [f"{one.value:.2%} [{one.low:.2%}, {one.high:.2%}]" for one in curve.values()]
        grid.add_row(curve.attack, *cells)
    Console(width=150).print(grid)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"made and observed {made:.1f} s, attacked {attacked:.1f} s, peak {peak:.2f} GiB")
    print(f"end to end {made + attacked:.1f} s (limit {LIMIT})")
    again, _ = seconds(lambda: measure(seen, attacks, slots=SLOTS), repeat=2)
    view = View.of(seen)
    scores = [attack.fit(view) for attack in attacks]
    search, _ = seconds(lambda: LocalEngine().curves(seen, scores, SLOTS), repeat=2)
    print(f"all curves with intervals {again:.2f} s, {again / search:.2f}x of the search (limit 2)")
    ceilings(api, people, seen)


def ceilings(api, people, seen):
    """Who knows more, and what nobody exceeds."""
    start = time.perf_counter()
    types = TypeAware(api, people.interests)
    table = TokenTable(api, pairs=people.interests.pairs)
    revealed = api.reveal(people, targets=TARGETS, seed=7)
    found = spectrum(
        seen,
        [Hamming(), WeightedHamming(api), table, types],
        release=api,
        models=[table, types],
        revealed=revealed,
    )
    print(f"\n{found}")
    for bound in found.bounds:
        print(f"{bound.name}: {bound.assumes}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"spectrum {time.perf_counter() - start:.0f} s, peak {peak:.2f} GiB")
