"""Count how many known users hold each token, and how often."""

import operator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import ROWS_AT_A_TIME, Blocks, over_rows
from reidrisk.core.parallel import kernel
from reidrisk.core.rows import BagRows, Rows, entry_of, token_rows

_PLACES, _FEWEST_ROWS = 1 << 24, 64


def times_held(known: Rows, most: int) -> NDArray[np.int64]:
    """Number of users by token and by how often they hold it: tokens x (most + 1).

    Args:
        known: Rows of tokens of any kind; slots and gaps are ignored.
        most: Largest count; users who hold a token more often are counted here.
    """
    work = partial(_times, tokens=token_rows(known).tokens, most=most)
    # A block of bags is as wide as its largest bag, so wide rows come in smaller blocks.
    rows = min(max(_PLACES // token_rows(known).set_size, _FEWEST_ROWS), ROWS_AT_A_TIME)
    held: NDArray[np.int64] = over_rows(known, work, operator.add, most=rows)[:, 1:]
    # Rows do not list what they lack: who does not hold a token is everybody less its holders.
    return np.column_stack([known.users - held.sum(axis=1), held])


def _times(blocks: Blocks, *, tokens: int, most: int) -> NDArray[np.int64]:
    """Users of some rows by token and by how often they hold it, but those who do not."""
    users = np.zeros((tokens, most + 1), np.int64)
    for _, rows in blocks:
        bags = BagRows.beneath(rows, tokens=tokens)
        _count_times(bags.values, bags.starts, users)
    return users


@kernel
def _count_times(
    entries: NDArray[np.integer], starts: NDArray[np.int64], users: NDArray[np.int64]
) -> None:
    """Add each row's tokens to `users[token, times]`; gaps are below 0."""
    times = np.zeros(users.shape[0], np.int64)
    for row in range(starts.shape[0] - 1):
        for place in range(starts[row], starts[row + 1]):
            token, count = entry_of(entries[place])
            if token >= 0:
                times[token] += count
        for place in range(starts[row], starts[row + 1]):
            token, _ = entry_of(entries[place])
            if token >= 0 and times[token] > 0:
                users[token, min(times[token], users.shape[1] - 1)] += 1
                # Cleared for the next row, and so that a token that comes again counts once.
                times[token] = 0
