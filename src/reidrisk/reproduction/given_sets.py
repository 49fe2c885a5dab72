"""People whose topic sets are given by another study or read from its files."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import Cells


@dataclass(frozen=True, eq=False, slots=True)
class GivenSets:
    """People with one set of topics for each epoch, all sets of one size.

    Args:
        sets: Users x epochs x size, whole numbers below `tokens`, distinct in each set.
        tokens: Size of the taxonomy.
    """

    sets: NDArray[np.int32]
    tokens: int

    @classmethod
    def stable(cls, sets: NDArray[np.int32], *, epochs: int, tokens: int) -> "GivenSets":
        """People who have the same set in every epoch, from users x size."""
        users, size = sets.shape
        return cls(np.broadcast_to(sets[:, None, :], (users, epochs, size)), tokens)

    @property
    def users(self) -> int:
        """Number of users."""
        return len(self.sets)

    @property
    def epochs(self) -> int:
        """Number of epochs."""
        return int(self.sets.shape[1])

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of all users: their rows."""
        return np.arange(self.users)

    @property
    def complete(self) -> bool:
        """Nobody is ever away."""
        return True

    def cells(self, start: int, stop: int) -> Cells:
        """The topics of users `start` to `stop`; those of an epoch all count alike."""
        members = np.sort(self.sets[start:stop], axis=2).reshape(-1)
        size = self.sets.shape[2]
        return Cells(np.arange(0, members.size + 1, size), members, np.ones(members.size))

    def top_sets(
        self,
        start: int,
        stop: int,
        *,
        top: int,
        seed: int,
        priority: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int32]:
        """The sets of users `start` to `stop`, as they are: nothing is left to chance."""
        if top != self.sets.shape[2] or priority is not None:
            raise InvalidInput(
                f"these people have sets of {self.sets.shape[2]} topics that are neither cut, "
                f"padded nor ranked; got top={top}",
                code="unsupported-people",
            )
        return self.sets[start:stop]
