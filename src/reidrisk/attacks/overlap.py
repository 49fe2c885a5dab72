"""Attack: count common tokens, whatever the slot."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View
from reidrisk.scores import OverlapWeights


@dataclass(frozen=True, slots=True)
class Overlap:
    """Guess the user with the most tokens in common, whatever slots they were shown in.

    It serves where slots of two sites do not correspond.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> print(rr.measure(seen, rr.Overlap())[2])
        2.2336% [1.2901%, 3.6051%] (95%, n=1,000)
    """

    name: ClassVar[str] = "overlap"
    knows: ClassVar[str] = "nothing but what both sides saw"
    assumes: ClassVar[str] = (
        "Best if all tokens are equally rare and held independently, every known user was shown "
        "equally many, and the slot in which a token came says nothing."
    )
    limits: ClassVar[str] = (
        "Ignores slots, gaps, how rare a token is and how often it came. The longer two sites "
        "watch, the more noise they have in common."
    )
    cost: ClassVar[str] = "Nothing to fit. The search compares every target with every known row."
    source: ClassVar[str] = f"Not in {PAPER}: the plainest comparison of two sets."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[str] = ONE_ROW

    def fit(self, view: View) -> OverlapWeights:
        """One for each common token."""
        return OverlapWeights(np.ones(view.tokens))
