"""Compiled loops over cells: the tokens of one user in one epoch.

The cells of all users stand one after the other, user by user and epoch by epoch; `starts` has the
place where each begins, and one more for the end. Inside a cell tokens ascend.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.observations import MISSING
from reidrisk.parallel import kernel

Numbers = NDArray[Any]

# Shorter cells are sorted by insertion.
SHORT = 32


@kernel
def ascend(users: Numbers, epochs: Numbers, tokens: Numbers) -> bool:
    """Whether the rows are sorted by user, epoch, token, and no two are equal."""
    for row in range(1, users.size):
        if users[row] != users[row - 1]:
            if users[row] < users[row - 1]:
                return False
        elif epochs[row] != epochs[row - 1]:
            if epochs[row] < epochs[row - 1]:
                return False
        elif tokens[row] <= tokens[row - 1]:
            return False
    return True


@kernel
def count_cells(users: Numbers, epochs: Numbers, length: int, starts: Numbers) -> None:
    """Fill `starts`, which holds zeros, with the place where each cell begins."""
    for row in range(users.size):
        starts[np.int64(users[row]) * length + epochs[row] + 1] += 1
    for cell in range(1, starts.size):
        starts[cell] += starts[cell - 1]


@kernel
def scatter(
    users: Numbers, epochs: Numbers, tokens: Numbers, weights: Numbers,
    free: Numbers, members: Numbers, sizes: Numbers,
) -> None:  # fmt: skip
    """Move each row to the next free place of its cell; `free` is users x epochs."""
    for row in range(users.size):
        place = free[users[row], epochs[row]]
        free[users[row], epochs[row]] = place + 1
        members[place] = tokens[row]
        sizes[place] = weights[row]


@kernel
def sort_cells(starts: Numbers, members: Numbers, weights: Numbers) -> None:
    """Sort each cell by token, and equal tokens by weight."""
    for cell in range(starts.size - 1):
        start, stop = starts[cell], starts[cell + 1]
        if stop - start > SHORT:
            order = np.argsort(members[start:stop], kind="mergesort")
            members[start:stop] = members[start:stop][order]
            weights[start:stop] = weights[start:stop][order]
        for place in range(start + 1, stop):
            member, weight = members[place], weights[place]
            at = place
            while at > start and (
                members[at - 1] > member or (members[at - 1] == member and weights[at - 1] > weight)
            ):
                members[at], weights[at] = members[at - 1], weights[at - 1]
                at -= 1
            members[at], weights[at] = member, weight


@kernel
def first_repeat(starts: Numbers, members: Numbers) -> int:
    """Place of the first token that stands twice in its cell, or -1."""
    for cell in range(starts.size - 1):
        for place in range(starts[cell] + 1, starts[cell + 1]):
            if members[place] == members[place - 1]:
                return place
    return -1


@kernel
def merge_repeats(starts: Numbers, members: Numbers, weights: Numbers) -> None:
    """Add up the weights of equal tokens of a cell; `starts` and the front of the rest change."""
    end = 0
    start = starts[0]
    for cell in range(starts.size - 1):
        stop = starts[cell + 1]
        begin = end
        for place in range(start, stop):
            if end > begin and members[end - 1] == members[place]:
                weights[end - 1] += weights[place]
            else:
                members[end], weights[end] = members[place], weights[place]
                end += 1
        start = stop
        starts[cell + 1] = end


@kernel
def remove_zeros(starts: Numbers, members: Numbers, weights: Numbers) -> None:
    """Move what has weight to the front of the cells; `starts` changes with it."""
    end = 0
    start = starts[0]
    for cell in range(starts.size - 1):
        stop = starts[cell + 1]
        for place in range(start, stop):
            if weights[place] > 0:
                members[end], weights[end] = members[place], weights[place]
                end += 1
        start = stop
        starts[cell + 1] = end


@kernel
def fill_top_sets(
    starts: Numbers, members: Numbers, weights: Numbers, asked: Numbers,
    tokens: int, draws: Numbers, sets: Numbers,
) -> None:  # fmt: skip
    """Write the top set of each cell, ascending; `MISSING` where none is asked for.

    Each set has as many draws as tokens: they choose among ties at the edge, or pad.
    """
    users, epochs, top = sets.shape
    best, taken = np.empty(top, weights.dtype), np.empty(top, np.int64)
    for user in range(users):
        for epoch in range(epochs):
            if not asked[user, epoch]:
                sets[user, epoch] = MISSING
                continue
            cell = user * epochs + epoch
            start, stop = starts[cell], starts[cell + 1]
            chance = draws[user, epoch * top : (epoch + 1) * top]
            if stop - start <= top:
                for place in range(start, stop):
                    taken[place - start] = members[place]
                _draw(taken, stop - start, top, tokens, chance)
                for place in range(top):
                    sets[user, epoch, place] = taken[place]
            else:
                _choose(
                    members[start:stop], weights[start:stop], best, taken, chance, sets[user, epoch]
                )


@kernel
def _choose(
    members: Numbers, weights: Numbers, best: Numbers, taken: Numbers, chance: Numbers, out: Numbers
) -> None:
    """The heaviest members, ties at the edge drawn; there are more members than places."""
    top = out.size
    best[:] = -1
    for weight in weights:
        at = top
        while at > 0 and best[at - 1] < weight:
            if at < top:
                best[at] = best[at - 1]
            at -= 1
        if at < top:
            best[at] = weight
    edge = best[top - 1]
    above, tied = 0, 0
    for weight in weights:
        above += weight > edge
        tied += weight == edge
    _draw(taken, 0, top - above, tied, chance)
    place, rank, drawn = 0, 0, 0
    for index in range(members.size):
        chosen = weights[index] > edge
        if weights[index] == edge:
            if drawn < top - above and taken[drawn] == rank:
                chosen = True
                drawn += 1
            rank += 1
        if chosen:
            out[place] = members[index]
            place += 1


@kernel
def _draw(taken: Numbers, count: int, wanted: int, total: int, chance: Numbers) -> None:
    """Extend the ascending numbers in `taken` to `wanted`, uniformly among 0 .. total - 1."""
    for draw in range(wanted - count):
        number = np.int64(chance[draw] * (total - count))
        at = 0
        while at < count and taken[at] <= number:
            number += 1
            at += 1
        for place in range(count, at, -1):
            taken[place] = taken[place - 1]
        taken[at] = number
        count += 1
