"""Attack: how an anonymous vector follows from a known one, learned from pairs.

References:
    N. Brummer and E. de Villiers, The speaker partitioning problem, Odyssey 2010.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ALL_ROWS, ONE_ROW, View, panel_of
from reidrisk.attacks.vector_tables import check_vectors, pairs_of_panel
from reidrisk.core.matrix_products import one_blas_thread
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.learning.two_covariances import FEWEST_PAIRS, Choice, Directions, Sides, choose
from reidrisk.scores.inner_product import InnerProduct, SquaredLength
from reidrisk.scores.protocol import Unit
from reidrisk.scores.vector_maps import VectorMap

_MOST_STEPS = 2.0**12
_ROOM = 2.0**22
"""What steps times the longest vector of the panel stay below: others may be much longer."""


@dataclass(frozen=True, slots=True)
class TwoCovariance:
    """Guess the user from whose vector the anonymous one most likely follows, if all are normal.

    From pairs of vectors of one person it learns the mean and covariance of either side, and how
    the sides go together. Directions that people keep count more than those that change; what is
    above the mean on one side may also be below it on the other. A ridge is added to all variances,
    and whether both sides have one covariance, and vectors are of length 1, is chosen: as most
    pairs are found of a half of the panel that was held out.

    Args:
        panel: People of whom both vectors are known, 20 at least; None to take them from the view.

    Example:
        >>> rr.TwoCovariance().needs
        ('panel',)
    """

    name: ClassVar[str] = "two-covariance"
    knows: ClassVar[str] = "the vectors, and the true pairs of half of the people"
    assumes: ClassVar[str] = (
        "Best if vectors of people, and what changes between sides, are normal, and the people "
        "whose pairs are known are like the others, several for each dimension."
    )
    limits: ClassVar[str] = (
        "Ignores which slot a vector is from, and everything but means and covariances. Its log "
        "ratios are too sure of themselves to be taken for chances. Refuses tokens."
    )
    cost: ClassVar[str] = (
        "Twenty decompositions of matrices of the size of the vectors, whose last digits may "
        "differ on other machines. The search compares every target with every known row."
    )
    source: ClassVar[str] = f"Not in {PAPER}: two covariances, Brummer and de Villiers, 2010."
    likelihood: ClassVar[bool] = False
    crossfits: ClassVar[bool] = True

    panel: Observations | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """A panel, unless it was given."""
        return () if self.panel is not None else ("panel",)

    @property
    def uses(self) -> str:
        """One row if a panel was given; else the panel holds other targets."""
        return ALL_ROWS if self.panel is None else ONE_ROW

    def fit(self, view: View) -> InnerProduct:
        """The log ratio, twice: a product less the squared length of the known vector."""
        panel = panel_of(self, view)
        check_vectors(view, self.name)
        pairs = pairs_of_panel(panel, view, self.name)
        if len(pairs.known) < FEWEST_PAIRS:
            raise InvalidInput(
                f"{self.name} learns from the pairs of a panel, and there are {len(pairs.known)}; "
                f"give one of {FEWEST_PAIRS} people at least, or leave the attack out",
                code="too-few-users",
            )
        with one_blas_thread():
            choice = choose(pairs, likelihood=True)
            return _log_ratio(pairs.unit if choice.unit else pairs, choice)


def _log_ratio(pairs: Sides, choice: Choice) -> InnerProduct:
    """The score that these pairs teach, in steps that hold them easily."""
    directions = Directions.of(pairs, choice)
    matrices = directions.likelihood()
    longest = max(
        float(np.linalg.norm((side - mean) @ matrix, axis=1).max())
        for side, mean, matrix in zip(pairs, directions.means, matrices, strict=True)
    )
    steps = min(_MOST_STEPS, 2.0 ** np.floor(np.log2(_ROOM / max(longest, 1.0))))
    known, shown = (
        VectorMap(steps, choice.unit, mean, matrix)
        for mean, matrix in zip(directions.means, matrices, strict=True)
    )
    # Twice the product less the squared length is twice the log ratio.
    unit = Unit("log ratios", steps=int(2 * steps * steps))
    return InnerProduct(known, shown, None, unit, SquaredLength())
