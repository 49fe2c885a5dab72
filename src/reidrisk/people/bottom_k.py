"""The smallest draws of many, each with its row: what a pass keeps to choose some of all rows.

Only as many are held as are wanted, so the rows may be more than anybody holds. What was kept of
some rows and of others merges, in any order and grouping, to what would be kept of all.
"""

from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kept: TypeAlias = tuple[NDArray[Any], ...]
"""Draws, rows, and what else belongs to them, in the order of the draws."""


@dataclass(slots=True)
class Smallest:
    """The rows with the smallest draws, equal ones by row.

    Args:
        wanted: How many; all if None.
    """

    wanted: int | None
    _parts: list[Kept] = field(default_factory=list, repr=False)
    _limit: float = field(default=np.inf, repr=False)

    def add(self, draws: NDArray[np.float64], rows: NDArray[Any], *more: NDArray[Any]) -> Self:
        """Consider more rows, with their draws; and always with as much besides.

        What another one has `kept` is added so, too.
        """
        near = draws <= self._limit
        self._parts.append((draws[near], rows[near], *(each[near] for each in more)))
        if self.wanted is not None and self.held > 2 * self.wanted:
            self._cut()
        return self

    def merge(self, other: Self) -> Self:
        """The same of both together."""
        for part in other._parts:
            self.add(*part)
        return self

    @property
    def held(self) -> int:
        """How many rows are held; not many more than are wanted."""
        return sum(len(part[0]) for part in self._parts)

    @property
    def kept(self) -> Kept:
        """The smallest of what was added; it was something, if only nothing."""
        self._cut()
        return self._parts[0]

    def _cut(self) -> None:
        """Hold no more than is wanted, in order."""
        draws, rows, *more = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        near = np.arange(len(draws))
        if self.wanted and self.wanted < len(draws):
            # Who is level with the last one may be it: ties go by row.
            self._limit = float(np.partition(draws, self.wanted - 1)[self.wanted - 1])
            near = np.flatnonzero(draws <= self._limit)
        order = near[np.lexsort((rows[near], draws[near]))[: self.wanted]]
        self._parts = [(draws[order], rows[order], *(each[order] for each in more))]
