"""Sentences on the limit: whether it is kept, and what would lower the risk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reidrisk.study.gate import above, judged
from reidrisk.study.result import Compared, Result, Risk
from reidrisk.study.text.attacks import Sentence, headline
from reidrisk.study.text.bounds import ceilings, number, proved
from reidrisk.study.text.numbers import at_most_beside, count, in_full, listed, units

MOST = 3
"""Remedies that are named."""


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


def limit(result: Result) -> list[Sentence]:
    """Whether the limit is kept: the upper end of every interval counts."""
    if result.signoff is None or result.signoff.limit is None:
        return []
    most, source = result.signoff.limit, result.signoff.limit_source.removesuffix(".")
    name = f"Limit of {in_full(most)}{f' ({source})' if source else ''}"
    if not [risk for risk in result.risks if not risk.setting]:
        return [Sentence("limit", f"{name}: not checked, no attack was measured.", warns=True)]
    checked = judged(result)
    failing = above(checked, most)
    worst = max(checked, key=lambda risk: risk.high)
    upper = f"{at_most_beside(worst.high, most)} ({worst.attack}, {units(result, worst.slots)})"
    if not failing:
        figures = f"{count(len(checked))} figure{'s' * (len(checked) != 1)}"
        text = f"{name}: kept. The highest upper end of {figures} is {upper}."
        return [Sentence("limit", f"{text} {_beyond(result, most)}")]
    sure = any(risk.low > most for risk in failing)
    broken = "exceeded" if sure else "not shown to be kept"
    return [Sentence("limit", f"{name}: {broken}. The highest upper end is {upper}.", warns=True)]


def _beyond(result: Result, most: float) -> str:
    """Whether attackers who were not tried keep the limit too."""
    below = [bound for bound in ceilings(result).limits if number(bound) <= most]
    if not below:
        return "Attackers who were not tried are not ruled out from exceeding it."
    sure = any(proved(bound) for bound in below)
    return f"Nobody can exceed it{'' if sure else ', with the confidence of that bound'}."


def remedy(result: Result) -> list[Sentence]:
    """What lowers the upper end, from sweeps and releases side by side; unless all is well."""
    asked = None if result.signoff is None else result.signoff.limit
    own = headline(result)
    if not own:
        return []
    failing = () if asked is None else above(judged(result), asked)
    if asked is not None and not failing:
        return []
    # What is measured at the headline alone says nothing about figures that fail elsewhere.
    enough = all(risk.slots == own[0].slots for risk in failing)
    now = max(risk.high for risk in own)
    better = [one for one in (*_swept(result, own), *_others(result, own)) if one.high < now]
    # Of those that keep the limit the mildest comes first.
    better.sort(key=lambda one: (0, -one.high) if _keeps(one, asked) else (1, one.high))
    if better:
        told = "; ".join(_told(one, asked, enough=enough) for one in better[:MOST])
        return [Sentence("remedy", f"What would lower the risk: {told}.")]
    if asked is None:
        return []
    text = "Nothing else that was measured lowers the risk; try sweep or calibrate."
    return [Sentence("remedy", text)]


def _told(one: Remedy, asked: float | None, *, enough: bool) -> str:
    high = at_most_beside(one.high, 1.0 if asked is None else asked)
    parts = [f"upper end {high}", *one.aside]
    if enough and _keeps(one, asked):
        parts.insert(1, "which keeps the limit")
    return f"{one.words} ({', '.join(parts)})"


def _keeps(one: Remedy, asked: float | None) -> bool:
    return asked is not None and one.high <= asked


def _swept(result: Result, own: Sequence[Risk]) -> Iterator[Remedy]:
    """Settings in which all attacks were measured alike: as many slots, as many users."""
    settings: dict[tuple[tuple[str, Any], ...], list[Risk]] = {}
    for risk in result.risks:
        if risk.setting and (risk.slots, risk.users) == (own[0].slots, own[0].users):
            settings.setdefault(tuple(risk.setting.items()), []).append(risk)
    for setting, risks in settings.items():
        if {risk.attack for risk in own} <= {risk.attack for risk in risks}:
            changed = [_changed(result, name, value) for name, value in setting]
            yield Remedy(listed(changed), max(risk.high for risk in risks))


def _changed(result: Result, name: str, value: Any) -> str:
    release = result.study.get("release")
    before = release.get(name) if isinstance(release, Mapping) else None
    instead = "" if before is None else f" instead of {_plain(before)}"
    return f"{name} {_plain(value)}{instead}"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _others(result: Result, own: Sequence[Risk]) -> Iterator[Remedy]:
    """Other releases; one that is spared an attack, or shows less, says so."""
    for one in result.releases[1:]:
        if one.risks:
            high = max(risk.high for risk in one.risks)
            yield Remedy(one.release, high, _aside(result, one, own[0].slots))


def _aside(result: Result, one: Compared, slots: int) -> tuple[str, ...]:
    fewer = () if one.slots == slots else (f"after {units(result, one.slots)}",)
    spared = listed([refusal.attack for refusal in one.refused]) if one.refused else ""
    return (*fewer, *((f"{spared} could not be tried",) if spared else ()))
