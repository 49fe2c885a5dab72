"""Write a setting as an option, a study key or an argument, depending on who reads it.

A message that advises a setting asks here how the reader would write it, and whether the reader
can: not every command has every option. The command line and the reader of study files set this
once, with `speaking`; otherwise the reader is assumed to be writing Python.
"""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Place = Literal["options", "keys", "arguments"]
Offers = Callable[[str], bool]
"""Whether a setting of this name can be said."""


def _anything(_: str) -> bool:
    return True


_place: ContextVar[Place] = ContextVar("place", default="arguments")
_offers: ContextVar[Offers] = ContextVar("offers", default=_anything)


@contextmanager
def speaking(place: Place, offers: Offers = _anything) -> Iterator[None]:
    """Inside, name settings as this reader writes them, and only those that are on offer."""
    before, offered_before = _place.set(place), _offers.set(offers)
    try:
        yield
    finally:
        _place.reset(before)
        _offers.reset(offered_before)


@contextmanager
def offering(*names: str) -> Iterator[None]:
    """Inside, advise only these settings, as far as they are on offer at all."""
    outside = _offers.get()
    before = _offers.set(lambda name: name in names and outside(name))
    try:
        yield
    finally:
        _offers.reset(before)


def offered(*names: str) -> list[str]:
    """Those of some settings that the reader can write, each once.

    >>> with speaking("keys", {"header", "user"}.__contains__), offering("user", "item"):
    ...     offered("header", "user", "item", "user")
    ['user']
    """
    return [name for name in dict.fromkeys(names) if _offers.get()(name)]


def setting(name: str, value: str | float | bool | None = None) -> str:
    """A setting as the reader writes it, with a value if there is one to advise.

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
        dashed = name.replace("_", "-")
        if isinstance(value, bool):
            return f"--{dashed}" if value else f"--no-{dashed}"
        return f"--{dashed}" if value is None else f"--{dashed} {_quoted(value)}"
    if value is None:
        return name if place == "keys" else f"{name}="
    return f"{name} = {written(value)}" if place == "keys" else f"{name}={written(value)}"


def written(value: str | float | bool) -> str:
    """A value as it is written in a study file, or in Python.

    >>> with speaking("keys"):
    ...     written(True)
    'true'
    """
    plain = _place.get() == "arguments" and not isinstance(value, str)
    return repr(value) if plain else json.dumps(value, ensure_ascii=False)


def option(name: str) -> str:
    """A setting of the machine, which study files never hold: an option or an argument.

    >>> option("max_memory")
    'max_memory='
    >>> with speaking("keys"):
    ...     option("max_memory")
    '--max-memory'
    """
    return f"{name}=" if _place.get() == "arguments" else f"--{name.replace('_', '-')}"


def warn(sentences: Iterable[str], *, calls: int = 2) -> None:
    """Warn in Python; the command line shows the warnings of what was read by itself.

    Args:
        sentences: Of warnings.
        calls: How many functions of ours stand between this one and the caller's.
    """
    if _place.get() == "arguments":
        for sentence in sentences:
            warnings.warn(sentence, stacklevel=calls + 2)


def _quoted(value: str | float) -> str:
    """A value quoted for a shell."""
    text = str(value)
    if not isinstance(value, str):
        return text
    plain = text.isascii() and text.replace("_", "").replace(",", "").replace("-", "").isalnum()
    return text if plain else json.dumps(text, ensure_ascii=False)
