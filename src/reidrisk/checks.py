"""Checks of single arguments, for every border of the package."""

import math
import operator
from typing import SupportsFloat, SupportsIndex

from reidrisk.errors import InvalidInput

PERCENT = 100


def whole_number(name: str, value: SupportsIndex, *, least: int) -> int:
    """Return the value if it is a whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise InvalidInput(f"{name} is a whole number of at least {least}, got {value!r}")
    return number


def real_number(name: str, value: SupportsFloat, *, least: float = -math.inf) -> float:
    """Return the value if it is a real number, possibly infinite, of at least `least`."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str) or not number >= least:
        floor = "" if least == -math.inf else f" of at least {least:g}"
        raise InvalidInput(f"{name} is a number{floor}, got {value!r}")
    return number


def probability(name: str, value: SupportsFloat) -> float:
    """Return the value if it is a probability."""
    number = real_number(name, value)
    if not 0 <= number <= 1:
        percent = f"; did you mean {number / PERCENT:g}?" if 1 < number <= PERCENT else ""
        raise InvalidInput(f"{name} is a probability between 0 and 1, got {value!r}{percent}")
    return number
