"""Making and observing users: wall time and memory against what was promised for two cores."""

import resource
import time
from random import Random

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.tools import seconds
from reidrisk.data import Interests, fit_population, sequence_information, synthetic_topics
from reidrisk.releases import TopicsApi

API = TopicsApi()
MILLION = 1_000_000


def all_of(people, chunk=100_000):
    """Make everyone, a chunk at a time, and keep nobody."""
    for start in range(0, people.users, chunk):
        people.top_sets(start, min(start + chunk, people.users), top=5, seed=0)


def by_rejection(weights, sets):
    """What one would write first: draw five, again until distinct."""
    heights = np.cumsum(weights).tolist()
    chance = Random(1)  # noqa: S311  nothing secret
    topics = range(len(heights))
    for _ in range(sets):
        while len(set(chance.choices(topics, cum_weights=heights, k=5))) < 5:
            pass


def gigabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main():
    grid = Table("what", "s", "at most", title="the embedded population, 349 topics, 8 epochs")

    def row(what, spent, limit):
        grid.add_row(what, f"{spent:.2f}", f"{limit:g}", style="" if spent <= limit else "red")

    million, ten = (synthetic_topics(users, seed=1) for users in (MILLION, 10 * MILLION))
    row("1M users made", seconds(lambda: all_of(million), repeat=3)[0], 2)
    start = time.perf_counter()
    by_rejection(Interests().weights[0], 2_000)
    naive = (time.perf_counter() - start) * 8 * MILLION / 2_000
    grid.add_row("1M users, rejection in Python (scaled up)", f"{naive:.0f}", "")
    row("1M users made and observed", seconds(lambda: observed(million), repeat=3)[0], 3)
    row("10M users made", seconds(lambda: all_of(ten), repeat=1)[0], 30)
    row("10M users made and observed", seconds(lambda: observed(ten), repeat=1)[0], 30)
    grid.add_row("peak memory so far, GiB", f"{gigabytes():.2f}", "4")
    row("bits of one epoch", seconds(lambda: Interests().information(), repeat=3)[0], 1)
    row("bits of 8 epochs, 20,000 samples", seconds(bits, repeat=2)[0], 3)
    row("fit of the population", seconds(fit_population, repeat=1)[0], 10)
    Console(width=110).print(grid)


def observed(people):
    return API.observe(people, targets=10_000, seed=7)


def bits():
    return sequence_information(Interests(), epochs=8, samples=20_000)
