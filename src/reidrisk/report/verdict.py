"""The verdict in plain words, computed from the records."""

from dataclasses import dataclass
from typing import Literal

from reidrisk.report.numbers import (
    at_most,
    count,
    interval,
    percent,
    share,
    share_with_interval,
    times,
)
from reidrisk.report.words import listed, opening, units
from reidrisk.study.result import Bound, Result, Risk


@dataclass(frozen=True)
class Statement:
    """A sentence of the verdict and what it speaks about."""

    about: Literal["found", "model", "promise"]
    text: str
    warns: bool = False


def headline(result: Result) -> tuple[Risk, ...]:
    """Risks of the study itself, at the most slots and among all users."""
    return tuple(
        risk
        for risk in result.risks
        if not risk.setting and risk.slots == result.slots[-1] and risk.users == result.users
    )


def strongest(result: Result) -> Risk | None:
    """The attack of the headline that is right most often."""
    return max(headline(result), key=lambda risk: risk.value, default=None)


def spectrum(result: Result) -> tuple[Bound, ...]:
    """Levels of the study itself, at the most slots for which there are any."""
    bounds = [bound for bound in result.bounds if not bound.setting]
    slots = max((bound.slots for bound in bounds), default=0)
    return tuple(bound for bound in bounds if bound.slots == slots)


def verdict(result: Result) -> tuple[Statement, ...]:
    """What was found, what the models say, what is promised."""
    best, levels = strongest(result), spectrum(result)
    return (
        Statement("found", _found(result, best)),
        *(_under_model(bound, best) for bound in levels if bound.side == "estimate"),
        *_promised([bound for bound in levels if bound.side == "upper"], best),
    )


def _found(result: Result, best: Risk | None) -> str:
    time, crowd = units(result, result.slots[-1]), f"one of {count(result.users)} people"
    if best is None:
        return f"No attack was measured after {time}."
    if best.value == 0:
        return (
            f"After {time}, no attack named the right {crowd} in any of {count(best.targets)} "
            f"cases; the strongest ({best.attack}) may be right in up to {at_most(best.high)}."
        )
    return (
        f"After {time}, the strongest attack found ({best.attack}) names the right {crowd} in "
        f"about {share(best)} of cases{_ends(best)}, {_compared(best)}."
    )


def _ends(risk: Risk) -> str:
    ends = interval(risk)
    return f" ({ends})" if ends else ""


def _compared(risk: Risk) -> str:
    if risk.low <= risk.guessing:
        return "which this many cases cannot tell from guessing"
    return f"about {times(risk, risk.guessing)} times better than guessing"


def _under_model(bound: Bound, best: Risk | None) -> Statement:
    unfit = bound.fits is False
    text = (
        f"{opening(bound.name)}: no attacker limited to this knowledge could exceed about "
        f"{share_with_interval(bound)}, under "
        f"{'a model that does not fit' if unfit else 'the model'}."
    )
    beaten = _beaten(bound, best)
    return Statement("model", text + beaten, warns=unfit or bool(beaten))


def _promised(uppers: list[Bound], best: Risk | None) -> list[Statement]:
    """Every bound that says something, lowest first, or plainly that none does."""
    telling = sorted((one for one in uppers if one.value < 1), key=lambda one: one.value)
    if uppers and not telling:
        names = listed([bound.name for bound in uppers])
        text = (
            "About attackers who know more, nothing is promised: "
            f"{names} allow{'s' if len(uppers) == 1 else ''} 100 %, which says nothing."
        )
        return [Statement("promise", text, warns=True)]
    return [
        Statement(
            "promise",
            f"{opening(bound.name)}: never above {at_most(bound.high)}. {bound.assumes}"
            f"{_beaten(bound, best)}",
            warns=bool(_beaten(bound, best)),
        )
        for bound in telling
    ]


def _beaten(bound: Bound, best: Risk | None) -> str:
    """Whether an attack does what the bound says none can."""
    if best is None or best.value <= bound.high:
        return ""
    if best.low <= bound.high:
        return f" The attack {best.attack} was above it, which may be chance."
    return f" But the attack {best.attack} exceeds it, so what it assumes does not hold."


def basis(result: Result) -> str:
    """What the verdict rests on."""
    return (
        f"{count(result.targets)} people were attacked; ranges are {percent(result.level)} "
        "intervals."
    )
