"""Remove characters from foreign text that could mislead a reader or steer a terminal."""

import unicodedata
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

Anything = TypeVar("Anything")

# They change the direction of text, so that a name could make 12 read as 21.
_REORDER = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Categories: control characters, lone surrogates, line and paragraph separators.
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}


def cleaned(value: Anything) -> Anything:
    """The same records, with a visible mark in place of every such character."""
    return _cleaned(value)  # type: ignore[no-any-return]


def shortened(text: str, most: int = 40) -> str:
    """The text, cut off with dots if it is longer."""
    return text if len(text) <= most else f"{text[:most]}..."


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
