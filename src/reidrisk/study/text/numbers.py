"""Numbers, units and lists in words, with the digits that an interval supports."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reidrisk.core.doubts import Doubt
    from reidrisk.study._compare import Comparison
    from reidrisk.study.result import Result

_EXACT_DIGITS = 3
_ALL_DIGITS = 17
_HUNDRED = Decimal(100)
_ENDS = (Decimal(0), _HUNDRED)  # said without decimals, however fine the unit


class Interval(Protocol):
    """Anything with a value between two ends: a risk, a figure, a bound."""

    @property
    def value(self) -> float:
        """What was measured."""

    @property
    def low(self) -> float:
        """Lower end."""

    @property
    def high(self) -> float:
        """Upper end."""


def share(number: Interval) -> str:
    """A value as a percentage with the digits that its interval supports."""
    value, low, high = (_percent(part) for part in (number.value, number.low, number.high))
    if low == high:
        return exactly(number.value)
    return f"{_plain(value, _percent_unit(value, low, high))} %"


def interval(number: Interval) -> str:
    """The two ends as percentages, rounded outwards; empty if the number is exact."""
    value, low, high = (_percent(part) for part in (number.value, number.low, number.high))
    if low == high:
        return ""
    unit = _percent_unit(value, low, high)
    # An end far above a small value needs two digits, not those of the value.
    least, most = (max(unit, min(_place(end) / 10, Decimal(1))) for end in (low, high))
    return f"{_plain(low, least, ROUND_FLOOR)} % to {_plain(high, most, ROUND_CEILING)} %"


def share_with_interval(number: Interval) -> str:
    """Such as `1.7 % (1.2 % to 2.3 %)`."""
    ends = interval(number)
    return f"{share(number)} ({ends})" if ends else share(number)


def exactly(number: float) -> str:
    """A number without an interval as a percentage: three digits."""
    value = _percent(number)
    return f"{_said(value, value, value)} %"


def at_most(number: float) -> str:
    """A bound as a percentage, rounded upwards, but never to 100 unless it is."""
    value = _percent(number)
    text = _said(value, value, value, ROUND_CEILING)
    if number < 1 and text == "100":
        text = _plain(value, _place(_HUNDRED - value), ROUND_CEILING)
    return f"{text} %"


def at_least(number: float) -> str:
    """A lower bound as a percentage, rounded downwards, but never to 0 unless it is."""
    value = _percent(number)
    return f"{_said(value, value, value, ROUND_FLOOR)} %"


def percent(number: float) -> str:
    """An exact percentage, such as a precision or a level: at most six digits."""
    value = _percent(number)
    return f"{round(value, 5 - value.adjusted()).normalize():,f} %"


def in_full(number: float) -> str:
    """A percentage with all its digits: a limit that others are compared with."""
    return f"{_percent(number).normalize():,f} %"


def at_most_beside(number: float, limit: float) -> str:
    """A bound, rounded upwards, but not past a limit that stands beside it in full."""
    value, most, text = _percent(number), _percent(limit), at_most(number)
    for digits in range(_EXACT_DIGITS, _ALL_DIGITS):
        if not value <= most < shown(text):
            return text
        unit = _place(value) * Decimal(1).scaleb(-digits)
        text = f"{_trimmed(_plain(value, unit, ROUND_CEILING))} %"
    return in_full(number)


def shown(text: str) -> Decimal:
    """The percentage that a text says, to compare what a reader compares."""
    return Decimal(text.removesuffix(" %").replace(",", ""))


def times(number: Interval, base: float) -> str:
    """How many times a base the value is, with the digits that the interval supports."""
    whole = _decimal(base)
    value, low, high = (_decimal(part) / whole for part in (number.value, number.low, number.high))
    return _said(value, low, high)


def times_at_most(number: float, base: float) -> str:
    """How many times a base a bound is, rounded upwards."""
    value = _decimal(number) / _decimal(base)
    return _said(value, value, value, ROUND_CEILING)


def bits(value: float, error: float) -> str:
    """Bits with the digits that the standard error supports."""
    middle, spread = _decimal(value), _decimal(error)
    return _said(middle, middle - spread, middle + spread)


def count(number: float) -> str:
    """A whole number with commas."""
    return f"{number:,.0f}"


def _decimal(number: float) -> Decimal:
    # By its shortest digits: 0.1 is then a tenth, and is rounded as readers would round it.
    return Decimal(repr(float(number)))


def _percent(number: float) -> Decimal:
    return _decimal(number) * _HUNDRED


def _said(value: Decimal, low: Decimal, high: Decimal, rounding: str = ROUND_HALF_EVEN) -> str:
    text = _plain(value, _unit(value, low, high), rounding)
    return _trimmed(text) if low == high else text


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _unit(value: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """The last decimal place worth saying: the leading one of half the interval's width."""
    half = (high - low) / 2
    if half == 0:
        return _place(value) * Decimal(1).scaleb(1 - _EXACT_DIGITS)
    # Where the interval is wider than the value, one digit of the value remains.
    return min(_place(half), _place(value)) if value else _place(half)


def _percent_unit(value: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """Whole per cent are never too fine to say."""
    return min(_unit(value, low, high), Decimal(1))


def _place(number: Decimal) -> Decimal:
    return Decimal(1).scaleb(number.adjusted()) if number else Decimal(1)


def _plain(number: Decimal, unit: Decimal, rounding: str = ROUND_HALF_EVEN) -> str:
    """Round to a multiple of the unit, refined where a number would wrongly become 0 or 100."""
    if 0 < number < unit:
        unit = _place(number)
    # An upper end may become 100, since it is rounded outwards.
    if rounding != ROUND_CEILING and 0 < _HUNDRED - number < unit:
        unit = _place(_HUNDRED - number)
    rounded = (number / unit).to_integral_value(rounding) * unit
    if rounded in _ENDS:
        return f"{rounded:.0f}"
    return f"{rounded:,.{max(0, -unit.adjusted())}f}"


def units(result: "Result | Comparison", number: int) -> str:
    """A number of slots in the study's own word for them."""
    single = result.unit.removesuffix("s")
    return f"{number:,} {single if number == 1 else single + 's'}"


def after(result: "Result | Comparison", number: int) -> str:
    """How much attackers had: `after 4 weeks`, or `with 3 known columns` of a table, or vectors."""
    at_once = result.unit.startswith("known ") or result.unit == "vectors"
    return f"{'with' if at_once else 'after'} {units(result, number)}"


def unit(result: "Result", number: int = 2) -> str:
    """The study's word for slots, in the plural unless there is one."""
    return units(result, number).split(" ", 1)[1]


def listed(items: Sequence[str]) -> str:
    """One, two and three."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def opening(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def doubted(doubt: "Doubt") -> str:
    """A doubt as a sentence, with the code by which it can be accepted.

    Args:
        doubt: Which.
    """
    return f"Doubt ({doubt.code}): {doubt.text.removesuffix('.')}."


def targets_word(result: "Result", number: int = 2) -> str:
    """What was attacked: people; rows, where tables say whose a row is."""
    people = result.study.get("people")
    rows = isinstance(people, Mapping) and people.get("kind") in {"Linked", "Observations"}
    if rows:
        return "row" if number == 1 else "rows"
    return "person" if number == 1 else "people"
