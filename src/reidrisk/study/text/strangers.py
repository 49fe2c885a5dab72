"""Sentences on whether figures include strangers."""

from collections.abc import Sequence

from reidrisk.estimates.open_set import ACCUSED
from reidrisk.study.result import Decision, OpenSet, Result
from reidrisk.study.text.attacks import Sentence
from reidrisk.study.text.numbers import count, exactly, listed, percent, share_with_interval, units

USUAL = 0.01
"""The share of strangers who may be accused that the verdict speaks of, if it was asked for."""

RULES: dict[str, str] = {
    "score": "by its score alone",
    "gap": "by its lead over the second best",
    "posterior": "by its chance of being right",
}
"""By what an attacker decides whether to speak."""

SPEAKS_BY: dict[str, str] = {"score": "score", "gap": "lead", "posterior": "chance"}
"""The same in a word, where there is no room for more; result files know rules by other names."""


def usual(one: OpenSet) -> Decision | None:
    """The decision that is spoken of; None if there are too few strangers for any."""
    asked = [decision for decision in one.decisions if decision.wanted is not None]
    return min(asked, key=lambda each: _far(each.wanted or 0), default=None)


def too_few(one: OpenSet) -> tuple[str, ...]:
    """A sentence on the usual shares that so few strangers cannot show, if there are any."""
    chosen = {decision.wanted for decision in one.decisions}
    missing = [each for each in ACCUSED if each not in chosen]
    if not missing:
        return ()
    needed = [f"{count(2 * round(1 / each) - 3)} for {percent(each)}" for each in missing]
    sentence = f"A threshold that accuses so few takes more strangers: {listed(needed)} at least."
    return (sentence,)


def strangers(result: Result) -> Sentence:
    """How many are named if some visitors are strangers; else, that nobody asked."""
    chosen = _chosen(result.strangers)
    if chosen is None and result.strangers:
        met = max(one.strangers for one in result.strangers)
        return Sentence(
            "strangers",
            f"Strangers: {count(met)} were met, too few to choose when to speak so that few of "
            "them are accused. Every figure above is about people whom the attacker knows.",
        )
    if chosen is None:
        return Sentence(
            "strangers",
            "Strangers: not part of this study. Every figure is about people whom the attacker "
            "knows.",
        )
    one, decision = chosen
    return Sentence(
        "strangers",
        f"Strangers: if {_part(1 - one.present)} of the visitors are unknown to the "
        f"attacker, and at most {percent(decision.wanted or 0)} of those may be accused, "
        f"{share_with_interval(decision.right)} of {count(decision.right.trials)} known "
        f"visitors are named after {units(result, one.slots)} "
        f"({one.attack}, {RULES.get(one.rule, one.rule)}). "
        f"Accused were {share_with_interval(decision.accused)} of the "
        f"{count(decision.accused.trials)} strangers who had no part in choosing the threshold."
        f"{_by_other_rules(result.strangers, one, decision)}",
    )


def _by_other_rules(found: Sequence[OpenSet], told: OpenSet, told_point: Decision) -> str:
    """What the same attack names by the rules that were not spoken of."""
    others = {
        one.rule: f"{share_with_interval(each.right)} {RULES.get(one.rule, one.rule)}"
        for one in found
        for each in one.decisions
        if (one.attack, one.slots, each.wanted) == (told.attack, told.slots, told_point.wanted)
        and one.rule != told.rule
    }
    return f" It depends on the rule: {listed([*others.values()])}." if others else ""


def _chosen(found: Sequence[OpenSet]) -> tuple[OpenSet, Decision] | None:
    """The attacker who names most, after the most slots, among those who may accuse as few."""
    every = [
        (one, decision)
        for one in found
        for decision in one.decisions
        if decision.wanted is not None
    ]
    if not every:
        return None
    slots = max(one.slots for one, _ in every)
    last = [pair for pair in every if pair[0].slots == slots]
    wanted = {pair[1].wanted or 0 for pair in last}
    asked = [pair for pair in last if (pair[1].wanted or 0) == min(wanted, key=_far)]
    return max(asked, key=lambda pair: pair[1].right.value)


def _far(wanted: float) -> tuple[float, float]:
    return abs(wanted - USUAL), wanted


def _part(number: float) -> str:
    return "half" if number == 0.5 else exactly(number)  # noqa: PLR2004  as people say it
