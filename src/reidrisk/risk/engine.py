"""What measuring needs of an engine."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Rows
from reidrisk.errors import InvalidInput
from reidrisk.scores import Score

Floats = NDArray[np.float64]
Slots = Sequence[int] | int | None


class SearchEngine(Protocol):
    """Anything that searches everyone: `LocalEngine`, `ReferenceEngine`, or another."""

    def hold(self, rows: Rows) -> Rows:
        """The same known rows where this engine works on them."""
        ...

    def search(
        self,
        observations: Observations,
        score: Score,
        *,
        list_best: int = 0,
        ranks: int | None = 1,
        second: bool = False,
    ) -> Matches:
        """Find the best score, its ties, the true score and its rank for every target."""
        ...

    def curves(
        self,
        observations: Observations,
        scores: Sequence[Score],
        slots: Sequence[int],
        *,
        ranks: int | None = 1,
    ) -> list[dict[int, Matches]]:
        """For each score, the search after each number of slots."""
        ...

    def credit(self, observations: Observations, score: Score) -> Floats:
        """For each target, the chance of naming the right user."""
        ...

    def evidence(self, observations: Observations, score: Score) -> Floats:
        """For each target, the logarithm of the sum over all known rows of exp(score)."""
        ...


def checked_slots(seen: Observations, slots: Slots) -> list[int]:
    """Numbers of slots that the observations have, ascending, each once; all if None."""
    if slots is None:
        return [seen.slots]
    wanted = list(slots) if isinstance(slots, Sequence) else [slots]
    lengths = sorted({whole_number("slots", length, least=1) for length in wanted})
    if not lengths or lengths[-1] > seen.slots:
        raise InvalidInput(
            f"the observations have {seen.slots} slots, so slots are numbers from 1 to "
            f"{seen.slots}; got {wanted}",
            code="slot-out-of-range",
        )
    return lengths


def one_length(seen: Observations, slots: int | None) -> int:
    """A single number of slots; all if None."""
    (length,) = checked_slots(seen, None if slots is None else [slots])
    return length
