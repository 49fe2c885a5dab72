"""Check the numbers and users that estimates are made from."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.errors import InvalidInput

Numbers = NDArray[np.float64]

_AXES = 2  # of a table: users and repeats


def numbers(
    name: str, values: ArrayLike, *, low: float = 0.0, high: float = 1.0, least: int = 1
) -> Numbers:
    """Check one number per target: at least `least` of them, all from low to high.

    Args:
        name: Name of the argument, for messages.
        values: One number per target.
        low: The least that is allowed.
        high: The most that is allowed.
        least: How many targets there must be.
    """
    array = _floats(name, values)
    if array.ndim != 1:
        raise InvalidInput(
            f"{name} holds one number per target, got shape {array.shape}; pass a flat array",
            code="wrong-shape",
        )
    if len(array) < least:
        raise InvalidInput(
            f"{name} needs at least {least} target{'s' * (least > 1)}, got {len(array)}; "
            "an estimate of nothing would be a guess",
            code="too-few-targets",
        )
    return _within(name, array, low, high)


def table(name: str, values: ArrayLike, *, columns: int) -> Numbers:
    """Check users x repeats: at least one user and `columns` repeats, all from 0 to 1.

    Args:
        name: Name of the argument, for messages.
        values: Users x repeats.
        columns: How many repeats there must be.
    """
    array = _floats(name, values)
    if array.ndim != _AXES or array.shape[0] < 1 or array.shape[1] < columns:
        raise InvalidInput(
            f"{name} has one row per user and at least {columns} repeats, "
            f"got shape {array.shape}; repeat each user's release {columns} times or more",
            code="wrong-shape",
        )
    return _within(name, array, 0.0, 1.0)


def claims_and_credits(
    claimed: ArrayLike, credits_: ArrayLike, *, least: int = 1
) -> tuple[Numbers, Numbers]:
    """Check claims and credits: one number each for the same targets.

    Args:
        claimed: Chance that each guess is right, as the attacker claims.
        credits_: What each guess earned.
        least: How many targets there must be.
    """
    claims = numbers("claimed", claimed, least=least)
    right = numbers("credits", credits_, least=least)
    if len(claims) != len(right):
        raise InvalidInput(
            f"claimed has {len(claims)} targets and credits {len(right)}; "
            "pass both for the same targets, in the same order",
            code="length-mismatch",
        )
    return claims, right


def _floats(name: str, values: ArrayLike) -> Numbers:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as wrong:
        raise InvalidInput(
            f"{name} holds numbers only ({wrong}); convert them first", code="not-a-number"
        ) from wrong


def _within(name: str, array: Numbers, low: float, high: float) -> Numbers:
    outside = ~((array >= low) & (array <= high))
    if outside.any():
        where = tuple(int(index) for index in np.argwhere(outside)[0])
        place = ", ".join(map(str, where))
        raise InvalidInput(
            f"{name} are between {low:g} and {high:g}, got {array[where]:g} at position {place}; "
            "leave out what could not be assessed, and divide percentages by 100",
            code="out-of-range",
        )
    return array


def refuse_repeats(name: str, users: NDArray[np.integer]) -> None:
    """Refuse two rows of one user: every interval takes rows to be of independent people.

    Args:
        name: Name of the rows, for messages.
        users: The user of each row.
    """
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
