"""Compare what two users were ever shown, whenever it was: the attack of other studies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.attack import View
from reidrisk.scores import OverlapWeights


@dataclass(frozen=True, slots=True)
class Overlap:
    """Guess the user with the most tokens in common, whatever slots they were shown in.

    It serves where slots of two sites do not correspond.
    """

    name: ClassVar[str] = "overlap"
    knows: ClassVar[str] = "nothing but what both sides saw"
    assumes: ClassVar[str] = "Makes no use of slots: when a token was shown says nothing."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view: View) -> OverlapWeights:
        """One for each common token."""
        return OverlapWeights(np.ones(view.tokens))
