"""How much is enough: the smallest value of a parameter whose risk is certainly below a target.

Every parameter that can be searched makes people safer as it grows: more noise, larger top sets, a
larger crowd. So the values are searched by halving. Each measurement's interval is widened so that
all of them together hold the truth with the level asked for, whichever value is chosen in the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reidrisk.checks import probability
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, confidence
from reidrisk.people.people import People
from reidrisk.risk.engine import Engine
from reidrisk.study.study import Study

Measure = Callable[[float], Estimate]
"""The risk at a value."""

SEARCHED = ("noise", "top", "users")
"""Parameters that make people safer as they grow."""

_DIGITS = 100
"""Values of two digits are searched: nobody needs a noise of 0.2317."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A value that was tried, and the risk there."""

    value: float
    risk: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a search found.

    Attributes:
        max_risk: What the upper end of the risk must not exceed.
        enough: The smallest value found to suffice; None if the largest does not.
        not_enough: The largest value found not to suffice; None if the smallest does.
        trials: All that was tried, by value.
    """

    max_risk: float
    enough: Trial | None
    not_enough: Trial | None
    trials: tuple[Trial, ...]


def calibrate(measure: Measure, values: Sequence[float], *, max_risk: float) -> Calibration:
    """The smallest value that suffices, by halving.

    Args:
        measure: The risk at a value; taken to fall as values grow. Called at most
            `evaluations(values)` times, never twice with the same value.
        values: Ascending.
        max_risk: What the upper end of the risk must not exceed.
    """
    most = probability("max_risk", max_risk)
    if not values or list(values) != sorted(set(values)):
        raise InvalidInput("values to search are in ascending order, each once, at least one")
    tried: dict[int, Trial] = {}

    def suffices(place: int) -> bool:
        tried[place] = Trial(values[place], measure(values[place]))
        return tried[place].risk.high <= most

    low, high = -1, len(values)  # the largest known not to suffice, the smallest known to suffice
    if suffices(len(values) - 1):
        high -= 1
    else:
        low = len(values) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    trials = tuple(tried[place] for place in sorted(tried))
    return Calibration(most, tried.get(high), tried.get(low), trials)


def evaluations(values: Sequence[float]) -> int:
    """How often a search measures at most: once at the end, then halving."""
    return 1 + (len(values) - 1).bit_length()


def each_level(level: float, evaluations: int) -> float:
    """The level of each interval with which all of them hold together (Bonferroni)."""
    return 1 - (1 - confidence(level)) / evaluations


def candidates(low: float, high: float) -> tuple[float, ...]:
    """Numbers of at most two digits between two positive ones, and these, ascending."""
    if not 0 < low <= high:
        raise InvalidInput(f"the range goes from a positive number up; got {low:g} to {high:g}")
    found = {low, high}
    whole = isinstance(low, int) and isinstance(high, int)
    for power in range(-6 if not whole else 0, 12):
        for digits in range(1, _DIGITS):
            value = digits * 10**power if power >= 0 else float(f"{digits}e{power}")
            if low <= value <= high:
                found.add(value)
    return tuple(sorted(found))


def risk_at(
    study: Study, people: People, name: str, value: float, *, engine: Engine, level: float
) -> Estimate:
    """The risk of a study's strongest attack after the most slots, with one parameter changed.

    Strongest is the attack whose interval reaches highest.
    """
    if name not in SEARCHED:
        raise InvalidInput(f"{name} cannot be searched; there are {', '.join(SEARCHED)}")
    changed = replace(study, sweep={name: (value,)}, level=level)
    risks = changed.steps(people, engine)[-1].run({})["risks"]
    found: Estimate = max(risks, key=lambda risk: risk.high).estimate
    return found
