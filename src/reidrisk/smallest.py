"""The smallest draws of many, each with its row: what a pass keeps to choose some of all rows.

Only as many are held as are wanted, so the rows may be more than anybody holds. What was kept of
some rows and of others merges, in any order and grouping, to what would be kept of all.
"""

from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Draws = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(slots=True)
class Smallest:
    """The rows with the smallest draws, equal ones by row.

    Args:
        wanted: How many; all if None.
    """

    wanted: int | None
    _draws: list[Draws] = field(default_factory=list, repr=False)
    _rows: list[Places] = field(default_factory=list, repr=False)
    _held: int = field(default=0, repr=False)
    _limit: float = field(default=np.inf, repr=False)

    def add(self, draws: Draws, rows: NDArray[np.integer[Any]]) -> Self:
        """Consider more rows, with their draws."""
        if self.wanted == 0:
            return self
        near = draws <= self._limit
        self._draws.append(draws[near])
        self._rows.append(np.asarray(rows, np.int64)[near])
        self._held += len(self._rows[-1])
        if self.wanted is not None and self._held > 2 * self.wanted:
            self._cut()
        return self

    def merge(self, other: Self) -> Self:
        """The same of both together."""
        return reduce(
            lambda kept, more: kept.add(*more), zip(other._draws, other._rows, strict=True), self
        )

    @property
    def rows(self) -> Places:
        """In the order of their draws."""
        self._cut()
        return self._rows[0]

    def _cut(self) -> None:
        """Hold no more than is wanted, in order."""
        draws = np.concatenate([np.empty(0), *self._draws])
        rows = np.concatenate([np.empty(0, np.int64), *self._rows])
        if self.wanted and self.wanted < len(draws):
            # Who is level with the last one may be it: ties go by row.
            self._limit = float(np.partition(draws, self.wanted - 1)[self.wanted - 1])
            near = np.flatnonzero(draws <= self._limit)
            draws, rows = draws[near], rows[near]
        order = np.lexsort((rows, draws))[: self.wanted]
        self._draws, self._rows, self._held = [draws[order]], [rows[order]], len(order)
