"""Read users and their points: items, times and amounts, as written or coarsened."""

import math
import operator
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.machine import within_memory
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.columns import refuse_nulls, table_of
from reidrisk.io.formats import open_table
from reidrisk.io.labels import Coded, encode_numbers, is_text, refuse_nobody
from reidrisk.io.layouts import Layout
from reidrisk.io.plays import Labels
from reidrisk.io.provenance import Origin
from reidrisk.io.streams import Progress, unchanged
from reidrisk.io.tables import TEXT, TYPES, check_columns, files_of, refuse_mixed_cases

Whole = NDArray[np.int64]
_Span = Literal["hour", "day", "week", "month"]

_SECONDS: dict[str, int] = {"hour": 3_600, "day": 86_400, "week": 604_800}
_SPANS = (*_SECONDS, "month")
_MONDAY = 4 * 86_400
"""The first Monday of 1970; weeks begin on Mondays."""

_MICRO = 1_000_000
"""Amounts are rounded as whole millionths."""

_MOST_AMOUNT = 4e12
"""Largest amount: its millionths, with half a step added, fit into 64 bits."""

# As seconds this is the year 5138: larger numbers are milliseconds.
_MOST_SECONDS = 10**11
# As seconds this is March 1973: a column without later times holds weeks, visits or years.
_FEWEST_SECONDS = 10**8
_WRITE_TIMES = (
    "to make it coarser, write all as 2023-05-17T08:30:00, all as 20230517, or all as whole "
    "seconds since 1970"
)
_YEARS = 1_800, 2_199


@dataclass(frozen=True, slots=True)
class Coarsening:
    """How exactly the attacker knows a point.

    Attributes:
        span: Times are known up to this; as written, if None.
        step: Amounts are known up to the nearest multiple of it; as written, if None.
    """

    span: _Span | None = None
    step: float | None = None

    def __str__(self) -> str:
        rounded = None if self.step is None else f"rounded to {self.step:g}"
        return ", ".join(part for part in (self.span, rounded) if part) or "as written"


def points_of(parts: Mapping[str, Coded], how: Coarsening, source: Origin) -> NDArray[np.int32]:
    """Number the points of rows: equal where all parts are, in the order of their labels.

    Args:
        parts: The items, epochs and counts of the rows, those that make up a point.
        how: How exactly they are known.
        source: Where the rows came from.
    """
    made = [_coarser(role, part, how, source) for role, part in parts.items()]
    codes = made[0].codes
    for part in made[1:]:
        # Below 2^62, since neither factor exceeds 2^31.
        codes = encode_numbers(codes.astype(np.int64) * len(part.labels) + part.codes).codes
    return codes


def _coarser(role: str, part: Coded, how: Coarsening, source: Origin) -> Coded:
    """Make labels coarser and merge those that become equal; only distinct labels are parsed."""
    if role == "epoch" and how.span is not None:
        merged = encode_numbers(within(seconds_of(part, source), how.span))
    elif role == "count" and how.step is not None:
        merged = encode_numbers(rounded(part, how.step, source))
    else:
        return part
    return Coded(merged.codes[part.codes], merged.labels)


def within(seconds: Whole, span: _Span) -> Whole:
    """The hour, day, week (from Monday on) or month that times lie in, counted from 1970."""
    if span == "month":
        return np.asarray(seconds.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64))
    return (seconds - (_MONDAY if span == "week" else 0)) // _SECONDS[span]


def rounded(part: Coded, step: float, source: Origin) -> Whole:
    """How many steps each amount is, to the nearest, halves upwards."""
    numbers = _numbers(part, source)
    if (wrong := ~(np.abs(numbers) <= _MOST_AMOUNT)).any():
        raise InvalidInput(
            f"{_place(part, wrong, source)}: the amount is not a number up to {_MOST_AMOUNT:g}, so "
            "it cannot be rounded; correct the entry or remove the row",
            code="not-a-number",
        )
    # Whole millionths: as floats, 0.1 and its multiples would be rounded apart.
    unit = round(step * _MICRO)
    return (np.rint(numbers * _MICRO).astype(np.int64) + unit // 2) // unit


def checked_step(step: float) -> float:
    """A step of rounding."""
    if not (math.isfinite(step) and 1 <= step * _MICRO <= _MOST_AMOUNT * _MICRO):
        raise InvalidInput(
            f"amounts are rounded to multiples of a number from a millionth on, such as 10; "
            f"got {step!r}",
            code="out-of-range",
        )
    return step


def checked_span(span: Any) -> _Span:
    """A span of time."""
    if span not in _SPANS:
        raise InvalidInput(
            f"times can be made as coarse as {', '.join(_SPANS)}; got {span!r}",
            code="unknown-choice",
        )
    found: _Span = span
    return found


def seconds_of(part: Coded, source: Origin) -> Whole:
    """Each time as seconds since 1970; whole numbers such as 20230517 are days."""
    if is_text(part.labels):
        return _moments(part, source)
    numbers = part.labels
    # Days first: as seconds, 20230517 would be a time in 1970.
    days = _days(numbers)
    if days is not None:
        return days
    if (wrong := np.abs(numbers) > _MOST_SECONDS).any():
        raise InvalidInput(
            f"{_place(part, wrong, source)}: the time is too large for seconds since 1970; if "
            "these are milliseconds, divide them by 1000",
            code="invalid-timestamp",
        )
    # 2023051708, a day with its hour, would pass for seconds since 1970.
    hours = _days(numbers // 100) is not None and (numbers % 100 < 24).all()  # noqa: PLR2004
    if hours or np.abs(numbers).max() < _FEWEST_SECONDS:
        raise InvalidInput(
            f"{source}: the column of times ({setting('epoch')}) holds whole numbers that are "
            f"neither days such as 20230517 nor seconds since 1970; {_WRITE_TIMES}",
            code="invalid-timestamp",
        )
    return numbers


def _moments(part: Coded, source: Origin) -> Whole:
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
    raise InvalidInput(
        f"{source}: the column of times ({setting('epoch')}) holds text that is not a time; "
        f"{_WRITE_TIMES}",
        code="invalid-timestamp",
    )


def _place(part: Coded, wrong: NDArray[np.bool_], source: Origin) -> str:
    """The first row with a wrong label. The label is not quoted: it may identify somebody."""
    return source.place(int(wrong[part.codes].argmax()))


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
        months.astype("datetime64[M]").astype("datetime64[s]").astype(np.int64)
        + (day - 1) * _SECONDS["day"]
    )


def _numbers(part: Coded, source: Origin) -> NDArray[np.float64]:
    if not is_text(part.labels):
        return part.labels.astype(np.float64)
    try:
        numbers = pa.array(part.labels, pa.large_string()).cast(pa.float64())
    except pa.ArrowInvalid:
        raise InvalidInput(
            f"{source}: the column of amounts ({setting('count')}) must hold numbers to be "
            "rounded; correct it, or round nothing",
            code="wrong-column-type",
        ) from None
    return np.asarray(numbers.to_numpy(), np.float64)


def read_rows(
    table: Any, names: Mapping[str, str], layout: Layout, progress: Progress | None
) -> tuple[dict[str, Coded], Origin]:
    """Number the labels of some columns.

    Args:
        table: A file or folder; or a dictionary of columns, an Arrow table, a data frame.
        names: What the columns of users, items, epochs and counts are called in it.
        layout: How a file is cut.
        progress: Told how many bytes of a file have been read.
    """
    columns = {role: Labels() for role in names}
    advice = f"name the right one with {', '.join(setting(role) for role in names)}"
    sizes: dict[str, int] = {}
    for place, batch, before in _batches(table, names, layout, advice, progress):
        rows = before + batch.num_rows
        here = Origin((place,), (rows,), record=partial(operator.add, before))
        for role, name in names.items() if batch.num_rows else ():
            columns[role].add(_labels(batch[name], name, here), name, here)
        sizes[place] = rows
    source = Origin(tuple(sizes), tuple(sizes.values()))
    if not sum(sizes.values()):
        raise InvalidInput(
            f"{source}: there are no rows; at least one is needed", code="empty-table"
        )
    coded = {role: columns[role].coded(name, source) for role, name in names.items()}
    refuse_nobody(coded["user"], names["user"], source)
    return coded, source


def _batches(
    table: Any, names: Mapping[str, str], layout: Layout, advice: str, progress: Progress | None
) -> Iterator[tuple[str, pa.Table, int]]:
    """Where rows come from, some of them, and how many of the same place came before."""
    if not isinstance(table, str | os.PathLike):
        content, source = table_of(table)
        check_columns(source, content.column_names, names.values(), advice)
        yield str(source), content, 0
        return
    files = files_of(Path(table), TYPES)
    for file in files:
        with unchanged(file):
            opened = open_table(file, layout, names.values())
            refuse_mixed_cases(opened, len(files))
            check_columns(file, opened.names, names.values(), advice)
            before = 0
            kinds = dict.fromkeys(names.values(), TEXT)
            batches = opened.batches(list(kinds), kinds, progress)
            for batch in within_memory(batches, str(file)):
                yield str(file), batch, before
                before += batch.num_rows


def _labels(column: pa.ChunkedArray, name: str, source: Origin) -> pa.ChunkedArray:
    """Times and fractions become text, as a file of text has them."""
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        refuse_nulls(column, name, source)
        return column.cast(TEXT)
    return column
