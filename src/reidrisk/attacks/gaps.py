"""Attack: compare only which slots are empty."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View
from reidrisk.scores import TokenWeights


@dataclass(frozen=True, slots=True)
class Gaps:
    """Guess the user who left the same slots empty.

    It looks at no token: what it finds, no noise on tokens hides.

    Example:
        >>> seen = rr.Observations([[0, -1], [0, 1]], [[1, -1]], [0], tokens=2)
        >>> rr.measure(seen, rr.attacks.Gaps())[2].value
        1.0
    """

    name: ClassVar[str] = "gaps"
    knows: ClassVar[str] = "only which slots were empty on either side"
    assumes: ClassVar[str] = (
        "Best if tokens say nothing, and both sites agree on whether a slot is empty with the same "
        "chance in every slot, empty or not."
    )
    limits: ClassVar[str] = (
        "Sees no token. Finds nothing where no slot is empty, or where each site misses users "
        "independently. Refuses bags, which have no slots."
    )
    cost: ClassVar[str] = "Nothing to fit. The search compares every target with every known row."
    source: ClassVar[str] = f"Not in {PAPER}, whose users are present in every week."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[str] = ONE_ROW

    def fit(self, view: View) -> TokenWeights:
        """One for each slot in which both or neither came."""
        # Tokens on both sides count, equal or not: what agrees is that neither slot is empty.
        ones = np.ones(view.tokens)
        return TokenWeights(ones, ones, known_gap=0.0, shown_gap=0.0, both_gaps=1.0)
