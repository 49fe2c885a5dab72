"""Score: what it is worth, slot by slot, that a known and a shown value are so similar."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.rows import Kind
from reidrisk.core.value_pairs import GAP, ValuePairs
from reidrisk.errors import InvalidInput
from reidrisk.scores.protocol import NATS, Gains, Unit, check_kind, check_sum


@dataclass(frozen=True, eq=False)
class ComparedValues:
    """The sum over slots of what a pair of values is worth, by how similar the values are.

    Where either side has nothing, a slot adds nothing; nor does a shown value that was never seen.

    Args:
        pairs: All pairs of values that are similar, equal ones among them.
        gains: What each of these pairs is worth.
        different: What it is worth to hold another value, for each shown value.
        swapped: What it is worth that the values of two slots are swapped, for each two slots for
            which `pairs` has comparisons crosswise. The better of both counts, where no value
            differs from what it is compared with crosswise.
        missed: Share of similar values of one person that are taken for different, of the worst
            slot, as far as it is estimated: because not all values could be compared.
        unit: What gains count.

    Example:
        >>> from reidrisk.core.value_pairs import SlotPairs, ValuePairs
        >>> one = SlotPairs(np.array([0, 1]), np.array([0]), np.array([0]), np.array([0]))
        >>> pairs, _ = ValuePairs.of([one])
        >>> score = rr.scores.ComparedValues(pairs, np.array([7]), np.array([-2]))
        >>> score.of(np.array([[0], [1], [-1]]), np.array([0])).tolist()
        [7, -2, 0]
    """

    pairs: ValuePairs
    gains: Gains
    different: Gains
    swapped: Gains = field(default_factory=lambda: np.zeros(0, np.int64))
    missed: float = 0.0
    unit: Unit = NATS

    def check(self, observations: Observations) -> None:
        """Refuse rows of another kind, more slots than were compared, and sums beyond 64 bits."""
        check_kind("compared values", observations, Kind.TOKENS)
        if observations.slots > self.pairs.slots:
            raise InvalidInput(
                f"values of {self.pairs.slots} slots were compared, and the observations have "
                f"{observations.slots}",
                code="score-mismatch",
            )
        every = np.concatenate([self.gains, self.different, self.swapped, [0]])
        # Two slots crosswise, and what swapping them is worth, are three gains.
        check_sum(every, 2 * self.pairs.slots + 1)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        held = self.pairs.places_of_known(np.asarray(known))
        met = self.pairs.places_of_shown(np.atleast_2d(shown))
        met = np.broadcast_to(met, held.shape)
        gains, listed, empty = self.by_comparison(held, met)
        total = gains[: self.pairs.slots].sum(axis=0)
        for (one, other, *crosswise), bonus in zip(self.pairs.swaps, self.swapped, strict=True):
            fits = (listed[crosswise] | empty[crosswise]).all(axis=0) & listed[crosswise].any(
                axis=0
            )
            more = gains[crosswise].sum(axis=0) + bonus - gains[one] - gains[other]
            total += np.where(fits, np.maximum(more, 0), 0)
        return np.asarray(total)

    def by_comparison(
        self, held: NDArray[np.int32], met: NDArray[np.int32]
    ) -> tuple[Gains, NDArray[np.bool_], NDArray[np.bool_]]:
        """What comparisons are worth, which are listed and which empty.

        Args:
            held: Places of known values, comparisons x pairs.
            met: Places of the shown values beside them.
        """
        empty = (held == GAP) | (met < 0)
        if not len(self.different):  # nothing was ever shown
            return np.zeros(held.shape, np.int64), empty & False, empty
        number = self.pairs.find(held, met)
        listed = number >= 0
        gains = self.different[np.maximum(met, 0)]
        gains[listed] = self.gains[number[listed]]
        return np.where(empty, 0, gains), listed, empty
