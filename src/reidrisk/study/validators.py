"""Whether the figures of a result are possible: checked when a result is read or made."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, get_type_hints

from reidrisk.core.ranges import Amount, Inline, NotEmpty, Range, Share, Unchecked

if TYPE_CHECKING:
    from reidrisk.study.result import Result

_LARGEST = 2**63 - 1
"""More than this, neither charts nor tables hold."""


def first_fault(result: "Result") -> str | None:
    """What is wrong with the first impossible figure of a result; None if all are possible.

    A share lies inside its interval, and both between 0 and 1; a level is a chance; no count is
    below 0 or too large for a chart. Every attack has a figure, since a gate cannot fail on one
    that is missing.

    Args:
        result: As it was read or made.
    """
    faults = chain(_faults(result, "", None), _missing(result), _table_faults(result))
    return next(faults, None)


def _missing(result: "Result") -> Iterator[str]:
    """Figures that every result has, and this one does not."""
    if not result.slots or list(result.slots) != sorted(set(result.slots)):
        yield f"slots: {list(result.slots)} is not an ascending list"
    if result.users < 1:
        yield f"users: {result.users} is nobody"
    # A result without its strongest attack would pass every gate.
    there = {(risk.attack, risk.slots) for risk in result.risks if not risk.setting}
    for one in result.attackers:
        for slots in result.slots:
            if (one.name, slots) not in there:
                yield f"risks: there is no figure of {one.name} after {slots} slots"


def _table_faults(result: "Result") -> Iterator[str]:
    """Figures of a table that contradict its counts, or that a gate would miss."""
    if result.singling is None and result.unicity is None:
        return
    from reidrisk.study.table_results import table_faults  # noqa: PLC0415  it reads results itself

    yield from table_faults(result)


def _faults(value: Any, path: str, allowed: Range | None) -> Iterator[str]:
    """Faults of a value and all below it; `allowed` is what its field says of numbers."""
    if is_dataclass(value):
        yield from _interval(value, path, allowed)
        kind: Any = type(value)
        for name, said in _annotations(kind).items():
            if not any(isinstance(one, Unchecked) for one in said):
                inside = any(isinstance(one, Inline) for one in said)
                below = path if inside else f"{path}.{name}".lstrip(".")
                range_ = next((one for one in said if isinstance(one, Range)), None)
                yield from _faults(getattr(value, name), below, range_)
                if any(isinstance(one, NotEmpty) for one in said) and not getattr(value, name):
                    yield f"{below}: there is none"
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _faults(one, f"{path}.{name}", allowed)
    elif isinstance(value, tuple):
        for place, one in enumerate(value):
            yield from _faults(one, f"{path}.{place}", allowed)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, path, allowed)


@cache
def _annotations(record: Any) -> dict[str, tuple[Any, ...]]:
    """What the fields of a record say beside their types."""
    hints = get_type_hints(record, include_extras=True)
    return {one.name: getattr(hints[one.name], "__metadata__", ()) for one in fields(record)}


def _interval(record: Any, path: str, allowed: Range | None) -> Iterator[str]:
    """A value lies between its ends; that of bits may be below 0."""
    parts = {one.name for one in fields(record)}
    if {"value", "low", "high"} <= parts:
        value, low, high = record.value, record.low, record.high
        shares = Share if allowed is None else allowed
        if not (low <= value <= high and low in shares and high in shares):
            yield f"{path}: {value} between {low} and {high} is not a share with its interval"
    if {"bits", "low", "high"} <= parts and not record.low <= record.bits <= record.high:
        yield f"{path}: {record.bits} bits do not lie between {record.low} and {record.high}"


def _number(number: float, path: str, allowed: Range | None) -> Iterator[str]:
    if isinstance(number, int) and abs(number) > _LARGEST:
        yield f"{path}: {number} is more than can be counted"
    usual = Amount if isinstance(number, int) else None  # a whole number is a count
    if (range_ := allowed or usual) and number not in range_:
        yield f"{path}: {number} {range_.fault}"
