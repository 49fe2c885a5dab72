"""What a point is made of: an item, a time, an amount; as written, or coarser."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.inputs.columns import holds_text, one_piece, refuse_nulls
from reidrisk.inputs.labels import Coded, encode, encode_numbers
from reidrisk.inputs.sources import Source
from reidrisk.speech import setting

Whole = NDArray[np.int64]
Span = Literal["hour", "day", "week", "month"]

SECONDS: dict[str, int] = {"hour": 3_600, "day": 86_400, "week": 604_800}
SPANS = (*SECONDS, "month")
MONDAY = 4 * 86_400
"""The first Monday of 1970; weeks begin on Mondays."""

MICRO = 1_000_000
"""Amounts are rounded as whole millionths."""

MOST_AMOUNT = 9e12
"""So that millionths fit into 64 bits."""

# As seconds this is the year 5138; whoever has more has milliseconds.
MOST_SECONDS = 10**11
YEARS = 1_800, 2_199


@dataclass(frozen=True, slots=True)
class Coarsening:
    """How exactly the attacker knows a point.

    Attributes:
        span: Times are known up to this; as written, if None.
        step: Amounts are known up to the nearest multiple of it; as written, if None.
    """

    span: Span | None = None
    step: float | None = None

    def __str__(self) -> str:
        rounded = None if self.step is None else f"rounded to {self.step:g}"
        return ", ".join(part for part in (self.span, rounded) if part) or "as written"


def points_of(table: pa.Table, how: Coarsening, source: Source) -> NDArray[np.int32]:
    """Number the points of the rows: equal where all parts are, in the order of their labels."""
    parts = []
    for name in table.column_names:
        if name == "epoch" and how.span is not None:
            seconds = seconds_of(table[name], source)
            parts.append(encode_numbers(within(seconds, how.span)))
        elif name == "count" and how.step is not None:
            parts.append(encode_numbers(rounded(table[name], how.step, source)))
        else:
            parts.append(as_written(table[name], name, source))
    return combined(parts)


def combined(parts: Sequence[Coded]) -> NDArray[np.int32]:
    """One number for each combination of parts."""
    codes = parts[0].codes
    for part in parts[1:]:
        # Below 2^62, since neither factor exceeds 2^31.
        codes = encode_numbers(codes.astype(np.int64) * len(part.labels) + part.codes).codes
    return codes


def as_written(column: pa.ChunkedArray, name: str, source: Source) -> Coded:
    """Labels of any kind, sorted."""
    if pa.types.is_temporal(column.type) or pa.types.is_floating(column.type):
        refuse_nulls(column, name, source)
        column = column.cast(pa.large_string())
    return encode(column, name, source)


def within(seconds: Whole, span: Span) -> Whole:
    """The hour, day, week (from Monday on) or month that times lie in, counted from 1970."""
    if span == "month":
        return np.asarray(seconds.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64))
    return (seconds - (MONDAY if span == "week" else 0)) // SECONDS[span]


def rounded(column: pa.ChunkedArray, step: float, source: Source) -> Whole:
    """How many steps amounts are, to the nearest, halves upwards."""
    refuse_nulls(column, "count", source)
    numbers = _numbers(column, source)
    if (wrong := ~(np.abs(numbers) <= MOST_AMOUNT)).any():
        raise InvalidInput(
            f"{source.place(int(wrong.argmax()))}: the amount is not a number up to "
            f"{MOST_AMOUNT:g}, so it cannot be rounded; correct the entry or remove the row"
        )
    unit = round(step * MICRO)
    return (np.rint(numbers * MICRO).astype(np.int64) + unit // 2) // unit


def checked_step(step: float) -> float:
    """A step of rounding."""
    if not (math.isfinite(step) and 1 <= step * MICRO <= MOST_AMOUNT * MICRO):
        raise InvalidInput(
            f"amounts are rounded to multiples of a number from a millionth on, such as 10; "
            f"got {step!r}"
        )
    return step


def checked_span(span: Any) -> Span:
    """A span of time."""
    if span not in SPANS:
        raise InvalidInput(f"times can be made as coarse as {', '.join(SPANS)}; got {span!r}")
    found: Span = span
    return found


def seconds_of(column: pa.ChunkedArray, source: Source) -> Whole:
    """Times as seconds since 1970; whole numbers such as 20230517 are days."""
    refuse_nulls(column, "epoch", source)
    kind = column.type
    if holds_text(kind) and (parsed := _parsed(column)) is not None:
        column, kind = parsed, parsed.type
    if pa.types.is_integer(kind):
        numbers = np.asarray(one_piece(column.cast(pa.int64())).to_numpy())
        days = _days(numbers)
        if days is not None:
            return days
        if (wrong := np.abs(numbers) > MOST_SECONDS).any():
            raise InvalidInput(
                f"{source.place(int(wrong.argmax()))}: the time is too large for seconds since "
                "1970; if these are milliseconds, divide them by 1000"
            )
        return numbers
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(column.type):
        exact = one_piece(column).cast(pa.timestamp("us", tz=column.type.tz), safe=False)
        return np.asarray(exact.cast(pa.int64()).to_numpy()) // MICRO
    raise InvalidInput(
        f"{source}: the column of times ({setting('epoch')}) holds {kind}; to make it coarser, "
        "write all as 2023-05-17T08:30:00, all as 20230517, or all as whole seconds since 1970"
    )


def _parsed(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Text as whole numbers or as times, if all of it is."""
    for kind in (pa.int64(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _days(numbers: Whole) -> Whole | None:
    """Seconds of days that are written as 20230517, if all of them are."""
    if (
        not len(numbers)
        or numbers.min() < YEARS[0] * 10_000
        or numbers.max() >= (YEARS[1] + 1) * 10_000
    ):
        return None
    year, month, day = numbers // 10_000, numbers // 100 % 100, numbers % 100
    if ((month < 1) | (month > 12) | (day < 1) | (day > 31)).any():  # noqa: PLR2004  a calendar
        return None
    months = (year - 1970) * 12 + month - 1
    return np.asarray(
        months.astype("datetime64[M]").astype("datetime64[s]").astype(np.int64)
        + (day - 1) * SECONDS["day"]
    )


def _numbers(column: pa.ChunkedArray, source: Source) -> NDArray[np.float64]:
    try:
        whole = one_piece(pc.cast(column, pa.float64(), safe=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidInput(
            f"{source}: the column of amounts ({setting('count')}) must hold numbers to be "
            "rounded; correct it, or round nothing"
        ) from None
    return np.asarray(whole.to_numpy(zero_copy_only=False), np.float64)
