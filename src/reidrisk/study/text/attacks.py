"""What was found: the strongest attack, how often it is right, of whom, and shortlists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from reidrisk.risk.tables.records import REGISTER_MATCH
from reidrisk.study.text.numbers import (
    after,
    at_most,
    count,
    interval,
    opening,
    share,
    share_with_interval,
    times,
)

if TYPE_CHECKING:
    from reidrisk.study.result import Result, Risk

_About = Literal["found", "doubt", "possible", "ruled out", "unfit", "strangers", "limit", "remedy"]
"""What a sentence is about.

| about | it says |
| --- | --- |
| `found` | what was done: an attack that was carried out |
| `doubt` | why low figures may say little, with the code of the doubt |
| `possible` | what could be done, if a model holds that nothing observed speaks against |
| `ruled out` | what cannot be done: proved bounds |
| `unfit` | what gives no ceiling, since what was observed speaks against it |
| `strangers` | for whom figures hold, if visitors may be people whom the attacker does not know |
| `limit` | whether the limit that was asked for is kept |
| `remedy` | what would lower the risk |
"""


@dataclass(frozen=True)
class Sentence:
    """A sentence of the verdict and what it speaks about."""

    about: _About
    text: str
    warns: bool = False


@dataclass(frozen=True)
class Remedy:
    """A change with which every attack has a smaller upper end.

    Attributes:
        words: What is changed.
        high: The highest upper end with it.
        aside: What must be known besides.
    """

    words: str
    high: float
    aside: tuple[str, ...] = ()


def shortlists(result: "Result", attack: str | None = None) -> list[str]:
    """How often the right person is listed, a sentence for each attack, or of one alone.

    Nothing where nobody was left out.

    Args:
        result: What a study found.
        attack: Only this one.
    """
    return [
        opening(
            f"{one.attack} rates only those whom it lists at first sight, {count(one.listed)} at "
            "most and fewer where many look alike: the right one is among them in "
            f"{share_with_interval(one.recall)} of {count(one.recall.trials)} cases; in the others "
            "its ratings do not help."
        )
        for one in result.shortlists
        if attack in {None, one.attack} and one.listed < result.users
    ]


def headline(result: "Result") -> tuple["Risk", ...]:
    """Risks of the study itself, at the most slots and among all users.

    An attacker with a register chooses among other people, and is none of them.

    Args:
        result: What a study found.
    """
    return tuple(
        risk
        for risk in result.risks
        if not risk.setting and risk.slots == result.slots[-1] and risk.users == result.users
        and risk.attack != REGISTER_MATCH
    )  # fmt: skip


def strongest(result: "Result") -> "Risk | None":
    """The attack of the headline that is right most often, by whoever knows no true pairs.

    Its interval pays for choosing it among all that were tried.

    Args:
        result: What a study found.
    """
    names = {name for one in result.strongest if one.given == "rows" for name in one.among}
    outsiders = [risk for risk in headline(result) if risk.attack in names]
    best = max(
        outsiders or headline(result), key=lambda risk: (risk.value, risk.high), default=None
    )
    return None if best is None else as_chosen(result, best)


def as_chosen(result: "Result", risk: "Risk") -> "Risk":
    """A risk with the interval that pays for its choice, if it is that of a strongest attack.

    Args:
        result: What a study found.
        risk: One of its risks.
    """
    mine = [
        one.right
        for one in result.strongest
        if (one.attack, one.slots, one.users, one.right.value)
        == (risk.attack, risk.slots, risk.users, risk.value)
    ]
    # It may be the strongest of several pools; that of the largest one is widest.
    widest = max(mine, key=lambda right: right.high, default=None)
    if widest is None or risk.setting:
        return risk
    return replace(risk, low=widest.low, high=widest.high, method=widest.method)


def found(result: "Result") -> Sentence:
    """How often the strongest attack is right.

    Args:
        result: What a study found.
    """
    best, time = strongest(result), after(result, result.slots[-1])
    if best is None:
        return Sentence("found", f"Found: nothing; no attack was measured {time}.")
    whom = f"the right person out of {count(result.users)}"
    cases = _cases_of(best)
    if best.value == 0:
        text = f"Found: {time}, no attack picked {whom} in any of {cases}."
        if best.high:
            text += f" {opening(_who(result, best))} may be right in up to {at_most(best.high)}."
        return Sentence("found", text)
    ends = f" ({interval(best)})" if interval(best) else ""
    about = "about " if ends else ""
    return Sentence(
        "found",
        f"Found: {time}, {_who(result, best)} picks {whom} in {about}{share(best)}{ends} of "
        f"{cases}, {_compared(best)}.{_with_pairs(result)}",
    )


def _with_pairs(result: "Result") -> str:
    """How often somebody is right who also knows some true pairs, if that was tried."""
    one = next((one for one in result.strongest if one.given == "rows and pairs"), None)
    if one is None:
        return ""
    if (best := strongest(result)) is not None and best.attack == one.attack:
        return " One who also knows the true pairs of half of the people does no better."
    ends = f" ({interval(one.right)})" if interval(one.right) else ""
    about = "about " if ends else ""
    return (
        f" One who also knows the true pairs of half of the people: {about}{share(one.right)}{ends}"
        f" ({one.attack})."
    )


def knowledge(result: "Result", attack: str) -> str:
    """What an attack of the study knows, in words; empty in results that do not say it.

    Args:
        result: What a study found.
        attack: Its name.
    """
    return next((one.knows for one in result.attackers if one.name == attack), "")


def _cases_of(risk: "Risk") -> str:
    """The denominator of a risk, in words."""
    cases = f"{count(risk.targets)} case{'s' * (risk.targets != 1)}"
    if not risk.not_assessed:
        return cases
    return f"the {cases} of {count(risk.targets + risk.not_assessed)} that could be assessed"


_UNSEEN = "one side saw nothing of them"


def unseen(result: "Result") -> str:
    """Why targets of a result could not be assessed, as part of a sentence.

    Args:
        result: What a study found.
    """
    if result.singling is not None:
        return "the register does not have their values"
    return _UNSEEN if result.unicity is None else "they have fewer points"


def no_figure(why: str) -> str:
    """Why targets could not be assessed, and what that means.

    Args:
        why: The reason.
    """
    return f"{why}, so they are in no figure, which does not make them safe"


def not_assessed(risk: "Risk", who: str = "targets") -> str:
    """How many targets are in no figure, as the beginning of a sentence.

    Args:
        risk: How often an attack is right.
        who: What targets are called.
    """
    everyone = risk.targets + risk.not_assessed
    return f"{count(risk.not_assessed)} of {count(everyone)} {who} could not be assessed"


def least_assessed(
    risks: Sequence["Risk"], who: str = "targets", why: str = _UNSEEN
) -> tuple[str, ...]:
    """A sentence on the most targets who are in no figure; nothing if all are in each.

    Args:
        risks: How often attacks are right.
        who: What targets are called.
        why: They could not be assessed.
    """
    worst = max(risks, key=lambda risk: risk.not_assessed, default=None)
    if worst is None or not worst.not_assessed:
        return ()
    return (f"Up to {not_assessed(worst, who)}: {no_figure(why)}.",)


def _who(result: "Result", best: "Risk") -> str:
    """The attacker by what is known, else the attack by its name; and among how many."""
    tried = len(headline(result))
    which = "strongest" if tried > 1 else "only"
    if not (knows := knowledge(result, best.attack)):
        return f"the {which} attack tried ({best.attack})"
    of = f" of {count(tried)} attacks" if tried > 1 else " attack"
    return f"an attacker who knows {knows} ({best.attack}, the {which}{of} tried)"


def _compared(risk: "Risk") -> str:
    if risk.high <= risk.guessing:
        return "no more often than guessing would"
    if risk.low <= risk.guessing:
        return "which so few cases cannot tell from guessing"
    about = "about " if risk.low < risk.high else ""
    return f"{about}{times(risk, risk.guessing)} times as often as guessing would"
