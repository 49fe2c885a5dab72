"""Tables of columns as stacked attacks compare them: as texts, by rare values, value by value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import Tables
from reidrisk.attacks.cosine import cosine_of
from reidrisk.attacks.nearest_numbers import NearestNumbers
from reidrisk.attacks.protocol import NEEDS, View
from reidrisk.attacks.record_linkage.attack import RecordLinkage
from reidrisk.attacks.record_linkage.learning import Levels
from reidrisk.attacks.record_linkage.values import Content, content_of, quantity
from reidrisk.attacks.text_cosine import TextCosine
from reidrisk.core.mapreduce import Elsewhere
from reidrisk.core.parallel import listen
from reidrisk.core.products import Vectors, list_best, rows_together
from reidrisk.core.rows import MISSING, Kind
from reidrisk.core.value_pairs import GAP, best_rows
from reidrisk.errors import InvalidInput
from reidrisk.learning.stacking import CANDIDATES, Best, Guesses, ListedView, Pairs, list_pairs
from reidrisk.scores.compared_numbers import ComparedNumbers
from reidrisk.scores.compared_values import ComparedValues
from reidrisk.scores.inner_product import InnerProduct, counts_of
from reidrisk.scores.protocol import GRID

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]
Numbers = NDArray[np.float64]

_BELIEVED = 0.75
"""Guesses of a score teach if they are right so often, as a share of the score that is most often
right: it is a cautious estimate for a score that finds somebody near to everybody."""

_ROWS_AT_A_TIME = 1 << 11
_LEAST = 1e-9
_UNKNOWN = -1.0  # instead of a difference, where a value is empty or no number
_ON_A_LINE = {Content.NUMBERS, Content.DATES}


@dataclass(frozen=True, eq=False)
class Columns:
    """Tables of columns, and what their values are.

    Attributes:
        known: Known rows, one token for each column.
        shown: Anonymous rows.
        view: What scores are fitted on: all rows, though some may be left out above.
        numeric: The columns of numbers and of dates, and which of both each holds.
    """

    known: NDArray[Any]
    shown: NDArray[Any]
    view: View
    numeric: Mapping[int, Content]

    ordered: ClassVar[bool] = True

    @classmethod
    def of(cls, view: View, name: str) -> "Columns":
        """The tables of a view, sorted by content: the fit must not depend on the order of rows.

        Args:
            view: Known and anonymous rows, and the values behind tokens.
            name: The attack, for messages.
        """
        _check(view, name)
        held = view.known.codec.held(view.known, 0, view.known.users)
        known, shown = (np.asarray(side.in_order()) for side in (held, view.anonymous))
        labels = np.asarray(view.labels)
        contents = {
            slot: content_of(_texts(labels, known[:, slot], shown[:, slot]))
            for slot in range(view.slots)
        }
        numeric = {slot: one for slot, one in contents.items() if one in _ON_A_LINE}
        # Guesses and pairs teach how to combine scores; the scores themselves learn from the rows.
        return cls(known, shown, replace(view, panel=None), numeric)

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return self.view.tokens

    def only(self, known: Whole, shown: Whole) -> "Columns":
        """Some rows of both sides, in this order.

        Args:
            known: Numbers of known rows.
            shown: Numbers of anonymous rows.
        """
        return replace(self, known=self.known[known], shown=self.shown[shown])

    def alike(self, others: "Columns") -> "Columns":
        """The same tables, with features that mean the same as those of other tables.

        Args:
            others: Tables of other people.
        """
        return replace(self, numeric=others.numeric)

    def learned(self, labels: Whole) -> "Columns":
        """The same tables: their scores learn nothing from pairs.

        Args:
            labels: The known row of each anonymous row whose pair is known; -1 of others.
        """
        del labels
        return self

    def compare(self) -> tuple[Pairs, list[ListedView]]:
        """The pairs that some score lists, with their features, and the scores."""
        views = self._views(self.shown)
        return list_pairs(views, _Levels.of(self, *self._linkage)), views

    def guess(self, views: Sequence[ListedView]) -> Guesses:
        """The confident guesses of all scores that are to be believed, where they do not differ.

        Args:
            views: The scores.
        """
        confident = np.array([view.confident.sum() for view in views])
        right = self._likely_right(views)
        share = right / np.maximum(confident, 1)
        some = [
            view.guesses
            for view, own in zip(views, share, strict=True)
            if own >= _BELIEVED * share.max()
        ]
        largest = np.max(some, axis=0)
        differ = [(one >= 0) & (one != largest) for one in some]
        best = int(np.argmax(right))
        return Guesses(best, np.where(np.any(differ, axis=0), -1, largest), float(right[best]))

    def _likely_right(self, views: Sequence[ListedView]) -> NDArray[np.float64]:
        """About how many confident guesses of each score are right.

        By chance, guesses are as confident as those about rows whose columns are mixed. Of targets
        whose own row does not stand out, so many are wrong.
        """
        random = np.random.default_rng(2)
        mixed = np.stack([random.permutation(column) for column in self.shown.T], axis=1)
        wrong, there = (
            np.array([view.confident.mean() for view in some])
            for some in (self._views(mixed), views)
        )
        share = np.maximum(there - wrong, 0) / np.maximum(1 - wrong, _LEAST)
        return np.asarray(len(self.shown) * share)

    @cached_property
    def _linkage(self) -> tuple[Levels, ComparedValues]:
        """The levels of similarity of all values, and the score of record linkage."""
        levels, learned, missed = RecordLinkage().learn(self.view)
        score = ComparedValues(levels.pairs, *levels.gains(learned.same), learned.bonus, missed)
        return levels, score

    @cached_property
    def _texts(self) -> InnerProduct:
        """The score of whole rows as texts."""
        return TextCosine().fit(self.view)

    @cached_property
    def _near(self) -> ComparedNumbers:
        """The score of how near numbers and dates are."""
        return NearestNumbers().fit(self.view)

    def numbers(self, rows: NDArray[Any]) -> Numbers:
        """What the columns of numbers and dates hold, columns x rows; NaN for gaps and others.

        Args:
            rows: Known or anonymous rows.
        """
        found = np.full((len(self.numeric), len(rows)), np.nan)
        for number, (slot, content) in enumerate(self.numeric.items()):
            tokens, places = np.unique(rows[:, slot], return_inverse=True)
            there = tokens != MISSING
            values = np.full(len(tokens), np.nan)
            labels = np.asarray(self.view.labels)[tokens[there]]
            values[there] = [quantity(str(one), content) for one in labels]
            found[number] = values[places]
        return found

    def _views(self, shown: NDArray[Any]) -> list[ListedView]:
        """The scores that are combined.

        Args:
            shown: Anonymous rows, of values that the anonymous rows of these tables hold.
        """
        texts = self._texts
        views = [
            _linked(self._linkage[1], self.known, shown),
            ListedView.of(texts.known(self.known), texts.shown(shown), texts.unit.steps),
            self._rare(shown),
        ]
        return [*views, _near(self._near, self.known, shown)] if self.numeric else views

    def _rare(self, shown: NDArray[Any]) -> ListedView:
        """The cosine of values in common, each column by itself; rare values count more."""
        here, there = self._counts(self.known, shown)
        score = cosine_of(Tables(here, there), "binary", 1.0, centred=False)
        return ListedView.of(score.known_map(here), score.shown_map(there), score.unit.steps)

    def _counts(self, *both: NDArray[Any]) -> tuple[Any, Any]:
        """Rows x values, each column with values of its own, whatever the numbers of tokens."""
        sides = [
            np.where(side == MISSING, MISSING, side + np.arange(side.shape[1]) * self.tokens)
            for side in (one.astype(np.int64) for one in both)
        ]
        values = np.unique(np.concatenate([side[side != MISSING] for side in sides]))
        numbered = [
            np.where(side == MISSING, MISSING, np.searchsorted(values, side)) for side in sides
        ]
        known, shown = (counts_of(side, max(len(values), 1)) for side in numbered)
        return known, shown


def _linked(score: ComparedValues, known: NDArray[Any], shown: NDArray[Any]) -> ListedView:
    """The score of record linkage, listed in both directions."""

    def products(targets: Whole, rows: Whole) -> Whole:
        return score.of(known[rows], shown[targets])

    gains = score.gains, score.different, score.swapped
    rows = best_rows(score.pairs, *gains, known, shown, CANDIDATES)
    targets = _best_targets(score, known, shown)
    forth = _rated(rows, products)
    back = _rated(targets, lambda known, shown: products(shown, known))
    return ListedView.of_lists(products, forth, back, score.unit.steps)


def _near(score: ComparedNumbers, known: NDArray[Any], shown: NDArray[Any]) -> ListedView:
    """The score of how near numbers are, listed in both directions."""

    def products(targets: Whole, rows: Whole) -> Whole:
        return score.of(known[rows], shown[targets])

    step = rows_together(len(known))
    forth, back = [], np.zeros((len(known), 0), np.int64)
    best = back
    for start in range(0, len(shown), step):
        listen()
        some = shown[start : start + step]
        scores = np.stack([score.of(known, row) for row in some])
        forth.append(_best(np.broadcast_to(np.arange(len(known)), scores.shape), scores))
        numbers = np.broadcast_to(np.arange(start, start + len(some)), scores.T.shape)
        back, best = _best(np.hstack([back, numbers]), np.hstack([best, scores.T]))
    lists = [np.concatenate([one[part] for one in forth]) for part in (0, 1)]
    return ListedView.of_lists(products, (lists[0], lists[1]), (back, best), score.unit.steps)


def _best(numbers: Whole, scores: Whole) -> Best:
    """The best of each row with their scores, sorted by these, then by number."""
    order = np.lexsort((numbers, -scores))[:, :CANDIDATES]
    return np.take_along_axis(numbers, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _rated(numbers: Whole, rate: Callable[[Whole, Whole], Whole]) -> Best:
    """Lists of the others beside each row with their scores, sorted by these, then by number."""
    scores = np.empty_like(numbers)
    for start in range(0, len(numbers), _ROWS_AT_A_TIME):
        some = numbers[start : start + _ROWS_AT_A_TIME]
        mine = np.repeat(np.arange(start, start + len(some)), some.shape[1])
        scores[start : start + len(some)] = rate(mine, some.ravel()).reshape(some.shape)
    return _best(numbers, scores)


def _best_targets(score: ComparedValues, known: NDArray[Any], shown: NDArray[Any]) -> Whole:
    """The anonymous rows with the best scores for each known row, if no values are swapped.

    Without swapped values the score is an inner product. A known row holds what its values are
    worth beside each shown value, and a 1 for each column that is filled; an anonymous row holds a
    1 for each of its values, and what it is worth to differ from them.
    """
    from scipy import sparse  # noqa: PLC0415  heavy, and few need it

    pairs, slots = score.pairs, score.pairs.slots
    values = (pairs.known_starts[slots], pairs.shown_starts[slots])
    mine = slice(0, pairs.starts[values[1]])  # without comparisons crosswise
    places, beside = pairs.places[mine], pairs.shown_of_pairs[mine]
    extra = (score.gains[mine] - score.different[beside]).astype(np.float64)
    worth = sparse.csr_matrix((extra, (places, beside)), shape=values)
    met = pairs.places_of_shown(shown)[:slots]
    different = np.where(met >= 0, score.different[np.maximum(met, 0)], 0).T
    targets = Vectors(_ones(met, values[1]), different.astype(np.float64))
    held = pairs.places_of_known(known)[:slots]
    found = []
    for start in range(0, len(known), _ROWS_AT_A_TIME):
        some = held[:, start : start + _ROWS_AT_A_TIME]
        rows = Vectors((_ones(some, values[0]) @ worth).tocsr(), (some != GAP).T.astype(float))
        found.append(list_best(rows, targets, CANDIDATES)[0])
    return np.concatenate(found)


def _ones(places: NDArray[np.int32], values: int) -> Any:
    """Rows x values: 1 where a row holds a value that is listed, given columns x rows."""
    from scipy import sparse  # noqa: PLC0415

    slot, row = np.nonzero(places >= 0)
    shape = places.shape[1], values
    return sparse.csr_matrix((np.ones(len(row)), (row, places[slot, row])), shape)


@dataclass(frozen=True, eq=False)
class _Levels:
    """Column by column: how similar two values are, what that is worth, and how far apart.

    Attributes:
        tables: The rows.
        levels: Tells levels.
        score: Tells what they are worth.
        numbers: Of the columns of numbers and dates: what is known and shown, columns x rows.
    """

    tables: Columns
    levels: Levels
    score: ComparedValues
    numbers: tuple[Numbers, Numbers]

    @classmethod
    def of(cls, tables: Columns, levels: Levels, score: ComparedValues) -> "_Levels":
        """What is compared column by column."""
        known, shown = (tables.numbers(side) for side in (tables.known, tables.shown))
        return cls(tables, levels, score, (known, shown))

    def features(self, targets: Whole, rows: Whole) -> Floats:
        """Levels, what they are worth, differences of numbers and dates, how much is filled."""
        slots = self.score.pairs.slots
        held = self.score.pairs.places_of_known(self.tables.known[rows])
        met = self.score.pairs.places_of_shown(self.tables.shown[targets])
        gains, _, _ = self.score.by_comparison(held, met)
        one, other = self.numbers[0][:, rows], self.numbers[1][:, targets]
        apart = np.abs(one - other)
        scaled = apart / np.maximum(np.maximum(np.abs(one), np.abs(other)), 1.0)
        columns = (
            self.levels.of(held, met)[:slots], gains[:slots] / GRID,
            *(np.where(np.isnan(each), _UNKNOWN, each) for each in (apart, scaled)),
            (held[:slots] != GAP).sum(axis=0), (met[:slots] >= 0).sum(axis=0),
        )  # fmt: skip
        return np.vstack(columns).T.astype(np.float32)


def _texts(labels: NDArray[Any], *sides: NDArray[Any]) -> list[str]:
    """The different values of a column of both tables."""
    tokens = np.unique(np.concatenate(sides))
    return sorted({str(one) for one in labels[tokens[tokens != MISSING]]})


def _check(view: View, name: str) -> None:
    if view.labels is None:
        raise InvalidInput(
            f"{name} compares columns by what their values are, so it needs to know "
            f"{NEEDS['labels']}; give labels= to the view",
            code="missing-knowledge",
        )
    if view.known.kind is not Kind.TOKENS:
        raise InvalidInput(
            f"{name} compares one value for each column, and known rows hold "
            f"{view.known.kind.value}; leave columns= of the view out",
            code="wrong-kind-of-rows",
        )
    if isinstance(view.known, Elsewhere):
        raise InvalidInput(
            f"{name} compares all rows with each other in memory, and the known rows are on a "
            "cluster; leave it out, or link tables in memory",
            code="rows-elsewhere",
        )
