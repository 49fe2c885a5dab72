"""How many known users hold a token, and how often: one pass over the known rows."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.parallel import kernel, over_blocks
from reidrisk.rows import BagRows, Rows

_ROWS_AT_A_TIME = 1 << 18


def times_held(known: Rows, most: int) -> NDArray[np.int64]:
    """Number of users by token and by how often they hold it: tokens x (most + 1).

    Args:
        known: Rows of any kind; slots and gaps are left out of account.
        most: Whoever holds a token more often counts as holding it so often.
    """

    def work(start: int, stop: int) -> NDArray[np.int64]:
        users = np.zeros((known.tokens, most + 1), np.int64)
        if isinstance(known, BagRows):
            bags = known.part(start, stop)
        else:
            bags = BagRows.beneath(known.block(start, stop), tokens=known.tokens)
        count_times(bags.values, bags.starts, users)
        return users

    users = np.zeros((known.tokens, most + 1), np.int64)
    for part in over_blocks(work, known.users, _ROWS_AT_A_TIME):
        users += part
    users[:, 0] = known.users - users[:, 1:].sum(axis=1)
    return users


@kernel
def count_times(
    values: NDArray[np.integer], starts: NDArray[np.int64], users: NDArray[np.int64]
) -> None:
    """Add each row's tokens to `users[token, times]`; gaps are below 0."""
    times = np.zeros(users.shape[0], np.int64)
    for row in range(starts.shape[0] - 1):
        for place in range(starts[row], starts[row + 1]):
            if values[place] >= 0:
                times[values[place]] += 1
        for place in range(starts[row], starts[row + 1]):
            token = values[place]
            if token >= 0 and times[token] > 0:
                users[token, min(times[token], users.shape[1] - 1)] += 1
                times[token] = 0
