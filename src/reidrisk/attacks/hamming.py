"""Count the slots that agree.  Paper: section 8.2.1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.attack import View
from reidrisk.scores import TokenWeights


@dataclass(frozen=True, slots=True)
class Hamming:
    """Guess the user who agrees most often, slot by slot.

    Where several sites know a user, a slot agrees if any of them was shown the token. Gaps do not
    count: `Gaps` counts nothing else.
    """

    name: ClassVar[str] = "hamming"
    knows: ClassVar[str] = "nothing but what both sides saw"
    assumes: ClassVar[str] = (
        "Compares slot by slot; best if all tokens are equally popular and slots are independent."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view: View) -> TokenWeights:
        """One for each slot that agrees."""
        return TokenWeights(np.ones(view.tokens))
