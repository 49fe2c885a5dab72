"""What attacks ask of a release."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.observations import Observations


class InUse(Protocol):
    """Popularity as weights use it."""

    @property
    def in_use(self) -> NDArray[np.float64]:
        """Chance that a token is in a top set, rows x topics."""
        ...


class Release(Protocol):
    """A release that shows tokens of a top set more often than others."""

    @property
    def topics(self) -> int:
        """Size of the alphabet."""
        ...

    @property
    def top(self) -> int:
        """Size of a top set."""
        ...

    @property
    def q_in(self) -> float:
        """Chance that a token of the top set is shown."""
        ...

    @property
    def q_out(self) -> float:
        """Chance that another token is shown."""
        ...

    def popularity(
        self, known: NDArray[np.integer] | Observations, *, pooled: bool = False
    ) -> InUse:
        """Popularity as far as known users tell."""
        ...
