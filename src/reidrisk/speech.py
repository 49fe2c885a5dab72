"""The words of where the user is: options on a command line, keys in a study file, arguments.

A message that advises a setting asks here how it is written. The command line and the reader of
study files say once that it is they who speak; everybody else is in Python.
"""

import json
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Place = Literal["options", "keys", "arguments"]

_place: ContextVar[Place] = ContextVar("place", default="arguments")


@contextmanager
def speaking(place: Place) -> Iterator[None]:
    """Speak of settings as they are written there."""
    before = _place.set(place)
    try:
        yield
    finally:
        _place.reset(before)


def setting(name: str, value: str | int | bool | None = None) -> str:
    """How a setting is written here, with its value if there is one to advise.

    >>> setting("separator", ";")
    'separator=";"'
    >>> with speaking("options"):
    ...     setting("separator", ";"), setting("header", False), setting("user")
    ('--separator ";"', '--no-header', '--user')
    >>> with speaking("keys"):
    ...     setting("separator", ";"), setting("header", False), setting("user")
    ('separator = ";"', 'header = false', 'user')
    """
    place = _place.get()
    if place == "options":
        if isinstance(value, bool):
            return f"--{name}" if value else f"--no-{name}"
        return f"--{name}" if value is None else f"--{name} {_quoted(value)}"
    if value is None:
        return name if place == "keys" else f"{name}="
    if place == "keys":
        return f"{name} = {json.dumps(value, ensure_ascii=False)}"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return f"{name}={text}"


def warn(sentences: Iterable[str]) -> None:
    """Warn who is in Python; whoever else speaks shows the warnings of what was read."""
    if _place.get() == "arguments":
        for sentence in sentences:
            warnings.warn(sentence, stacklevel=4)  # where a reader was called


def _quoted(value: str | int) -> str:
    """As a shell takes it."""
    text = str(value)
    plain = text.isascii() and text.replace("_", "").replace(",", "").replace("-", "").isalnum()
    return text if plain else json.dumps(text, ensure_ascii=False)
