"""Sort epochs by what their names mean: numbers, days or weeks.

A risk after the first few slots depends on which come first, so nothing is sorted letter by letter:
that would put week 10 before week 2. Names that leave the order open are refused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.sanitize import shortened
from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.labels import is_text
from reidrisk.io.overlap_checks import form_of
from reidrisk.io.times import days, local_moments, may_be_days, moments

_NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?")
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_DAY_FIRST = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})")
_CALENDAR = re.compile(
    r"\b(?:(jan)(?:uary)?|(feb)(?:ruary)?|(mar)(?:ch)?|(apr)(?:il)?|(may)|(june?)|(july?)"
    r"|(aug)(?:ust)?|(sept?)(?:ember)?|(oct)(?:ober)?|(nov)(?:ember)?|(dec)(?:ember)?"
    r"|(mon)(?:day)?|(tue)s?(?:day)?|(wed)(?:nesday)?|(thu)r?s?(?:day)?|(fri)(?:day)?"
    r"|(sat)(?:urday)?|(sun)(?:day)?)\b",
    re.IGNORECASE,
)
_FEW = 4


@dataclass(frozen=True, eq=False, slots=True)
class Order:
    """The order of some epochs.

    Args:
        places: Which of them is the first, the second, and so on.
        by: What it goes by, in words.
    """

    places: NDArray[np.int64]
    by: str


def order_of(labels: NDArray[Any], where: object = "epochs") -> Order:
    """Sort epochs by what their names mean.

    Args:
        labels: Distinct names, whole numbers or text.
        where: What messages call the place they come from.
    """
    if not is_text(labels):
        return Order(np.argsort(labels, kind="stable"), _of_whole(labels))
    names = labels.tolist()
    by, keys = _keys(names, where)
    places = sorted(range(len(names)), key=keys.__getitem__)
    for one, other in pairwise(places):
        if keys[one] == keys[other]:
            raise InvalidInput(
                f"{where}: one epoch is written in two ways ({_ways(names[one], names[other])}) "
                "and would be two slots that never meet; write it in one way",
                code="ambiguous-epochs",
            )
    return Order(np.array(places, np.int64), by)


def describe_epochs(names: Sequence[Any], what: str = "A slot is one epoch") -> str:
    """A sentence that names the epochs, their order, and what the order is by.

    Args:
        names: Of the epochs, in order.
        what: The beginning of the sentence.
    """
    texts = [shortened(str(name)) for name in names]
    said = ", ".join(texts if len(texts) <= _FEW else (*texts[:2], "...", texts[-1]))
    if len(texts) == 1:
        return f"{what}: {said}."
    return f"{what}: {said}; {len(texts):,} in all, {_by(names)}."


def _by(names: Sequence[Any]) -> str:
    plain = [str(name) for name in names]
    whole = all(re.fullmatch(r"-?(0|[1-9]\d{0,17})", name) for name in plain)
    try:
        order = order_of(np.array([int(name) for name in plain] if whole else plain,
                                  np.int64 if whole else object))  # fmt: skip
    except InvalidInput:
        order = None
    if order is None or (np.diff(order.places) < 0).any():
        return "in the order that was asked for"
    return f"in the order of {order.by}"


def _keys(names: list[str], where: object) -> tuple[str, list[Any]]:
    """The sort key in words, and its values."""
    if all(map(_NUMBER.fullmatch, names)):
        return "numbers", [Decimal(name) for name in names]
    times = [time for time in moments(names) if time is not None]
    if len(times) == len(names):
        return _of_times(times, where), times
    if (local := local_moments(names, where)) is not None:
        return "times", local
    _refuse_ambiguous(names, where)
    if not any(map(_DIGITS.search, names)):
        return "the letters of their names", names
    return "the numbers in their names", [_natural(name) for name in names]


def _of_times(times: list[datetime], where: object) -> str:
    if len({time.tzinfo is None for time in times}) > 1:
        raise InvalidInput(
            f"{where}: some epochs name a time zone and some do not, so that nobody knows which "
            "come first; write all of them in one way",
            code="ambiguous-epochs",
        )
    return "times"


def _of_whole(labels: NDArray[np.int64]) -> str:
    return "days" if may_be_days(labels) and days(labels)[1].all() else "whole numbers"


def _refuse_ambiguous(names: list[str], where: object) -> None:
    """Refuse names of days or months in a form that does not tell which come first."""
    words = {match.lastindex for name in names for match in _CALENDAR.finditer(name)}
    if len(words) > 1 or any(map(_DAY_FIRST.fullmatch, names)):
        form = setting("time_format", "%d %b %Y")
        say = f", or say how they are written with {form}" if offered("time_format") else ""
        raise InvalidInput(
            f"{where}: epochs are days or months in a form that does not tell which come first, "
            f"as 12/31/23 beside 31/12/23, or May; write 2023-12-31, 2023-W52 or 2023-12{say}",
            code="ambiguous-epochs",
        )


def _ways(one: str, other: str) -> str:
    """How two names of one epoch differ, without quoting them."""
    ways = sorted({form_of(one), form_of(other)})
    return " and ".join(ways) if len(ways) > 1 else "as 7 and 07 are one number"


def _natural(name: str) -> tuple[Any, ...]:
    """A key for natural sorting: text and numbers in turn, without leading zeros."""
    parts = _DIGITS.split(name)
    plain = [part.lstrip("0") for part in parts[1::2]]
    return tuple(
        (len(plain[place // 2]), plain[place // 2]) if place % 2 else part
        for place, part in enumerate(parts)
    )
