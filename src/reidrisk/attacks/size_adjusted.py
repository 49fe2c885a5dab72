"""Attack: compare what rows hold beyond what rows of their sizes hold anyway.

References:
    G. Rasch, Probabilistic models for some intelligence and attainment tests, 1960.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.bag_tables import Tables, standing_out, tables_of
from reidrisk.attacks.card import PAPER
from reidrisk.attacks.cosine import both_sides, with_hubs
from reidrisk.attacks.protocol import View, check_needs
from reidrisk.scores.inner_product import InnerProduct
from reidrisk.scores.size_maps import SizeClasses, SizeResiduals

_RARITY = (0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class SizeAdjusted:
    """Guess the user who holds, and lacks, the same unexpected tokens, hubs corrected.

    Large rows hold much that is popular and have much in common with everybody. So each row is
    compared with what a row of its size holds: the chance of a token is that of a Rasch model, an
    effect of the row's size plus one of the token, fitted to either table. The score is the cosine
    of what is left, with tokens weighted by rarity as tells most rows apart, judged without the
    truth.

    Example:
        >>> random = np.random.default_rng(1)
        >>> popular, sizes = random.gumbel(size=30), random.normal(-1, 1, 200)
        >>> tastes = random.normal(size=(200, 30)) + popular + sizes[:, None]
        >>> sides = (random.logistic(size=(200, 30), scale=0.2) < tastes for _ in range(2))
        >>> known, shown = (rr.BagRows([np.flatnonzero(row) for row in side], tokens=30)
        ...                 for side in sides)
        >>> seen = rr.Observations(known, shown, np.arange(200), tokens=30)
        >>> attacks = (rr.Overlap(), rr.attacks.SizeAdjusted())
        >>> [round(rr.measure(seen, attack)[1].value, 2) for attack in attacks]
        [0.04, 0.71]
    """

    name: ClassVar[str] = "size-adjusted"
    knows: ClassVar[str] = "nothing but the two tables"
    assumes: ClassVar[str] = (
        "Close to best if rows differ widely in size, and what people hold beyond that is of their "
        "own and independent."
    )
    limits: ClassVar[str] = (
        "Ignores slots, times and how often a token came. Looks at all anonymous rows at once, so "
        "that bounds for one random user do not cover it."
    )
    cost: ClassVar[str] = (
        "A table of chances for each size, and four weightings tried on 1,000 anonymous rows. The "
        "search compares every target with every known row, twice."
    )
    source: ClassVar[str] = f"Not in {PAPER}: residuals of the model of Rasch, 1960."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous",)
    uses: ClassVar[str] = "all rows"

    def fit(self, view: View) -> InnerProduct:
        """The cosine of what is left, with the weighting that tells most rows apart."""
        check_needs(self, view)
        tables = tables_of(view, self.name)
        scores = size_adjusted_scores(tables, _RARITY)
        score = max(scores, key=lambda one: standing_out(*both_sides(one, tables)))
        return with_hubs(score, tables)


def size_adjusted_scores(tables: Tables, rarity: tuple[float, ...]) -> Iterator[InnerProduct]:
    """Cosines of what rows hold beyond those of their sizes, one for each weighting.

    Args:
        tables: Counts of both sides.
        rarity: Powers of one over the variance of holding a token, by which tokens are weighted.
    """
    known, shown = (SizeClasses.fitted(side) for side in tables)
    rows = tables.known.shape[0] + tables.shown.shape[0]
    share = (tables.holders + 0.5) / (rows + 1)
    for power in rarity:
        weights = np.asarray((share * (1 - share)) ** -power)
        yield InnerProduct(
            SizeResiduals(known, shown, weights, known=True),
            SizeResiduals(shown, known, weights, known=False),
            tables.tokens,
        )
