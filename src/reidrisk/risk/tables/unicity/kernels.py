"""Loops over points: gathered by user and by point, chosen, and their holders intersected.

The points of user u are `points[starts[u]:starts[u + 1]]`, perhaps with repeats. The users who have
point t, its holders, are the first `support[t]` of `holders[first[t]:]`, ascending, each once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel

Array = NDArray[Any]

NONE = -1
"""Where a person has no further point."""


@kernel
def gather(users: Array, points: Array, place: Array, gathered: Array) -> None:
    """Write points user by user; `place` is where those of each user begin, and is used up."""
    for row in range(users.size):
        user = users[row]
        gathered[place[user]] = points[row]
        place[user] += 1


@kernel
def post(starts: Array, points: Array, first: Array, support: Array, holders: Array) -> None:
    """Write the holders of each point; `support` begins with zeros."""
    for user in range(starts.size - 1):
        for at in range(starts[user], starts[user + 1]):
            point = points[at]
            end = first[point] + support[point]
            # Users come in order, so that a repeat stands at the end.
            if support[point] == 0 or holders[end - 1] != user:
                holders[end] = user
                support[point] += 1


@kernel
def distinct(points: Array) -> Array:
    """The points of a person, ascending, each once."""
    own = np.sort(points)
    size = 0
    for at in range(own.size):
        if at == 0 or own[at] != own[at - 1]:
            own[size] = own[at]
            size += 1
    return own[:size]


@kernel
def draw_points(starts: Array, points: Array, targets: Array, draws: Array, chosen: Array) -> None:
    """Draw points without replacement; the first of them do not depend on how many are drawn."""
    for row in range(targets.size):
        own = distinct(points[starts[targets[row]] : starts[targets[row] + 1]])
        for place in range(chosen.shape[1]):
            if place >= own.size:
                chosen[row, place] = NONE
                continue
            at = place + int(draws[row, place] * (own.size - place))
            own[place], own[at] = own[at], own[place]
            chosen[row, place] = own[place]


@kernel
def rarest_points(
    starts: Array, points: Array, targets: Array, support: Array, chosen: Array
) -> None:
    """Choose the points that the fewest have; among equals, the lowest number."""
    for row in range(targets.size):
        own = distinct(points[starts[targets[row]] : starts[targets[row] + 1]])
        for place in range(chosen.shape[1]):
            if place >= own.size:
                chosen[row, place] = NONE
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
    """Write what two ascending lists have in common; returns how much it is.

    `common` may be one of the two: a member is written no further along than it is read.
    """
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
def crowd_sizes(chosen: Array, first: Array, support: Array, holders: Array, sizes: Array) -> None:
    """Count who has the first, the first two, the first three of the chosen points."""
    largest = 1
    for row in range(chosen.shape[0]):
        if chosen[row, 0] != NONE:
            largest = max(largest, support[chosen[row, 0]])
    crowd = np.empty(largest, holders.dtype)
    for row in range(chosen.shape[0]):
        size = 0
        for place in range(chosen.shape[1]):
            point = chosen[row, place]
            if point == NONE:
                sizes[row, place:] = 0
                break
            having = holders[first[point] : first[point] + support[point]]
            if place == 0:
                size = having.size
                for one in range(size):
                    crowd[one] = having[one]
            elif having.size < size:
                size = intersect(having, crowd[:size], crowd)
            else:
                size = intersect(crowd[:size], having, crowd)
            sizes[row, place] = size
