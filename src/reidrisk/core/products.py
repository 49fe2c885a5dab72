"""Inner products of whole-number vectors, block by block: exact in any order of additions.

Vectors hold whole numbers, as such or as floats. While the product of two lengths stays below 2**53
(2**24 in single precision), every partial sum is a whole number that a float holds exactly, so
neither the order of additions nor the number of threads changes a score.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.machine import cores
from reidrisk.core.matrix_products import EXACT_IN_SINGLE, check_single, one_blas_thread
from reidrisk.core.parallel import Array, kernel, listen, over_queue

_CELLS_AT_A_TIME = 1 << 22  # products of a block of rows with all others: 32 MiB

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector of whole numbers for each row: a sparse part and a dense part.

    Args:
        sparse: Rows x columns, a `scipy.sparse.csr_matrix` of floats; None if there is none.
        numbers: The dense part, rows x columns, of floats or of a type of whole numbers; perhaps
            with no columns.
    """

    sparse: Any
    numbers: NDArray[Any]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: slice | NDArray[Any]) -> Self:
        sparse = None if self.sparse is None else self.sparse[rows]
        return type(self)(sparse, self.numbers[rows])

    @cached_property
    def dense(self) -> Floats:
        """The dense part in double precision."""
        return self.numbers.astype(np.float64, copy=False)

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The dense part in single precision."""
        return self.numbers.astype(np.float32)

    @cached_property
    def dense_lengths(self) -> Floats:
        """The length of the dense part of each vector."""
        return np.asarray(np.sqrt(self._squares()))

    @property
    def longest_dense(self) -> float:
        """The length of the longest dense part."""
        return float(self.dense_lengths.max(initial=0.0))

    @property
    def longest(self) -> float:
        """The length of the longest vector."""
        squares = self._squares()
        if self.sparse is not None:
            squares = squares + np.asarray(self.sparse.multiply(self.sparse).sum(axis=1)).ravel()
        return float(np.sqrt(squares.max(initial=0.0)))

    @property
    def largest_dense(self) -> float:
        """No number of the dense part is larger, whatever its sign."""
        numbers = self.numbers
        return float(max(numbers.max(initial=0), -float(numbers.min(initial=0))))

    def _squares(self) -> Floats:
        """The sum of squares of each dense part; numbers of 8 bits are not squared as such."""
        numbers = self.numbers
        return np.asarray(np.einsum("ij,ij->i", numbers, numbers, dtype=np.float64))

    def dots(self, others: "Vectors") -> Whole:
        """The product of each vector with the other beside it, or with the only other."""
        beside_dense = np.broadcast_to(others.numbers, self.numbers.shape)
        found = np.einsum("ij,ij->i", self.numbers, beside_dense, dtype=np.float64)
        if self.sparse is not None:
            beside = others.sparse
            if len(others) != len(self):
                beside = beside[np.zeros(len(self), np.int64)]
            found = found + np.asarray(self.sparse.multiply(beside).sum(axis=1)).ravel()
        return np.asarray(found, dtype=np.int64)


class Index(NamedTuple):
    """The rows that hold each column of a sparse part, and what they hold there."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    data: Floats


def index_of(vectors: Vectors) -> Index:
    """The sparse part of vectors by its columns."""
    if vectors.sparse is None:
        return Index(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    columns = vectors.sparse.tocsc()
    columns.sort_indices()
    return Index(
        columns.indptr.astype(np.int64), columns.indices.astype(np.int64),
        columns.data.astype(np.float64),
    )  # fmt: skip


def parts_of(vectors: Vectors) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The sparse part as starts, columns and entries; nothing in any row if there is none."""
    if vectors.sparse is None:
        return np.zeros(len(vectors) + 1, np.int64), np.zeros(0, np.int64), np.zeros(0)
    held = vectors.sparse
    return held.indptr.astype(np.int64), held.indices.astype(np.int64), held.data.astype(np.float64)


def dense_products(rows: Vectors, others: Vectors) -> NDArray[Any]:
    """Products of the dense parts, rows x others; multiplied in single precision where exact."""
    if not rows.numbers.shape[1]:
        return np.zeros((len(rows), len(others)))
    check_single()
    if rows.longest_dense * others.longest_dense < EXACT_IN_SINGLE:
        products = rows.single @ others.single.T
        # What sparse parts add may be beyond single precision.
        return products if rows.sparse is None else products.astype(np.float64)
    return rows.dense @ others.dense.T


def rows_together(others: int) -> int:
    """Rows whose products with all others fit into one block."""
    return max(_CELLS_AT_A_TIME // max(others, 1), 1)


def list_best(
    rows: Vectors, others: Vectors, count: int, *, bias: Whole | None = None
) -> tuple[Whole, Whole]:
    """The best others of each row by inner product, best first and then by number.

    Args:
        rows: For whom.
        others: Among whom.
        count: How many are listed; at most all.
        bias: Added to the products with each of the others.

    Returns:
        Their numbers and their scores, rows x count.
    """
    count = min(count, len(others))
    numbers = np.full((len(rows), count), -1)
    scores = np.full((len(rows), count), np.iinfo(np.int64).min)
    index, added = index_of(others), np.zeros(len(others)) if bias is None else bias.astype(float)
    step = rows_together(len(others))

    def work(starts: Iterator[int]) -> None:
        for start in starts:
            listen()
            some = rows[slice(start, start + step)]
            block = slice(start, start + len(some))
            sums = dense_products(some, others)
            _list(sums, *parts_of(some), index, added, numbers[block], scores[block])

    with one_blas_thread():
        over_queue(work, range(0, len(rows), step), cores())
    return numbers, scores


@kernel
def add_sparse(
    starts: Array, columns: Array, data: Array, row: int, index: Index, sums: Array
) -> None:
    """Add the products of the sparse part of a row with those of all others."""
    for place in range(starts[row], starts[row + 1]):
        column, weight = columns[place], data[place]
        for at in range(index.starts[column], index.starts[column + 1]):
            sums[index.rows[at]] += weight * index.data[at]


@kernel
def _list(
    block: Array, starts: Array, columns: Array, data: Array, index: Index, bias: Array,
    numbers: Array, scores: Array,
) -> None:  # fmt: skip
    """List the best others of each row, given the products of dense parts."""
    count = numbers.shape[1]
    for row in range(block.shape[0]):
        sums = block[row]
        add_sparse(starts, columns, data, row, index, sums)
        for other in range(sums.shape[0]):
            score = np.int64(sums[other] + bias[other])
            place = count
            # Others come by number, so that equal scores stay in this order.
            while place > 0 and score > scores[row, place - 1]:
                place -= 1
                if place + 1 < count:
                    numbers[row, place + 1] = numbers[row, place]
                    scores[row, place + 1] = scores[row, place]
            if place < count:
                numbers[row, place], scores[row, place] = other, score
