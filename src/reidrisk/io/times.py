"""Parse days and times as tables write them."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

FIRST_DAY, LAST_DAY = 1900_01_01, 2100_12_31
"""Whole numbers between them may be days, written without hyphens."""

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


def days_as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Days as text; other columns as they are.

    Args:
        column: Of any type.
    """
    return column.cast(pa.large_string()) if pa.types.is_date(column.type) else column
