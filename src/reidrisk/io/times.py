"""Parse days and times as tables write them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput

FIRST_DAY, LAST_DAY = 1900_01_01, 2100_12_31
"""Whole numbers between them may be days, written without hyphens."""

_MONTHS = 12
_LOCAL = re.compile(
    r"(?P<first>\d{1,2})(?P<sign>[./-])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4}|\d{2})"
    r"(?:(?:,? +|T)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<exact>\d\d)(?:\.\d+)?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?",
    re.ASCII,
)
_YEAR = re.compile(r"(19|20|21)\d\d")
_LONGEST = 40


def may_be_days(numbers: NDArray[np.int64]) -> bool:
    """Whether whole numbers are in the range of days written as 20230501.

    Args:
        numbers: Whole numbers.
    """
    return bool(len(numbers)) and bool(numbers.min() >= FIRST_DAY and numbers.max() <= LAST_DAY)


def days(numbers: NDArray[np.int64]) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    """Days written as 20230501, and which of them are in the calendar.

    Args:
        numbers: Whole numbers.
    """
    years, rest = np.divmod(numbers, 10_000)
    months, places = np.divmod(rest, 100)
    begin = (12 * (years - 1970) + months - 1).astype("datetime64[M]")
    found = begin.astype("datetime64[D]") + (places - 1)
    there = (months >= 1) & (months <= 12) & (found.astype("datetime64[M]") == begin)  # noqa: PLR2004
    return found, there


def moments(texts: Iterable[str]) -> Iterator[datetime | None]:
    """The moment of each text in ISO 8601, None for others; a day or week stands for its beginning.

    Args:
        texts: As tables write them.
    """
    return map(_moment, texts)


def _moment(text: str) -> datetime | None:
    if len(text) > _LONGEST or not _YEAR.match(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def local_moments(texts: Sequence[str], where: object) -> list[datetime] | None:
    """The moment of each text in a local form, as 12/1/2010 8:26 or 01.12.2010; None if not all.

    Whether the day or the month comes first is what the texts leave open: with points between
    them it is the day, unless one of the texts says otherwise; else one of them must settle it.

    Args:
        texts: As tables write them.
        where: What messages call the place they come from.
    """
    found = [_LOCAL.fullmatch(text) if len(text) <= _LONGEST else None for text in texts]
    parts = [match for match in found if match is not None]
    if not parts or len(parts) < len(found):
        return None
    firsts, seconds = ({int(match[part]) for match in parts} for part in ("first", "second"))
    day_first, month_first = max(firsts) > _MONTHS, max(seconds) > _MONTHS
    if day_first and month_first:
        return None
    signs = {match["sign"] for match in parts}
    settled = day_first or month_first or signs == {"."}
    if not settled and any(int(one["first"]) != int(one["second"]) for one in parts):
        raise InvalidInput(
            f"{where}: no time tells whether the day or the month comes first, as in 3/4/2010; "
            f"say so with {setting('time_format', '%d/%m/%Y')} or "
            f"{setting('time_format', '%m/%d/%Y')}, or write 2010-04-03",
            code="ambiguous-times",
        )
    try:
        return [_local(match, month_first=month_first) for match in parts]
    except ValueError:
        return None


def _local(match: re.Match[str], *, month_first: bool) -> datetime:
    first, second, year = (int(match[part]) for part in ("first", "second", "year"))
    day, month = (second, first) if month_first else (first, second)
    if len(match["year"]) == 2:  # noqa: PLR2004  as POSIX has it
        year += 1900 if year >= 69 else 2000  # noqa: PLR2004
    hour = int(match["hour"] or 0)
    if half := match["half"]:
        if not 1 <= hour <= 12:  # noqa: PLR2004
            raise ValueError
        hour = hour % 12 + 12 * (half.lower() == "p")
    time = hour, int(match["minute"] or 0), int(match["exact"] or 0)
    return datetime(year, month, day, *time)  # noqa: DTZ001  the table names no zone


def days_as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Days as text; other columns as they are.

    Args:
        column: Of any type.
    """
    return column.cast(pa.large_string()) if pa.types.is_date(column.type) else column
