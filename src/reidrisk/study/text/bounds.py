"""Sentences on bounds, one number each."""

from dataclasses import replace

from reidrisk.study.result import Bound, Result
from reidrisk.study.text.numbers import at_most, percent, share_with_interval

_ORDER = {"lower": 0, "estimate": 1, "upper": 2}
# Earlier results named bounds by a verb, and took Fano's inequality at a sampled number of bits,
# for attackers of limited knowledge, for a bound on everyone.
_VERB = " allows"
_NEVER_PROVED = "mutual information allows"


def bounds_of(result: Result) -> tuple[Bound, ...]:
    """Those of the study itself, at the most slots for which there are any, weakest first."""
    own = [_as_named_today(bound) for bound in result.bounds if not bound.setting]
    slots = max((bound.slots for bound in own), default=0)
    return tuple(sorted((bound for bound in own if bound.slots == slots), key=_strength))


def number(bound: Bound) -> float:
    """The number a bound is known by: of an upper bound, the end that nobody exceeds."""
    return bound.high if bound.side == "upper" else bound.value


def proved(bound: Bound) -> bool:
    """Whether it was computed and holds for certain; else it was estimated from a sample."""
    return bound.level == 1


def said(bound: Bound) -> str:
    """The number in words."""
    if bound.side != "upper":
        return share_with_interval(bound)
    if empty(bound):
        return "100 %, which rules nothing out"
    if proved(bound):
        return f"never above {at_most(number(bound))}"
    return f"at most {at_most(number(bound))} with {percent(bound.level)} confidence"


def empty(bound: Bound) -> bool:
    """Whether it allows everything."""
    return number(bound) >= 1


def _as_named_today(bound: Bound) -> Bound:
    side = "estimate" if bound.name == _NEVER_PROVED else bound.side
    return replace(bound, name=bound.name.removesuffix(_VERB), side=side)


def _strength(bound: Bound) -> tuple[bool, int, float]:
    return bound.name != "guessing", _ORDER[bound.side], number(bound)
