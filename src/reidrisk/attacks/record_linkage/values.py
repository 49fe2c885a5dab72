"""What the values of a column are: names, codes, numbers, dates or long texts."""

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from enum import Enum

import numpy as np

_MOSTLY = 0.9
"""Share of the values that must be of a kind, so that the column is."""

_LONG = 12
"""Characters of a text from which on it is compared by its parts, if it has several words."""

_LOOKED_AT = 5_000


class Content(Enum):
    """What a column holds."""

    NAMES = "names or words"
    TEXTS = "long texts"
    CODES = "codes"
    NUMBERS = "numbers"
    DATES = "dates"


def normalised(value: str) -> str:
    """A value without accents, capitals, punctuation and spaces around it.

    Args:
        value: As the table has it.

    Example:
        >>> from reidrisk.attacks.record_linkage.values import normalised
        >>> normalised("  O'Neill-Müller ")
        'o neill muller'
    """
    plain = value
    if not value.isascii():
        plain = unicodedata.normalize("NFKD", value)
        plain = "".join(one for one in plain if not unicodedata.combining(one))
    plain = plain.casefold()
    words = re.sub(r"[\W_]+", " ", plain).split()
    # A value of nothing but signs, such as "+", is still a value.
    return " ".join(words) or value.strip()


def as_number(value: str) -> float | None:
    """A value as a number; None if it is none, or none of a size that can be compared.

    Args:
        value: As the table has it; a comma may stand for the point.
    """
    text = value.strip()
    if not re.fullmatch(r"[-+]?\d+([.,]\d+)?([eE][-+]?\d+)?", text):
        return None
    number = float(text.replace(",", "."))
    return number if abs(number) < 1e300 else None  # noqa: PLR2004


Date = tuple[int, int, int]

_DATES = (
    (re.compile(r"(\d{4})[-/.]?(\d\d)[-/.]?(\d\d)(?:[T ].*)?"), (0, 1, 2)),
    (re.compile(r"(\d\d?)[-/.](\d\d?)[-/.](\d{4})(?:[T ].*)?"), (2, 1, 0)),
)
_YEARS = range(1800, 2101)


def _as_date(value: str) -> Date | None:
    """Year and two numbers for month and day, in whatever order they are written; None if none.

    A month of 13 is left as it is: typing errors make such dates.
    """
    for pattern, order in _DATES:
        if found := pattern.fullmatch(value.strip()):
            year, month, day = (int(found.group(1 + part)) for part in order)
            return year, month, day
    return None


def _is_date(value: str) -> bool:
    day = _as_date(value)
    return day is not None and day[0] in _YEARS and 1 <= min(day[1:]) <= max(day[1:]) <= 31  # noqa: PLR2004


def quantity(value: str, content: Content) -> float:
    """A value as a number that has distances: dates are days; NaN if it is none.

    Where there is no such month, day and month are taken to be swapped.

    Args:
        value: As the table has it.
        content: What the column holds.

    Example:
        >>> from reidrisk.attacks.record_linkage.values import Content, quantity
        >>> quantity("2.1.1970", Content.DATES) - quantity("1969-12-31", Content.DATES)
        2.0
    """
    if content is Content.NUMBERS:
        number = as_number(value)
        return np.nan if number is None else number
    if content is Content.DATES and (parts := _as_date(value)) is not None:
        year, month, day = parts
        for one, other in ((month, day), (day, month)):  # swapped, if there is no such month
            with suppress(ValueError):
                return float(date(year, one, other).toordinal())
    return np.nan


def content_of(values: Sequence[str]) -> Content:
    """What a column holds, by its values.

    Args:
        values: Different values of the column.

    Example:
        >>> from reidrisk.attacks.record_linkage.values import content_of
        >>> columns = ["19670305", "19541224"], ["4711", "0815"], ["34", "101"], ["Jane", "Jim"]
        >>> [content_of(one).value for one in columns]
        ['dates', 'codes', 'numbers', 'names or words']
    """
    some = [
        values[at]
        for at in np.linspace(0, len(values) - 1, min(len(values), _LOOKED_AT)).astype(int)
    ]
    if not some:
        return Content.NAMES

    def mostly(test: Sequence[bool]) -> bool:
        return sum(test) >= _MOSTLY * len(some)

    if mostly([_is_date(one) for one in some]):
        return Content.DATES
    if mostly([as_number(one) is not None for one in some]):
        # Quantities are written without leading zeros.
        zeros = any(len(one) > 1 and one.startswith("0") and one.isdigit() for one in some)
        return Content.CODES if zeros else Content.NUMBERS
    if mostly([any(map(str.isdigit, one)) and " " not in one.strip() for one in some]):
        return Content.CODES
    several = np.mean([" " in one.strip() for one in some])
    long = np.median([len(one) for one in some]) >= _LONG
    return Content.TEXTS if long and several >= 0.5 else Content.NAMES  # noqa: PLR2004


def written(value: str, content: Content) -> str:
    """A value as it would be written if everybody wrote alike.

    Args:
        value: As the table has it.
        content: What the column holds.

    Example:
        >>> from reidrisk.attacks.record_linkage.values import Content, written
        >>> written("034.50", Content.NUMBERS), written("5.3.1967", Content.DATES)
        ('34.5', '19670305')
    """
    if content is Content.NUMBERS and (number := as_number(value)) is not None:
        return repr(int(number) if number == int(number) else number)
    if content is Content.DATES and (day := _as_date(value)) is not None:
        return "{:04}{:02}{:02}".format(*day)
    plain = normalised(value)
    return plain.replace(" ", "") if content is Content.CODES else plain
