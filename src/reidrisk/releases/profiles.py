"""The tokens of each user with their weights, all epochs together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.core.parallel import over_blocks
from reidrisk.people.protocol import People

Found = TypeVar("Found")

USERS_AT_A_TIME = 1 << 14


@dataclass(frozen=True, eq=False, slots=True)
class Items:
    """Tokens of some users.

    Attributes:
        starts: Where each user begins in `members`, and after the last one the end.
        members: Tokens of each user, ascending and distinct.
        weights: Weight of each token, above zero.
    """

    starts: NDArray[np.int64]
    members: NDArray[Any]
    weights: NDArray[np.float64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of tokens of each user."""
        return np.diff(self.starts)


def items_of(people: People, start: int, stop: int) -> Items:
    """Tokens of users `start` to `stop`, with weights added up over epochs."""
    cells = people.cells(start, stop)
    weights = np.asarray(cells.weights, np.float64)
    if people.epochs == 1:  # a cell is a user already
        return Items(np.asarray(cells.starts, np.int64), cells.members, weights)
    users = np.repeat(np.arange(stop - start), people.epochs).repeat(np.diff(cells.starts))
    shape = (stop - start, people.tokens)
    # The conversion adds up a token's weights of several epochs.
    table = scipy.sparse.coo_array((weights, (users, cells.members)), shape=shape).tocsr()
    table.sort_indices()
    return Items(table.indptr.astype(np.int64), table.indices, table.data)


def of_everybody(people: People, work: Callable[[Items], Found]) -> Iterator[Found]:
    """Call `work` with the items of all people, a block at a time, and yield results in order."""

    def some(start: int, stop: int) -> Found:
        return work(items_of(people, start, stop))

    yield from over_blocks(some, people.users, USERS_AT_A_TIME)
