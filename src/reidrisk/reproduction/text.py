"""Rows of a reproduction in words, with their marks."""

import math
from dataclasses import replace

from reidrisk.estimates import Estimate
from reidrisk.report.exhibits import NOTHING
from reidrisk.reproduction.chapter import Mark, Row
from reidrisk.reproduction.record import Reproduction
from reidrisk.study.text.numbers import listed, share_with_interval

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
    "on the calibrated population": "The same comes out on a population that was fitted to "
    "published figures, because the authors' data are not public. It shows that such people may "
    "give such figures, and proves no more.",
    "differs": "Something else comes out. The row says by how much and why we think so.",
    "not reproducible": "It cannot be reproduced from what is public.",
    "not run": "It was not run here. The row says what was missing: a library, a file, time or "
    "size.",
    "added here": "A figure of ours that the source does not have.",
}

_SAID: dict[Mark, str] = {
    "reproduced": "come out the same",
    "on the calibrated population": "come out the same on the calibrated population",
    "differs": "differ",
    "not reproducible": "cannot be reproduced",
    "not run": "were not run here",
}

_SMALL, _WHOLE = 1e-3, 1e15


def signed(mark: Mark) -> str:
    """A mark that can be told without colour."""
    return f"{SIGNS[mark]}\N{NO-BREAK SPACE}{mark}"


def ours(row: Row) -> str:
    """Our figure as people read it."""
    return NOTHING if row.ours is None else figure(row.ours, row.unit)


def figure(number: Estimate, unit: str) -> str:
    """A value with its unit and, if it was measured, its interval, no finer than that supports."""
    if unit == "%" and number.low >= 0:
        return share_with_interval(number)
    if unit == "%":  # a difference of shares
        number = replace(
            number, value=100 * number.value, low=100 * number.low, high=100 * number.high
        )
    if number.low == number.high:
        return " ".join(part for part in (plain(number.value), unit) if part)
    # Up to the second digit of the interval's width.
    digits = max(1 - math.floor(math.log10(number.high - number.low)), 0)
    value, low, high = (f"{end:,.{digits}f}" for end in (number.value, number.low, number.high))
    return f"{' '.join(part for part in (value, unit) if part)} ({low} to {high})"


def plain(number: float) -> str:
    """A number without an interval: whole, or four digits."""
    if float(number).is_integer() and abs(number) < _WHOLE:
        return f"{number:,.0f}"
    return f"{number:.2g}" if abs(number) < _SMALL else f"{number:,.4g}"


def percent(share: float) -> str:
    """A share among others in a sentence."""
    return f"{100 * share:.2f} %"


def summary(found: Reproduction) -> str:
    """How many rows bear which mark, in a sentence."""
    marks = found.marks
    said = [f"{marks[mark]} {words}" for mark, words in _SAID.items() if marks[mark]]
    rows = sum(marks.values()) - marks["added here"]
    more = f" {marks['added here']} more rows are ours alone." if marks["added here"] else ""
    return f"Of {rows} published figures and statements, {listed(said)}.{more}"
