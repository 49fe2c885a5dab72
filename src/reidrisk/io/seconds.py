"""Times of a column as seconds since 1970."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.labels import Coded, is_text
from reidrisk.io.provenance import Origin
from reidrisk.io.times import local_moments

Whole = NDArray[np.int64]

_MICRO = 1_000_000
_DAY = 86_400

# As seconds this is the year 5138: larger numbers are milliseconds.
_MOST_SECONDS = 10**11
# As seconds this is March 1973: a column without later times holds weeks, visits or years.
_FEWEST_SECONDS = 10**8
_WRITE_TIMES = (
    "write all as 2023-05-17T08:30:00, all as 20230517, or all as whole seconds since 1970"
)
_YEARS = 1_800, 2_199


def seconds_of(
    part: Coded, source: Origin, *, column: str = "epoch", purpose: str = "to make it coarser"
) -> Whole:
    """Each time as seconds since 1970; whole numbers such as 20230517 are days.

    Args:
        part: The column, of which only distinct labels are parsed.
        source: Where it came from, for messages.
        column: The setting that names it.
        purpose: Why times must be understood, for messages.
    """
    if is_text(part.labels):
        return _moments(part, source, column, purpose)
    numbers = part.labels
    # Days first: as seconds, 20230517 would be a time in 1970.
    days = _days(numbers)
    if days is not None:
        return days
    if (wrong := np.abs(numbers) > _MOST_SECONDS).any():
        # The label is not quoted: it may identify somebody.
        raise InvalidInput(
            f"{source.place(int(wrong[part.codes].argmax()))}: the time is too large for seconds "
            "since 1970; if these are milliseconds, divide them by 1000",
            code="invalid-timestamp",
        )
    # 2023051708, a day with its hour, would pass for seconds since 1970.
    hours = _days(numbers // 100) is not None and (numbers % 100 < 24).all()  # noqa: PLR2004
    if hours or np.abs(numbers).max() < _FEWEST_SECONDS:
        raise InvalidInput(
            f"{source}: the column of times ({setting(column)}) holds whole numbers that are "
            f"neither days such as 20230517 nor seconds since 1970; {purpose}, {_WRITE_TIMES}",
            code="invalid-timestamp",
        )
    return numbers


def _days(numbers: Whole) -> Whole | None:
    """Seconds of days that are written as 20230517, if all of them are."""
    if (
        not len(numbers)
        or numbers.min() < _YEARS[0] * 10_000
        or numbers.max() >= (_YEARS[1] + 1) * 10_000
    ):
        return None
    year, month, day = numbers // 10_000, numbers // 100 % 100, numbers % 100
    if ((month < 1) | (month > 12) | (day < 1) | (day > 31)).any():  # noqa: PLR2004  a calendar
        return None
    months = (year - 1970) * 12 + month - 1
    return np.asarray(
        months.astype("datetime64[M]").astype("datetime64[s]").astype(np.int64) + (day - 1) * _DAY
    )


def _moments(part: Coded, source: Origin, column: str, purpose: str) -> Whole:
    """Text as times, with time zones or without."""
    labels = pa.array(part.labels, pa.large_string())
    # Arrow takes text without zones only for the first, and with zones only for the second: a
    # column that mixes both is refused.
    for zone in (None, "UTC"):
        try:
            exact = labels.cast(pa.timestamp("us", tz=zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        return np.asarray(exact.to_numpy()) // _MICRO
    if (local := local_moments(part.labels.tolist(), source)) is not None:
        return np.array(local, "datetime64[s]").astype(np.int64)
    raise InvalidInput(
        f"{source}: the column of times ({setting(column)}) holds text that is not a time; "
        f"{purpose}, {_WRITE_TIMES}, or say how they are written with "
        f"{setting('time_format', '%d %b %Y %H:%M')}",
        code="invalid-timestamp",
    )
