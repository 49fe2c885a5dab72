"""Refuse people who are counted twice in an interval."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput


def refuse_repeats(name: str, users: NDArray[np.integer]) -> None:
    """Refuse to take rows of one person for independent people."""
    once = np.unique(users).size
    if once == len(users):
        return
    order = np.argsort(users, kind="stable")
    at = int((np.diff(users[order]) == 0).argmax())
    first, second = order[at : at + 2].tolist()
    others = len(users) - once - 1
    more = f", and {others:,} more repeat a user" if others else ""
    raise InvalidInput(
        f"{name} {first} and {second} are of the same user{more}; intervals are of independent "
        "people, and rows of one person are not: take one row of each user, drawn at random",
        code="duplicate-target",
    )
