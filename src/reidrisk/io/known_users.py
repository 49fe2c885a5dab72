"""The users of known rows, whoever knows them: an array, rows that are made on demand, files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Neighbours that are asked for at once.
_TOGETHER = 1 << 17


@dataclass(frozen=True)
class KnownUsers:
    """Users of rows, never all held unless they are already.

    Attributes:
        part: Those of neighbouring rows, from the first to behind the last.
    """

    part: Callable[[int, int], NDArray[Any]]

    def some(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Those of some rows, at least one, in their order."""
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        ends = np.flatnonzero(np.diff(ascending // _TOGETHER)) + 1
        found = np.concatenate([
            self.part(int(mine[0]), int(mine[-1]) + 1)[mine - mine[0]]
            for mine in np.split(ascending, ends)
        ])  # fmt: skip
        names = np.empty_like(found)
        names[order] = found
        return names


def plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Text as objects, which Arrow takes as they are."""
    return labels.astype(object) if labels.dtype.kind == "U" else labels
