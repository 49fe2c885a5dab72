"""A hundred million draws, memory included, against numpy's generator and our own definition."""

from functools import partial

import numpy as np

from benchmarks.tools import seconds, table
from reidrisk.core.randomness import reference_uniforms, uniforms

DRAWS = 10**8
SAMPLE = 1000


def numpy_draws(count):
    return np.random.default_rng(7).random((DRAWS // count, count))


def reference_draws(count):
    return [
        reference_uniforms(seed=7, purpose="speed", user=user, count=count)
        for user in range(SAMPLE)
    ]


def main():
    rows = []
    for count, limit in ((1, 3), (8, 2), (100, 2)):
        ids = np.arange(DRAWS // count)
        ours, draws = seconds(partial(uniforms, seed=7, purpose="speed", users=ids, count=count))
        theirs, _ = seconds(partial(numpy_draws, count))
        slow, expected = seconds(partial(reference_draws, count))
        assert draws[:SAMPLE].tolist() == expected
        what = f"{ids.size:,} users x {count}"
        rows.append((what, ours, "numpy default_rng, one thread", theirs, limit))
        rows.append((what, ours, "reference, scaled up", slow * ids.size / SAMPLE, 0.01))
    table("10^8 draws", rows)
