"""A group of people as people themselves: those it holds, in their order, none of whom is kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.people.protocol import Cells, People, ids_of
from reidrisk.people.sampling import Group
from reidrisk.people.subset import Some


@dataclass(frozen=True, eq=False)
class Members:
    """People who are a group of others.

    Args:
        people: Whom they are part of.
        group: Who they are.
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
        return self._some(start, stop).top_sets(0, stop - start, **how)

    def cells(self, start: int, stop: int) -> Cells:
        """All tokens of users `start` to `stop`, with their weights."""
        return self._some(start, stop).cells(0, stop - start)

    def _some(self, start: int, stop: int) -> Some:
        return Some.of(self.people, self.group.rows(self.people, np.arange(start, stop)))
