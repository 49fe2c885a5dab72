"""Where the rows of two sites meet: in their users, their epochs, and their tokens."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.io.alike import ENOUGH, Counts, Sides, doubts, refuse_apart
from reidrisk.io.labels import as_text, find, union
from reidrisk.io.site_tables import SiteRows

_ALIKE = "write it alike in both, such as 7, not 7 here and 7.0 or 007 there"
_PLAIN = 4


def users_of(here: SiteRows, there: SiteRows) -> Sides:
    """The users of two sites, of whom none is ever quoted."""
    labels = union(here.users.labels, there.users.labels)
    counts = [np.zeros(len(labels), np.int64) for _ in range(2)]
    for rows, count in zip((here, there), counts, strict=True):
        count[find(rows.users.labels, labels)] = 1
    return Sides("user", labels, (counts[0], counts[1]))


def epochs_apart(here: SiteRows, there: SiteRows) -> Iterator[str]:
    """Sentences on epochs; refuses sites that have none in common."""
    if here.form != "epochs":
        return
    counts = [(rows.in_slots() != MISSING).sum(axis=0) for rows in (here, there)]
    sides = Sides("epoch", as_text(here.slots), (counts[0], counts[1]),
                  lambda side, slot: int(counts[side][slot]))  # fmt: skip
    advice = f"{_ALIKE}; or, if they are of other times, leave the epochs out to compare baskets"
    refuse_apart(sides, _both(here, there), advice)
    yield from doubts(sides)


def tokens_apart(here: SiteRows, there: SiteRows) -> Iterator[str]:
    """Sentences on tokens; refuses sites, or a column of them, that have none in common.

    Args:
        here: Rows whose tokens are places in the labels of both.
        there: Likewise.
    """
    if here.form == "columns":
        for slot, name in enumerate(here.slots.tolist()):
            sides = _of_column(here, there, slot, str(name))
            advice = f"{_ALIKE}, or leave this column out"
            refuse_apart(sides, _both(here, there), advice)
            yield from doubts(sides)
        return
    sites, every = (here, there), len(here.labels)
    sides = Sides(
        "item" if here.bags else "token",
        here.labels,
        (_counts(here.tokens, every), _counts(there.tokens, every)),
        lambda side, token: _holders(sites[side], token),
    )
    refuse_apart(sides, _both(here, there), _ALIKE)
    yield from doubts(sides)
    if not here.bags:
        yield from _slots_apart(here, there)


def _slots_apart(here: SiteRows, there: SiteRows) -> Iterator[str]:
    """Slots in which two sites never show the same, although others are shared."""
    every = len(here.labels)
    apart = []
    for slot, columns in enumerate(zip(here.in_slots().T, there.in_slots().T, strict=True)):
        one, two = (_counts(column, every) for column in columns)
        if min(one.sum(), two.sum()) >= ENOUGH and not ((one > 0) & (two > 0)).any():
            apart.append(str(here.slots[slot]) if len(here.slots) else str(slot + 1))
    if apart:
        more = f" and {len(apart) - _PLAIN:,} more" if len(apart) > _PLAIN else ""
        yield (
            f"No token of slot {', '.join(apart[:_PLAIN])}{more} is in the same slot of both "
            "tables, so that nobody is found by it: check that both have the same slots in the "
            "same order, written alike."
        )


def _of_column(here: SiteRows, there: SiteRows, slot: int, name: str) -> Sides:
    """The values of a column, which labels hold behind its name; a person has one of them."""
    counts = [_counts(rows.in_slots()[:, slot], len(rows.labels)) for rows in (here, there)]
    mine = np.flatnonzero(counts[0] + counts[1])
    values = np.array([label[len(name) + 1 :] for label in here.labels[mine]], object)
    found = counts[0][mine], counts[1][mine]
    return Sides(f"value of column {name}", values, found, lambda side, at: int(found[side][at]))


def _counts(tokens: NDArray[np.int32], labels: int) -> Counts:
    return np.bincount(tokens[tokens != MISSING], minlength=labels)


def _holders(rows: SiteRows, token: int) -> int:
    """How many rows have a token."""
    entries = np.flatnonzero(rows.tokens == token)
    return len(np.unique(np.searchsorted(rows.starts, entries, side="right")))


def _both(here: SiteRows, there: SiteRows) -> str:
    return f"{here.source} and {there.source}"
