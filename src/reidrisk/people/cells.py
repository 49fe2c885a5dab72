"""Compiled loops over cells, the tokens of one user in one epoch.

The cells of all users stand one after the other, user by user and epoch by epoch; `starts` has the
place where each begins, and one more for the end. Inside a cell tokens ascend.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.core.parallel import kernel

Numbers = NDArray[Any]

# Steps of a Shell sort (Ciura 2001). Most cells are short, so only the last step touches them.
_GAPS = (701, 301, 132, 57, 23, 10, 4, 1)


@kernel
def count_cells(
    users: Numbers, epochs: Numbers, tokens: Numbers, length: int, starts: Numbers
) -> bool:
    """Fill `starts`, which holds zeros, with the place where each cell begins.

    Returns:
        Whether the rows are sorted by user, epoch, token, and no two are equal.
    """
    ascend, last = True, np.int64(-1)
    for row in range(users.size):
        cell = np.int64(users[row]) * length + epochs[row]
        starts[cell + 1] += 1
        if cell < last or (cell == last and tokens[row] <= tokens[row - 1]):
            ascend = False
        last = cell
    for cell in range(1, starts.size):
        starts[cell] += starts[cell - 1]
    return ascend


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
        for gap in _GAPS:
            for place in range(start + gap, stop):
                member, weight = members[place], weights[place]
                at = place
                while at >= start + gap and (
                    members[at - gap] > member
                    or (members[at - gap] == member and weights[at - gap] > weight)
                ):
                    members[at], weights[at] = members[at - gap], weights[at - gap]
                    at -= gap
                members[at], weights[at] = member, weight


def first_repeat(starts: Numbers, members: Numbers) -> int:
    """Place of the first token that stands twice in its cell, or -1."""
    places = np.flatnonzero(members[1:] == members[:-1]) + 1
    # Where a cell begins, an equal token before it is in another cell, and no repeat.
    inside = starts[np.searchsorted(starts, places)] != places
    return int(places[np.argmax(inside)]) if inside.any() else -1


@kernel
def merge_repeats(starts: Numbers, members: Numbers, weights: Numbers) -> None:
    """Add up the weights of equal tokens of a cell; `starts` and the front of the rest change."""
    end = 0
    start = starts[0]
    for cell in range(starts.size - 1):
        stop = starts[cell + 1]
        begin = end
        for place in range(start, stop):
            # Only within the cell: the one before may end with the same token.
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
            out = sets[user, epoch]
            if not asked[user, epoch]:
                out[:] = MISSING
                continue
            cell = user * epochs + epoch
            start, stop = starts[cell], starts[cell + 1]
            held, wanted, among = stop - start, top, tokens
            if held > top:  # too many: draw among those tied at the edge, by their ranks there
                above, tied = _edge(weights[start:stop], best)
                held, wanted, among = 0, top - above, tied
            for place in range(held):
                taken[place] = members[start + place]
            _draw(taken, held, wanted, among, draws[user, epoch * top : (epoch + 1) * top])
            if stop - start > top:
                drawn = taken[:wanted]
                _keep(members[start:stop], weights[start:stop], best[top - 1], drawn, out)
            else:
                for place in range(top):
                    out[place] = taken[place]


@kernel
def _edge(weights: Numbers, best: Numbers) -> tuple[int, int]:
    """Fill `best` with the largest weights; how many are above the least of them, and equal it."""
    top = best.size
    # Below every weight, since weights are above 0, and below every rank.
    best[:] = -1
    for weight in weights:
        at = top
        while at > 0 and best[at - 1] < weight:
            if at < top:
                best[at] = best[at - 1]
            at -= 1
        if at < top:
            best[at] = weight
    above, tied = 0, 0
    for weight in weights:
        above += weight > best[top - 1]
        tied += weight == best[top - 1]
    return above, tied


@kernel
def _draw(taken: Numbers, count: int, wanted: int, total: int, chance: Numbers) -> None:
    """Extend the ascending numbers in `taken` to `wanted`, uniformly among 0 .. total - 1."""
    for draw in range(wanted - count):
        # A number among those not taken becomes one among all by skipping those taken below it.
        number = np.int64(chance[draw] * (total - count))
        at = 0
        while at < count and taken[at] <= number:
            number += 1
            at += 1
        for place in range(count, at, -1):
            taken[place] = taken[place - 1]
        taken[at] = number
        count += 1


@kernel
def _keep(members: Numbers, weights: Numbers, edge: float, drawn: Numbers, out: Numbers) -> None:
    """Those above the edge, and of those on it the ones whose rank was drawn."""
    place, rank, used = 0, 0, 0
    for index in range(members.size):
        chosen = weights[index] > edge
        if weights[index] == edge:
            if used < drawn.size and drawn[used] == rank:
                chosen = True
                used += 1
            rank += 1
        if chosen:
            out[place] = members[index]
            place += 1
