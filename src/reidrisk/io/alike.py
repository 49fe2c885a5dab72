"""Do two tables write the same thing alike? What never meets is refused, what hardly meets is said.

A token that one side writes as 5 and the other as 5.0 is two tokens, and nobody is found by it: the
risk looks low because the tables are spoilt. The same holds for epochs, and for users.

No user is ever quoted, and a token or epoch only if many people have it; otherwise the forms are
told: whole numbers against numbers with a decimal point.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.sanitize import shortened
from reidrisk.errors import InvalidInput
from reidrisk.io.labels import as_text, is_text
from reidrisk.io.spelling import forms, meant

LITTLE = 0.5
"""If each side shares less than this part of its entries with the other, that is little."""
ENOUGH = 20
"""With fewer entries on a side, that little is shared may well be chance."""
SPELT = 0.01
"""From this part of its entries on, what one side writes in another form than the other is said."""
MANY = 10
"""What so many people have tells of nobody."""
LOOKED_AT = 100_000
"""Labels whose forms are compared: on each side those with the most entries."""

Counts = NDArray[np.int64]

TABLES = ("the known table", "the anonymous table")
"""What sentences call the two sides."""


@dataclass(frozen=True, eq=False, slots=True)
class Sides:
    """How often each of some labels comes on two sides.

    Args:
        what: One of them, in words: "token".
        labels: All of them.
        counts: Entries of each label, in the known table and in the anonymous one.
        holders: How many people of a side have a label; None if none may be quoted.
    """

    what: str
    labels: NDArray[Any]
    counts: tuple[Counts, Counts]
    holders: Callable[[int, int], int] | None = None

    @property
    def one(self) -> str:
        """One of them, with its article."""
        return f"{'an' if self.what[0] in 'ei' else 'a'} {self.what}"

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Which labels are on both sides."""
        return np.asarray((self.counts[0] > 0) & (self.counts[1] > 0))

    def part(self, side: int, some: NDArray[Any]) -> float:
        """Which part of the entries of a side is of some labels."""
        return float(self.counts[side][some].sum() / max(1, self.counts[side].sum()))

    def only(self, side: int) -> Counts:
        """Labels of one side alone, those with the most entries first."""
        counts = np.where(self.shared, 0, self.counts[side])
        return np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]


def refuse_apart(sides: Sides, where: str, advice: str) -> None:
    """Refuse two sides that have nothing in common, if both have anything."""
    if all(counts.any() for counts in sides.counts) and not sides.shared.any():
        raise InvalidInput(
            f"{where}: no {sides.what} is in both tables, so that nobody can be found by it: "
            f"{difference(sides)}; {advice}",
            code="tables-do-not-meet",
        )


def doubts(sides: Sides) -> Iterator[str]:
    """A sentence if two sides write something in two ways, or else if they share little."""
    if found := list(spelt_apart(sides)):
        yield from found
        return
    parts = [sides.part(side, sides.shared) for side in (0, 1)]
    if max(parts) < LITTLE and min(counts.sum() for counts in sides.counts) >= ENOUGH:
        yield (
            f"Little is shared: {_percent(parts[1])} of the entries of {TABLES[1]} have "
            f"{sides.one} that is also in {TABLES[0]}, and {_percent(parts[0])} the other way "
            f"round: {difference(sides)}. If they mean the same, write it alike: the risk may be "
            "far higher than these figures say."
        )


def spelt_apart(sides: Sides) -> Iterator[str]:
    """A sentence if a side has labels that the other has too, but in another form."""
    if not is_text(sides.labels):
        return
    texts = as_text(sides.labels)
    twins = [_twins(sides, texts, side) for side in (0, 1)]
    parts = [sides.part(side, mine[:, 0]) for side, mine in enumerate(twins)]
    worst = int(np.argmax(parts))
    if parts[worst] < SPELT:
        return
    mine, other = twins[worst].T
    yield (
        f"{_percent(parts[worst])} of the entries of {TABLES[worst]} have {sides.one} that "
        f"{TABLES[1 - worst]} seems to write otherwise: {_told(sides, worst, mine, other)}. They "
        "count as different, so that the risk may be far higher than these figures say; write "
        "them alike in both."
    )


def _twins(sides: Sides, texts: NDArray[Any], side: int) -> Counts:
    """Labels of one side alone, each beside one of the other side that means the same."""
    mine, other = sides.only(side)[:LOOKED_AT], np.flatnonzero(sides.counts[1 - side])
    if not len(mine):
        return np.empty((0, 2), np.int64)
    most = other[np.argsort(-sides.counts[1 - side][other], kind="stable")][:LOOKED_AT]
    place = {meant(texts[label]): label for label in most[::-1].tolist()}
    pairs = [(label, place.get(meant(texts[label]))) for label in mine.tolist()]
    return np.array([pair for pair in pairs if pair[1] is not None], np.int64).reshape(-1, 2)


def difference(sides: Sides) -> str:
    """What each side alone has: an example that many people have, else the forms, in words."""
    return _told(sides, 1, sides.only(1), sides.only(0))


def _told(sides: Sides, side: int, mine: Counts, other: Counts) -> str:
    names = (TABLES[side], TABLES[1 - side])
    for one, two in zip(mine[:MANY].tolist(), other[:MANY].tolist(), strict=False):
        if sides.holders and sides.holders(side, one) >= MANY <= sides.holders(1 - side, two):
            quoted = (_quoted(sides.labels[label]) for label in (one, two))
            return " and ".join(map("{} in {}".format, quoted, names))
    texts = as_text(sides.labels)
    told = [forms(texts[some[:LOOKED_AT]]) for some in (mine, other)]
    if told[0] == told[1]:
        return f"both write {told[0]}"
    return " against ".join(
        f"{form or 'nothing else'} in {name}" for form, name in zip(told, names, strict=True)
    )


def _quoted(label: object) -> str:
    return repr(shortened(str(label)))


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %"
