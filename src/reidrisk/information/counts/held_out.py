"""Cross-entropies on users who had no part in the model: on average never below the entropy.

Everybody is held out once. What the others were shown gives chances of what one of them is shown:

- q(b), the frequencies, drawn a little towards all symbols alike;
- q(b | a), the frequencies among those who showed a elsewhere, drawn towards "the same again, or
  anything as usual". The fewer showed a, the more: so pairs that nobody showed have chances too.

How much is chosen on the others alone, by leaving out one of their pairs at a time. Whatever was
chosen, the code length of somebody new is the entropy or more.
"""

from dataclasses import dataclass

import numpy as np

from reidrisk.information.counts.tallies import Floats, Ints, Tally

FOLDS = 10
_WEIGHTS = 4.0 ** np.arange(9)
"""Pairs that what is drawn towards may count for."""

_NEVER = 1e-300
"""Stands for a chance of 0 under a logarithm."""


@dataclass(frozen=True, eq=False, slots=True)
class Losses:
    """Bits per slot that describe each user's row: known, anonymous, and that given the known."""

    known: Floats
    shown: Floats
    given: Floats


def held_out(joint: Tally, symbols: int, order: Ints) -> Losses:
    """Hold out every tenth user of an order in turn.

    Args:
        joint: Pairs of symbols, the known one times `symbols`, and the other.
        symbols: Size of the alphabet, with that of a gap.
        order: All users, in random order.
    """
    known, shown = np.divmod(joint.codes, symbols)
    losses = np.empty((3, len(order)))
    for fold in range(min(FOLDS, len(order))):
        out = order[fold::FOLDS]
        cells = joint.cells[out]
        others = joint.counts - np.bincount(cells.ravel(), minlength=len(known))
        bits = _Model.of(known, shown, others, symbols).bits(known, shown, others)
        losses[:, out] = bits[:, cells].mean(axis=2)
    return Losses(*losses)


@dataclass(frozen=True, eq=False, slots=True)
class _Model:
    """Chances of symbols, from counts.

    Attributes:
        known: Chance of each symbol at the known site.
        shown: Chance of each symbol at the anonymous site.
        times: How often each came at the known site.
        again: How often a symbol comes again at the other site, beyond chance.
        weight: Pairs that these chances count for, beside what was counted.
    """

    known: Floats
    shown: Floats
    times: Ints
    again: float
    weight: float

    @classmethod
    def of(cls, one: Ints, other: Ints, counts: Ints, symbols: int) -> "_Model":
        """Learn from pairs of symbols, and how often each came."""
        times = np.bincount(one, counts, symbols).astype(np.int64)
        known, shown = _smooth(times), _smooth(np.bincount(other, counts, symbols))
        by_chance = float((known * shown).sum())
        met = counts[one == other].sum() / counts.sum()
        again = max((met - by_chance) / max(1 - by_chance, _NEVER), 0.0)
        base = again * (one == other) + (1 - again) * shown[other]
        often = counts > 1  # a pair that came once has no other left: its part is one logarithm
        more, part, single = counts[often] * 1.0, base[often], float((counts == 1).sum())
        left_out = [
            (more * np.log(more - 1 + weight * part)).sum()
            + single * np.log(weight)
            - _sum_of_logs(times, weight)
            for weight in _WEIGHTS
        ]
        return cls(known, shown, times, again, float(_WEIGHTS[np.argmax(left_out)]))

    def bits(self, known: Ints, shown: Ints, counts: Ints) -> Floats:
        """Bits of pairs, given how often each came: known, shown, shown given known."""
        base = self.again * (known == shown) + (1 - self.again) * self.shown[shown]
        given = (counts + self.weight * base) / (self.times[known] + self.weight)
        bits: Floats = -np.log2(np.stack([self.known[known], self.shown[shown], given]))
        return bits


def _smooth(counts: Floats | Ints) -> Floats:
    """Frequencies drawn towards all alike, as much as predicts each that is left out best."""
    total, symbols = counts.sum(), len(counts)
    left_out = [
        _sum_of_logs(counts, weight / symbols) - total * np.log(total - 1 + weight)
        for weight in _WEIGHTS
    ]
    weight = _WEIGHTS[np.argmax(left_out)]
    chances: Floats = (counts + weight / symbols) / (total + weight)
    return chances


def _sum_of_logs(counts: Floats | Ints, more: float) -> float:
    """Sum over all that was counted of the logarithm of how many are left besides, and some."""
    came = counts[counts > 0] * 1.0
    return float((came * np.log(came - 1 + more)).sum())
