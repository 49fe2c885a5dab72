"""How often intervals of a mean credit hold the truth, and how wide they are."""

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import betaincinv, ndtri

from benchmarks.tools import seconds
from reidrisk.estimates import anytime_interval, mean_of_credits, mean_of_numbers, open_set

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
    strangers()


def strangers():
    """Coverage of what is said about strangers: laws are exponential, so every truth is known.

    How sure the attacker is has mean 2 for those present and 1 for strangers; if it is sure by s,
    it is right with chance 1 - exp(-s).
    """
    title = f"{STUDIES:,} studies of 2,000 targets and 2,000 strangers: share that holds the truth"
    grid = Table("present", "accused", "right", "wrong", "accused so", "false", "wide", title=title)
    for present in (0.1, 0.5, 1.0):
        rng, wanted = np.random.default_rng(7), (0.01, 0.05)
        held, widths = {share: [] for share in wanted}, {share: [] for share in wanted}
        for _ in range(STUDIES):
            sure, others = rng.exponential(2.0, 2_000), rng.exponential(1.0, 2_000)
            right = rng.random(2_000) < -np.expm1(-sure)
            found = open_set(sure, right, others, present=present, wanted=wanted, level=LEVEL)
            for one in found:
                if one.wanted is None:
                    continue
                truth = outcomes_above(one.threshold, present)
                said = (one.right, one.wrong, one.accused, one.false)
                held[one.wanted].append(
                    [each.low <= true <= each.high for each, true in zip(said, truth, strict=True)]
                )
                widths[one.wanted].append(one.false.high - one.false.low)
        for share in wanted:
            parts = (f"{holds:.1%}" for holds in np.mean(held[share], axis=0))
            grid.add_row(f"{present:.0%}", f"{share:.0%}", *parts, f"{np.mean(widths[share]):.1%}")
    Console(width=110).print(grid)


def outcomes_above(edge, present):
    """Shares right, wrong and accused above a threshold, and of claims that are false."""
    named, wrong, accused = np.exp(-edge / 2), np.exp(-1.5 * edge) / 3, np.exp(-edge)
    false = present * wrong + (1 - present) * accused
    return named - wrong, wrong, accused, false / (present * (named - wrong) + false)
