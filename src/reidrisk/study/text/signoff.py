"""Sentences of the sign-off: whether the limit is kept, of whom, and what changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reidrisk.study.doubts import judge_result, standing
from reidrisk.study.gate import Limits, above, judged
from reidrisk.study.result import Result, Signoff
from reidrisk.study.text.attacks import Sentence, knowledge, least_assessed, strongest, unseen
from reidrisk.study.text.numbers import (
    after,
    count,
    doubted,
    exactly,
    opening,
    share_with_interval,
    targets_word,
    units,
)


@dataclass(frozen=True)
class _Outcome:
    """Whether the limit is kept, in a word and in sentences."""

    kind: Literal["passed", "failed", "open"]
    word: str
    sentences: tuple[str, ...]


def outcome(result: Result, said: Sequence[Sentence]) -> _Outcome:
    """Whether the limit is kept, by the rule of the gate.

    Args:
        result: What a study found.
        said: Its verdict; what that says of the limit comes first.
    """
    words = result.signoff or Signoff()
    if words.limit is None:
        doubts = (doubted(doubt) for doubt in standing(result))
        none = "No limit was set, so nothing passes or fails."
        return _Outcome("open", "Not judged", (none, *doubts))
    if all(risk.setting for risk in result.risks):
        return _Outcome("failed", "Not passed", ("No attack was measured: nothing can pass.",))
    risks, limits = judged(result), Limits(max_risk=words.limit)
    found = judge_result(result, limits, accept=words.accept)
    kept = [opening(one.text) for one in said if one.about == "limit"]
    sentences = (
        *kept,
        *least_assessed(risks, targets_word(result), unseen(result)),
        *map(doubted, found.doubts),
        *(f"Accepted by name: {doubted(doubt)}" for doubt in found.accepted),
        *(f"Answered by what is proved: {doubted(doubt)}" for doubt in found.answered),
    )
    if above(risks, words.limit):
        return _Outcome("failed", "Not passed", sentences)
    if found.doubts:
        return _Outcome("failed", "Not passed, since there are doubts", sentences)
    word = "Passed, with doubts accepted by name" if found.accepted else "Passed"
    return _Outcome("passed", word, sentences)


def size(result: Result) -> str:
    """How many were attacked, among how many, after how many slots.

    Args:
        result: What a study found.
    """
    if result.singling is not None:
        known = units(result, result.slots[-1])
        return f"In the table: {count(result.users)} people, described by {known}."
    best = strongest(result)
    every = result.targets if best is None else best.targets + best.not_assessed
    attacked = f"{count(every)} {targets_word(result, every)} attacked"
    if best is not None and best.not_assessed:
        attacked += f" and {count(best.targets)} of them assessed"
    time = after(result, result.slots[-1]).replace(" ", " up to ", 1)
    return f"In the study: {attacked}, among {count(result.users)} whom the attacker knows, {time}."


def attacker(result: Result) -> str:
    """What the strongest attack knows; empty where the result does not say it.

    Args:
        result: What a study found.
    """
    best = strongest(result)
    known = "" if best is None else knowledge(result, best.attack)
    return f"In the study, the strongest attack knows {known}." if known else ""


def named(result: Result) -> str:
    """How often people are named with this release, beside guessing.

    Args:
        result: What a study found.
    """
    best, time = strongest(result), opening(after(result, result.slots[-1]))
    if best is None:
        return "No attack was measured."
    guess = f"guessing would be right in {exactly(best.guessing)}"
    if best.value == 0:
        return f"{time} no attack was right in any of {count(best.targets)} cases; {guess}."
    right = f"the strongest attack is right in {share_with_interval(best)} of cases"
    return f"{time} {right}; {guess}."
