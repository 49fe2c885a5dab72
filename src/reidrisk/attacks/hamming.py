"""Attack: count the slots that agree.

Paper: section 8.2.1.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View
from reidrisk.scores import TokenWeights


@dataclass(frozen=True, slots=True)
class Hamming:
    """Guess the user who agrees most often, slot by slot.

    Where several sites know a user, a slot agrees if any of them was shown the token. Gaps do not
    count: `Gaps` counts nothing else.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> print(rr.measure(seen, rr.Hamming())[2])
        2.2737% [1.2901%, 3.6051%] (95%, n=1,000)
    """

    name: ClassVar[str] = "hamming"
    knows: ClassVar[str] = "nothing but what both sides saw"
    assumes: ClassVar[str] = (
        "Best if all tokens are equally popular, slots are independent, and users differ only by "
        "chance."
    )
    limits: ClassVar[str] = (
        "Ignores gaps, how rare a token is, and tokens that come back in another slot. Refuses "
        "bags, which have no slots."
    )
    cost: ClassVar[str] = "Nothing to fit. The search compares every target with every known row."
    source: ClassVar[str] = f"{PAPER}, section 8.2.1."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[str] = ONE_ROW

    def fit(self, view: View) -> TokenWeights:
        """One for each slot that agrees."""
        return TokenWeights(np.ones(view.tokens))
