"""Whether the figures of a result can be: what is judged or drawn is checked as it is read."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reidrisk.study.result import Result

_SIGNED = "gap"
"""The one figure that may be below 0: what attackers claim less what came true."""

_SHARES = ("limit", "claimed", "precision", "wanted", "edges", "shares")
_CHANCES = ("level", "present", "guessing")
_AMOUNTS = ("expected_right", "error")
_FREE = ("study", "seed")
"""What was asked for, in whatever words; chance comes from seeds of any size."""

_GIVEN = frozenset({"setting", "parameters"})
"""Numbers by names that others give them."""

_LARGEST = 2**63 - 1
"""More than this, neither charts nor tables hold."""


def unsound(result: "Result") -> str | None:
    """What stands first in a result that cannot be, and why; None if all can be.

    A share lies inside its interval, and both between 0 and 1; a level is a chance; nobody counts
    less than nobody, nor more than can be counted. No figure of an attack is missing, since what is
    missing cannot fail.
    """
    return next(chain(_faults(result, ""), _lacking(result)), None)


def _lacking(result: "Result") -> Iterator[str]:
    """What every result has, and this one has not."""
    if not result.slots or list(result.slots) != sorted(set(result.slots)):
        yield f"slots: {list(result.slots)} is not an ascending list"
    if result.users < 1:
        yield f"users: {result.users} is nobody"
    for place, met in enumerate(result.strangers):
        if not met.decisions:
            yield f"strangers.{place}.decisions: there is none"
    there = {(risk.attack, risk.slots) for risk in result.risks if not risk.setting}
    for one in result.attackers:
        for slots in result.slots:
            if (one.name, slots) not in there:
                yield f"risks: there is no figure of {one.name} after {slots} slots"


def _faults(thing: Any, path: str) -> Iterator[str]:
    """Down to the last number; what a number is, its nearest name says."""
    if is_dataclass(thing):
        parts = {part.name: getattr(thing, part.name) for part in fields(thing)}
        if {"value", "low", "high"} <= parts.keys():
            yield from _interval(parts, path)
        if {"bits", "low", "high"} <= parts.keys():
            yield from _bits(parts, path)
        for name in [name for name in parts if name not in _FREE]:
            yield from _faults(parts[name], f"{path}.{name}".lstrip("."))
    elif isinstance(thing, Mapping):
        for name, value in thing.items():
            yield from _faults(value, f"{path}.{name}")
    elif isinstance(thing, tuple):
        for place, value in enumerate(thing):
            yield from _faults(value, f"{path}.{place}")
    elif isinstance(thing, int | float) and not isinstance(thing, bool):
        yield from _number(thing, path)


def _interval(parts: Mapping[str, Any], path: str) -> Iterator[str]:
    value, low, high = parts["value"], parts["low"], parts["high"]
    least = -1 if path.endswith(f".{_SIGNED}") else 0
    if not least <= low <= value <= high <= 1:
        yield f"{path}: {value} between {low} and {high} is not a share with its interval"


def _bits(parts: Mapping[str, Any], path: str) -> Iterator[str]:
    """Those of a difference, of what is shared, may come out below 0."""
    bits, low, high = parts["bits"], parts["low"], parts["high"]
    if not low <= bits <= high:
        yield f"{path}: {bits} bits do not lie between {low} and {high}"


def _number(number: float, path: str) -> Iterator[str]:
    names = path.split(".")
    name = next(one for one in reversed(names) if not one.isdecimal())
    if isinstance(number, int) and abs(number) > _LARGEST:
        yield f"{path}: {number} is more than can be counted"
    if not _GIVEN.isdisjoint(names):
        return
    if number < 0 and (isinstance(number, int) or name in _AMOUNTS):
        yield f"{path}: {number} is below 0"
    if name in _SHARES and not 0 <= number <= 1:
        yield f"{path}: {number} is not a share"
    if name in _CHANCES and not 0 < number <= 1:
        yield f"{path}: {number} is not a chance"
