"""Score: what it is worth, slot by slot, that a known and a shown number are so far apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.parallel import Array, kernel
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.scores.protocol import GRID, NATS, Gains, Unit, check_kind, check_sum

LOWER_BITS = 20
"""Bits of a float of single precision below the three highest of its fraction: 8 steps to each
power of 2."""


@dataclass(frozen=True, eq=False)
class NumberSlot:
    """The numbers of one slot, and what distances between them are worth.

    It is worth `log(sum(parts[:, token] * likely[:, step]) + wrong)` that a shown token stands at
    some step of distance, see `steps_of`.

    Args:
        known: The number that each token stands for if it is known; NaN if it stands for none.
        shown: The number that each token stands for if it is shown.
        likely: How likely each step of distance is, at each scale of noise; the last step is for
            all that are longer.
        parts: For each scale and token, how often noise has that scale, over how likely the token
            is beside a random known row.
        wrong: How often a value says nothing.
        shortest: Distances below this are the first step.
    """

    known: NDArray[np.float64]
    shown: NDArray[np.float64]
    likely: NDArray[np.float64]
    parts: NDArray[np.float64]
    wrong: float
    shortest: float

    def gains(self, token: int) -> Gains:
        """What each step of distance from a shown token is worth.

        Args:
            token: The shown one.
        """
        ratios = (self.parts[:, token, None] * self.likely).sum(axis=0)
        return np.asarray(np.rint(np.log(ratios + self.wrong) * GRID), np.int64)


def steps_of(distances: NDArray[np.float64], shortest: float, count: int) -> NDArray[np.int64]:
    """Steps of distances, from 0 up to `count - 1`: 8 of them to each power of 2.

    Args:
        distances: None below 0, none NaN.
        shortest: Where the first step ends.
        count: How many steps there are.

    Example:
        >>> from reidrisk.scores.compared_numbers import steps_of
        >>> steps_of(np.array([0.0, 1.0, 2.0, 4.0, 1e30]), shortest=1.0, count=30).tolist()
        [0, 1, 9, 17, 29]
    """
    bits = distances.astype(np.float32).view(np.int32) >> LOWER_BITS
    return np.clip(bits.astype(np.int64) - first_bits(shortest), 0, count - 1)


def first_bits(shortest: float) -> int:
    """The bits of distances of the first step: the upper ones of their single precision.

    Args:
        shortest: Where the first step ends.
    """
    return int(np.float32(shortest).view(np.int32) >> LOWER_BITS) - 1


@dataclass(frozen=True, eq=False)
class ComparedNumbers:
    """The sum over slots of what the distance of two numbers is worth.

    Where either side has nothing, or no number, a slot adds nothing.

    Args:
        slots: The numbers of each slot.
        unit: What gains count.

    Example:
        >>> from reidrisk.scores.compared_numbers import NumberSlot
        >>> ages = np.array([30.0, 31.0, 64.0])
        >>> near = np.array([[1.0] * 17 + [0.0]])  # distances below 4
        >>> slot = NumberSlot(ages, ages, near, np.full((1, 3), 1.5), 0.5, 1.0)
        >>> score = rr.scores.ComparedNumbers((slot,))
        >>> gains = score.of(np.array([[0], [2], [-1]]), np.array([1]))
        >>> rr.scores.in_units(score, gains).round(2).tolist()
        [0.69, -0.69, 0.0]
    """

    slots: Sequence[NumberSlot]
    unit: Unit = NATS

    def check(self, observations: Observations) -> None:
        """Refuse rows of another kind, other tokens or more slots, and sums beyond 64 bits."""
        check_kind("compared numbers", observations, Kind.TOKENS)
        tokens = len(self.slots[0].known) if self.slots else 0
        if observations.slots > len(self.slots) or observations.tokens != tokens:
            raise InvalidInput(
                f"the score is for {len(self.slots)} slots of {tokens} tokens, and the "
                f"observations have {observations.slots} slots of {observations.tokens}",
                code="score-mismatch",
            )
        sums = [slot.parts.sum(axis=0).max() * slot.likely.max() + 1 for slot in self.slots]
        nats = max(*np.abs(np.log(sums)), *(-np.log(slot.wrong) for slot in self.slots))
        check_sum(np.array([nats * GRID]), len(self.slots))

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        known, shown = np.asarray(known), np.asarray(shown)
        total = np.zeros(len(known), np.int64)
        for at, slot in enumerate(self.slots[: known.shape[1]]):
            held = _number(slot.known, known[:, at])
            for token, some in _by_token(shown[..., at]):
                if token != MISSING and not np.isnan(met := slot.shown[token]):
                    first = first_bits(slot.shortest)
                    total[some] += _gains(held[some], met, slot.gains(token), first)
        return total


def _number(numbers: NDArray[np.float64], tokens: Tokens) -> NDArray[np.float64]:
    """What tokens stand for; NaN for gaps."""
    return np.where(tokens == MISSING, np.nan, numbers[np.maximum(tokens, 0)])


def _by_token(tokens: Tokens) -> Iterator[tuple[int, Any]]:
    """Different tokens, and where each stands; everywhere, if it is one for all."""
    if not tokens.ndim:
        yield int(tokens), slice(None)
        return
    order = np.argsort(tokens, kind="stable")
    found, starts = np.unique(tokens[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)


@kernel
def _gains(held: Array, met: float, gains: Array, first: int) -> Array:
    """What the distances of known numbers from a shown one are worth; nothing if there is none."""
    far = np.empty(1, np.float32)
    bits = far.view(np.int32)
    last = gains.shape[0] - 1
    found = np.zeros(held.shape[0], np.int64)
    for row in range(held.shape[0]):
        if not np.isnan(held[row]):
            far[0] = abs(held[row] - met)
            found[row] = gains[min(max((bits[0] >> LOWER_BITS) - first, 0), last)]
    return found
