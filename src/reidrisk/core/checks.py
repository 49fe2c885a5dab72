"""Checks of single arguments, used by every public function."""

import difflib
import math
import operator
import re
from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex

import numpy as np

from reidrisk.core.settings_syntax import written
from reidrisk.errors import InvalidInput

_PERCENT = 100
_MOST_SHOWN = 60

_PERCENTAGE = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*%\s*")


def whole_number(name: str, value: SupportsIndex, *, least: int) -> int:
    """Return the value if it is a whole number of at least `least`."""
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise InvalidInput(
            f"{name} is a whole number of at least {least}, got {shown(value)}",
            code="not-a-whole-number",
        )
    return number


def real_number(name: str, value: SupportsFloat, *, least: float = -math.inf) -> float:
    """Return the value if it is a real number, possibly infinite, of at least `least`."""
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not number >= least:
        floor = "" if least == -math.inf else f" of at least {least:g}"
        raise InvalidInput(f"{name} is a number{floor}, got {shown(value)}", code="not-a-number")
    return number


def probability(name: str, value: SupportsFloat) -> float:
    """Return the value if it is a probability."""
    text = _PERCENTAGE.fullmatch(value) if isinstance(value, str) else None
    number = real_number(name, value if text is None else float(text[1]))
    if text is None and 0 <= number <= 1:
        return number
    percent = (text is not None or number > 1) and number <= _PERCENT
    meant = f"; did you mean {number / _PERCENT:g}?" if percent else ""
    raise InvalidInput(
        f"{name} is a probability between 0 and 1, got {shown(value)}{meant}",
        code="not-a-probability",
    )


def shown(value: object) -> str:
    """A value as text, cut off if it is long, for messages."""
    try:
        text = written(value) if isinstance(value, bool) else repr(value)
    except ValueError:  # Python prints no whole number of thousands of digits
        text = "a number beyond all bounds"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def meant(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that says that a name is unknown: a similar name, or a full stop."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f": did you mean {close[0]}?" if close else "."
