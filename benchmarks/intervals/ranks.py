"""Intervals of crowds and guesses, which are read from ranks."""

from functools import partial
from types import SimpleNamespace

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import binom

from benchmarks.intervals.means import LEVEL, STUDIES
from reidrisk.core.matches import no_matches, up_to_rank
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.risk import RiskCurve
from reidrisk.risk._measure import Measured, guess_curve, size_curve

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


def main():
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
