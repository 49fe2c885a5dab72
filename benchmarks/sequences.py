"""Models of sequences on the embedded population: bits above the exact ones, by time to train.

What is exact is known of every tested row, so the excess is a mean of differences user by user.
`python -m benchmarks.sequences --help` lists sizes.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.worlds import exact_bits
from reidrisk import TopicsApi
from reidrisk.data import Interests, SequenceChances, synthetic_topics
from reidrisk.information.sequence_model import MODELS, divided, learn, mean_of

SMALL = [name for name in MODELS if not name.startswith("paper")]
PROBE = 10
"""Steps by which it is measured how long a step takes."""


def exact(chances, tested):
    """Bits of each row alone, and given the other site's."""
    alone, given = exact_bits(chances, tested.known, tested.shown)
    return {"entropy": alone, "conditional_entropy": given}


def steps_in(seconds, parts, recipe, how):
    """Steps that take so long with the slower of the two networks; first steps are slow."""
    few = parts.held_out.of(np.arange(PROBE))
    few = replace(parts, held_out=few, tested=few)

    def spent(steps):
        both = learn(few, recipe, how=replace(how, steps=steps, every=steps))
        return np.array([one.curve.looks[-1].seconds for one in both.values()])

    step = (spent(6 * PROBE) - spent(PROBE)).max() / (5 * PROBE)
    return max(int(seconds / step), PROBE)


def measured(name, slots, seconds, seen, chances, grid):
    parts, recipe = divided(seen.prefix(slots), 0), MODELS[name]
    how = recipe.training
    if seconds:
        how = replace(how, steps=steps_in(seconds, parts, recipe, how))
    begun = time.process_time()
    both = learn(parts, recipe, how=how)
    spent = time.process_time() - begun
    truth = exact(chances, parts.tested)
    excess = {figure: (both[figure].bits - truth[figure]) / slots for figure in truth}
    shared = excess["entropy"] - excess["conditional_entropy"]
    size = sum(one.numel() for one in both["conditional_entropy"].network.parameters())
    grid.add_row(
        name,
        f"{slots}",
        f"{size / 1e6:.2f}M",
        f"{how.steps:,}",
        f"{spent:.0f}",
        *(said(one) for one in (*excess.values(), shared)),
    )


def said(values):
    mean = mean_of(values)
    return f"{mean.value:+.3f} ± {mean.error:.3f}"


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sequences")
    parser.add_argument("--model", nargs="+", choices=list(MODELS), default=SMALL)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 8])
    parser.add_argument(
        "--seconds", type=float, nargs="+", default=[0],
        help="to train each of the two networks; 0 for as long as the model is trained by default",
    )  # fmt: skip
    parser.add_argument("--persistence", type=float, default=1.0, help="below 1 interests drift")
    asked = parser.parse_args(arguments)
    interests = Interests(persistence=asked.persistence)
    people = synthetic_topics(asked.users, seed=1, persistence=asked.persistence)
    seen = TopicsApi().observe(people, targets=asked.users, seed=7)
    chances = SequenceChances.of(interests)
    grid = Table(
        "model", "slots", "parameters", "steps", "CPU s", "H(B) above", "H(B|A) above",
        "shared, above",
        title=f"bits per slot above the exact ones, {asked.users:,} users",
    )  # fmt: skip
    for slots in asked.slots:
        for seconds in asked.seconds:
            for name in asked.model:
                measured(name, slots, seconds, seen, chances, grid)
    Console(width=120).print(grid)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
