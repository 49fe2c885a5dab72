"""Maps of bags to vectors: weighted and centred counts, latent dimensions, shared tokens.

Each takes a matrix of counts, users x tokens, and gives vectors of whole numbers. Whatever is
computed in floats is computed row by row in a fixed order, without BLAS, and rounded once. (The
directions of latent dimensions come from a singular value decomposition, whose last digits depend
on the machine; on one machine they are the same whatever the number of threads.)
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.products import Vectors
from reidrisk.scores.inner_product import COARSE_STEPS, STEPS, Map

Floats = NDArray[np.float64]

Counting: TypeAlias = Literal["binary", "count", "log", "share"]
"""What an item counts for a row: 1, its count, log(1 + count), or the root of its share."""

COUNTINGS: tuple[Counting, ...] = get_args(Counting)
"""All of these."""


@dataclass(frozen=True, eq=False)
class WeightedCounts:
    """Counts as vectors of length 1: transformed, weighted by token, perhaps centred.

    Args:
        counting: What an item counts for a row.
        weights: By token.
        own_mean: Mean of the weighted counts on this side; None if vectors are not centred.
        other_mean: That of the other side.
        known: Whether this maps known rows: the two sides of a centred product differ.
        dense: Whether vectors are dense; the products are the same.

    With weighted counts w and o, their means m and l, the centred cosine is
    `(w - m)(o - l) / (|w - m| |o - l|)`. It is the product of sparse vectors w and o, and of two
    further columns that hold what the means add, so that rows stay sparse.
    """

    counting: Counting
    weights: Floats
    own_mean: Floats | None
    other_mean: Floats | None
    known: bool
    dense: bool

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of a matrix of counts."""
        held = weighted(rows, self.counting, self.weights)
        squares = np.asarray(held.multiply(held).sum(axis=1)).ravel()
        columns = np.zeros((held.shape[0], 0))
        if self.own_mean is None or self.other_mean is None:
            scale = _inverse(np.sqrt(squares))
        else:
            own, both = self._products
            squares = squares - 2 * (held @ self.own_mean) + own
            # A row that holds nothing has no direction, and is equally far from everybody.
            there = np.diff(held.indptr) > 0
            scale = np.where(there, _inverse(np.sqrt(np.maximum(squares, 0.0))), 0.0)
            cross = scale * (held @ self.other_mean)
            pair = (cross, scale) if self.known else (-scale, scale * both - cross)
            columns = np.rint(np.column_stack(pair) * STEPS)
        sparse = _scaled(held, scale * STEPS)
        sparse.data = np.rint(sparse.data)
        if self.dense:
            return Vectors(None, np.hstack([sparse.toarray(), columns]))
        return Vectors(sparse, columns)

    @cached_property
    def _products(self) -> tuple[float, float]:
        """The mean of this side times itself, and times the other."""
        own, other = (
            np.zeros(1) if one is None else one for one in (self.own_mean, self.other_mean)
        )
        return math.fsum(own * own), math.fsum(own * other)


@dataclass(frozen=True, eq=False)
class SomeTokens:
    """A map of some tokens of the alphabet; it does not look at the others.

    Args:
        of: Maps counts of these tokens.
        places: Their numbers.
    """

    of: Map
    places: NDArray[np.int64]

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of a matrix of counts."""
        return self.of(rows[:, self.places])


@dataclass(frozen=True, eq=False)
class Weighted:
    """The vectors of a map, longer or shorter: products of two of them count so many times as much.

    Args:
        of: The map.
        weight: What a product counts.
    """

    of: Map
    weight: float

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of a matrix of counts."""
        found = self.of(rows)
        scale, sparse = math.sqrt(self.weight), found.sparse
        if sparse is not None:
            sparse = sparse.copy()
            sparse.data = np.rint(sparse.data * scale)
        return Vectors(sparse, np.rint(found.dense * scale))


@dataclass(frozen=True, eq=False)
class Beside:
    """The vectors of several maps, one beside the other: their products add up.

    Args:
        maps: Of the same counts.
    """

    maps: tuple[Map, ...]

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of a matrix of counts."""
        from scipy import sparse  # noqa: PLC0415  heavy, and few need it

        found = [one(rows) for one in self.maps]
        held = [one.sparse for one in found if one.sparse is not None]
        dense = np.hstack([one.dense for one in found])
        return Vectors(sparse.hstack(held).tocsr() if held else None, dense)


@dataclass(frozen=True, eq=False)
class LatentDimensions:
    """Weighted counts of length 1, projected to a few dimensions, centred, of length 1 again.

    Args:
        counting: What an item counts for a row.
        weights: By token.
        directions: Tokens x dimensions.
        mean: Of the projections of this side.
        penalty: What each shared token costs, in steps of an entry: known sides hold 1 step
            of it, anonymous ones this many, below zero; None if sharing costs nothing.
    """

    counting: Counting
    weights: Floats
    directions: Floats
    mean: Floats
    penalty: float | None = None

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of a matrix of counts."""
        flat = projected(rows, self.counting, self.weights, self.directions)
        flat[np.diff(rows.indptr) > 0] -= self.mean
        flat *= _inverse(np.sqrt((flat * flat).sum(axis=1)))[:, None]
        dense = np.rint(flat * COARSE_STEPS)
        if self.penalty is None:
            return Vectors(None, dense)
        shared = rows.astype(np.float64)
        shared.data[:] = self.penalty
        return Vectors(shared, dense)


def projected(rows: Any, counting: Counting, weights: Floats, directions: Floats) -> Floats:
    """Weighted counts of length 1 in a few dimensions: row by row, in a fixed order.

    Args:
        rows: A matrix of counts.
        counting: What an item counts for a row.
        weights: By token.
        directions: Tokens x dimensions.
    """
    held = of_length_one(weighted(rows, counting, weights))
    return np.asarray(held @ directions)


def weighted(rows: Any, counting: Counting, weights: Floats) -> Any:
    """Counts that are transformed and weighted by token: a sparse matrix.

    Args:
        rows: A matrix of counts.
        counting: What an item counts for a row.
        weights: By token.
    """
    held = rows.astype(np.float64)
    held.sort_indices()
    if counting == "binary":
        held.data[:] = 1.0
    elif counting == "log":
        held.data = np.log1p(held.data)
    elif counting == "share":
        held = _scaled(held, _inverse(np.asarray(held.sum(axis=1)).ravel()))
        held.data = np.sqrt(held.data)
    held.data = held.data * weights[held.indices]
    return held


def of_length_one(held: Any) -> Any:
    """The rows of a sparse matrix, each divided by its length."""
    return _scaled(held, _inverse(np.sqrt(np.asarray(held.multiply(held).sum(axis=1)).ravel())))


def _scaled(held: Any, by: Floats) -> Any:
    scaled = held.copy()
    scaled.data = held.data * np.repeat(by, np.diff(held.indptr))
    return scaled


def _inverse(lengths: Floats) -> Floats:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
