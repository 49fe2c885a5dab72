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

from reidrisk.errors import InvalidInput
from reidrisk.inputs.labels import as_text, is_text
from reidrisk.inputs.spelling import forms, meant

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


@dataclass(frozen=True, eq=False, slots=True)
class Sides:
    """How often each of some labels comes on two sides.

    Args:
        what: One of them, in words: "token".
        labels: All of them.
        counts: Entries of each label, in the known table and in the anonymous one.
        names: What messages call the two tables.
        holders: How many people of a side have a label; None if none may be quoted.
    """

    what: str
    labels: NDArray[Any]
    counts: tuple[Counts, Counts]
    names: tuple[str, str]
    holders: Callable[[int, int], int] | None = None

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


def refuse_apart(sides: Sides) -> None:
    """Refuse two sides that have nothing in common, if both have anything."""
    if all(counts.any() for counts in sides.counts) and not sides.shared.any():
        here, there = sides.names
        raise InvalidInput(
            f"{there}: no {sides.what} is also in {here}, so that nobody can be found by it; "
            f"{_difference(sides)}. Write it alike in both, such as 7 in both, not 7 and 7.0 or 007"
        )


def doubts(sides: Sides) -> Iterator[str]:
    """Sentences on what two sides hardly share, or seem to write in two ways."""
    here, there = sides.names
    if spelt := _spelt(sides):
        yield spelt
        return
    parts = [sides.part(side, sides.shared) for side in (0, 1)]
    if max(parts) < LITTLE and min(counts.sum() for counts in sides.counts) >= ENOUGH:
        yield (
            f"Little is shared: {_percent(parts[1])} of the entries of {there} have a "
            f"{sides.what} that is also in {here}, and {_percent(parts[0])} the other way round; "
            f"{_difference(sides)}. If both mean the same, write it alike: the risk may be far "
            "higher than these figures say."
        )


def _spelt(sides: Sides) -> str:
    """A sentence if a side has labels that the other has too, but in another form."""
    if not is_text(sides.labels):
        return ""
    texts = as_text(sides.labels)
    twins = [_twins(sides, texts, side) for side in (0, 1)]
    parts = [sides.part(side, mine[:, 0]) for side, mine in enumerate(twins)]
    worst = int(np.argmax(parts))
    if parts[worst] < SPELT:
        return ""
    mine, other = twins[worst].T
    named = (sides.names[worst], sides.names[1 - worst])
    return (
        f"{_percent(parts[worst])} of the entries of {named[0]} have a {sides.what} that "
        f"{named[1]} seems to write otherwise: "
        f"{_example(sides, worst, mine, other) or _against(texts[mine], texts[other], named)}. "
        "They count as different, so the risk may be far higher than these figures say; write "
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


def _difference(sides: Sides) -> str:
    """What the labels of each side alone are: an example that many people have, else forms."""
    texts = as_text(sides.labels)
    here, there = sides.only(0), sides.only(1)
    quoted = _example(sides, 1, there[:MANY], here[:MANY])
    return quoted or _against(
        texts[there[:LOOKED_AT]], texts[here[:LOOKED_AT]], (sides.names[1], sides.names[0])
    )


def _example(sides: Sides, side: int, mine: Counts, other: Counts) -> str:
    """A label of each side that many people have; nothing if there is none, or none may be told."""
    if sides.holders is None:
        return ""
    pairs = zip(mine[: 10 * MANY].tolist(), other[: 10 * MANY].tolist(), strict=False)
    for one, two in pairs:
        if sides.holders(side, one) >= MANY and sides.holders(1 - side, two) >= MANY:
            names = (sides.names[side], sides.names[1 - side])
            return (
                f"such as {_quoted(sides.labels[one])} in {names[0]} and "
                f"{_quoted(sides.labels[two])} in {names[1]}"
            )
    return ""


def _against(mine: NDArray[Any], other: NDArray[Any], names: tuple[str, str]) -> str:
    """The forms of two sides, in words."""
    one, two = forms(mine), forms(other)
    if one == two:
        return f"both write {one}" if one else "one of them has nothing else"
    told = [(words, name) for words, name in zip((one, two), names, strict=True) if words]
    return " against ".join(f"{words} in {name}" for words, name in told)


def _quoted(label: object) -> str:
    text = str(label)
    return repr(text if len(text) <= 40 else f"{text[:40]}...")  # noqa: PLR2004


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %"
