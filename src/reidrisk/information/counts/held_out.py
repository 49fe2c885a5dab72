"""Cross-entropies on held-out users: on average never below the entropy.

Everybody is held out once. What the others were shown gives chances of what one of them is shown:

- q(b), the frequencies, drawn a little towards all symbols alike;
- q(b | a), the frequencies among those who showed a elsewhere, drawn towards "the same again, or
  anything as usual". The fewer showed a, the more: so pairs that nobody showed have chances too.

How much is chosen on the others alone, by leaving out one of their pairs at a time. Whatever was
chosen, the code length of somebody new is the entropy or more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reidrisk.information.counts.tallies import Floats, Ints, Tally

FOLDS = 10
_WEIGHTS = 4.0 ** np.arange(9)
"""Pairs that what is drawn towards may count for."""

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Losses:
    """Bits per slot that describe each user's row: known, anonymous, and that given the known."""

    known: Floats
    shown: Floats
    given: Floats


def held_out(joint: Tally, symbols: int, order: Ints, *, alphabet: int) -> Losses:
    """Hold out every tenth user of an order in turn.

    Args:
        joint: Pairs of symbols, the known one times `symbols`, and the other.
        symbols: Of those that came.
        order: All users, in random order.
        alphabet: How many symbols there are, with that of a gap.
    """
    known, shown = np.divmod(joint.codes, symbols)
    losses = np.empty((3, len(order)))
    for fold in range(min(FOLDS, len(order))):
        out = order[fold::FOLDS]
        cells = joint.cells[out]
        others = joint.counts - np.bincount(cells.ravel(), minlength=len(known))
        bits = _Model.of(known, shown, others, alphabet).bits(known, shown, others)
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
    times: Floats
    again: float
    weight: float

    @classmethod
    def of(cls, one: Ints, other: Ints, counts: Ints, alphabet: int) -> "_Model":
        """Learn from pairs of symbols, and how often each came."""
        symbols = int(max(one.max(), other.max())) + 1
        times, others = (
            np.bincount(side, counts, symbols).astype(np.float64) for side in (one, other)
        )
        known, shown = _smooth(times, alphabet), _smooth(others, alphabet)
        by_chance = float((known * shown)[times > 0].sum())
        met = float(counts[one == other].sum() + 0.5) / float(counts.sum() + 1)
        again = max((met - by_chance) / (1 - by_chance), 0.0)
        base = again * (one == other) + (1 - again) * shown[other]
        often = counts > 1  # a pair that came once has no other left: its part is one logarithm
        more, part, single = counts[often] * 1.0, base[often], float((counts == 1).sum())
        left_out = [
            (more * np.log(more - 1 + weight * part)).sum()
            + single * np.log(weight)
            - _sum_of_logs(times, weight)
            for weight in _WEIGHTS
        ]
        return cls(known, shown, times, again, _best(left_out))

    def bits(self, known: Ints, shown: Ints, counts: Ints) -> Floats:
        """Bits of pairs, given how often each came: known, shown, shown given known."""
        base = self.again * (known == shown) + (1 - self.again) * self.shown[shown]
        given = (counts + self.weight * base) / (self.times[known] + self.weight)
        bits: Floats = -np.log2(np.stack([self.known[known], self.shown[shown], given]))
        return bits


def _smooth(counts: Floats, alphabet: int) -> Floats:
    """Frequencies drawn towards all alike, as much as predicts each that is left out best."""
    total = counts.sum()
    left_out = [
        _sum_of_logs(counts, weight / alphabet) - total * np.log(total - 1 + weight)
        for weight in _WEIGHTS
    ]
    weight = _best(left_out)
    chances: Floats = (counts + weight / alphabet) / (total + weight)
    return chances


def _sum_of_logs(counts: Floats, more: float) -> float:
    """Sum over all that was counted of the logarithm of how many are left besides, and some."""
    came = counts[counts > 0]
    return float((came * np.log(came - 1 + more)).sum())


def _best(left_out: Sequence[float]) -> float:
    """The weight that predicts best; the least of those that differ by roundings only."""
    values = np.array(left_out)
    close = values >= values.max() - _ROUNDING * (1 + abs(values.max()))
    return float(_WEIGHTS[int(close.argmax())])
