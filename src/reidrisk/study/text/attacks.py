"""Sentences on what the strongest attack found."""

from reidrisk.study.result import Result, Risk
from reidrisk.study.text.numbers import at_most, count, interval, share, times
from reidrisk.study.text.statement import Statement
from reidrisk.study.text.units import opening, units


def headline(result: Result) -> tuple[Risk, ...]:
    """Risks of the study itself, at the most slots and among all users."""
    return tuple(
        risk
        for risk in result.risks
        if not risk.setting and risk.slots == result.slots[-1] and risk.users == result.users
    )


def strongest(result: Result) -> Risk | None:
    """The attack of the headline that is right most often."""
    return max(headline(result), key=lambda risk: (risk.value, risk.high), default=None)


def found(result: Result) -> Statement:
    """How often the strongest attack is right."""
    best, time = strongest(result), units(result, result.slots[-1])
    if best is None:
        return Statement("found", f"Found: nothing; no attack was measured after {time}.")
    whom = f"the right person out of {count(result.users)}"
    cases = cases_of(best)
    if best.value == 0:
        text = f"Found: after {time}, no attack picked {whom} in any of {cases}."
        if best.high:
            text += f" {opening(_who(result, best))} may be right in up to {at_most(best.high)}."
        return Statement("found", text)
    ends = f" ({interval(best)})" if interval(best) else ""
    about = "about " if ends else ""
    return Statement(
        "found",
        f"Found: after {time}, {_who(result, best)} picks {whom} in {about}{share(best)}{ends} of "
        f"{cases}, {_compared(best)}.",
    )


def knowledge(result: Result, attack: str) -> str:
    """What an attack of the study knows, in words; empty in results that do not say it."""
    return next((one.knows for one in result.attackers if one.name == attack), "")


def cases_of(risk: Risk) -> str:
    """The denominator of a risk, in words."""
    cases = f"{count(risk.targets)} case{'s' * (risk.targets != 1)}"
    if not risk.not_assessed:
        return cases
    return f"the {cases} of {count(risk.targets + risk.not_assessed)} that could be assessed"


def _who(result: Result, best: Risk) -> str:
    """The attacker by what is known, else the attack by its name; and among how many."""
    tried = len(headline(result))
    which = "strongest" if tried > 1 else "only"
    if not (knows := knowledge(result, best.attack)):
        return f"the {which} attack tried ({best.attack})"
    of = f" of {count(tried)} attacks" if tried > 1 else " attack"
    return f"an attacker who knows {knows} ({best.attack}, the {which}{of} tried)"


def _compared(risk: Risk) -> str:
    if risk.high <= risk.guessing:
        return "no more often than guessing would"
    if risk.low <= risk.guessing:
        return "which so few cases cannot tell from guessing"
    about = "about " if risk.low < risk.high else ""
    return f"{about}{times(risk, risk.guessing)} times as often as guessing would"
