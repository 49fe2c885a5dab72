"""Count the slots that agree.  Paper: section 8.2.1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.observations import Observations
from reidrisk.scores import TokenWeights


@dataclass(frozen=True, slots=True)
class Hamming:
    """Guess the user who differs in the fewest slots.

    Where several sites know a user, a slot agrees if any of them was shown the token. A slot
    that is missing on either side does not count.
    """

    name: ClassVar[str] = "hamming"
    knows: ClassVar[str] = "nothing but the rows"
    assumes: ClassVar[str] = "Best if all tokens are equally popular and weeks are independent."
    likelihood: ClassVar[bool] = False

    def fit(self, seen: Observations) -> TokenWeights:
        """One for each slot that agrees."""
        return TokenWeights(np.ones(seen.tokens))
