"""Turn when the items of users came into further tokens of their bags.

| kind | a token is | each counts |
| --- | --- | --- |
| habit | an hour of the week, a part of it, a weekday, an hour, a gap since the last | a visit |
| date | a minute or an hour of the calendar | a visit |
| item habit | an item in a part of the day | a row |
| item date | an item on a day | a row |

A visit is a user at one time. Where a table has days only, hours and parts of the day are left out,
and dates are days. Tokens of dates and items are left out unless both tables hold them: those of a
period that only one of them covers tell nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.rows import BagRows

Whole = NDArray[np.int64]

HABIT, DATE, ITEM_HABIT, ITEM_DATE = "habit", "date", "item habit", "item date"
"""Kinds of tokens that are times; those of items have the kind ''."""

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_PART, _WEEK = 4 * _HOUR, 7 * _DAY
_MONDAY = 4 * _DAY
"""The first Monday of 1970."""


@dataclass(frozen=True, eq=False, slots=True)
class Events:
    """When the items of a table came, a row each.

    Args:
        bags: The number of the bag.
        items: The token.
        seconds: Since 1970.
    """

    bags: Whole
    items: Whole
    seconds: Whole

    @property
    def visits(self) -> "Events":
        """Each time of a bag once, in order; what came then does not matter."""
        order = np.lexsort((self.seconds, self.bags))
        bags, seconds = self.bags[order], self.seconds[order]
        first = (np.diff(bags, prepend=-1) != 0) | (np.diff(seconds, prepend=seconds[:1]) != 0)
        return Events(bags[first], np.zeros(first.sum(), np.int64), seconds[first])


@dataclass(frozen=True, eq=False, slots=True)
class _TimedBags:
    """Bags of items that also hold tokens of when these came.

    Args:
        known: Bags of known users.
        anonymous: Bags whose user is wanted.
        labels: The names of the tokens; items come first.
        kinds: By token: what it tells of time, '' if it is an item.
    """

    known: BagRows
    anonymous: BagRows
    labels: NDArray[Any]
    kinds: NDArray[np.str_]


class _Tokens(NamedTuple):
    """Tokens of one sort: the bag and the code of each, in both tables."""

    kind: str
    name: str
    known: tuple[Whole, Whole]
    anonymous: tuple[Whole, Whole]


def with_times(
    known: BagRows, here: Events, anonymous: BagRows, there: Events, labels: NDArray[Any]
) -> _TimedBags:
    """Bags of two tables with tokens of when their items came.

    Args:
        known: Bags of known users.
        here: When their items came.
        anonymous: Bags whose user is wanted.
        there: When their items came.
        labels: The names of the items.
    """
    from scipy import sparse  # heavy, and few need it

    names, kinds = [np.asarray(labels, object)], [np.full(len(labels), "", object)]
    parts: tuple[list[Any], list[Any]] = ([known.to_csr()], [anonymous.to_csr()])
    for one in _sorts(here, there):
        codes = _codes(one)
        names.append(np.array([f"{one.name} {code}" for code in codes.tolist()], object))
        kinds.append(np.full(len(codes), one.kind, object))
        for held, (bags, spans), rows in zip(
            parts, (one.known, one.anonymous), (known, anonymous), strict=True
        ):
            kept = np.isin(spans, codes)
            places = np.searchsorted(codes, spans[kept])
            ones = np.ones(len(places), np.int64)
            shape = (rows.users, len(codes))
            held.append(sparse.csr_matrix((ones, (bags[kept], places)), shape))
    mine, theirs = (_bags(sparse.hstack(held).tocsr()) for held in parts)
    return _TimedBags(mine, theirs, np.concatenate(names), np.concatenate(kinds).astype(np.str_))


def _bags(counts: Any) -> BagRows:
    counts.sort_indices()
    return BagRows.of(counts.indices, counts.indptr, tokens=counts.shape[1], counts=counts.data)


def _codes(one: _Tokens) -> Whole:
    """The codes that become tokens, ascending."""
    here, there = one.known[1], one.anonymous[1]
    return np.union1d(here, there) if one.kind == HABIT else np.intersect1d(here, there)


def _sorts(here: Events, there: Events) -> Iterator[_Tokens]:
    """All sorts of tokens of two tables, as fine as the coarser of them is written."""
    visits = here.visits, there.visits
    clock = all((one.seconds % _DAY).any() for one in visits)

    def of_visits(kind: str, name: str, length: int, within: int | None = None) -> _Tokens:
        return _Tokens(kind, name, *(_at(one, length, within) for one in visits))

    yield of_visits(HABIT, "weekday", _DAY, _WEEK)
    if clock:
        yield of_visits(HABIT, "hour of the week", _HOUR, _WEEK)
        yield of_visits(HABIT, "part of the week", _PART, _WEEK)
        yield of_visits(HABIT, "hour", _HOUR, _DAY)
    yield _Tokens(HABIT, "gap", *(_gaps(one, clock=clock) for one in visits))
    for name, length in (("minute", _MINUTE), ("date hour", _HOUR)) if clock else (("date", _DAY),):
        yield of_visits(DATE, name, length)
    length, within = (_PART, _DAY) if clock else (_DAY, _WEEK)
    items = int(max(here.items.max(), there.items.max())) + 1
    yield _Tokens(
        ITEM_HABIT,
        "item in part",
        *(_of_items(one, items, length, within) for one in (here, there)),
    )
    yield _Tokens(ITEM_DATE, "item on", *(_of_items(one, items, _DAY) for one in (here, there)))


def _at(events: Events, length: int, within: int | None = None) -> tuple[Whole, Whole]:
    """Bags, and the number of the span of time: since 1970, or since the span around it began."""
    seconds = events.seconds - _MONDAY
    return events.bags, (seconds if within is None else seconds % within) // length


def _of_items(
    events: Events, items: int, length: int, within: int | None = None
) -> tuple[Whole, Whole]:
    """Bags, and the number of the span of time together with the item."""
    bags, spans = _at(events, length, within)
    return bags, spans * items + events.items


def _gaps(visits: Events, *, clock: bool) -> tuple[Whole, Whole]:
    """Bags, and the logarithm of the time since the last visit, as a whole number."""
    same = np.diff(visits.bags) == 0
    gaps = np.diff(visits.seconds)[same] / (_HOUR if clock else _DAY)
    steps = 1 if clock else 2
    return visits.bags[1:][same], np.rint(steps * np.log2(gaps)).astype(np.int64)
