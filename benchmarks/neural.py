"""Learned attacks: what they learn in which time, and how near they come to the best possible.

100,000 users of the embedded population are known, 3,000 of them are attacked after 8 weeks, and
200,000 others are the panel. Then 2,000 of users whose interests drift. Times are processor seconds
with one thread of torch; who learns counts as learning, who searches as searching.
"""

import time

import numpy as np
from rich.console import Console
from rich.table import Table

import reidrisk as rr
from reidrisk.attacks import View
from reidrisk.attacks.neural import Neural
from reidrisk.attacks.pair_network import PairNetwork
from reidrisk.estimates import mean_of_credits
from reidrisk.information.sequences import SequenceChances
from reidrisk.learning.progress import Training
from reidrisk.risk.arguments import Fitted
from reidrisk.scores import GRID, Shortlisted
from reidrisk.scores.shortlisted import is_listed

USERS, TARGETS, FEWER, PANEL, BEST = 100_000, 3_000, 2_000, 200_000, 1000
PRECISION = 0.9
ROWS_AT_A_TIME = 1 << 12
PAIR_STEPS = 2_000  # about as long as the chain from scratch takes

API = rr.TopicsApi()


class Drifting:
    """Bayes' rule for interests that drift, the types being known: the best possible."""

    def __init__(self, interests):
        self.chances = SequenceChances.of(interests)

    def check(self, observations):
        """Rate everything."""

    def of(self, known, shown):
        """Log-likelihood of shown rows given known ones."""
        shown = np.broadcast_to(shown, known.shape)
        scores = np.empty(len(known))
        for start in range(0, len(known), ROWS_AT_A_TIME):
            one, other = (rows[start : start + ROWS_AT_A_TIME] for rows in (known, shown))
            both, alone = self.chances.log2_joint(one, other), self.chances.log2_single(one)
            scores[start : start + ROWS_AT_A_TIME] = both - alone
        return np.rint(scores * np.log(2) * GRID).astype(np.int64)


class Trial:
    """People, a panel, and a table of who names how many."""

    def __init__(self, title, persistence, targets):
        people = rr.data.synthetic_topics(users=USERS, seed=1, persistence=persistence)
        others = rr.data.synthetic_topics(users=PANEL, seed=2, persistence=persistence)
        self.seen = API.observe(people, targets=targets, seed=7)
        panel = API.observe(others, targets=PANEL, seed=8)
        self.view = View.of(self.seen, release=API, panel=panel)
        self.interests, self.engine = people.interests, rr.LocalEngine()
        self.grid = Table("attack", "learns, s", "searches, s", "right", "listed", title=title)

    def fitted(self, attack):
        """The score, and the seconds it took."""
        start = time.process_time()
        score = attack.fit(self.view)
        return score, time.process_time() - start

    def add(self, name, score, learned):
        """Search, and add a row."""
        start = time.process_time()
        found = self.engine.search(self.seen, score)
        searched = time.process_time() - start
        right = mean_of_credits(found.credit)
        listed = ""
        if isinstance(score, Shortlisted):
            recall = mean_of_credits(is_listed(found.true_score).astype(float))
            listed = f"{recall.value:.1%} [{recall.low:.1%}, {recall.high:.1%}]"
        shown = f"{right.value:.2%} [{right.low:.2%}, {right.high:.2%}]"
        self.grid.add_row(name, f"{learned:.1f}", f"{searched:.1f}", shown, listed)
        print(f"{name}: {shown} {listed}", flush=True)
        return right

    def ours(self, begin):
        """Learn a chain, search with it, and give its score."""
        score, seconds = self.fitted(Neural(begin=begin))
        self.add(f"neural, begun from {begin}, list of {BEST:,}", score, seconds)
        return score

    def others(self):
        """Those who are to be beaten."""
        self.add("weighted-hamming", *self.fitted(rr.WeightedHamming(API)))
        types = rr.TypeAware(API, types=64, panel=self.view.panel)
        self.add("type-aware, types by EM", *self.fitted(types))

    def show(self):
        """The table."""
        Console(width=120).print(self.grid)


def stable():
    """Interests that stay; what is to be said of claims in the end."""
    trial = Trial("interests stay", 1.0, TARGETS)
    trial.others()
    scratch, begun = trial.ours("scratch"), trial.ours("types")
    trial.add("scratch, its weights per token alone", scratch.first, 0.0)
    for best in (50, 200):
        few = Shortlisted(scratch.score, scratch.first, best)
        trial.add(f"neural, begun from scratch, list of {best}", few, 0.0)
    steps = Training(steps=PAIR_STEPS, rate=0.002, every=100)
    trial.add(f"pair-network, list of {BEST:,}", *trial.fitted(PairNetwork(training=steps)))
    exact = rr.TypeAware(API, trial.interests)
    score, seconds = trial.fitted(exact)
    trial.add("exact Bayes: type-aware, true types", score, seconds)
    trial.show()
    return trial, (
        ("weighted-hamming", rr.WeightedHamming(API)),
        ("exact Bayes", Fitted(exact, score)),
        ("neural, begun from types", Fitted(Neural(), begun)),
    )


def drifting(persistence):
    """Interests that change."""
    title = f"interests drift: kept from week to week with chance {persistence}"
    trial = Trial(title, persistence, FEWER)
    trial.others()
    score = trial.ours("types")
    ceiling = Shortlisted(Drifting(trial.interests), score.first, BEST)
    trial.add(f"exact Bayes, list of {BEST:,}", ceiling, 0.0)
    trial.show()


def claims(trial, attacks):
    """How many are named by who wants to be right so often."""
    for name, attack in attacks:
        start = time.process_time()
        belief = rr.posterior(trial.seen, attack, view=trial.view)
        sure = next(one for one in belief.selective if one.precision == PRECISION)
        seconds = time.process_time() - start
        print(f"{name}: claims fit {belief.claims.fits}; {sure} ({seconds:.0f} s)", flush=True)


def main():
    sure = stable()
    for persistence in (0.9, 0.7):
        drifting(persistence)
    claims(*sure)
