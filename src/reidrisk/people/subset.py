"""A subset of people, which is a population itself."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.people.protocol import Cells, People, ids_of
from reidrisk.people.sampling import Group

_Key = tuple[int, int, bytes | None]
"""Arguments of top sets: their size, the seed, the priority."""


@dataclass(frozen=True, eq=False)
class Subset:
    """Some rows of other people; top sets are made once and kept, since every site needs them.

    Args:
        people: The people they are part of.
        rows: Their rows, ascending.
        ids: Their ids.
    """

    people: People
    rows: NDArray[np.int64]
    ids: NDArray[Any]
    _sets: dict[_Key, NDArray[np.int32]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, people: People, rows: NDArray[np.integer]) -> Self:
        """The people in some rows.

        Args:
            people: The people they are part of.
            rows: Their rows, ascending.
        """
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
        # Arrays have no hash, but their bytes do.
        key = (top, seed, None if priority is None else priority.tobytes())
        if key not in self._sets:
            # People of somebody else may know no priorities, so none is passed on where none is.
            how: dict[str, Any] = {} if priority is None else {"priority": priority}
            parts = [
                self.people.top_sets(first, last, top=top, seed=seed, **how)
                for first, last in _runs(self.rows)
            ]
            self._sets[key] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._sets[key][start:stop]

    def cells(self, start: int, stop: int) -> Cells:
        """All tokens of users `start` to `stop`, with their weights."""
        # People give consecutive rows only, so they are asked for one run after the other.
        parts = [self.people.cells(*run) for run in _runs(self.rows[start:stop])]
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        return Cells(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([part.members for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    @property
    def dimensions(self) -> int | None:
        """Numbers of a vector; None if these people have tokens."""
        return getattr(self.people, "dimensions", None)

    def vectors_of(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Vectors of users `start` to `stop`: where each user's begin, and all of them."""
        whole: Any = self.people
        parts = [whole.vectors_of(*run) for run in _runs(self.rows[start:stop])]
        sizes = np.concatenate([np.diff(starts) for starts, _ in parts])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return starts, np.concatenate([vectors for _, vectors in parts])

    def means(self, start: int, stop: int) -> NDArray[np.float64]:
        """The mean of the vectors of each of users `start` to `stop`: users x dimensions."""
        whole: Any = self.people
        return np.concatenate([whole.means(*run) for run in _runs(self.rows[start:stop])])

    def only(self, rows: NDArray[np.integer]) -> "Subset":
        """A subset of these; top sets that were made for these are not made again.

        Args:
            rows: Their places among these, ascending.
        """
        places = np.asarray(rows, np.int64)
        return Subset(self, places, self.ids[places])


@dataclass(frozen=True, eq=False)
class LazySubset:
    """The members of a group, in their order; rows are looked up when asked for.

    Args:
        people: The people they are part of.
        group: The group.
    """

    people: People
    group: Group

    @property
    def users(self) -> int:
        """Number of users."""
        return self.group.users

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

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of all of them."""
        return self.ids_of(np.arange(self.users))

    def ids_of(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Ids of some of them."""
        return ids_of(self.people, self.group.rows(self.people, rows))

    def top_sets(self, start: int, stop: int, **how: Any) -> NDArray[np.int32]:
        """Top tokens of users `start` to `stop`, as the people themselves give them."""
        return self._subset(start, stop).top_sets(0, stop - start, **how)

    def cells(self, start: int, stop: int) -> Cells:
        """All tokens of users `start` to `stop`, with their weights."""
        return self._subset(start, stop).cells(0, stop - start)

    @property
    def dimensions(self) -> int | None:
        """Numbers of a vector; None if these people have tokens."""
        return getattr(self.people, "dimensions", None)

    def vectors_of(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Vectors of users `start` to `stop`: where each user's begin, and all of them."""
        return self._subset(start, stop).vectors_of(0, stop - start)

    def means(self, start: int, stop: int) -> NDArray[np.float64]:
        """The mean of the vectors of each of users `start` to `stop`: users x dimensions."""
        return self._subset(start, stop).means(0, stop - start)

    def _subset(self, start: int, stop: int) -> Subset:
        return Subset.of(self.people, self.group.rows(self.people, np.arange(start, stop)))


def _runs(rows: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Rows as runs of consecutive rows, each from its first to one after its last."""
    cuts = np.flatnonzero(np.diff(rows) != 1) + 1
    firsts = rows[np.concatenate([[0], cuts])]
    lasts = rows[np.concatenate([cuts, [len(rows)]]) - 1]
    return list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))
