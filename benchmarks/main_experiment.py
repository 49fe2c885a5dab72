"""The paper's main experiment, end to end: people, release, popularity, both Hamming attacks.

10,000,000 users of the embedded population, 10,000 targets, r = 1, 2, 4, 6, 8 epochs, exact ties.
The margin is 1.96 standard errors of the mean credit.
"""

import resource
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from reidrisk import LocalEngine, TokenWeights, TopicsApi
from reidrisk.data import synthetic_topics

USERS, TARGETS, SLOTS = 10_000_000, 10_000, (1, 2, 4, 6, 8)


def weighted_hamming(api, known):
    """The paper's simplified asymmetric weights, from the pooled popularity."""
    p, step = api.popularity(known, pooled=True).in_use[0], api.q_in - api.q_out
    match = api.q_out + step * api.q_in * p / (api.q_out + step * p)
    mismatch = api.q_out + step * (api.top - 1) * p / (api.top - p)
    return TokenWeights(np.log(match), np.log(mismatch))


def main():
    moments = [time.perf_counter()]
    api = TopicsApi(topics=349, top=5, noise=0.05)
    seen = api.observe(synthetic_topics(users=USERS, seed=1), targets=TARGETS, seed=7)
    moments.append(time.perf_counter())
    attacks = {
        "weighted": weighted_hamming(api, seen.known),
        "unweighted": TokenWeights(np.ones(api.topics)),
    }
    curves = LocalEngine().curves(seen, list(attacks.values()), SLOTS)
    moments.append(time.perf_counter())
    grid = Table("attack", *(f"r = {slots}" for slots in SLOTS), title="10M users, 10,000 targets")
    for name, curve in zip(attacks, curves, strict=True):
        shares = [curve[slots].credit for slots in SLOTS]
        margins = [1.96 * credit.std() / np.sqrt(TARGETS) for credit in shares]
        cells = zip(shares, margins, strict=True)
        grid.add_row(name, *(f"{credit.mean():.2%} ±{margin:.2%}" for credit, margin in cells))
    Console(width=110).print(grid)
    made, attacked = np.diff(moments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"made and observed {made:.1f} s, attacked {attacked:.1f} s, peak memory {peak:.2f} GiB")
