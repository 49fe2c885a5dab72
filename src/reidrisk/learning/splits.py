"""Split users into those who train, who decide when to stop, and who are measured.

The draw that decides belongs to a user: the order of users does not matter, and adding a user moves
nobody else. Rows without ids are named by what they hold.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, whole_number
from reidrisk.core.randomness import Users, uniforms
from reidrisk.errors import InvalidInput

_LEAST = 10
"""Users of a part: fewer say nothing about others."""

MULTIPLIER, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
"""Of a multiplicative hash: 2**64 over the golden ratio. It is odd, so no bits are lost."""


@dataclass(frozen=True, slots=True)
class _UserSplit:
    """Numbers of users, each in exactly one part, in random order.

    Attributes:
        training: They are learned from.
        held_out: They decide when to stop.
        tested: Figures are of them.
    """

    training: NDArray[np.int64]
    held_out: NDArray[np.int64]
    tested: NDArray[np.int64]


def split_users(
    names: Users,
    *,
    seed: int,
    held_out: float = 0.1,
    tested: float = 0.1,
    least: int = _LEAST,
) -> _UserSplit:
    """Split users at random.

    Args:
        names: One for each user: ids, or `names_of` their rows.
        seed: Seed of the random draws.
        held_out: Share of users who decide when to stop.
        tested: Share of users whom figures are of; 0 if these are others altogether.
        least: Users that a part must have, unless its share is 0.

    Raises:
        InvalidInput: A part has fewer.
    """
    shares = {
        "tested": probability("tested", tested),
        "held out": probability("held_out", held_out),
    }
    if sum(shares.values()) >= 1:
        raise InvalidInput(
            f"held_out and tested are shares of all users, and {held_out:g} and {tested:g} leave "
            "nobody to learn from; lower one",
            code="nobody-left",
        )
    draws = uniforms(seed=seed, purpose="learning/parts", users=names, count=1)[:, 0]
    # A user is tested or held out by its own draw alone, so the sizes of parts are random.
    order = np.argsort(draws, kind="stable")
    ends = np.searchsorted(draws[order], np.cumsum(list(shares.values())))
    tests, held, rest = np.split(order, ends)
    found = {"learned from": rest, "held out": held, "tested": tests}
    lacking = [part for part, one in found.items() if one.size < least and shares.get(part, 1)]
    if lacking:
        sizes = ", ".join(f"{one.size:,} are {part}" for part, one in found.items())
        raise InvalidInput(
            f"{len(names):,} users are too few to split: {sizes}, and each part needs at least "
            f"{whole_number('least', least, least=1):,}; use more users",
            code="too-few-users",
        )
    return _UserSplit(rest, held, tests)


def names_of(rows: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Names of rows by what they hold and by how many equal rows came before.

    Equal rows differ in nothing else, so any order of users gives the same set of names.
    """
    contents = contents_of(rows)
    both = np.column_stack([contents, times_before(contents)])
    return contents_of(both.view(np.int64))


def contents_of(rows: NDArray[np.integer]) -> NDArray[np.uint64]:
    """A number for each row that is the same for the same tokens, whatever type holds them."""
    hashes = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        # Multiplying carries bits only upwards; the shift brings high bits down again.
        hashes = (hashes ^ (hashes >> _SHIFT)) * MULTIPLIER
        hashes += column.astype(np.int64).view(np.uint64)
    return hashes


def times_before(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """How often the value of each place stands at earlier places."""
    order = np.argsort(values, kind="stable")
    places, ordered = np.arange(values.size), values[order]
    first = np.ones(values.size, bool)
    first[1:] = ordered[1:] != ordered[:-1]
    before = np.empty(values.size, np.uint64)
    before[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return before
