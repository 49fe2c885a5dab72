"""Estimators of entropy and mutual information from counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reidrisk.information.counts.entropies import coverage, miller_madow, plug_in, turing
from reidrisk.information.counts.figures import Figure
from reidrisk.information.counts.held_out import held_out
from reidrisk.information.counts.tallies import Floats, Ints, Tally

LEANS = {
    "plug-in": "high",
    "miller-madow": "high",
    "jackknife": "high",
    "turing": "high",
    "coverage": "high",
    "shuffled": "low",
    "held-out": "either",
    "balanced": "either",
}
"""All ways, and on which side of the truth their mutual information tends to lie where users are
few. Where both sites show nearly the same it is an entropy, and what leans high may lean low. Held
out, two entropies are too high, and which of them more depends on the world."""

_SHIFTS = 8
_ENTROPIES = {
    "plug-in": plug_in,
    "miller-madow": miller_madow,
    "turing": turing,
    "coverage": coverage,
}


@dataclass(frozen=True, eq=False, slots=True)
class Shared:
    """H(A), H(B) and I(A;B) by one way of counting."""

    known: Figure
    shown: Figure
    mutual: Figure

    @property
    def given(self) -> Figure:
        """H(B|A)."""
        return self.shown - self.mutual

    @property
    def joint(self) -> Figure:
        """H(A,B)."""
        return self.known + self.given

    def __add__(self, other: "Shared") -> "Shared":
        return Shared(
            self.known + other.known, self.shown + other.shown, self.mutual + other.mutual
        )


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """Figures of a slot, of several taken together, or of their sum.

    Attributes:
        users: Who were counted.
        pairs: How many pairs.
        once: How many of them came once.
        ways: Figures by the name of each way.
    """

    users: int
    pairs: int
    once: int
    ways: dict[str, Shared]

    def __add__(self, other: "Counted") -> "Counted":
        ways = {name: way + other.ways[name] for name, way in self.ways.items()}
        return Counted(self.users, self.pairs + other.pairs, self.once + other.once, ways)


def counted(known: Ints, shown: Ints, order: Ints, *, symbols: int, alphabet: int) -> Counted:
    """Count in all ways.

    Args:
        known: Symbols, users x slots.
        shown: The same of the other site.
        order: All users, in random order.
        symbols: How many came.
        alphabet: How many there are.
    """
    one, other = (Tally.of(side, symbols, np.zeros_like) for side in (known, shown))

    def agree(codes: Ints) -> Ints:
        """Whether a pair is twice the same: such pairs come more often than all others."""
        same: Ints = (codes // symbols == codes % symbols).astype(np.int64)
        return same

    joint = Tally.of(known * symbols + shown, symbols**2, agree)
    ways = {name: _shared(entropy, one, other, joint) for name, entropy in _ENTROPIES.items()}
    plain, covered = ways["plug-in"], ways["coverage"]
    ways["jackknife"] = Shared(
        plain.known.jackknifed, plain.shown.jackknifed, plain.mutual.jackknifed
    )
    lost = held_out(joint, symbols, order, alphabet=alphabet)
    first, second = Figure.mean(lost.known), Figure.mean(lost.shown)
    ways["held-out"] = Shared(first, second, second - Figure.mean(lost.given))
    mixed, others = known[order] * symbols, shown[order]
    unrelated = [
        Tally.of_all(mixed + np.roll(others, shift, axis=0), symbols**2, agree)
        for shift in range(1, min(_SHIFTS, len(order) - 1) + 1)
    ]
    once = float(np.mean([tally.once for tally in unrelated]))
    ways["shuffled"] = _less(plain, plug_in, unrelated, 1.0)
    ways["balanced"] = _less(covered, coverage, unrelated, joint.once / max(once, joint.once, 1))
    return Counted(len(known), known.size, joint.once, {name: ways[name] for name in LEANS})


def _shared(entropy: Callable[[Tally], Floats], one: Tally, other: Tally, joint: Tally) -> Shared:
    first, second, both = (Figure.of(entropy(tally)) for tally in (one, other, joint))
    return Shared(first, second, first + second - both)


def _less(
    way: Shared, entropy: Callable[[Tally], Floats], unrelated: Sequence[Tally], part: float
) -> Shared:
    """Less a part of what unrelated users, who share nothing, seem to share."""
    joint = np.array([entropy(tally)[0] for tally in unrelated])
    bits = way.known.value + way.shown.value - joint
    chance = Figure.mean_drawn(bits, len(way.known.without))
    return Shared(way.known, way.shown, way.mutual - chance * part)
