"""Tables of counts as stacked attacks compare them: the scores, and what two rows share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import Tables, tables_of
from reidrisk.attacks.cosine import cosine_of, with_times
from reidrisk.attacks.latent import PRICE, latent_scores
from reidrisk.attacks.protocol import View
from reidrisk.io.time_tokens import DATE, HABIT, ITEM_DATE, ITEM_HABIT
from reidrisk.learning.stacking import Guesses, ListedView, Pairs, list_pairs
from reidrisk.scores.inner_product import InnerProduct

if TYPE_CHECKING:
    from reidrisk.scores.bag_maps import Counting

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]

_TIMES = (HABIT, DATE, ITEM_HABIT, ITEM_DATE)
"""Tokens of when items came, by which rows are also compared."""

_PLAIN = 2
"""Of the cosines, that with logarithms of counts, if any."""

_TELLING = 0.25
"""Times list pairs if at least so many rows stand out by them, of those that do by items."""


@dataclass(frozen=True, eq=False)
class Baskets:
    """Counts of both tables, whatever the slot.

    Attributes:
        known: Known rows x tokens, a sparse matrix.
        shown: Anonymous rows x tokens.
        counted: Whether scores make use of counts.
        times: What each token tells of time; None if all are items.
    """

    known: Any
    shown: Any
    counted: bool
    times: Any

    ordered: ClassVar[bool] = False

    @classmethod
    def of(cls, view: View, name: str) -> "Baskets":
        """The tables of a view.

        Args:
            view: Known and anonymous rows.
            name: The attack, for messages.
        """
        tables = tables_of(view, name)
        return cls(*tables, tables.only(view.times).counted, view.times)

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

    def learned(self, labels: Whole) -> "Baskets":
        """The same tables: their scores learn nothing from pairs.

        Args:
            labels: The known row of each anonymous row whose pair is known; -1 of others.
        """
        del labels
        return self

    def compare(self) -> tuple[Pairs, list[ListedView]]:
        """Pairs that are listed by some score, with their features, and the scores."""
        tables = Tables(self.known, self.shown)
        items = tables.only(self.times)
        views = [_view(items, score) for score in self._scores(items)]
        of_times = list(self._views_of_times(tables))
        # Pairs that are listed by what tells little would teach that it tells nothing.
        enough = _TELLING * max(int(one.confident.sum()) for one in views)
        listing = [*views, *(one for one in of_times if one.confident.sum() >= enough)]
        views += of_times
        return list_pairs(views, _Held.of(*items, items.rarity), listing), views

    def guess(self, views: Sequence[ListedView]) -> Guesses:
        """The confident guesses of the score with the most that are beyond doubt.

        Scores of times alone find people who act at the same hours, not the same people.

        Args:
            views: The scores.
        """
        kinds = len(self._kinds)
        first = len(views) - kinds - 2 * bool(kinds)
        some = [at for at in range(len(views)) if at not in range(first, first + kinds)]
        most = max(some, key=lambda at: views[at].sure)
        return Guesses(most, views[most].guesses, int(views[most].confident.sum()))

    @property
    def _kinds(self) -> list[str]:
        """What tokens tell of time."""
        return [] if self.times is None else [one for one in _TIMES if (self.times == one).any()]

    def _views_of_times(self, tables: Tables) -> Iterator[ListedView]:
        """Rows compared by each kind of times, and by items and times together."""
        for kind in self._kinds:
            some = tables.only(self.times, kind)
            yield _view(some, cosine_of(some, "share", 0.5, centred=True))
        if self._kinds:
            items = list(self._cosines(tables.only(self.times)))
            for chosen in (items, items[_PLAIN : _PLAIN + 1]):
                yield _view(tables, with_times(chosen, tables, self.times))

    def _scores(self, tables: Tables) -> Iterator[InnerProduct]:
        """The scores of items that are combined."""
        yield from self._cosines(tables)
        latent: list[tuple[Counting, tuple[int, ...]]] = [("binary", (32, 128, 256))]
        if self.counted:
            latent = [("binary", (32, 128)), ("log", (64,))]
        for counting, dimensions in latent:
            for price in (None, PRICE):
                yield from latent_scores(tables, counting, dimensions, price)

    def _cosines(self, tables: Tables) -> Iterator[InnerProduct]:
        """Cosines by a few weightings."""
        weightings: list[tuple[Counting, float]] = [
            ("binary", 0.0), ("binary", 0.5), ("binary", 1.0),
        ]  # fmt: skip
        if self.counted:
            weightings = [("share", 0.0), ("share", 1.0), ("log", 0.5), ("binary", 0.5)]
        for counting, rarity in weightings:
            yield cosine_of(tables, counting, rarity, centred=True)


def _view(tables: Tables, score: InnerProduct) -> ListedView:
    return ListedView.of(
        score.known_map(tables.known), score.shown_map(tables.shown), score.unit.steps
    )


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
