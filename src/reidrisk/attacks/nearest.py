"""Attack: the nearest vector."""

from dataclasses import dataclass
from typing import ClassVar

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View
from reidrisk.attacks.vector_tables import check_vectors
from reidrisk.scores.inner_product import InnerProduct, SquaredLength
from reidrisk.scores.protocol import Unit
from reidrisk.scores.vector_maps import VectorMap


@dataclass(frozen=True, slots=True)
class Nearest:
    """Guess the user whose vector is nearest, by the length of the difference.

    Vectors of several slots are averaged over those in which one came.

    Example:
        >>> known = rr.VectorRows.rounded([[1.0, 0.0], [3.0, 4.0]], rr.Grid(100))
        >>> seen = rr.Observations(known, rr.VectorRows.rounded([[2.0, 3.0]], known.grid), [1])
        >>> rr.measure(seen, rr.Nearest())[1].value
        1.0
    """

    name: ClassVar[str] = "nearest"
    knows: ClassVar[str] = "nothing but the two tables of vectors"
    assumes: ClassVar[str] = (
        "Best if each vector is that of a person plus noise that is equally strong in all "
        "directions, and the known vector is without noise."
    )
    limits: ClassVar[str] = (
        "Ignores that some directions tell more than others, and which slot a vector is from. "
        "Refuses tokens, whether in slots, sets or bags."
    )
    cost: ClassVar[str] = "Nothing to fit. The search compares every target with every known row."
    source: ClassVar[str] = f"Not in {PAPER}: the nearest neighbour."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[str] = ONE_ROW

    def fit(self, view: View) -> InnerProduct:
        """Twice the inner product less the squared length of the known vector."""
        check_vectors(view, self.name)
        mean = VectorMap()
        return InnerProduct(mean, mean, None, _SQUARES, SquaredLength())


_SQUARES = Unit("squares of whole numbers", steps=1)
