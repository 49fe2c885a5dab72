"""Points of people and the loops that gather, choose and intersect them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel, over_blocks
from reidrisk.core.randomness import uniforms
from reidrisk.risk.tables.records import Known

Array = NDArray[Any]

_NONE = -1
"""Where a person has no further point."""


@kernel
def _gather(users: Array, points: Array, place: Array, gathered: Array) -> None:
    """Write points user by user; `place` is where those of each user begin, and is used up."""
    for row in range(users.size):
        user = users[row]
        gathered[place[user]] = points[row]
        place[user] += 1


@kernel
def _post(starts: Array, points: Array, first: Array, support: Array, holders: Array) -> None:
    """Write the holders of each point; `support` begins with zeros."""
    for user in range(starts.size - 1):
        for at in range(starts[user], starts[user + 1]):
            point = points[at]
            end = first[point] + support[point]
            # Users come in order, so a repeated user would be the last holder written.
            if support[point] == 0 or holders[end - 1] != user:
                holders[end] = user
                support[point] += 1


@kernel
def _distinct(points: Array) -> Array:
    """The points of a person, ascending, each once."""
    own = np.sort(points)
    size = 0
    for at in range(own.size):
        if at == 0 or own[at] != own[at - 1]:
            own[size] = own[at]
            size += 1
    return own[:size]


@kernel
def _draw_points(starts: Array, points: Array, targets: Array, draws: Array, chosen: Array) -> None:
    """Draw points without replacement; the first of them do not depend on how many are drawn."""
    for row in range(targets.size):
        own = _distinct(points[starts[targets[row]] : starts[targets[row] + 1]])
        for place in range(chosen.shape[1]):
            if place >= own.size:
                chosen[row, place] = _NONE
                continue
            # Fisher and Yates: what was drawn stays in front, so fewer points are a prefix of more.
            at = place + int(draws[row, place] * (own.size - place))
            own[place], own[at] = own[at], own[place]
            chosen[row, place] = own[place]


@kernel
def _rarest_points(
    starts: Array, points: Array, targets: Array, support: Array, chosen: Array
) -> None:
    """Choose the points that the fewest have; among equals, the lowest number."""
    for row in range(targets.size):
        own = _distinct(points[starts[targets[row]] : starts[targets[row] + 1]])
        for place in range(chosen.shape[1]):
            if place >= own.size:
                chosen[row, place] = _NONE
                continue
            best = place
            for at in range(place + 1, own.size):
                fewer = support[own[at]] < support[own[best]]
                equal = support[own[at]] == support[own[best]]
                if fewer or (equal and own[at] < own[best]):
                    best = at
            own[place], own[best] = own[best], own[place]
            chosen[row, place] = own[place]


@kernel
def intersect(short: Array, long: Array, common: Array) -> int:
    """Write the members common to two ascending lists; returns their number.

    `common` may be one of the two: writing never overtakes reading.
    """
    # Galloping search: the step doubles, so a short list costs a logarithm of the long one each.
    found, low = 0, 0
    for at in range(short.size):
        wanted = short[at]
        step, high = 1, low
        while high < long.size and long[high] < wanted:
            low = high + 1
            high += step
            step *= 2
        high = min(high, long.size)
        while low < high:
            middle = (low + high) // 2
            if long[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == long.size:
            break
        if long[low] == wanted:
            common[found] = wanted
            found += 1
    return found


@kernel
def _crowd_sizes(chosen: Array, first: Array, support: Array, holders: Array, sizes: Array) -> None:
    """Count the people who have the first, the first two, the first three of the chosen points."""
    largest = 1
    for row in range(chosen.shape[0]):
        if chosen[row, 0] != _NONE:
            largest = max(largest, support[chosen[row, 0]])
    # One buffer for all targets: a crowd is never larger than the holders of its first point.
    crowd = np.empty(largest, holders.dtype)
    for row in range(chosen.shape[0]):
        size = 0
        for place in range(chosen.shape[1]):
            point = chosen[row, place]
            if point == _NONE:
                sizes[row, place:] = 0
                break
            having = holders[first[point] : first[point] + support[point]]
            if place == 0:
                size = having.size
                for one in range(size):
                    crowd[one] = having[one]
            elif having.size < size:
                # `intersect` walks through its first list, so the shorter one goes there.
                size = intersect(having, crowd[:size], crowd)
            else:
                size = intersect(crowd[:size], having, crowd)
            sizes[row, place] = size


Whole = NDArray[Any]

_TARGETS_AT_ONCE = 256


@dataclass(frozen=True, eq=False, slots=True)
class Points:
    """Who has which points; the loops above say how they are held.

    Attributes:
        ids: Of users, by their numbers.
        starts: Where the points of each user begin.
        points: User by user.
        first: Where the holders of each point begin.
        support: How many hold it.
        holders: Point by point, ascending.
    """

    ids: NDArray[Any]
    starts: Whole
    points: Whole
    first: Whole
    support: Whole
    holders: Whole

    @classmethod
    def of(cls, ids: NDArray[Any], users: Whole, points: Whole) -> Self:
        """Gather rows, each a user and a point, both numbered."""
        starts = _starts(users, len(ids))
        gathered = np.empty(len(points), np.int32)
        _gather(users, points, starts[:-1].copy(), gathered)
        first = _starts(points, int(points.max(initial=-1)) + 1)[:-1]
        support = np.zeros(len(first), np.int64)
        # Room for every row; where a user has a point twice, some of it stays unused.
        holders = np.empty(len(points), np.int32)
        _post(starts, gathered, first, support, holders)
        return cls(ids, starts, gathered, first, support, holders)

    def chosen(self, targets: Whole, number: int, *, known: Known, seed: int) -> Whole:
        """The points that an attacker knows of each target, targets x number; -1 beyond the last.

        The first of them are what an attacker knows who knows fewer.
        """
        chosen = np.empty((len(targets), number), np.int32)
        if known == "rarest":
            _rarest_points(self.starts, self.points, targets, self.support, chosen)
            return chosen
        draws = uniforms(seed=seed, purpose="unicity/points", users=self.ids[targets], count=number)
        _draw_points(self.starts, self.points, targets, draws, chosen)
        return chosen

    def crowds(self, chosen: Whole) -> Whole:
        """How many people have the first, the first two, ... of the points; 0 beyond the last."""
        sizes = np.empty(chosen.shape, np.int64)

        def work(start: int, stop: int) -> None:
            _crowd_sizes(
                chosen[start:stop], self.first, self.support, self.holders, sizes[start:stop]
            )

        over_blocks(work, len(chosen), _TARGETS_AT_ONCE)
        return sizes


def _starts(codes: Whole, number: int) -> Whole:
    starts = np.zeros(number + 1, np.int64)
    np.cumsum(np.bincount(codes, minlength=number), out=starts[1:])
    return starts


def reference_points(
    having: dict[Any, set[Any]], user: Any, number: int, draws: list[float] | None
) -> list[Any]:
    """The points that an attacker knows of a user, slowly: the definition of `chosen`.

    Args:
        having: The points of each user.
        user: The target.
        number: How many points the attacker knows at most.
        draws: A number from [0, 1) for each point, if they are random; None for the rarest.
    """
    own = sorted(having[user])
    if draws is None:
        rarity = {point: sum(point in other for other in having.values()) for point in own}
        return sorted(own, key=rarity.__getitem__)[:number]
    known = []
    for draw in draws[: min(number, len(own))]:
        at = int(draw * len(own))
        # As a swap does it: the first of those left takes the place of the one drawn.
        own[0], own[at] = own[at], own[0]
        known.append(own.pop(0))
    return known


def reference_crowds(having: dict[Any, set[Any]], known: list[Any]) -> list[int]:
    """How many people have the first points, slowly: the definition of `crowds`."""
    return [
        sum(other.issuperset(known[:first]) for other in having.values())
        for first in range(1, len(known) + 1)
    ]
