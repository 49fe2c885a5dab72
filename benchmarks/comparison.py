"""Two answers to one question: what each costs, and whether they agree."""

import time
from dataclasses import asdict, dataclass

import numpy as np

ROUNDING = 1e-9
"""Sums of floating numbers in another order differ by no more than this, as a ratio."""


@dataclass(frozen=True)
class Agreement:
    """Whether two answers are what they should be to each other, in words.

    Attributes:
        holds: Whether all that must be equal is equal. A peer that answers less, or by another
            model, is not at fault: the words say so.
        words: For the table.
    """

    holds: bool
    words: str

    def __str__(self):
        return self.words if self.holds else f"**not as expected**: {self.words}"


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, and of processors in all threads: the least of several runs."""

    wall: float
    processor: float


@dataclass(frozen=True)
class Comparison:
    """One row of the table of peers.

    Attributes:
        question: What both are asked.
        size: Of what.
        ours: What of reidrisk answers.
        peer: The name of the other package, as on PyPI.
        theirs: What of it answers.
        our_cost: What ours costs.
        their_cost: What theirs costs.
        agreement: Whether the answers agree.
    """

    question: str
    size: str
    ours: str
    peer: str
    theirs: str
    our_cost: Cost
    their_cost: Cost
    agreement: Agreement

    @property
    def ratio(self):
        """Our seconds by the clock, over theirs."""
        return self.our_cost.wall / self.their_cost.wall

    @property
    def processor_ratio(self):
        """The same of processors."""
        return self.our_cost.processor / self.their_cost.processor

    def plain(self):
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def of(cls, plain):
        """From what `plain` gave."""
        costs = {name: Cost(**plain[name]) for name in ("our_cost", "their_cost")}
        return cls(**{**plain, **costs, "agreement": Agreement(**plain["agreement"])})


def cost(function, repeat=3, *, first=True):
    """The least cost of several calls, after one that may compile; and the last answer."""
    if first:
        function()
    walls, processors = [], []
    for _ in range(repeat):
        wall, processor = time.perf_counter(), time.process_time()
        answer = function()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return Cost(min(walls), max(min(processors), 1e-9)), answer


def equal(ours, theirs, what):
    """Both are the same whole numbers."""
    ours, theirs = (np.concatenate([np.ravel(one) for one in each]) for each in (ours, theirs))
    alike = int((ours == theirs).sum()) if ours.shape == theirs.shape else 0
    if alike == len(ours):
        return Agreement(holds=True, words=f"equal: {what}")
    return Agreement(holds=False, words=f"{what} equal in {alike:,} of {len(ours):,}")


def close(ours, theirs, what):
    """Both are the same numbers, up to rounding."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    apart = float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1e-300)))
    words = f"{what}: largest difference {apart:.0e}" if apart else f"equal: {what}"
    return Agreement(apart <= ROUNDING, words)


def one_of_the_best(best, ties, theirs, winner_scores):
    """The peer gives the same best score and one row that attains it, and does not count ties.

    Args:
        best: Our best scores.
        ties: How many rows attain them.
        theirs: The peer's best scores.
        winner_scores: Our scores of the rows that it names.
    """
    scores, named = (int((np.asarray(best) == each).sum()) for each in (theirs, winner_scores))
    tied, count = int((np.asarray(ties) > 1).sum()), len(best)
    words = f"best score equal in {scores:,} of {count:,}; names a best row in {named:,}"
    words += f"; {tied:,} have ties, which it does not count"
    return Agreement(scores == named == count, words)
