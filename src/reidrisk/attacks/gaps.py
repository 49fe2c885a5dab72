"""Compare only gaps: how much the weeks in which nothing came give away by themselves."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.attack import View
from reidrisk.scores import TokenWeights


@dataclass(frozen=True, slots=True)
class Gaps:
    """Guess the user of whom something came in the same slots.

    It looks at no token: what it finds, no noise on tokens hides.
    """

    name: ClassVar[str] = "gaps"
    knows: ClassVar[str] = "nothing but when each side saw nothing"
    assumes: ClassVar[str] = (
        "Best if tokens say nothing and both sites see a slot alike, empty or not, with the same "
        "chance."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view: View) -> TokenWeights:
        """One for each slot in which both or neither came."""
        ones = np.ones(view.tokens)
        return TokenWeights(ones, ones, known_gap=0.0, shown_gap=0.0, both_gaps=1.0)
