"""The protocol of people: what every population offers to a release."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """Tokens and weights of some users: one cell for each user and epoch, users first.

    Attributes:
        starts: Where each cell begins in `members`, and after the last one its end.
        members: Tokens, ascending in each cell.
        weights: Weight of each token, above zero.

    Example:
        >>> users, weights = ["ann", "ann", "bob"], [2.0, 1.0, 4.0]
        >>> people = rr.data.make_profiles(users, [1, 1, 1], [5, 7, 5], weights)
        >>> cells = people.cells(0, 1)
        >>> cells.starts.tolist(), cells.members.tolist(), cells.weights.tolist()
        ([0, 2], [0, 1], [2.0, 1.0])
    """

    starts: NDArray[np.int64]
    members: NDArray[Any]
    weights: NDArray[Any]


class People(Protocol):
    """Users with tokens they are interested in, epoch by epoch.

    Randomness belongs to users: what is returned for a user depends on the seed and that user
    alone, never on the others, the chunk or the order.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> people.users, people.epochs, people.tokens, people.complete
        (1000, 2, 40, True)
        >>> people.top_sets(7, 8, top=3, seed=0).tolist()
        [[[15, 35, 7], [32, 15, 7]]]
    """

    @property
    def users(self) -> int:
        """Number of users."""
        ...

    @property
    def epochs(self) -> int:
        """Number of epochs."""
        ...

    @property
    def tokens(self) -> int:
        """Size of the alphabet; tokens are 0 .. tokens - 1."""
        ...

    @property
    def ids(self) -> NDArray[Any]:
        """Stable ids, whole numbers or strings; random draws belong to them."""
        ...

    @property
    def complete(self) -> bool:
        """Whether every user was there in every epoch.

        If not, both sites see that a user was away, and may compare when.
        """
        ...

    def cells(self, start: int, stop: int) -> Cells:
        """All tokens of users `start` to `stop`, with their weights.

        Args:
            start: The first row.
            stop: The row after the last.
        """
        ...

    def top_sets(
        self,
        start: int,
        stop: int,
        *,
        top: int,
        seed: int,
        priority: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int32]:
        """Top tokens of users `start` to `stop`: (stop - start) x epochs x top, distinct.

        Tokens of higher priority (one number per token) go before all others, then the heavier.
        Ties at the top are broken at random, sets that are too small are padded with random
        distinct tokens. Where a user was absent in an epoch, all entries are -1.

        Args:
            start: The first row.
            stop: The row after the last.
            top: How many tokens of an epoch are kept.
            seed: Seed of all random draws.
            priority: One number for each token; tokens of higher priority come first.
        """
        ...


@runtime_checkable
class _IdsOnDemand(Protocol):
    """People whose ids are made on demand: for more of them than fit into memory."""

    def ids_of(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """`ids[rows]`, without making all ids."""
        ...


def ids_of(people: People, rows: NDArray[np.int64]) -> NDArray[Any]:
    """Ids of some people, by their rows."""
    ids = people.ids_of(rows) if isinstance(people, _IdsOnDemand) else people.ids[rows]
    return np.asarray(ids)
