"""Maps of rows of vectors to whole numbers: of length 1, centred, multiplied by a matrix.

A map is fitted once, where a study is run, and is sent to whoever searches. It is computed row by
row in double precision, in a fixed order and without BLAS, and rounded once: the same whole numbers
for every size of blocks, number of threads and machine.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.digest import Data, sha256
from reidrisk.core.parallel import Array, kernel
from reidrisk.core.products import Vectors

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class VectorMap:
    """Rows of vectors as one vector of whole numbers each, step by step; what is not given is left.

    The vectors of a row are averaged over the slots in which one came, so that rows with gaps can
    be compared with others, and multiplied by the number of slots, so that without gaps it is their
    sum. A row that holds nothing has products of 0 with all others.

    Args:
        steps: Whole numbers in 1.0 of the result.
        unit_first: Whether the vector is then divided by its length.
        mean: Subtracted then; None to leave it out.
        matrix: Multiplied by then: dimensions x numbers of the result; None to leave it out.
        unit_last: Whether the result is divided by its length at last.

    Example:
        >>> from reidrisk.scores.vector_maps import VectorMap
        >>> to_length_one = VectorMap(100, unit_first=True)
        >>> to_length_one(np.array([[[3, -4]], [[0, 2]]], np.int8)).dense.tolist()
        [[60.0, -80.0], [0.0, 100.0]]
    """

    steps: float = 1.0
    unit_first: bool = False
    mean: Floats | None = None
    matrix: Floats | None = None
    unit_last: bool = False

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of rows.

        Args:
            rows: Users x slots x dimensions, of the type of their grid.
        """
        block = np.ascontiguousarray(rows)
        dimensions = block.shape[2]
        mean = np.zeros(dimensions) if self.mean is None else self.mean
        matrix = np.zeros((dimensions, 0)) if self.matrix is None else self.matrix
        found = np.zeros((len(block), matrix.shape[1] or dimensions))
        gap = np.iinfo(block.dtype).min
        _map(block, gap, mean, matrix, self.unit_first, self.unit_last, self.steps, found)
        return Vectors(None, found)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what was fitted: the same for the same map, wherever it is."""
        said: list[Data] = [f"{self.steps!r} {self.unit_first} {self.unit_last}"]
        for one in (self.mean, self.matrix):
            said += ["None"] if one is None else [str(one.shape), one.tobytes()]
        return sha256(*said)


@dataclass(frozen=True, eq=False)
class DistanceMap:
    """Vectors beside half of their squared lengths: products are minus half of squared distances.

    Args:
        of: Maps rows to vectors.
        far: A whole number, about the usual length of these vectors: squares are rounded to
            multiples of it.
        known: Whether this maps known rows: the two sides of a product differ.
    """

    of: VectorMap
    far: float
    known: bool

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of rows.

        Args:
            rows: Users x slots x dimensions, of the type of their grid.
        """
        vectors = self.of(rows).dense
        # Sums of whole numbers are the same in any order.
        squares = -np.rint((vectors * vectors).sum(axis=1) / (2 * self.far))
        one = np.full(len(vectors), self.far)
        columns = (squares, one) if self.known else (one, squares)
        return Vectors(None, np.column_stack([vectors, *columns]))


@kernel
def _map(
    rows: Array, gap: int, mean: Array, matrix: Array, unit_first: bool, unit_last: bool,
    steps: float, found: Array,
) -> None:  # fmt: skip
    """Map each row, one number after the other: compilers keep this order of additions."""
    vector = np.empty(rows.shape[2])
    for row in range(rows.shape[0]):
        if not _average(rows[row], gap, vector):
            continue
        if unit_first:
            _stretch(vector, 1.0)
        vector -= mean
        result = found[row]
        if matrix.shape[1] == 0:
            result[:] = vector
        else:
            _multiply(vector, matrix, result)
        if unit_last:
            _stretch(result, steps)
        else:
            result *= steps
        for place in range(result.shape[0]):
            result[place] = np.rint(result[place])


@kernel
def _average(slots: Array, gap: int, vector: Array) -> bool:
    """The mean of the vectors that came, times the number of slots; whether any came."""
    vector[:] = 0.0
    there = 0
    for slot in range(slots.shape[0]):
        seen = False
        for place in range(slots.shape[1]):
            seen = seen or slots[slot, place] != gap
        if seen:
            there += 1
            for place in range(slots.shape[1]):
                vector[place] += slots[slot, place]
    if 0 < there < slots.shape[0]:
        for place in range(slots.shape[1]):
            vector[place] = vector[place] * slots.shape[0] / there
    return there > 0


@kernel
def _multiply(vector: Array, matrix: Array, result: Array) -> None:
    """Add the products with the columns of a matrix, row by row of it."""
    for place in range(matrix.shape[0]):
        for column in range(matrix.shape[1]):
            result[column] += vector[place] * matrix[place, column]


@kernel
def _stretch(vector: Array, length: float) -> None:
    """Make a vector so long, unless it is zero."""
    square = 0.0
    for place in range(vector.shape[0]):
        square += vector[place] * vector[place]
    scale = length / np.sqrt(square) if square > 0.0 else 0.0
    for place in range(vector.shape[0]):
        vector[place] *= scale
