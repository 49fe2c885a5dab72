"""Rows of vectors: whole numbers on a grid, to which floats are rounded once.

Everything behind the border counts in whole numbers, so that scores, ties and ranks are exact. What
rounding moved is known: see `Grid.moved`.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.rows import (
    Array,
    ArrayCodec,
    ArrayRows,
    HeldRows,
    Kind,
    SetRows,
    is_rows,
    read_only,
)
from reidrisk.errors import InvalidInput

_ROWS_AT_A_TIME = 1 << 14

_TYPES: dict[int, type[np.signedinteger[Any]]] = {8: np.int8, 16: np.int16}
_DIMENSIONS = SetRows.dimensions


@dataclass(frozen=True, slots=True)
class Grid:
    """The whole numbers to which the numbers of vectors are rounded.

    Args:
        scale: How many steps make 1.0.
        bits: 8 or 16; of a whole number. The lowest is left for slots in which nothing came.

    Example:
        >>> grid = rr.Grid.of([[0.5, -1.0]], bits=8)
        >>> grid.scale, grid.round([[0.5, -1.0]]).tolist()
        (127.0, [[64, -127]])
    """

    scale: float
    bits: int = 16

    def __post_init__(self) -> None:
        if self.bits not in _TYPES:
            raise InvalidInput(f"bits is 8 or 16; got {self.bits}", code="unknown-choice")
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise InvalidInput(
                f"scale is how many steps make 1.0, above 0; got {self.scale}",
                code="number-out-of-range",
            )

    @classmethod
    def of(cls, *tables: ArrayLike, bits: int = 16) -> "Grid":
        """The finest grid that holds all numbers of some tables.

        Args:
            tables: Vectors, users first; rounded to the same grid, they can be compared.
            bits: 8 or 16.
        """
        most = max(float(np.abs(_floats(one, "vectors")).max(initial=0.0)) for one in tables)
        finest = cls(1.0, bits)
        return replace(finest, scale=finest.most / most) if most else finest

    @property
    def most(self) -> int:
        """The largest whole number; the lowest is as far from zero."""
        return (1 << (self.bits - 1)) - 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the whole numbers."""
        return np.dtype(_TYPES[self.bits])

    def round(self, vectors: ArrayLike, name: str = "vectors") -> Array:
        """Numbers as whole numbers of steps; refuses what is no number or beyond the grid.

        Args:
            vectors: Users first.
            name: What messages call them.
        """
        steps = np.rint(_floats(vectors, name) * self.scale)
        beyond = np.abs(steps) > self.most
        if beyond.any():
            row = int(np.argwhere(beyond)[0][0])
            raise InvalidInput(
                f"{name}, row {row}: a number of this vector is beyond the grid, which ends at "
                f"{self.most / self.scale:.6g}; use a grid of all vectors, or clip them",
                code="beyond-the-grid",
            )
        return steps.astype(self.dtype)

    def moved(self, vectors: ArrayLike) -> float:
        """How far rounding moves a vector at most, as a share of its length.

        Args:
            vectors: Users first; those of length zero do not count.
        """
        floats = _floats(vectors, "vectors")
        floats = floats.reshape(-1, floats.shape[-1])
        off = np.sqrt(((np.rint(floats * self.scale) / self.scale - floats) ** 2).sum(axis=1))
        lengths = np.sqrt((floats**2).sum(axis=1))
        return float((off[lengths > 0] / lengths[lengths > 0]).max(initial=0.0))


def _floats(vectors: ArrayLike, name: str) -> NDArray[np.float64]:
    """Vectors in double precision; refuses what is no finite number."""
    floats = np.asarray(vectors, np.float64)
    if not np.isfinite(floats).all():
        row = int(np.argwhere(~np.isfinite(floats))[0][0])
        raise InvalidInput(
            f"{name}, row {row}: the vector holds NaN or an infinite number; leave this row out, "
            "or repair it",
            code="not-finite",
        )
    return floats


@dataclass(frozen=True)
class VectorCodec(ArrayCodec):
    """A vector of whole numbers for each slot.

    Args:
        shape: Slots and dimensions.
        dtype: int8 or int16; its lowest number marks a slot in which nothing came.
        complete: Whether it is certain that no slot is empty.
        scale: How many steps make 1.0.
    """

    scale: float = 1.0

    kind: ClassVar[Kind] = Kind.VECTORS

    @property
    def gap(self) -> int:  # type: ignore[override]
        """The entry of a slot in which nothing came: the lowest of the type."""
        return int(np.iinfo(self.dtype).min)

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return self.shape[1]

    @property
    def grid(self) -> Grid:
        """The grid to which the vectors were rounded."""
        return Grid(self.scale, 8 * self.dtype.itemsize)

    def filled(self, block: Array) -> bool:
        """Whether no number of a block is the lowest of the type."""
        parts = range(0, len(block), _ROWS_AT_A_TIME)
        return all(
            super(VectorCodec, self).filled(block[at : at + _ROWS_AT_A_TIME]) for at in parts
        )

    def rows(self, block: Array) -> ArrayRows:
        """Rows in memory, of an array that is known to be right."""
        return VectorRows.checked(block, self)

    def beside(self, shown: Any, name: str) -> HeldRows:
        """Anonymous vectors of the same grid and as many dimensions."""
        made = shown if is_rows(shown) else VectorRows(shown, scale=self.scale, name=name)
        rows = super().beside(made, name)
        theirs: Any = rows.codec
        if (self.dimensions, self.dtype) != (theirs.dimensions, theirs.dtype):
            raise InvalidInput(
                f"known has vectors of {self.dimensions} numbers of the type {self.dtype}, {name} "
                f"of {theirs.dimensions} of the type {theirs.dtype}: make both alike",
                code="kind-mismatch",
            )
        if self.scale != theirs.scale:
            raise InvalidInput(
                f"known is rounded to {self.scale:g} steps for 1.0, {name} to {theirs.scale:g}: "
                "round both to one grid, as Grid.of(known, anonymous) gives",
                code="grid-mismatch",
            )
        return rows


class VectorRows(ArrayRows):
    """A vector of whole numbers for each slot, in memory or memory-mapped.

    Args:
        values: Users x slots x dimensions, or users x dimensions for one slot; int8 or int16. A
            slot that holds nothing but the lowest number of the type is a gap.
        scale: How many steps make 1.0; attacks compare whole numbers and do not look at it.
        name: What messages call it.

    Example:
        >>> rows = rr.VectorRows(np.array([[3, -1], [0, 2]], np.int8))
        >>> rows.users, rows.slots, rows.block(0, 1).tolist()
        (2, 1, [[[3, -1]]])
    """

    codec: VectorCodec

    def __init__(self, values: ArrayLike, *, scale: float = 1.0, name: str = "known") -> None:
        vectors = np.asanyarray(values)
        vectors = vectors[:, None, :] if vectors.ndim == _DIMENSIONS - 1 else vectors
        if vectors.ndim != _DIMENSIONS or not vectors.size:
            raise InvalidInput(
                f"{name} has a vector for each user and slot, users x slots x dimensions; got an "
                f"array of shape {vectors.shape}",
                code="wrong-shape",
            )
        if vectors.dtype not in (np.int8, np.int16):
            raise InvalidInput(
                f"{name} holds {vectors.dtype}: vectors are whole numbers of the type int8 or "
                "int16; VectorRows.rounded rounds others",
                code="not-whole-vectors",
            )
        codec = VectorCodec(vectors.shape[1:], vectors.dtype, scale=float(scale))
        super().__init__(vectors, codec.certain(complete=codec.filled(vectors)))

    @classmethod
    def rounded(
        cls, vectors: ArrayLike, grid: Grid | None = None, *, bits: int = 16, name: str = "known"
    ) -> Self:
        """Vectors of any numbers, rounded to a grid.

        Args:
            vectors: Users x slots x dimensions, or users x dimensions for one slot.
            grid: To which they are rounded; the finest that holds them, if not given. Rows that are
                compared must be of one grid.
            bits: 8 or 16, if no grid is given.
            name: What messages call them.

        Example:
            >>> rows = rr.VectorRows.rounded([[0.5, -1.0], [0.1, 0.0]], bits=8)
            >>> rows.block(0, 2).tolist(), rows.grid.scale
            ([[[64, -127]], [[13, 0]]], 127.0)
        """
        grid = Grid.of(vectors, bits=bits) if grid is None else grid
        return cls(grid.round(vectors, name), scale=grid.scale, name=name)

    @classmethod
    def checked(cls, values: Array, codec: VectorCodec) -> Self:
        """Rows whose vectors are known to be right.

        Args:
            values: Users x slots x dimensions.
            codec: Of rows of this shape.
        """
        rows: Self = object.__new__(cls)
        return rows._fill(read_only(values), codec)

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return self.codec.dimensions

    @property
    def grid(self) -> Grid:
        """The grid to which the vectors were rounded."""
        return self.codec.grid
