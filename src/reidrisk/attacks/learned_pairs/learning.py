"""Learn by EM how often a column is copied, nearly copied, drawn or empty.

Who a target is, whether its token was copied, and the chances of that are not known; given any two,
the third is easy. A step takes each known row to be the target's own with the belief that the
chances so far give it, all rows alike before anything is seen, and counts with these beliefs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.learned_pairs.pairs import RowPairs
from reidrisk.core.parallel import kernel, over_blocks
from reidrisk.scores.protocol import log_chance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Array = NDArray[Any]

_NEGLIGIBLE = 1e-16
"""A belief that no sum of counts would notice."""

_START = 0.5
"""Chance to be copied, in all slots, from which the fit begins."""

TOLERANCE, STEPS = 1e-4, 500
"""The fit ends when a step changes the log-likelihood of all targets by less, or after so many."""

PSEUDO = 0.5
"""Times that each outcome is taken to have been seen besides: no chance becomes 0 or 1."""

_TARGETS_AT_A_TIME = 256
"""Targets per call of the kernel: it fixes the order of sums, so it may not depend on cores."""


@dataclass(frozen=True, eq=False, slots=True)
class SlotChances:
    """What becomes of a known slot on the anonymous side, slot by slot.

    Attributes:
        copied: Chance that the known token is shown because it is known.
        close: Chance that the token shown is drawn among those close to it.
        gap_given_token: Chance that nothing is shown where something is known.
        gap_given_gap: Chance that nothing is shown where nothing is known.
    """

    copied: Floats
    close: Floats
    gap_given_token: Floats
    gap_given_gap: Floats

    @property
    def drawn(self) -> Floats:
        """Chance that the token shown is drawn from all."""
        return 1 - self.copied - self.close


def learned(pairs: RowPairs, compared: Mask) -> SlotChances:
    """The likeliest chances: one for all slots alike, unless slots clearly differ.

    Slots differ if chances of their own make what is shown likelier by more than half the
    logarithm of the number of targets for each of them (Schwarz's criterion). Where rows say
    little, chances of their own would mostly follow accidents, and claim too much.

    Args:
        pairs: Known rows beside targets.
        compared: Slots in which tokens can be close without being the same: alike to no other.
    """
    own = np.arange(compared.size)
    # argmin is the first slot without a comparison, which stands for all of these.
    alike = np.where(compared, own, np.argmin(compared))
    simple, reached = _climbed(pairs, started(compared), alike)
    # Chances that a slot of its own adds: that of copying, and with gaps two of a gap.
    more = (own != alike).sum() * (3 if pairs.cells.shown_gap.any() else 1)
    if not more:
        return simple
    free, further = _climbed(pairs, simple, own)
    return free if further - reached > more * np.log(pairs.starts.size - 1) / 2 else simple


def started(compared: Mask) -> SlotChances:
    """Chances to begin with: what is not copied is half close where there is such a thing."""
    half = np.full(compared.size, _START)
    return SlotChances(half, np.where(compared, half / 2, 0.0), half, half)


def _climbed(pairs: RowPairs, chances: SlotChances, alike: Ints) -> tuple[SlotChances, float]:
    """Take steps until they gain nothing; what is reached, and its log-likelihood.

    Args:
        pairs: Known rows beside targets.
        chances: Where to begin.
        alike: For each slot the first of those that have the same chances.
    """
    expected, reached = counted(pairs, chances)
    for _ in range(STEPS):
        chances, before = best(pairs, chances, expected, alike), reached
        expected, reached = counted(pairs, chances)
        if abs(reached - before) < TOLERANCE:
            break
    return chances, reached


def _factors(pairs: RowPairs, chances: SlotChances) -> Floats:
    """The chance that each cell stands for, over that of drawing the token shown."""
    cells, slot = pairs.cells, pairs.cells.slot
    gap = np.where(cells.known_gap, chances.gap_given_gap[slot], chances.gap_given_token[slot])
    token = np.where(cells.known_gap, 1.0, _token(pairs, chances))
    return np.where(cells.shown_gap, gap, (1 - gap) * token)


def best(pairs: RowPairs, chances: SlotChances, expected: Floats, alike: Ints) -> SlotChances:
    """The likeliest chances if targets fall into cells as expected."""
    cells = pairs.cells

    def count(weights: Floats, where: Mask) -> Floats:
        counts = np.bincount(alike[cells.slot[where]], weights[where], minlength=alike.size)
        return np.asarray(counts[alike], np.float64)

    both = ~cells.known_gap & ~cells.shown_gap
    # Copying, drawing close by and drawing from all each have their part of a cell's chance.
    share = expected / _token(pairs, chances)
    copied = count(share * cells.copied, both) * chances.copied + PSEUDO
    near = count(share * cells.close, both) * chances.close
    # No pseudo-count where nothing can be close: there the chance must stay 0.
    near += np.where(chances.close > 0, PSEUDO, 0.0)
    drawn = count(share, both) * chances.drawn + PSEUDO
    total = copied + near + drawn
    gaps = []
    for known in (~cells.known_gap, cells.known_gap):
        empty, held = (count(expected, known & gap) for gap in (cells.shown_gap, ~cells.shown_gap))
        gaps.append((empty + PSEUDO) / (empty + held + 2 * PSEUDO))
    return SlotChances(copied / total, near / total, *gaps)


def _token(pairs: RowPairs, chances: SlotChances) -> Floats:
    """The chance of the token shown given the known one, over that of drawing it."""
    cells, slot = pairs.cells, pairs.cells.slot
    added = chances.copied[slot] * cells.copied + chances.close[slot] * cells.close
    return np.asarray(added + chances.drawn[slot])


def counted(pairs: RowPairs, chances: SlotChances) -> tuple[Floats, float]:
    """How many targets fall into each cell, and the log-likelihood."""
    nats = log_chance(_factors(pairs, chances))

    def work(first: int, stop: int) -> tuple[Floats, float]:
        expected, starts = np.zeros(nats.size), pairs.starts[first : stop + 1]
        return expected, _add_beliefs(pairs.places, pairs.counts, starts, nats, expected)

    parts, reached = zip(*over_blocks(work, pairs.starts.size - 1, _TARGETS_AT_A_TIME), strict=True)
    return np.sum(parts, axis=0), sum(reached)


@kernel
def _add_beliefs(
    places: Array, counts: Array, starts: Array, nats: Array, expected: Array
) -> float:
    """Add, to each cell, the belief that targets fall into it; return the log-likelihood.

    A group of known rows is believed to hold the target's own one in proportion to its size and to
    the product of its cells.

    Args:
        places: Groups x slots, the cell of each slot.
        counts: Known rows of each group.
        starts: Where the groups of each target begin, and where the last ones end.
        nats: Logarithm of the chance that a cell stands for.
        expected: For each cell.
    """
    total = 0.0
    for target in range(starts.size - 1):
        first, stop = starts[target], starts[target + 1]
        belief = np.empty(stop - first)
        for group in range(first, stop):
            score = np.log(counts[group])
            for slot in range(places.shape[1]):
                score += nats[places[group, slot]]
            belief[group - first] = score
        # Taken off before exp: products of many small chances would underflow.
        peak = belief.max()
        mass = 0.0
        for group in range(belief.size):
            belief[group] = np.exp(belief[group] - peak)
            mass += belief[group]
        total += peak + np.log(mass)
        for group in range(belief.size):
            share = belief[group] / mass
            if share > _NEGLIGIBLE:
                for slot in range(places.shape[1]):
                    expected[places[first + group, slot]] += share
    return total
