"""Tables of counts as stacked attacks compare them: the scores, and what two rows share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import Tables, tables_of
from reidrisk.attacks.cosine import cosine_of
from reidrisk.attacks.latent import PRICE, latent_scores
from reidrisk.attacks.protocol import View
from reidrisk.learning.stacking import Guesses, ListedView, Pairs, list_pairs
from reidrisk.scores.inner_product import InnerProduct

if TYPE_CHECKING:
    from reidrisk.scores.bag_maps import Counting

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Baskets:
    """Counts of both tables, whatever the slot.

    Attributes:
        known: Known rows x tokens, a sparse matrix.
        shown: Anonymous rows x tokens.
        counted: Whether scores make use of counts.
    """

    known: Any
    shown: Any
    counted: bool

    ordered: ClassVar[bool] = False

    @classmethod
    def of(cls, view: View, name: str) -> "Baskets":
        """The tables of a view.

        Args:
            view: Known and anonymous rows.
            name: The attack, for messages.
        """
        tables = tables_of(view, name)
        return cls(*tables, tables.counted)

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return int(self.known.shape[1])

    def only(self, known: Whole, shown: Whole) -> "Baskets":
        """Some rows of both sides, in this order.

        Args:
            known: Numbers of known rows.
            shown: Numbers of anonymous rows.
        """
        return replace(self, known=self.known[known], shown=self.shown[shown])

    def alike(self, others: "Baskets") -> "Baskets":
        """The same tables, compared by the same scores as others.

        Args:
            others: Tables of other people.
        """
        return replace(self, counted=others.counted)

    def compare(self) -> tuple[Pairs, list[ListedView]]:
        """Pairs that are listed by some score, with their features, and the scores."""
        tables = Tables(self.known, self.shown)
        views = [
            ListedView.of(
                score.known_map(self.known), score.shown_map(self.shown), score.unit.steps
            )
            for score in self._scores(tables)
        ]
        return list_pairs(views, _Held.of(*tables, tables.rarity)), views

    def guess(self, views: Sequence[ListedView]) -> Guesses:
        """The confident guesses of the score that has most of them.

        Args:
            views: The scores.
        """
        confident = [int(view.confident.sum()) for view in views]
        most = int(np.argmax(confident))
        return Guesses(most, views[most].guesses, confident[most])

    def _scores(self, tables: Tables) -> Iterator[InnerProduct]:
        """The scores that are combined."""
        weightings: list[tuple[Counting, float]] = [
            ("binary", 0.0), ("binary", 0.5), ("binary", 1.0),
        ]  # fmt: skip
        latent: list[tuple[Counting, tuple[int, ...]]] = [("binary", (32, 128, 256))]
        if self.counted:
            weightings = [("share", 0.0), ("share", 1.0), ("log", 0.5), ("binary", 0.5)]
            latent = [("binary", (32, 128)), ("log", (64,))]
        for counting, rarity in weightings:
            yield cosine_of(tables, counting, rarity, centred=True)
        for counting, dimensions in latent:
            for price in (None, PRICE):
                yield from latent_scores(tables, counting, dimensions, price)


@dataclass(frozen=True, eq=False)
class _Held:
    """What rows hold, whatever the view: sizes, and what they share by how rare it is."""

    known: Any
    shown: Any
    weights: NDArray[Any]
    bands: NDArray[Any]
    sizes: tuple[Floats, Floats]
    totals: tuple[Floats, Floats]

    @classmethod
    def of(cls, known: Any, shown: Any, weights: NDArray[Any]) -> "_Held":
        held = [side.astype(np.float64) for side in (known, shown)]
        for side in held:
            side.data[:] = 1.0
        # Three bands with as many holders each: what everybody holds, and what hardly anybody does.
        holders = np.asarray(held[0].sum(axis=0) + held[1].sum(axis=0)).ravel()
        order = np.argsort(weights, kind="stable")
        share = np.empty(len(order))
        share[order] = np.cumsum(holders[order]) / max(holders.sum(), 1.0)
        bands = np.stack([(share <= 1 / 3), (share > 1 / 3) & (share <= 2 / 3), share > 2 / 3])
        sizes, totals = (
            tuple(np.log1p(np.asarray(side.sum(axis=1)).ravel()) for side in sides)
            for sides in (held, (known, shown))
        )
        return cls(held[0], held[1], weights, bands.astype(np.float64).T, sizes, totals)

    def features(self, targets: Whole, rows: Whole) -> Floats:
        """What the rows of each pair share, and how much they hold."""
        shared = self.known[rows].multiply(self.shown[targets]).tocsr()
        count = np.asarray(shared.sum(axis=1)).ravel()
        known, shown = self.sizes[0][rows], self.sizes[1][targets]
        return np.column_stack([
            count, shared @ self.weights, count / np.exp((known + shown) / 2), shared @ self.bands,
            known, shown, known - shown, self.totals[0][rows] - self.totals[1][targets],
        ]).astype(np.float32)  # fmt: skip
