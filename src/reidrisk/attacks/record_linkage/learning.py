"""Learn how often values of one person are so similar: by EM without labels, or from a panel."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.value_pairs import GAP, ValuePairs, best_rows
from reidrisk.scores.protocol import GRID

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_CANDIDATES = 30
"""Known rows beside each target from which EM learns: the best by what was learned before."""

_ROUNDS, _STEPS, _SETTLED = 3, 30, 1e-4
_START, _NEAR = 0.85, 0.12
"""Chances at first that the values of one person are the same, and that they are near: half of it
at the first level, half of the rest at the next, and so on."""
_PRIOR, _PRIOR_SHARE = 5.0, 0.05
"""Pairs of one person that are assumed beside what is seen, alike to what is assumed at first; and
how many more for each that is seen: of a handful of rows, or where one column alone says who is
who, EM would believe anything."""
_SWAPPED = 0.01
"""Chance at first that the values of two slots are swapped."""
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of all pairs of values, and how often each occurs by chance.

    Attributes:
        pairs: The pairs of similar values of all slots.
        level: That of each pair.
        counts: How many levels each slot has, without that of different values.
        chance: For each shown value, the share of known values at each level; the last that is
            used is that of different values.
    """

    pairs: ValuePairs
    level: NDArray[np.int8]
    counts: NDArray[np.int64]
    chance: Floats

    @property
    def slot_of_shown(self) -> Whole:
        """The slot of each shown value."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.pairs.shown_starts))

    def gains(self, same: Floats) -> tuple[Whole, Whole]:
        """What each pair is worth, and what it is worth to differ from each shown value.

        Args:
            same: Chance of each level for two values of one person, slots x levels.
        """
        slot = self.slot_of_shown
        nats = np.log(np.maximum(same[slot], _LEAST)) - np.log(np.maximum(self.chance, _LEAST))
        whole = np.rint(nats * GRID).astype(np.int64)
        different = whole[np.arange(len(slot)), self.counts[slot]]
        return whole[self.pairs.shown_of_pairs, self.level], different

    def of(self, known: NDArray[np.int32], shown: NDArray[np.int32]) -> NDArray[np.int64]:
        """The level of values beside each other, given their places; -1 where there is none.

        Args:
            known: Places of known values, slots x pairs.
            shown: Places of shown values, likewise.
        """
        number = self.pairs.find(known, shown)
        level = np.broadcast_to(self.counts[: len(known), None], known.shape).copy()
        level[number >= 0] = self.level[number[number >= 0]]
        return np.where((known == GAP) | (shown < 0), -1, level)


def levels_of(
    pairs: ValuePairs, level: NDArray[np.int8], counts: Whole, held: Whole, known: Whole
) -> Levels:
    """Levels, with how often each occurs by chance.

    Args:
        pairs: The pairs of similar values.
        level: That of each pair.
        counts: How many levels each slot has.
        held: How many known rows hold each known value.
        known: How many known rows hold anything, by slot.
    """
    most = int(counts.max(initial=0)) + 1
    at = pairs.shown_of_pairs * most + level
    found = np.bincount(at, held[pairs.places], len(pairs.shown) * most).reshape(-1, most)
    slot = np.repeat(np.arange(len(counts)), np.diff(pairs.shown_starts))
    rows = np.arange(len(slot))
    found[rows, counts[slot]] = np.maximum(known[slot] - found.sum(axis=1), 0)
    # A level that nobody else has is not impossible: each is given a part of one more row.
    usual = np.array([found[slot == one].sum(axis=0) for one in range(len(counts))])
    usual /= np.maximum(usual.sum(axis=1, keepdims=True), 1)
    chance = (found + usual[slot]) / (known[slot, None] + 1)
    return Levels(pairs, level, counts, chance)


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned of pairs of one person.

    Attributes:
        same: Chance of each level, comparisons x levels.
        swapped: Chance that the values of two slots are swapped.
    """

    same: Floats
    swapped: Floats

    @property
    def bonus(self) -> Whole:
        """What it is worth that two values are swapped."""
        odds = np.log(self.swapped) - np.log1p(-self.swapped)
        return np.asarray(np.rint(odds * GRID), dtype=np.int64)


def from_pairs(levels: Levels, known: NDArray[np.integer], shown: NDArray[np.integer]) -> Learned:
    """What is learned from pairs of rows that are known to be of one person.

    Args:
        levels: Tells levels.
        known: Known rows.
        shown: The anonymous row of each.
    """
    targets = levels.pairs.places_of_shown(shown)
    beside = levels.of(levels.pairs.places_of_known(known), targets)[:, :, None]
    return _by_steps(levels, _at_first(levels), beside, targets, np.ones(1))


def by_em(levels: Levels, known: NDArray[np.integer], shown: NDArray[np.integer]) -> Learned:
    """What is learned from rows of whom nobody knows who is who.

    Each target is of one of the known rows, all alike before anything is seen.

    Args:
        levels: Tells levels.
        known: Known rows, in an order that does not hang on who they are.
        shown: Some anonymous rows, likewise.
    """
    found = _at_first(levels)
    if levels.pairs.slots == 1:  # nothing else tells whether its values are of one person
        return found
    rows, targets = levels.pairs.places_of_known(known), levels.pairs.places_of_shown(shown)
    for _ in range(_ROUNDS):
        gains = *levels.gains(found.same), found.bonus
        best = best_rows(levels.pairs, *gains, known, shown, _CANDIDATES)
        # Comparisons x targets x candidates.
        beside = levels.of(
            rows[:, best.ravel()], np.repeat(targets, best.shape[1], axis=1)
        ).reshape(-1, *best.shape)
        # One more candidate stands for all other known rows: they are taken to differ everywhere.
        others = np.where(targets >= 0, levels.counts[:, None], -1)[:, :, None]
        beside = np.concatenate([beside, others], axis=2)
        times = np.append(np.ones(best.shape[1]), len(known) - best.shape[1])
        found = _by_steps(levels, found, beside, targets, times)
    return found


def _by_steps(
    levels: Levels, found: Learned, beside: Whole, targets: NDArray[np.int32], times: Floats
) -> Learned:
    """Steps of EM, given the levels of some candidates of each target.

    Args:
        levels: Tells how often levels occur by chance.
        found: What was learned before.
        beside: Levels, comparisons x targets x candidates.
        targets: Places of shown values, comparisons x targets.
        times: For how many known rows each candidate stands.
    """
    chance = np.log(np.maximum(_chance_of(levels, beside, targets), _LEAST))
    for _ in range(_STEPS):
        nats, swapped = _nats(levels, found, beside, chance)
        weight = times * np.exp(nats - nats.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        before, found = found, _learned(levels, beside, weight, swapped)
        if np.abs(found.same - before.same).max() < _SETTLED:
            break
    return found


def _at_first(levels: Levels) -> Learned:
    """What is assumed before anything was seen."""
    return Learned(_first_chances(levels), np.full(len(levels.pairs.swaps), _SWAPPED))


def _first_chances(levels: Levels) -> Floats:
    """Chances before anything was learned: mostly the same, else rather near than not."""
    same = np.zeros((len(levels.counts), levels.chance.shape[1]))
    for slot, count in enumerate(levels.counts.tolist()):
        near = 0.5 ** np.arange(1, count)
        same[slot, : count + 1] = [_START, *(_NEAR * near / near.sum()), 1 - _START - _NEAR]
    return same


def _chance_of(levels: Levels, beside: Whole, targets: NDArray[np.int32]) -> Floats:
    """How often each of these levels occurs by chance beside what is shown."""
    return np.asarray(levels.chance[np.maximum(targets[:, :, None], 0), np.maximum(beside, 0)])


def _nats(
    levels: Levels, found: Learned, beside: Whole, chance: Floats
) -> tuple[Floats, list[Floats]]:
    """How much likelier each pair of rows is if it is of one person; and if values are swapped.

    Returns:
        Logarithms, targets x candidates; and for each two slots the chance that they are swapped.
    """
    logs = np.log(np.maximum(found.same, _LEAST))
    here = np.stack(
        [np.take(log, np.maximum(one, 0)) for log, one in zip(logs, beside, strict=True)]
    )
    nats = np.where(beside < 0, 0, here - chance)
    total, swapped = nats[: levels.pairs.slots].sum(axis=0), []
    for (one, other, *crosswise), share in zip(levels.pairs.swaps, found.swapped, strict=True):
        different = beside[crosswise] == levels.counts[crosswise][:, None, None]
        fits = ~different.any(axis=0) & (beside[crosswise] >= 0).any(axis=0)
        straight = nats[one] + nats[other] + np.log1p(-share)
        crossed = np.where(fits, nats[crosswise].sum(axis=0) + np.log(share), -np.inf)
        both = np.logaddexp(straight, crossed)
        total = total + both - nats[one] - nats[other]
        swapped.append(np.exp(crossed - both))
    return np.asarray(total), swapped


def _learned(levels: Levels, beside: Whole, weight: Floats, swapped: list[Floats]) -> Learned:
    """Chances from weighted pairs; nearer levels never speak less for one person."""
    most, slot = levels.chance.shape[1], levels.slot_of_shown
    prior = _PRIOR + _PRIOR_SHARE * float(weight.sum())
    same, straight = prior * _first_chances(levels), [weight] * levels.pairs.slots
    shares = []
    for (one, other, *_), crossed in zip(levels.pairs.swaps, swapped, strict=True):
        straight[one] = straight[other] = weight * (1 - crossed)
        shares.append((float((weight * crossed).sum()) + prior * _SWAPPED) / (weight.sum() + prior))
    for one, count in enumerate(levels.counts[: levels.pairs.slots].tolist()):
        seen = beside[one] >= 0
        counted = np.bincount(beside[one][seen], straight[one][seen], most)[: count + 1]
        usual = (
            levels.chance[slot == one].mean(axis=0)[: count + 1]
            if (slot == one).any()
            else np.full(count + 1, 1 / (count + 1))
        )
        found = same[one, : count + 1] + counted
        same[one, : count + 1] = _falling(found / found.sum(), usual)
    for one, other, *crosswise in levels.pairs.swaps:
        # Who swaps two values writes them as well as everybody.
        same[crosswise] = (same[one] + same[other]) / 2
    return Learned(same, np.array(shares))


def _falling(same: Floats, usual: Floats) -> Floats:
    """The nearest chances whose ratio to the usual ones never rises from level to level."""
    merged: list[list[float]] = []  # chance, usual chance, number of levels
    for one, other in zip(same.tolist(), usual.tolist(), strict=True):
        merged.append([one, max(other, _LEAST), 1])
        while len(merged) > 1 and merged[-2][0] * merged[-1][1] < merged[-1][0] * merged[-2][1]:
            last = merged.pop()
            merged[-1] = [a + b for a, b in zip(merged[-1], last, strict=True)]
    ratios = np.repeat(
        [one / other for one, other, _ in merged], [int(each) for *_, each in merged]
    )
    return np.asarray(ratios * np.maximum(usual, _LEAST))
