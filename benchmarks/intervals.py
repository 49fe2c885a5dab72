"""How often intervals hold the truth, and how wide they are: means, differences, ranks."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import betaincinv, ndtri
from scipy.stats import binom

from benchmarks.tools import seconds
from reidrisk.estimates import (
    Estimate,
    anytime_interval,
    mean_of_credits,
    mean_of_numbers,
    paired_difference,
    unpaired_difference,
)
from reidrisk.estimates.credits import lower_limit
from reidrisk.matches import no_matches, up_to_rank
from reidrisk.risk import RiskCurve
from reidrisk.risk.crowds import size_curve
from reidrisk.risk.guesses import guess_curve
from reidrisk.risk.measuring import Measured

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


# Kinds of people: the chances that another user rates above the truth, and level with it. Most hide
# in a crowd; a few are told apart.
USERS, FEW_TARGETS = 10_000, 1_000
KINDS = np.array([(0.2, 0.02), (0.01, 0.01), (0.001, 0.004), (1e-4, 3e-4), (0.0, 1e-5)])
SHARES = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
CROWDS, GUESSES, RANKS = (30, 300, 3_000, 10_000), (1, 10, 100), 100


def true_risk(crowd):
    """In crowds of some size: `(1 - f)^(m - 1)` for f even between above and above + level."""
    above, level = KINDS.T
    return SHARES @ (((1 - above) ** crowd - (1 - above - level) ** crowd) / (crowd * level))


def true_guesses(guesses):
    """By adding up over all ranks."""
    total, others = 0.0, np.arange(USERS)
    for share, (above, level) in zip(SHARES, KINDS, strict=True):
        for ahead in range(guesses):
            right = np.minimum((guesses - ahead) / (others + 1), 1)
            tied = binom.pmf(others, USERS - 1 - ahead, level / (1 - above))
            total += share * binom.pmf(ahead, USERS - 1, above) * (right @ tied)
    return total


def ranked(rng, ranks):
    """What a search of some targets finds, counted up to a rank."""
    above, level = KINDS[rng.choice(len(SHARES), FEW_TARGETS, p=SHARES)].T
    ahead = rng.binomial(USERS - 1, above)
    tied = rng.binomial(USERS - 1 - ahead, level / (1 - above))
    ahead, tied = up_to_rank(ahead, tied, ranks)
    matches = no_matches(FEW_TARGETS)
    for name, value in (("above", ahead), ("level", tied), ("ranks", ranks)):
        object.__setattr__(matches, name, value)
    nothing = Estimate(0.0, 0.0, 1.0, LEVEL, FEW_TARGETS, "not looked at")
    curve = RiskCurve("made up", {1: nothing}, USERS)
    interval = partial(mean_of_credits, level=LEVEL)
    someone = SimpleNamespace(attack=SimpleNamespace(name="made up"))
    return Measured(someone, curve, matches, np.ones(FEW_TARGETS, bool), interval)


def crowds_and_guesses():
    """Intervals of what is read from ranks, counted to the end or not."""
    title = f"{STUDIES:,} studies of {FEW_TARGETS:,} targets among {USERS:,} users"
    grid = Table("what", "ranks", "truth", "holds", "mean width", title=title)
    for ranks in (None, RANKS):
        rng, found = np.random.default_rng(7), {}
        for _ in range(STUDIES):
            one = ranked(rng, ranks)
            for size, estimate in size_curve(one, CROWDS).items():
                key = f"crowd of {size:,}", true_risk(size)
                found.setdefault(key, []).append((estimate.low, estimate.high))
            for number, estimate in guess_curve(one, GUESSES).items():
                key = f"{number} guesses", TRUE_GUESSES[number]
                found.setdefault(key, []).append((estimate.low, estimate.high))
        for (what, truth), ends in found.items():
            low, high = np.array(ends).T
            holds = np.mean((low <= truth) & (truth <= high))
            counted = "all" if ranks is None else f"to {ranks}"
            width = (high - low).mean()
            grid.add_row(what, counted, f"{truth:.3%}", f"{holds:.1%}", f"{width:.3%}")
    Console(width=110).print(grid)


TRUE_GUESSES = {number: true_guesses(number) for number in GUESSES}


def main():
    crowds_and_guesses()
    single_means()
    differences()


def single_means():
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


def differences():
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
