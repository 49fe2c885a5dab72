"""Read users and their points: items, times and amounts, as written or coarsened."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.labels import Coded, encode_numbers, is_text, refuse_empty
from reidrisk.io.layouts import Layout
from reidrisk.io.numbering import NumberedRows, number_rows
from reidrisk.io.provenance import Origin
from reidrisk.io.seconds import seconds_of
from reidrisk.io.tables import check_columns, open_tables
from reidrisk.io.unpacking import Progress

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


def _place(part: Coded, wrong: NDArray[np.bool_], source: Origin) -> str:
    """The first row with a wrong label. The label is not quoted: it may identify somebody."""
    return source.place(int(wrong[part.codes].argmax()))


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
    advice = f"name the right one with {', '.join(setting(role) for role in names)}"
    # Amounts are labels here: they are compared, and not added.
    roles = {("amount" if role == "count" else role): name for role, name in names.items()}

    def build(rows: NumberedRows) -> tuple[dict[str, Coded], Origin]:
        if not len(rows):
            raise InvalidInput(
                f"{rows.source}: there are no rows; at least one is needed", code="empty-table"
            )
        for role, name in roles.items():
            refuse_empty(rows.labels[role], name, rows.source)
        coded = dict(zip(names, rows.labels.values(), strict=True))
        return coded, rows.source

    with open_tables(table, layout, names.values()) as opened:
        for file in opened.files:
            check_columns(file.place, file.names, names.values(), advice, told=file.told)
        columns = [roles] * len(opened.files)
        # Whoever coarsens them later may have to name a row.
        return number_rows(opened, columns, build, anything=True, ordered=True, progress=progress)
