"""Rows of the same users at two sites: nothing here needs torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.rows import Tokens


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """What two sites were shown of some users, users x slots; gaps are `MISSING`."""

    known: Tokens
    shown: Tokens

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def slots(self) -> int:
        """Slots of a row."""
        return int(self.shown.shape[1])

    def of(self, users: NDArray[np.integer]) -> "Pairs":
        """Some of the users."""
        return Pairs(self.known[users], self.shown[users])

    def slot(self, slot: int) -> "Pairs":
        """Rows of one slot."""
        return Pairs(self.known[:, [slot]], self.shown[:, [slot]])

    def one_by_one(self) -> "Pairs":
        """Each slot of each user as a row of its own, user after user."""
        return Pairs(self.known.reshape(-1, 1), self.shown.reshape(-1, 1))
