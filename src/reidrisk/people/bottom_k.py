"""Keep the rows with the k smallest draws, out of more rows than fit into memory.

Two selections merge, in any order and grouping, to the selection of all their rows.
"""

from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kept: TypeAlias = tuple[NDArray[Any], ...]
"""Draws, rows, and what else belongs to them, in the order of the draws."""


@dataclass(slots=True)
class BottomK:
    """The rows with the smallest draws; equal draws go by row.

    Args:
        wanted: Number of rows to keep; all if None.
    """

    wanted: int | None
    _parts: list[Kept] = field(default_factory=list, repr=False)
    _limit: float = field(default=np.inf, repr=False)

    def add(self, draws: NDArray[np.float64], rows: NDArray[Any], *more: NDArray[Any]) -> Self:
        """Consider more rows.

        Args:
            draws: Draw of each row.
            rows: The rows.
            *more: Further arrays with an entry for each row, as many in every call.
        """
        # Not `<`: a row level with the last one may still go before it by its number.
        near = draws <= self._limit
        # Cut only once twice as many are held, so that a row is sorted a constant number of times.
        self._parts.append((draws[near], rows[near], *(each[near] for each in more)))
        if self.wanted is not None and self.held > 2 * self.wanted:
            self._cut()
        return self

    def merge(self, other: Self) -> Self:
        """The selection of the rows of both."""
        for part in other._parts:
            self.add(*part)
        return self

    @property
    def held(self) -> int:
        """Number of rows in memory: at most about twice as many as wanted."""
        return sum(len(part[0]) for part in self._parts)

    @property
    def kept(self) -> Kept:
        """The selected rows, by draw. Call `add` first, if only with empty arrays."""
        self._cut()
        return self._parts[0]

    def _cut(self) -> None:
        """Drop rows beyond those wanted, and sort."""
        draws, rows, *more = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        # If none is wanted there is no last one to find, and the slice below leaves nothing.
        near = np.arange(len(draws))
        if self.wanted and self.wanted < len(draws):
            # Keep all rows level with the last one: ties go by row.
            self._limit = float(np.partition(draws, self.wanted - 1)[self.wanted - 1])
            near = np.flatnonzero(draws <= self._limit)
        order = near[np.lexsort((rows[near], draws[near]))[: self.wanted]]
        self._parts = [(draws[order], rows[order], *(each[order] for each in more))]
