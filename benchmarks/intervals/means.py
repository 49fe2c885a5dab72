"""Intervals of a mean credit."""

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import betaincinv, ndtri

from benchmarks.tools import seconds
from reidrisk.estimates import anytime_interval, mean_of_credits, mean_of_numbers

TARGETS, STUDIES, LEVEL = 10_000, 2_000, 0.95
TIES = np.arange(1, 1_001)
CHANCES = TIES**-1.5 / (TIES**-1.5).sum()


def wald(study, _):
    half = ndtri((1 + LEVEL) / 2) * study.std(ddof=1) / TARGETS**0.5
    return study.mean() - half, study.mean() + half


def clopper_pearson(low_count, high_count):
    tail = (1 - LEVEL) / 2
    low = betaincinv(low_count, TARGETS - low_count + 1, tail) if low_count else 0.0
    return low, betaincinv(high_count + 1, TARGETS - high_count, 1 - tail)


def undoubled(study, _):
    """Clopper and Pearson on the whole numbers around the sum: no proof that it covers."""
    total = round(study.sum(), 9)
    return clopper_pearson(np.floor(total), np.ceil(total))


def randomised(study, rng):
    """Clopper and Pearson after drawing a winner for each tie: exact, but another every time."""
    count = (rng.random(TARGETS) < study).sum()
    return clopper_pearson(count, count)


def ends(interval):
    def both(study, _):
        estimate = interval(study, level=LEVEL)
        return estimate.low, estimate.high

    return both


METHODS = {
    "Wald": wald,
    "Clopper-Pearson, not doubled": undoubled,
    "Clopper-Pearson, ties drawn": randomised,
    "mean_of_credits": ends(mean_of_credits),
    "mean_of_numbers (betting)": ends(mean_of_numbers),
    "anytime_interval": ends(anytime_interval),
}


def draw(rng, mean, *, tied):
    """Credits of one study, and their exact mean is `mean`."""
    if not tied:
        return (rng.random(TARGETS) < mean).astype(float)
    hits = mean / (CHANCES / TIES).sum()
    return (rng.random(TARGETS) < hits) / rng.choice(TIES, TARGETS, p=CHANCES)


def main():
    title = f"{STUDIES:,} studies of {TARGETS:,} targets: share that holds the truth at {LEVEL:.0%}"
    grid = Table("mean", "ties", "interval", "holds", "mean width", "against Wald", title=title)
    for mean in (0.02, 0.0005):
        for tied in (False, True):
            rng = np.random.default_rng(7)
            found = {name: [] for name in METHODS}
            for _ in range(STUDIES):
                study = draw(rng, mean, tied=tied)
                for name, method in METHODS.items():
                    found[name].append(method(study, rng))
            widths = {name: np.diff(pairs).mean() for name, pairs in found.items()}
            for name, pairs in found.items():
                low, high = np.array(pairs).T
                holds, width = np.mean((low <= mean) & (mean <= high)), widths[name]
                grid.add_row(
                    f"{mean:.2%}", "many" if tied else "none", name, f"{holds:.1%}",
                    f"{width:.4%}", f"{width / widths['Wald']:.2f}",
                )  # fmt: skip
    Console(width=110).print(grid)
    study = draw(np.random.default_rng(7), 0.02, tied=True)
    for interval in (mean_of_credits, mean_of_numbers, anytime_interval):
        taken, _ = seconds(lambda interval=interval: interval(study))
        print(f"{interval.__name__} of {TARGETS:,} credits: {taken * 1e3:.2f} ms")
