"""The scores that stacked attacks combine, and the pairs of rows that these list."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import Tables
from reidrisk.attacks.cosine import cosine_of, with_times
from reidrisk.attacks.latent import PRICE, latent_scores
from reidrisk.core.observations import Observations
from reidrisk.io.time_tokens import DATE, HABIT, ITEM_DATE, ITEM_HABIT
from reidrisk.learning.stacking import ListedView, Pairs, list_pairs
from reidrisk.scores.inner_product import InnerProduct
from reidrisk.scores.pair_table import STEPS, PairTable, contents

if TYPE_CHECKING:
    from reidrisk.scores.bag_maps import Counting

_TIMES = (HABIT, DATE, ITEM_HABIT, ITEM_DATE)
"""Tokens of when items came, by which rows are also compared."""
_PLAIN = 2
"""Of the cosines, that with logarithms of counts, if any."""
_TELLING = 0.25
"""Times list pairs if at least so many rows stand out by them, of those that do by items."""
_LARGEST = 2.0**38  # of a score, in units: far above log odds, and within 64 bits on the grid


def compared(
    tables: "Distinct", *, counted: bool, times: Any = None
) -> tuple[Pairs, list[ListedView]]:
    """Pairs that are listed by some score, with their features, and the scores.

    Args:
        tables: Rows that hold something different.
        counted: Whether scores make use of counts; features are the same ones if this is.
        times: What each token tells of time; None if all are items.
    """
    both = tables.tables
    items = both.only(times)
    views = [_view(items, score) for score in _scores(items, counted=counted)]
    of_times = [] if times is None else list(_views_of_times(both, times, counted=counted))
    # Pairs that are listed by what tells little would teach that it tells nothing.
    enough = _TELLING * max(int(one.confident.sum()) for one in views)
    listing = [*views, *(one for one in of_times if one.confident.sum() >= enough)]
    views += of_times
    return list_pairs(views, items.known, items.shown, items.rarity, listing), views


def _views_of_times(tables: Tables, times: Any, *, counted: bool) -> Iterator[ListedView]:
    """Rows compared by each kind of times, and by items and times together."""
    for kind in _TIMES:
        if (times == kind).any():
            some = tables.only(times, kind)
            yield _view(some, cosine_of(some, "share", 0.5, centred=True))
    items = list(_cosines(tables.only(times), counted=counted))
    for chosen in (items, items[_PLAIN : _PLAIN + 1]):
        yield _view(tables, with_times(chosen, tables, times))


def _view(tables: Tables, score: InnerProduct) -> ListedView:
    return ListedView.of(
        score.known_map(tables.known), score.shown_map(tables.shown), score.unit.steps
    )


def _scores(tables: Tables, *, counted: bool) -> Iterator[InnerProduct]:
    """The scores that are combined."""
    yield from _cosines(tables, counted=counted)
    latent: list[tuple[Counting, tuple[int, ...]]] = [("binary", (32, 128, 256))]
    if counted:
        latent = [("binary", (32, 128)), ("log", (64,))]
    for counting, dimensions in latent:
        for price in (None, PRICE):
            yield from latent_scores(tables, counting, dimensions, price)


def _cosines(tables: Tables, *, counted: bool) -> Iterator[InnerProduct]:
    """Cosines by a few weightings."""
    weightings: list[tuple[Counting, float]] = [("binary", 0.0), ("binary", 0.5), ("binary", 1.0)]
    if counted:
        weightings = [("share", 0.0), ("share", 1.0), ("log", 0.5), ("binary", 0.5)]
    for counting, rarity in weightings:
        yield cosine_of(tables, counting, rarity, centred=True)


class Distinct(NamedTuple):
    """Rows of two tables that hold something different, by number and by content."""

    tables: Tables
    known: dict[bytes, int]
    shown: dict[bytes, int]

    @classmethod
    def of(cls, tables: Tables) -> "Distinct":
        """The different rows of tables that are sorted by content."""
        numbers, kept = [], []
        for side in tables:
            keys = contents(side, tables.tokens)
            first = {key: place for place, key in reversed(list(enumerate(keys)))}
            places = sorted(first.values())
            kept.append(side[places])
            numbers.append({keys[place]: number for number, place in enumerate(places)})
        return cls(Tables(*kept), *numbers)

    def labels(self, panel: Observations) -> NDArray[np.int64]:
        """The known row of each anonymous row of a panel; -1 of all others.

        Rows are found by what they hold. What several people of the panel have shown teaches
        nothing, unless their known rows are the same too.

        Args:
            panel: People of whom both rows are known.
        """
        tokens, found = self.tables.tokens, np.full(len(self.shown), -1)
        known = contents(panel.true_rows, tokens)
        doubtful = set()
        for one, other in zip(contents(panel.anonymous, tokens), known, strict=True):
            if one in self.shown and other in self.known:
                target, row = self.shown[one], self.known[other]
                if found[target] not in {-1, row}:
                    doubtful.add(target)
                found[target] = row
        found[sorted(doubtful)] = -1
        return found

    def table(self, pairs: Pairs, scores: NDArray[np.float64]) -> PairTable:
        """The scores of pairs as whole numbers."""
        starts = np.searchsorted(pairs.targets, np.arange(len(self.shown) + 1))
        whole = np.rint(np.clip(scores, -_LARGEST, _LARGEST) * STEPS).astype(np.int64)
        return PairTable(self.known, self.shown, starts, pairs.rows, whole, self.tables.tokens)
