"""The range of a result on one line: guessing, found, possible, ruled out, limit."""

import math
from dataclasses import dataclass
from typing import Literal

from reidrisk.plotting import COLOURS, decades, floor_of
from reidrisk.study.result import Bound, Result, Risk
from reidrisk.study.text.bounds import bounds_of, empty, number, proved
from reidrisk.study.text.numbers import (
    at_most,
    count,
    exactly,
    percent,
    share,
    share_with_interval,
    targets_word,
)
from reidrisk.study.text.verdict import strongest

Kind = Literal["guessing", "found", "possible", "ruled-out", "limit"]

_LEAST = 1e-11
"""The axis begins no lower: that is less than one of all people alive."""


@dataclass(frozen=True)
class Mark:
    """A figure in words and as a number with its interval.

    Attributes:
        kind: Which of the figures it is.
        label: That in a word.
        who: Whose figure it is.
        said: The figure in words.
        value: As a number.
        low: Lower end of its interval.
        high: Upper end.
        series: The place of the attack whose colour it has; None if it is no attack's.
    """

    kind: Kind
    label: str
    who: str
    said: str
    value: float
    low: float
    high: float
    series: int | None = None


@dataclass(frozen=True)
class RiskRange:
    """All figures, lowest first as a rule, on a logarithmic axis that ends at 1."""

    marks: tuple[Mark, ...]

    @property
    def ticks(self) -> tuple[float, ...]:
        """Numbers written below the axis, the highest first."""
        return tuple(decades(self._floor))

    def place(self, number: float) -> str:
        """How far along the axis a number lies, in percent of its length."""
        return f"{100 * self._along(number):.2f}%"

    def width(self, mark: Mark) -> str:
        """How much of the axis lies between the ends of a mark."""
        return f"{100 * (self._along(mark.high) - self._along(mark.low)):.2f}%"

    def _along(self, number: float) -> float:
        return 0 if number <= self._floor else 1 - math.log(number) / math.log(self._floor)

    @property
    def _floor(self) -> float:
        # Below 1, since places along the axis are divided by the logarithm of the floor.
        return min(max(floor_of(mark.value for mark in self.marks), _LEAST), 0.5)


def range_of(result: Result) -> RiskRange | None:
    """The figures of the headline; None if no attack was measured."""
    best = strongest(result)
    if best is None:
        return None
    limit = result.signoff.limit if result.signoff else None
    guess = Mark("guessing", "Guessing", f"one of {count(result.users)}, at random",
                 exactly(best.guessing), *3 * (best.guessing,))  # fmt: skip
    found = Mark("found", "Found", f"{best.attack}, {_whom(result, best)}",
                 share_with_interval(best), best.value, best.low, best.high,
                 result.attacks.index(best.attack) % COLOURS)  # fmt: skip
    marks = [guess, found, *_bounding(bounds_of(result), best)]
    if limit is not None:
        marks.append(Mark("limit", "Limit", "set for this release", percent(limit), *3 * (limit,)))
    return RiskRange(tuple(marks))


def _whom(result: Result, best: Risk) -> str:
    every = best.targets + best.not_assessed
    who = targets_word(result, every)
    if best.not_assessed:
        return f"{count(best.targets)} of {count(every)} {who} assessed"
    return f"{count(every)} {who} attacked"


def _bounding(bounds: tuple[Bound, ...], best: Risk) -> list[Mark]:
    """The highest ceiling of a model, and the lowest of what is proved.

    A ceiling that an attack already meets within the intervals is left out, and so is a bound that
    an attack exceeds, if only by chance: the sentences beside the chart say so.
    """
    uppers = [
        one for one in bounds
        if one.side == "upper" and not empty(one) and number(one) >= best.value
    ]  # fmt: skip
    lowest = min(uppers, key=number, default=None)
    models = [
        one for one in bounds
        if one.side == "estimate" and one.fits is not False
        and one.low > best.value and share(one) != share(best)
        and (lowest is None or one.value <= number(lowest))
    ]  # fmt: skip
    marks = []
    if models:
        high = max(models, key=number)
        marks.append(Mark("possible", "Possible", f"{high.name}, if the model holds",
                          share_with_interval(high), high.value, high.low, high.high))  # fmt: skip
    if lowest is not None:
        sure = "proved" if proved(lowest) else f"with {percent(lowest.level)} confidence"
        ends = number(lowest), number(lowest), 1.0
        said = f"above {at_most(number(lowest))}"
        marks.append(Mark("ruled-out", "Ruled out", f"{lowest.name}, {sure}", said, *ends))
    return marks
