"""Units and lists in words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reidrisk.study._compare import Comparison
    from reidrisk.study.result import Result


def units(result: "Result | Comparison", number: int) -> str:
    """A number of slots in the study's own word for them."""
    single = result.unit.removesuffix("s")
    return f"{number:,} {single if number == 1 else single + 's'}"


def unit(result: "Result", number: int = 2) -> str:
    """The study's word for slots, in the plural unless there is one."""
    return units(result, number).split(" ", 1)[1]


def listed(items: Sequence[str]) -> str:
    """One, two and three."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def opening(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def targets_word(result: "Result", number: int = 2) -> str:
    """What was attacked: people; rows, where tables say whose a row is."""
    people = result.study.get("people")
    rows = isinstance(people, Mapping) and people.get("kind") in {"Linked", "Observations"}
    if rows:
        return "row" if number == 1 else "rows"
    return "person" if number == 1 else "people"
