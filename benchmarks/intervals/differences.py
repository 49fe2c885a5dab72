"""Intervals of the difference between two runs."""

import math

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.intervals.means import LEVEL, TARGETS, wald
from reidrisk.estimates import mean_of_credits, paired_difference, unpaired_difference
from reidrisk.estimates.credits import lower_limit

# Of all targets: how many are right before, and how many change for the worse and for the better.
CHANGES = ((0.0, 0.0), (0.0005, 0.0005), (0.006, 0.004), (0.02, 0.0), (0.05, 0.03))
PAIRED_STUDIES = 1_000
TILTS = np.exp(np.linspace(math.log(1e-4), math.log(8), 400))


def wald_of_pairs(before, after):
    return wald(after - before, None)


def apart(before, after):
    """The part above 0 and the part below, each as credits, by the union bound."""
    each = 1 - (1 - LEVEL) / 2
    gain = mean_of_credits(np.maximum(after - before, 0), level=each)
    loss = mean_of_credits(np.maximum(before - after, 0), level=each)
    return gain.low - loss.high, gain.high - loss.low


def chernoff(before, after):
    """Chernoff's bound with the largest likely share of targets that differ; in any order."""
    change, error = after - before, (1 - LEVEL) / 2
    differ = 1 - lower_limit(TARGETS - np.abs(change).sum(), TARGETS, error=error / 5)

    def most(total):
        spread = 1 + differ * (np.cosh(TILTS) - 1)
        tail = np.exp((math.log(error * 4 / 5) - TILTS * total) / TARGETS)
        return min(((spread - tail) / np.sinh(TILTS)).min(), differ)

    return -most(-change.sum()), most(change.sum())


def by_pairs(before, after):
    found = paired_difference(before, after, level=LEVEL)
    return found.low, found.high


def by_ends(before, after):
    estimates = mean_of_credits(before, level=LEVEL), mean_of_credits(after, level=LEVEL)
    found = unpaired_difference(*estimates, level=LEVEL)
    return found.low, found.high


OF_PAIRS = {
    "Wald": wald_of_pairs,
    "gains and losses apart": apart,
    "Chernoff": chernoff,
    "paired_difference": by_pairs,
    "unpaired_difference": by_ends,
}


def draw_pairs(rng, gain, loss, *, tied):
    """Credits before and after, and the true difference: a tenth is right before."""
    drawn, right = rng.random(TARGETS), rng.random(TARGETS) < 0.1
    before = np.where(drawn < gain, 0.0, np.where(drawn < gain + loss, 1.0, right))
    after = np.where(drawn < gain, 1.0, np.where(drawn < gain + loss, 0.0, right))
    shared = 1 / rng.integers(1, 5, TARGETS) if tied else 1.0
    return before * shared, after * shared, (gain - loss) * (25 / 48 if tied else 1.0)


def main():
    title = f"{PAIRED_STUDIES:,} pairs of studies of the same {TARGETS:,} targets, at {LEVEL:.0%}"
    grid = Table("worse", "better", "ties", "interval", "holds", "mean width", title=title)
    for gain, loss in CHANGES:
        for tied in (False, True):
            rng = np.random.default_rng(7)
            held = {name: [] for name in OF_PAIRS}
            widths = {name: [] for name in OF_PAIRS}
            for _ in range(PAIRED_STUDIES):
                before, after, truth = draw_pairs(rng, gain, loss, tied=tied)
                for name, method in OF_PAIRS.items():
                    low, high = method(before, after)
                    held[name].append(low <= truth <= high)
                    widths[name].append(high - low)
            for name in OF_PAIRS:
                grid.add_row(
                    f"{gain:.2%}", f"{loss:.2%}", "some" if tied else "none", name,
                    f"{np.mean(held[name]):.1%}", f"{np.mean(widths[name]):.4%}",
                )  # fmt: skip
    Console(width=110).print(grid)
