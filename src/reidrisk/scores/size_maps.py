"""Map of sets to vectors: what a row holds beyond what one of its size holds anyway.

References:
    G. Rasch, Probabilistic models for some intelligence and attainment tests, 1960: the chance of
    a cell of a table from an effect of its row and one of its column.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.products import Vectors
from reidrisk.scores.inner_product import STEPS

Floats = NDArray[np.float64]

_PER_DOUBLING = 4  # classes of sizes from one power of 2 to the next
_ROUNDS = 100
_CLOSE = 1e-9
_FAR = 30.0  # logarithms of odds stay within


@dataclass(frozen=True, eq=False)
class SizeClasses:
    """Chances that a row holds each token, given about how many tokens it holds.

    Attributes:
        smallest: The smallest class, as of `class_of`.
        chances: Classes x tokens.
    """

    smallest: int
    chances: Floats

    @classmethod
    def fitted(cls, held: Any) -> "SizeClasses":
        """The chances of a table whose sums by class of rows and by token are those that were seen.

        They are those of a Rasch model: the logarithm of the odds is an effect of the row's class
        plus one of the token.

        Args:
            held: A sparse matrix, users x tokens.
        """
        sizes = np.diff(held.indptr)
        kinds = class_of(sizes)
        smallest = int(kinds.min())
        users = np.bincount(kinds - smallest)
        # Classes between others that nobody is in have the size that they stand for.
        usual = np.exp2((np.arange(len(users)) + smallest - 1) / _PER_DOUBLING)
        sums = np.bincount(kinds - smallest, sizes).astype(np.float64)
        sizes = np.where(users > 0, sums / np.maximum(users, 1), usual)
        return cls(smallest, _rasch(users, sizes, held.getnnz(axis=0).astype(np.float64)))

    def of(self, held: Any) -> NDArray[np.int64]:
        """The class of each row; the nearest, where rows of this size were not seen.

        Args:
            held: A sparse matrix, users x tokens.
        """
        kinds = class_of(np.diff(held.indptr)) - self.smallest
        return np.asarray(np.clip(kinds, 0, len(self.chances) - 1))


def class_of(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """The class of rows by size: steps of 19 % at most, from 1 on; 0 of empty rows.

    Args:
        sizes: How many different tokens each row holds.
    """
    steps = np.rint(np.log2(np.maximum(sizes, 1)) * _PER_DOUBLING).astype(np.int64)
    return np.where(sizes > 0, steps + 1, 0)


def _rasch(users: NDArray[Any], sizes: Floats, holders: Floats) -> Floats:
    """Chances by class and token with these sums, by Newton's steps on either side in turn."""
    tokens, everybody = len(holders), int(users.sum())
    # What nobody or everybody holds has no finite odds.
    wanted = np.clip(holders, 0.25, everybody - 0.25)
    sizes = np.clip(sizes, 1e-3, tokens - 0.25)
    of_class, of_token = np.log(sizes / (tokens - sizes)), np.zeros(tokens)
    of_token += np.log(wanted / (everybody - wanted)) - np.log(wanted.mean() / everybody)
    # Both sides must add up to the same number of cells.
    wanted = wanted * ((users * sizes).sum() / wanted.sum())
    chances = _chances(of_class, of_token)
    for _ in range(_ROUNDS):
        before = chances
        slack = (chances * (1 - chances)).sum(axis=1)
        of_class = of_class + np.clip((sizes - chances.sum(axis=1)) / slack, -1, 1)
        chances = _chances(of_class, of_token)
        slack = (users[:, None] * chances * (1 - chances)).sum(axis=0)
        missing = wanted - (users[:, None] * chances).sum(axis=0)
        of_token = of_token + np.clip(missing / slack, -1, 1)
        chances = _chances(of_class, of_token)
        if np.abs(chances - before).max() < _CLOSE:
            break
    return chances


def _chances(of_class: Floats, of_token: Floats) -> Floats:
    odds = np.clip(of_class[:, None] + of_token, -_FAR, _FAR)
    return np.asarray(1 / (1 + np.exp(-odds)))


@dataclass(frozen=True, eq=False)
class SizeResiduals:
    """Sets less the chances of rows of their size, weighted by token, as vectors of length 1.

    Args:
        own: Chances on this side.
        other: Chances on the other side.
        weights: By token.
        known: Whether this maps known rows: the two sides of a product differ.

    With sets x and y, the chances p and q of rows of their sizes, and weights w, the product is
    `(x - p) w (y - q)`, divided by both lengths. It is the product of the sparse vectors x and y,
    and of a few further columns that hold what the chances add: one for each class of sizes.
    """

    own: SizeClasses
    other: SizeClasses
    weights: Floats
    known: bool

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of a matrix of counts."""
        held = rows.astype(np.float64)
        held.sort_indices()
        held.data = self.weights[held.indices]
        kinds = self.own.of(held)
        scale = self._scale(held, kinds)
        # By the other side's classes, what is to be taken away from sums of common tokens.
        usual = held @ self.other.chances.T
        if self.known:
            both = np.einsum("gt,ht->gh", self.own.chances * self.weights, self.other.chances)
            usual = usual - both[kinds]
        mine = np.zeros((len(kinds), len(self.own.chances)))
        mine[np.arange(len(kinds)), kinds] = 1.0
        columns = (-usual, mine) if self.known else (mine, -usual)
        held.data = np.rint(np.sqrt(held.data) * np.repeat(scale, np.diff(held.indptr)) * STEPS)
        return Vectors(held, np.rint(np.hstack(columns) * scale[:, None] * STEPS))

    def _scale(self, held: Any, kinds: NDArray[np.int64]) -> Floats:
        """One over the length of each vector; 0 for rows that hold nothing."""
        squares = np.einsum("gt,gt->g", self.own.chances * self.weights, self.own.chances)[kinds]
        for kind, chances in enumerate(self.own.chances):
            mine = kinds == kind
            squares[mine] += np.asarray(held[mine].sum(axis=1)).ravel() - 2 * (held[mine] @ chances)
        there = (np.diff(held.indptr) > 0) & (squares > 0)
        return np.asarray(np.sqrt(np.divide(1.0, squares, out=np.zeros_like(squares), where=there)))
