"""Tables of vectors as stacked attacks compare them: by direction, distance, and as pairs teach."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import View
from reidrisk.attacks.vector_tables import cosines_of_vectors, means_of, sorted_vectors
from reidrisk.core.matrix_products import one_blas_thread
from reidrisk.core.products import Vectors, list_best
from reidrisk.learning.stacking import (
    CANDIDATES,
    Guesses,
    ListedView,
    Pairs,
    PartedView,
    list_pairs,
)
from reidrisk.learning.two_covariances import FEWEST_PAIRS, Choice, Directions, Sides, choose
from reidrisk.scores.inner_product import COARSE_COSINES, COARSE_STEPS, InnerProduct
from reidrisk.scores.protocol import Unit
from reidrisk.scores.vector_maps import DistanceMap, VectorMap

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]

_FOLDS = 2
_RIDGE = 0.1
_WHITENED = (0.5, 1.0)
"""Powers of the variance by which directions are divided, so that small ones count more."""

_DISTANCE_STEPS = 2.0**11
"""Whole numbers in the usual length of a vector, where distances are compared."""


class _Taught(NamedTuple):
    """Scores that were learned from pairs.

    Attributes:
        whole: From all pairs.
        parts: From the pairs of all folds but one, for each.
        fold: The fold of each anonymous row whose pair is known; -1 of all others.
    """

    whole: InnerProduct
    parts: tuple[InnerProduct, ...]
    fold: Whole


@dataclass(frozen=True, eq=False)
class ComparedVectors:
    """Vectors of both tables, in an order that says nothing.

    Attributes:
        known: Known rows, users x slots x dimensions.
        shown: Anonymous rows.
        scores: By which they are compared, fitted on all rows, though some may be left out above.
        taught: What pairs taught; None if nothing did.
    """

    known: NDArray[Any]
    shown: NDArray[Any]
    scores: tuple[InnerProduct, ...]
    taught: _Taught | None = None

    ordered: ClassVar[bool] = True
    tokens: ClassVar[None] = None

    @classmethod
    def of(cls, view: View, name: str) -> "ComparedVectors":
        """The tables of a view.

        Args:
            view: Known and anonymous rows.
            name: The attack, for messages.
        """
        known, shown = sorted_vectors(view, name)
        scores = (*cosines_of_vectors(view, name, None), *_other_scores(view, name, known, shown))
        return cls(known, shown, scores)

    def only(self, known: Whole, shown: Whole) -> "ComparedVectors":
        """Some rows of both sides, in this order.

        Args:
            known: Numbers of known rows.
            shown: Numbers of anonymous rows.
        """
        return replace(self, known=self.known[known], shown=self.shown[shown])

    def alike(self, others: "ComparedVectors") -> "ComparedVectors":
        """The same tables, compared by what was learned of others.

        Args:
            others: Tables of other people.
        """
        if others.taught is None:
            return self
        nowhere = np.full(len(self.shown), -1)
        return replace(self, taught=_Taught(others.taught.whole, (), nowhere))

    def learned(self, labels: Whole) -> "ComparedVectors":
        """The same tables, compared also by what pairs teach.

        A pair is never compared by what it taught: that is learned again from the other half.

        Args:
            labels: The known row of each anonymous row whose pair is known; -1 of others.
        """
        some = np.flatnonzero(labels >= 0)
        if len(some) < _FOLDS * FEWEST_PAIRS:
            return self
        average = VectorMap()
        pairs = Sides(average(self.known[labels[some]]).dense, average(self.shown[some]).dense)
        folds = np.random.default_rng(0).permutation(len(some)) % _FOLDS
        with one_blas_thread():
            choice = choose(pairs, likelihood=False)
            parts = tuple(_matched(pairs.of(folds != fold), choice) for fold in range(_FOLDS))
            fold = np.full(len(labels), -1)
            fold[some] = folds
            return replace(self, taught=_Taught(_matched(pairs, choice), parts, fold))

    def compare(self) -> tuple[Pairs, list[ListedView]]:
        """The pairs that some score lists, with their features, and the scores."""
        views = [self._view(one) for one in self.scores]
        if self.taught is not None:
            views.append(self._taught_view(self.taught))
        return list_pairs(views, _Lengths.of(self)), views

    def guess(self, views: Sequence[ListedView]) -> Guesses:
        """The confident guesses of the score with the most that are beyond doubt.

        Args:
            views: The scores.
        """
        most = max(range(len(views)), key=lambda at: views[at].sure)
        return Guesses(most, views[most].guesses, int(views[most].confident.sum()))

    def _view(self, score: InnerProduct) -> ListedView:
        known, shown = score.known(self.known), score.shown(self.shown)
        forth, back = list_best(shown, known, CANDIDATES), list_best(known, shown, CANDIDATES)
        products = _Products(_small(known), _small(shown))
        return ListedView.of_lists(products.of, forth, back, score.unit.steps)

    def _taught_view(self, taught: _Taught) -> ListedView:
        """Each target by what it did not teach."""
        views = [self._view(one) for one in (*taught.parts, taught.whole)]
        return PartedView.joined(views, np.where(taught.fold < 0, len(views) - 1, taught.fold))


class _Products(NamedTuple):
    """The products of pairs of vectors, kept in as few bytes as hold them."""

    known: NDArray[Any]
    shown: NDArray[Any]

    def of(self, targets: Whole, rows: Whole) -> Whole:
        """The product of each pair."""
        known, shown = (
            Vectors(None, side[some].astype(np.float64))
            for side, some in ((self.known, rows), (self.shown, targets))
        )
        return known.dots(shown)


def _small(vectors: Vectors) -> NDArray[Any]:
    """Whole numbers in the smallest of a few types that hold them."""
    largest = np.abs(vectors.dense).max(initial=0.0)
    for kind in (np.int16, np.int32):
        if largest <= np.iinfo(kind).max:
            return vectors.dense.astype(kind)
    return vectors.dense


@dataclass(frozen=True, eq=False)
class _Lengths:
    """How long the vectors of both sides are, as shares of the usual length."""

    known: NDArray[np.float64]
    shown: NDArray[np.float64]

    @classmethod
    def of(cls, tables: ComparedVectors) -> "_Lengths":
        lengths = [
            np.sqrt((VectorMap()(side).dense ** 2).sum(axis=1))
            for side in (tables.known, tables.shown)
        ]
        usual = max(float(np.median(np.concatenate(lengths))), 1.0)
        return cls(*(side / usual for side in lengths))

    def features(self, targets: Whole, rows: Whole) -> Floats:
        """The lengths of both vectors of each pair, and their difference."""
        known, shown = self.known[rows], self.shown[targets]
        return np.column_stack([known, shown, known - shown]).astype(np.float32)


def _matched(pairs: Sides, choice: Choice) -> InnerProduct:
    """The cosine in the directions in which the sides of these pairs go together."""
    directions = Directions.of(pairs.unit if choice.unit else pairs, choice)
    return _cosine(directions.means, directions.matched(), unit_first=choice.unit)


def _cosine(means: Sides, matrices: Sides, *, unit_first: bool) -> InnerProduct:
    known, shown = (
        VectorMap(COARSE_STEPS, unit_first, mean, matrix, unit_last=True)
        for mean, matrix in zip(means, matrices, strict=True)
    )
    return InnerProduct(known, shown, None, COARSE_COSINES)


def _other_scores(
    view: View, name: str, known: NDArray[Any], shown: NDArray[Any]
) -> Iterator[InnerProduct]:
    """Distances, and cosines in which directions of little variance count more."""
    centres = means_of(view, name, unit=False)
    average = VectorMap()
    sides = [average(side).dense - mean for side, mean in zip((known, shown), centres, strict=True)]
    everybody = np.concatenate(sides)
    usual = max(float(np.sqrt((everybody**2).sum(axis=1).mean())), 1.0)
    maps = [VectorMap(_DISTANCE_STEPS / usual, mean=mean) for mean in centres]
    half = _DISTANCE_STEPS
    yield InnerProduct(
        DistanceMap(maps[0], half, known=True), DistanceMap(maps[1], half, known=False), None,
        Unit("squares of usual lengths", steps=int(_DISTANCE_STEPS**2)),
    )  # fmt: skip
    with one_blas_thread():
        values, vectors = np.linalg.eigh(everybody.T @ everybody / len(everybody))
    kept = np.maximum(values, 0.0) + max(_RIDGE * float(values.mean()), np.finfo(float).tiny)
    for power in _WHITENED:
        matrix = vectors * kept ** (-power / 2) * np.sqrt(kept[-1]) ** power
        yield _cosine(centres, Sides(matrix, matrix), unit_first=False)
