"""Some of the people, made once and held while they are shown to several sites."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.people.protocol import Cells, People, ids_of

Key = tuple[int, int, bytes | None]
"""How top sets were asked for: their size, the seed, the priority."""


@dataclass(frozen=True, eq=False)
class Some:
    """People who are some rows of others; what is asked of them a second time is not made again.

    Args:
        people: Whom they are part of.
        rows: Which, ascending.
        ids: Theirs.
    """

    people: People
    rows: NDArray[np.int64]
    ids: NDArray[Any]
    _sets: dict[Key, NDArray[np.int32]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, people: People, rows: NDArray[np.integer]) -> Self:
        """These rows, in ascending order."""
        places = np.asarray(rows, np.int64)
        return cls(people, places, ids_of(people, places))

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.rows)

    @property
    def epochs(self) -> int:
        """Number of epochs."""
        return self.people.epochs

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return self.people.tokens

    @property
    def complete(self) -> bool:
        """Whether everyone, these and the others, was there in every epoch."""
        return self.people.complete

    def top_sets(
        self,
        start: int,
        stop: int,
        *,
        top: int,
        seed: int,
        priority: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int32]:
        """Top tokens of users `start` to `stop`, as the people themselves give them."""
        key = (top, seed, None if priority is None else priority.tobytes())
        if key not in self._sets:
            how: dict[str, Any] = {} if priority is None else {"priority": priority}
            parts = [
                self.people.top_sets(first, last, top=top, seed=seed, **how)
                for first, last in _runs(self.rows)
            ]
            self._sets[key] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._sets[key][start:stop]

    def cells(self, start: int, stop: int) -> Cells:
        """All tokens of users `start` to `stop`, with their weights."""
        parts = [self.people.cells(*run) for run in _runs(self.rows[start:stop])]
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        return Cells(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([part.members for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    def only(self, rows: NDArray[np.integer]) -> "Some":
        """Some of these; what was made of these is not made again."""
        places = np.asarray(rows, np.int64)
        return Some(self, places, self.ids[places])


def _runs(rows: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Rows as runs of neighbours, from first to behind the last."""
    cuts = np.flatnonzero(np.diff(rows) != 1) + 1
    firsts = rows[np.concatenate([[0], cuts])]
    lasts = rows[np.concatenate([cuts, [len(rows)]]) - 1]
    return list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))
