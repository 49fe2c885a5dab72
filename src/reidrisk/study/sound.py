"""Whether the figures of a result can be: what is judged or drawn is checked as it is read."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reidrisk.study.result import Result

_SIGNED = "gap"
"""The one figure that may be below 0: what attackers claim less what came true."""


def unsound(result: "Result") -> str | None:
    """What stands first in a result that cannot be, and why; None if all can be.

    A share lies inside its interval, and both between 0 and 1; a level is a chance; nobody counts
    less than nobody. No figure of an attack is missing, since what is missing cannot fail.
    """
    return next(chain(_faults(result, ""), _lacking(result)), None)


def _lacking(result: "Result") -> Iterator[str]:
    """What every result has, and this one has not."""
    if not result.slots or list(result.slots) != sorted(set(result.slots)):
        yield f"slots: {list(result.slots)} is no ascending list"
    if result.users < 1:
        yield f"users: {result.users} is nobody"
    there = {(risk.attack, risk.slots) for risk in result.risks if not risk.setting}
    for one in result.attackers:
        for slots in result.slots:
            if (one.name, slots) not in there:
                yield f"risks: there is no figure of {one.name} after {slots} slots"


def _faults(thing: Any, path: str) -> Iterator[str]:
    if is_dataclass(thing):
        parts = {part.name: getattr(thing, part.name) for part in fields(thing)}
        yield from _fault(parts, path)
        for name, value in parts.items():
            yield from _faults(value, f"{path}.{name}" if path else name)
    elif isinstance(thing, tuple):
        for place, value in enumerate(thing):
            yield from _faults(value, f"{path}.{place}")


def _fault(parts: Mapping[str, Any], path: str) -> Iterator[str]:
    if {"value", "low", "high"} <= parts.keys():
        value, low, high = parts["value"], parts["low"], parts["high"]
        least = -1 if path.endswith(f".{_SIGNED}") else 0
        if not least <= low <= value <= high <= 1:
            yield f"{path}: {value} between {low} and {high} is no share with its interval"
    if not 0 <= (parts.get("limit") or 0) <= 1:
        yield f"{path}.limit: {parts['limit']} is no share"
    for name in ("level", "present", "guessing"):
        if not 0 < parts.get(name, 1) <= 1:
            yield f"{path}.{name}: {parts[name]} is no chance".lstrip(".")
    for name in ("users", "targets", "trials", "slots", "not_assessed", "strangers"):
        if isinstance(number := parts.get(name), int) and number < 0:
            yield f"{path}.{name}: {number} is below 0".lstrip(".")
