"""Rows in words: a figure with its interval, a mark with a sign that needs no colour."""

import math

from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import Mark, Row
from reidrisk.reproduction.record import Reproduction
from reidrisk.study.saying.numbers import count, share_with_interval
from reidrisk.study.saying.words import listed

SIGNS: dict[Mark, str] = {
    "reproduced": "✓",
    "on the calibrated population": "≈",
    "differs": "≠",
    "not reproducible": "✕",
    "not run": "○",
    "added here": "+",
}

MEANING: dict[Mark, str] = {
    "reproduced": "The same comes out: equal where it is exact, within the interval where it is "
    "measured.",
    "on the calibrated population": "The same comes out on a population that was fitted to published "
    "figures, because the authors' data are not public. It shows that such people may give such "
    "figures, and proves no more.",
    "differs": "Something else comes out. The row says by how much and why we think so.",
    "not reproducible": "It cannot be reproduced from what is public.",
    "not run": "It was not run here. The row says what was missing: a library, a file, time, or size.",
    "added here": "A figure of ours that the source does not have.",
}

_SMALL = 1e-3
_LARGE = 1e5


def signed(mark: Mark) -> str:
    """A mark that can be told without colour."""
    return f"{SIGNS[mark]} {mark}"


def ours(row: Row) -> str:
    """Our figure as people read it."""
    return "–" if row.ours is None else figure(row.ours, row.unit)


def figure(number: Estimate, unit: str) -> str:
    """A value with its unit and, if it was measured, its interval."""
    if unit == "%":
        return _signed_share(number)
    said = " ".join(part for part in (plain(number.value), unit) if part)
    if number.low == number.high:
        return said
    return f"{said} ({plain(number.low)} to {plain(number.high)})"


def plain(number: float) -> str:
    """A number without unit: whole, or four digits."""
    if number == 0:
        return "0"
    if float(number).is_integer() and abs(number) < 1e15:  # noqa: PLR2004  floats hold such
        return count(number) if number > 0 else f"-{count(-number)}"
    if abs(number) < _SMALL or abs(number) >= _LARGE:
        return f"{number:.2g}"
    return f"{number:.4g}"


def _signed_share(number: Estimate) -> str:
    """Shares, and differences of shares, which may be below 0."""
    if number.low >= 0:
        return share_with_interval(number)
    ends = (number.value, number.low, number.high)
    value, low, high = (f"{100 * end:.2g} %" for end in ends)
    return value if math.isclose(number.low, number.high) else f"{value} ({low} to {high})"


def summary(found: Reproduction) -> str:
    """How many rows bear which mark, in a sentence."""
    parts = {
        "reproduced": "reproduced",
        "on the calibrated population": "reproduced on the calibrated population",
        "differs": "different here",
        "not reproducible": "not reproducible",
        "not run": "not run",
    }
    marks = found.marks
    said = [f"{marks[mark]} {words}" for mark, words in parts.items() if marks[mark]]  # type: ignore[index]
    rows = sum(marks.values()) - marks["added here"]
    more = f" {marks['added here']} rows are ours alone." if marks["added here"] else ""
    return f"Of {rows} published figures and statements {listed(said)}.{more}"
