"""Attack: count common tokens, weighted by how rare they are.

References:
    A. Narayanan and V. Shmatikov, Robust de-anonymization of large sparse datasets, IEEE Symposium
    on Security and Privacy, 2008: the weights `1 / log(support)`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View
from reidrisk.attacks.support import times_held
from reidrisk.errors import InvalidInput
from reidrisk.scores import CosineWeights, OverlapWeights

_WEIGHTINGS = ("log", "cosine", "support")


@dataclass(frozen=True, slots=True)
class RarityOverlap:
    """Guess the user who shares the rarest tokens, whatever slots they came in.

    Sets and bags count with all their tokens, each once; gaps do not count. With h of n known users
    holding a token, a common token counts, by `weighting`:

    Args:
        weighting: "log", `log(n / h)`: what everybody holds counts nothing. "cosine", the cosine of
            the two sides' vectors of `log(n / h)`, so that who holds much is not favoured; what no
            known user holds is taken as held by one. "support", `1 / log(h)`, and `1 / log(2)`
            where a single user holds the token, whose logarithm is 0.

    Example:
        >>> bags = rr.BagRows([[0, 1], [0, 2], [2, 3]], tokens=4)
        >>> seen = rr.Observations(bags, [[0, 3]], [2], tokens=4)
        >>> attacks = (rr.Overlap(), rr.RarityOverlap())
        >>> [round(rr.measure(seen, attack)[1].value, 3) for attack in attacks]
        [0.333, 1.0]
    """

    name: ClassVar[str] = "rarity-overlap"
    knows: ClassVar[str] = "nothing but what both sides saw, and counts how rare each token is"
    assumes: ClassVar[str] = (
        "Close to best if tokens are held independently, and a rare token is as likely to be seen "
        "by both sites as a common one; the slot in which a token came says nothing."
    )
    limits: ClassVar[str] = "Ignores slots, gaps and how often a token came."
    cost: ClassVar[str] = (
        "One pass over the known rows counts who holds each token. The search compares every "
        "target with every known row."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: weights by rarity; the weighting support is that of Narayanan and "
        "Shmatikov, IEEE Symposium on Security and Privacy, 2008."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[str] = ONE_ROW

    weighting: str = "log"

    def __post_init__(self) -> None:
        if self.weighting not in _WEIGHTINGS:
            raise InvalidInput(
                f"weighting is one of {', '.join(_WEIGHTINGS)}; got {self.weighting!r}",
                code="unknown-choice",
            )

    def fit(self, view: View) -> OverlapWeights | CosineWeights:
        """A gain for each common token, from who holds it among the known rows."""
        holders = times_held(view.known, 1)[:, 1]
        if self.weighting == "support":
            return OverlapWeights(1 / np.log(np.maximum(holders, 2)))
        weights = _rarity(holders, view.known.users)
        return (CosineWeights if self.weighting == "cosine" else OverlapWeights)(weights)


def _rarity(holders: NDArray[np.int64], users: int) -> NDArray[np.float64]:
    # What no known user holds is taken as held by one, so that its weight is finite.
    return np.log(users / np.maximum(holders, 1))
