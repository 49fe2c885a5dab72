"""Words of the report: names as given, without what could mislead; units; lists."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from reidrisk.study.comparing import Comparison
    from reidrisk.study.result import Result

Anything = TypeVar("Anything")

# They reorder the text around them, so that a name could turn a number round.
_REORDER = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Control characters, halves of characters, and line and paragraph separators.
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}


def cleaned(value: Anything) -> Anything:
    """The same records, with a visible mark for every character that is not meant to be seen."""
    return _cleaned(value)  # type: ignore[no-any-return]


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(_visible(character) for character in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{part.name: _cleaned(getattr(value, part.name)) for part in fields(value)}
        )
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_cleaned(item) for item in value)
    return value


def _visible(character: str) -> str:
    hidden = character in _REORDER or unicodedata.category(character) in _UNSEEN
    return "\N{REPLACEMENT CHARACTER}" if hidden and character not in "\n\t" else character


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
