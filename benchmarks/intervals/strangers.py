"""Intervals of what is said about strangers."""

from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.intervals.means import LEVEL, STUDIES
from reidrisk.estimates import open_set


def main():
    """Coverage of what is said about strangers: laws are exponential, so every truth is known.

    How sure the attacker is has mean 2 for those present and 1 for strangers; if it is sure by s,
    it is right with chance 1 - exp(-s). Of some of those present only an empty row is known: the
    attacker is as sure of them as of strangers, never right, and they count in false claims alone.
    """
    title = f"{STUDIES:,} studies of 2,000 targets and 2,000 strangers: share that holds the truth"
    names = ("present", "empty", "accused", "right", "wrong", "accused so", "false", "wide")
    grid = Table(*names, title=title)
    for present, empty in product((0.1, 0.5, 1.0), (0.0, 0.2)):
        rng, wanted = np.random.default_rng(7), (0.01, 0.05)
        held, widths = {share: [] for share in wanted}, {share: [] for share in wanted}
        for _ in range(STUDIES):
            known, others = rng.random(2_000) >= empty, rng.exponential(1.0, 2_000)
            sure = rng.exponential(np.where(known, 2.0, 1.0))
            right = known & (rng.random(2_000) < -np.expm1(-sure))
            how = {"present": present, "wanted": wanted, "level": LEVEL, "assessed": known}
            found = open_set(sure, right, others, **how)
            for one in found:
                if one.wanted is None:
                    continue
                truth = outcomes_above(one.threshold, present, empty)
                said = (one.right, one.wrong, one.accused, one.false)
                held[one.wanted].append(
                    [each.low <= true <= each.high for each, true in zip(said, truth, strict=True)]
                )
                widths[one.wanted].append(one.false.high - one.false.low)
        for share in wanted:
            parts = (f"{holds:.1%}" for holds in np.mean(held[share], axis=0))
            wide = f"{np.mean(widths[share]):.1%}"
            grid.add_row(f"{present:.0%}", f"{empty:.0%}", f"{share:.0%}", *parts, wide)
    Console(width=110).print(grid)


def outcomes_above(edge, present, empty):
    """Shares right, wrong and accused above a threshold, and of claims that are false."""
    named, wrong, accused = np.exp(-edge / 2), np.exp(-1.5 * edge) / 3, np.exp(-edge)
    right = named - wrong
    false = present * ((1 - empty) * wrong + empty * accused) + (1 - present) * accused
    return right, wrong, accused, false / (present * (1 - empty) * right + false)
