"""Attack: the cosine in a few latent dimensions of both tables.

References:
    S. Deerwester, S. Dumais, G. Furnas, T. Landauer and R. Harshman, Indexing by latent semantic
    analysis, Journal of the American Society for Information Science 41, 1990.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import Tables, standing_out, tables_of
from reidrisk.attacks.card import PAPER
from reidrisk.attacks.cosine import both_sides, with_hubs
from reidrisk.attacks.protocol import ALL_ROWS, View, check_needs
from reidrisk.core.checks import whole_number
from reidrisk.core.matrix_products import one_blas_thread
from reidrisk.errors import InvalidInput
from reidrisk.scores.bag_maps import Counting, LatentDimensions, of_length_one, projected, weighted
from reidrisk.scores.inner_product import COARSE_COSINES, COARSE_STEPS, InnerProduct

_DIMENSIONS = (16, 32, 64, 128, 256)
_ITERATIONS = 4  # of the power method; more change hardly a rank
PRICE = 2.0
"""Of a shared item, in cosines: more than any cosine makes up for."""


@dataclass(frozen=True, slots=True)
class Latent:
    """Guess the user who is nearest in a few latent dimensions, hubs corrected.

    Both tables together are reduced to the directions in which their weighted counts vary most
    (truncated SVD), so that people are alike who hold alike items, even if they share none.

    Args:
        dimensions: How many; None to choose the number by which most anonymous rows have a known
            row that is clearly nearest, in both directions, without the truth.

    Example:
        >>> bags = rr.BagRows([[0, 1], [0, 1, 2], [3, 4], [3, 5]], tokens=6)
        >>> seen = rr.Observations(bags, [[2], [4]], [0, 3], tokens=6)
        >>> rr.measure(seen, rr.Latent(2))[1].value > 0
        True
    """

    name: ClassVar[str] = "latent"
    knows: ClassVar[str] = "nothing but the two tables, and learns which items go together"
    assumes: ClassVar[str] = (
        "Close to best if people differ in a few tastes that decide which items they hold, and "
        "keep them."
    )
    limits: ClassVar[str] = (
        "Ignores slots, times and most of what is rare. Needs many rows to learn which items go "
        "together."
    )
    cost: ClassVar[str] = (
        "A truncated SVD of both tables, whose last digits may differ on other machines. The "
        "search compares every target with every known row, twice."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: latent semantic analysis, Deerwester and others, 1990."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous",)
    uses: ClassVar[str] = ALL_ROWS
    libraries: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    disjoint: ClassVar[bool] = False
    price: ClassVar[float | None] = None

    dimensions: int | None = None

    def __post_init__(self) -> None:
        if self.dimensions is not None:
            whole_number("dimensions", self.dimensions, least=1)

    def fit(self, view: View) -> InnerProduct:
        """The cosine in the number of dimensions that was given or chosen."""
        check_needs(self, view)
        tables = tables_of(view, self.name)
        score = max(self._scores(tables), key=lambda one: standing_out(*both_sides(one, tables)))
        return with_hubs(score, tables)

    def _scores(self, tables: Tables) -> Iterator[InnerProduct]:
        """Scores to choose from: by what an item counts, and by the number of dimensions."""
        wanted = _DIMENSIONS if self.dimensions is None else (self.dimensions,)
        countings: tuple[Counting, ...] = ("binary", "log") if tables.counted else ("binary",)
        for counting in countings:
            yield from latent_scores(tables, counting, wanted, self.price)


def latent_scores(
    tables: Tables, counting: Counting, dimensions: tuple[int, ...], price: float | None
) -> Iterator[InnerProduct]:
    """Cosines in the first few dimensions of both tables, a score for each number of them.

    Args:
        tables: Counts of both sides.
        counting: What an item counts for a row.
        dimensions: Numbers of dimensions, ascending; where they are beyond the rank, all there are.
        price: What sharing an item costs, in cosines; None if nothing.
    """
    weights = np.maximum(tables.rarity, 0.0)
    most = min(tables.known.shape[0] + tables.shown.shape[0], tables.tokens) - 1
    if most < 1:
        raise InvalidInput(
            "latent dimensions need at least two rows and two different items; leave the attack "
            "out",
            code="too-few-tokens",
        )
    wanted = [min(number, most) for number in dimensions]
    directions = _directions(tables, counting, weights, wanted[-1])
    flat = [projected(side, counting, weights, directions) for side in tables]
    means = [side.mean(axis=0) for side in flat]
    for number in wanted:
        known, shown = (
            LatentDimensions(counting, weights, directions[:, :number], mean[:number])
            for mean in means
        )
        if price is not None:
            known = replace(known, penalty=COARSE_STEPS)
            shown = replace(shown, penalty=-price * COARSE_STEPS)
        yield InnerProduct(known, shown, tables.tokens, COARSE_COSINES)


def _directions(
    tables: Tables, counting: Counting, weights: NDArray[np.float64], number: int
) -> NDArray[np.float64]:
    """The directions in which the rows of both tables vary most, the first one most."""
    from scipy import sparse  # noqa: PLC0415  heavy, and few need it
    from sklearn.utils.extmath import randomized_svd  # noqa: PLC0415

    rows: Any = sparse.vstack(
        [of_length_one(weighted(side, counting, weights)) for side in tables]
    ).tocsr()
    with one_blas_thread():
        _, _, right = randomized_svd(rows, number, n_iter=_ITERATIONS, random_state=0)
    return np.ascontiguousarray(right.T)
