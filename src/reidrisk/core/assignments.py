"""Assign targets to rows, each row once, so that the sum of whole-number scores is largest.

The assignment is exact: targets are placed one after the other along shortest paths of changes
(Jonker and Volgenant, Computing 38, 1987), here over lists of the rows that each target may have.
Every row has a price, 0 for rows that nobody has. At any time each placed target has what is best
for it at these prices, which proves that the sum is the largest.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import NOBODY
from reidrisk.core.parallel import Array, Number, kernel, listen

Whole = NDArray[np.int64]

_WAITING = -2
"""Instead of a row: the target is not placed yet."""

_AT_A_TIME = 1 << 8
"""Targets that one call of a kernel places: threads hear an interrupt between calls."""

_BIDS = 20
"""Bids for each target, on average, before paths are searched."""

_FAR = np.iinfo(np.int64).max


def largest_assignment(rows: Whole, gains: Whole, order: Whole) -> Whole:
    """The row of each target, or `NOBODY`, so that the sum of gains is largest.

    Of several assignments with the largest sum one is found that depends on `order`, and on the
    order in which rows are listed.

    Args:
        rows: The rows that each target may have, targets x K; `NOBODY` behind the last of a list.
        gains: What each is worth to the target beyond going without, at most 2**60. A row that is
            worth less than that, below 0, is never given to it.
        order: All targets, in the order in which they are placed.

    Example:
        >>> from reidrisk.core.assignments import largest_assignment
        >>> rows, gains = np.array([[0, 1], [0, 1]]), np.array([[9, 8], [7, 2]])
        >>> largest_assignment(rows, gains, np.arange(2)).tolist()
        [1, 0]
    """
    names, listed = np.unique(rows, return_inverse=True)
    nobody = int(names.size > 0 and names[0] == NOBODY)
    # Rows that nobody lists have no number, so that arrays are as small as they can be.
    listed = np.ascontiguousarray(listed.reshape(rows.shape) - nobody)
    count, gains = len(names) - nobody, np.ascontiguousarray(gains)
    price, holder = np.zeros(count, np.int64), np.full(count, NOBODY)
    market = _Market(listed, gains, price, holder, np.full(len(rows), _WAITING))
    _bid(market, order, _BIDS * len(rows))
    held, search = market.held, _Search.among(count)
    waiting = order[held[order] == _WAITING]
    for start in range(0, len(waiting), _AT_A_TIME):
        listen()
        _place(market, search, waiting[start : start + _AT_A_TIME])
    placed = held >= 0
    held[placed] = names[nobody:][held[placed]]
    return held


class _Market(NamedTuple):
    """Who lists which rows, what they cost, and who has them.

    Attributes:
        rows: The rows that each target lists.
        gains: What each is worth.
        price: Of each row; 0 if nobody has it.
        holder: The target that has each row, or `NOBODY`.
        held: The row that each target has, `NOBODY`, or `_WAITING`.
    """

    rows: Whole
    gains: Whole
    price: Whole
    holder: Whole
    held: Whole


class _Search(NamedTuple):
    """A search for the shortest path of changes that gives a target a row.

    Attributes:
        far: What changes up to each row cost; `_FAR` if none was found.
        came: The target that would take each row.
        touched: The rows that were found.
        heap: Rows that somebody has, and from which the search goes on; the nearest on top.
        place_in: Where each of them is in the heap.
        sizes: How many rows were touched, and how many are in the heap.
        end: Where the best path so far ends: its cost, the last target, and its new row.
    """

    far: Whole
    came: Whole
    touched: Whole
    heap: Whole
    place_in: Whole
    sizes: Whole
    end: Whole

    @classmethod
    def among(cls, rows: int) -> "_Search":
        """Before anything was found."""
        came, touched, heap, place_in = np.empty((4, rows), np.int64)
        sizes, end = np.zeros(2, np.int64), np.empty(3, np.int64)
        return cls(np.full(rows, _FAR), came, touched, heap, place_in, sizes, end)


_TOUCHED, _IN_HEAP = 0, 1
_COST, _TARGET, _ROW = 0, 1, 2


@kernel
def _bid(market: _Market, order: Array, most: int) -> None:
    """Let targets outbid each other for a while; those who lost a row last are left waiting.

    A bid raises the price until the row is worth no more to the bidder than its second choice.
    """
    queue = order[::-1].copy()
    size, bids = len(queue), 0
    while size > 0 and bids < most:
        bids += 1
        size -= 1
        target = queue[size]
        row, lead = _choice(market, target)
        if row < 0:
            market.held[target] = NOBODY
            continue
        before = market.holder[row]
        if before >= 0:
            if lead == 0:
                continue  # two would turn each other out for ever; a path is searched later
            market.held[before] = _WAITING
            queue[size] = before
            size += 1
        market.price[row] += lead
        market.holder[row], market.held[target] = target, row


@kernel
def _choice(market: _Market, target: int) -> Any:
    """The row that is best for a target at these prices, and its lead over what is second."""
    best, second, row = np.int64(0), np.int64(0), np.int64(-1)
    for place in range(market.rows.shape[1]):
        other = market.rows[target, place]
        if other < 0:
            break
        worth = market.gains[target, place] - market.price[other]
        # Of equal rows one that nobody has is better: nobody is turned out for nothing.
        if worth > best or (worth == best and (row < 0 or market.holder[other] < 0)):
            best, second, row = worth, best, other
        elif worth > second:
            second = worth
    return row, best - second


@kernel
def _place(market: _Market, search: _Search, waiting: Array) -> None:
    """Place each waiting target along the shortest path of changes, and raise prices with it.

    The distance of a row is what the changes up to it cost. A path ends at a row that nobody has,
    or at a target that goes without.
    """
    far, heap, sizes, end = search.far, search.heap, search.sizes, search.end
    for start in waiting:
        end[_COST] = _FAR
        _look(market, search, start, 0, _most_worth(market, start))
        while sizes[_IN_HEAP] > 0 and far[heap[0]] < end[_COST]:
            row = heap[0]
            _drop_first(search)
            target = market.holder[row]
            _look(market, search, target, far[row], _worth(market, target, row))
        _change(market, search, start)
        for place in range(sizes[_TOUCHED]):
            row = search.touched[place]
            if far[row] < end[_COST]:
                market.price[row] += end[_COST] - far[row]
            far[row] = _FAR
        sizes[:] = 0


@kernel
def _most_worth(market: _Market, target: int) -> Number:
    """What the best row is worth to a target; 0 if it had better go without."""
    best = np.int64(0)
    for place in range(market.rows.shape[1]):
        row = market.rows[target, place]
        if row < 0:
            break
        best = max(best, market.gains[target, place] - market.price[row])
    return best


@kernel
def _worth(market: _Market, target: int, row: int) -> Number:
    """What a listed row is worth to a target."""
    place = 0
    while market.rows[target, place] != row:
        place += 1
    return market.gains[target, place] - market.price[row]


@kernel
def _look(market: _Market, search: _Search, target: int, distance: int, worth: int) -> None:
    """Let a target look for another row than it has, worth so much, which is so far away."""
    far, end = search.far, search.end
    if distance + worth < end[_COST]:
        end[_COST], end[_TARGET], end[_ROW] = distance + worth, target, NOBODY
    for place in range(market.rows.shape[1]):
        row = market.rows[target, place]
        if row < 0:
            break
        cost = distance + worth - (market.gains[target, place] - market.price[row])
        if cost < far[row] and cost < end[_COST]:
            free = market.holder[row] < 0
            if free:
                end[_COST], end[_TARGET], end[_ROW] = cost, target, row
            _reach(search, row, cost, target, free)


@kernel
def _reach(search: _Search, row: int, cost: int, target: int, free: bool) -> None:
    """Note that a row is nearer than was known; the search goes on from it unless it is free."""
    sizes = search.sizes
    if search.far[row] == _FAR:
        search.touched[sizes[_TOUCHED]] = row
        sizes[_TOUCHED] += 1
        if not free:
            search.place_in[row] = sizes[_IN_HEAP]
            sizes[_IN_HEAP] += 1
    search.far[row], search.came[row] = cost, target
    if not free:
        _rise(search.heap, search.place_in, search.far, row)


@kernel
def _change(market: _Market, search: _Search, start: int) -> None:
    """Make the changes of a path, from its end back to the target that began it."""
    target, row = search.end[_TARGET], search.end[_ROW]
    while True:
        before = market.held[target]
        market.held[target] = row
        if row >= 0:
            market.holder[row] = target
        if target == start:
            break
        row = before
        target = search.came[row]


@kernel
def _rise(heap: Array, place_in: Array, far: Array, row: int) -> None:
    """Move a row up from its place until none that is farther is above it."""
    place = place_in[row]
    while place > 0:
        parent = (place - 1) >> 1
        if far[heap[parent]] <= far[row]:
            break
        heap[place] = heap[parent]
        place_in[heap[place]] = place
        place = parent
    heap[place] = row
    place_in[row] = place


@kernel
def _drop_first(search: _Search) -> None:
    """Take the nearest row out of the heap, and move the last one down from the top."""
    heap, place_in, far = search.heap, search.place_in, search.far
    search.sizes[_IN_HEAP] -= 1
    size, place = search.sizes[_IN_HEAP], 0
    row = heap[size]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and far[heap[child + 1]] < far[heap[child]]:
            child += 1
        if far[heap[child]] >= far[row]:
            break
        heap[place] = heap[child]
        place_in[heap[place]] = place
        place = child
    heap[place] = row
    place_in[row] = place
