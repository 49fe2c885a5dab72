"""The verdict in plain words, computed from the records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reidrisk.study.result import Bound, Result, Risk
from reidrisk.study.saying.bounds import bounds_of, empty, said
from reidrisk.study.saying.numbers import at_most, count, interval, percent, share, times
from reidrisk.study.saying.words import cleaned, listed, opening, units


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


def verdict(result: Result) -> tuple[Statement, ...]:
    """What was found, what the models say, what is promised."""
    best, found = strongest(result), bounds_of(result)
    return (
        Statement("found", _found(result, best)),
        *(_under_model(bound, best) for bound in found if bound.side == "estimate"),
        *_promised(found, best),
    )


def _found(result: Result, best: Risk | None) -> str:
    time, crowd = units(result, result.slots[-1]), f"the right person out of {count(result.users)}"
    if best is None:
        return f"No attack was measured after {time}."
    if best.value == 0:
        return (
            f"After {time}, no attack picked {crowd} in any of {count(best.targets)} cases; the "
            f"strongest ({best.attack}) may be right in up to {at_most(best.high)} of cases."
        )
    ends = f" ({interval(best)})" if interval(best) else ""
    return (
        f"After {time}, the strongest attack ({best.attack}) picks {crowd} in about {share(best)} "
        f"of cases{ends}, {_compared(best)}."
    )


def _compared(risk: Risk) -> str:
    if risk.low <= risk.guessing:
        return "which so few cases cannot tell from guessing"
    return f"about {times(risk, risk.guessing)} times as often as guessing would"


def _under_model(bound: Bound, best: Risk | None) -> Statement:
    unfit, beaten = bound.fits is False, _beaten(bound, best)
    if bound.fits is None:  # no model of an attack: it says itself for whom it holds
        text = f"{opening(bound.name)}: about {said(bound)} at most. {bound.assumes}"
    else:
        text = (
            f"{opening(bound.name)}: an attacker with this knowledge could reach about "
            f"{said(bound)} at most, if the model holds."
            f"{' What was observed does not fit it.' if unfit else ''}"
        )
    return Statement("model", text.strip() + beaten, warns=unfit or bool(beaten))


def _promised(found: Sequence[Bound], best: Risk | None) -> list[Statement]:
    """Every bound, lowest first; plainly, if none of them rules anything out."""
    uppers = [bound for bound in found if bound.side == "upper"]
    limits = [bound for bound in uppers if not empty(bound)]
    statements = [
        Statement(
            "promise",
            f"{opening(bound.name)}: {said(bound)}. {bound.assumes}{_beaten(bound, best)}".strip(),
            warns=bool(_beaten(bound, best)),
        )
        for bound in limits
    ]
    if len(limits) < len(uppers):
        rest = [bound for bound in uppers if empty(bound)]
        text = f"{opening(listed([bound.name for bound in rest]))}: {said(rest[0])}."
        if not limits:
            text += " Nothing is promised about attackers who know more."
        statements.append(Statement("promise", text, warns=not limits))
    return statements


def _beaten(bound: Bound, best: Risk | None) -> str:
    """Whether an attack does what the bound says none can."""
    if best is None or best.value <= bound.high:
        return ""
    if best.low <= bound.high:
        return f" The attack {best.attack} was above this, which may be chance."
    return f" But the attack {best.attack} exceeds this, so what it assumes does not hold."


def basis(result: Result) -> str:
    """What the verdict rests on: who was attacked, who could be assessed, how sure ranges are."""
    return f"{_attacked(result, strongest(result))} Ranges are {percent(result.level)} intervals."


def _attacked(result: Result, best: Risk | None) -> str:
    if best is None:
        return f"{count(result.targets)} people were to be attacked."
    if not best.not_assessed:
        return f"{count(best.targets)} people were attacked, and all could be assessed."
    return (
        f"{count(best.targets + best.not_assessed)} people were attacked, of whom "
        f"{count(best.targets)} could be assessed: of the other {count(best.not_assessed)} one "
        "side had seen nothing, which does not make them safe."
    )


def text(result: Result) -> str:
    """The verdict in plain words, for a terminal."""
    known = cleaned(result)
    return "\n\n".join(
        [known.title, *(statement.text for statement in verdict(known)), basis(known)]
    )
