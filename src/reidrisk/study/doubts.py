"""What speaks against trusting a result, although its figures are low."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path

from reidrisk.attacks import ATTACKS, attack_named
from reidrisk.study.judging import Check, Limits
from reidrisk.study.parameters import release_kinds
from reidrisk.study.result import Result
from reidrisk.study.saying.numbers import count, percent

MOST_UNASSESSED = 0.1
"""Share of targets who may be in no figure; with more, who knows whether they are like the rest."""

PLAIN = frozenset({"gaps", "hamming", "overlap"})
"""Attacks that compare rows as they are: every token weighs alike, nothing is learned, nothing is
known. Each is right less often than one that weighs tokens wherever some are rarer than others."""

_ROUNDING = 1e-9

_KNOWLEDGE = {"release", "panel", "population"}
"""What of a view tells how rows come about."""


def doubts(
    result: Result, checks: Collection[Check], limits: Limits, before: Result | None = None
) -> tuple[str, ...]:
    """A sentence for each doubt about what was judged."""
    return (
        *_unassessed(result, limits),
        *_weak(result, {check.attack for check in checks if check.attack is not None}),
        *_other_crowd(result, before),
        *_less_sure(result, checks),
    )


def belongs(path: str | Path, result: Result) -> bool:
    """Whether a result is that of the run in whose folder it lies, if it lies in one."""
    file = Path(path) / "run.json" if Path(path).is_dir() else Path(path).with_name("run.json")
    if not file.is_file():
        return True
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
        return bool(note["study"] == result.study and note["inputs"] == result.inputs)
    except (ValueError, KeyError, TypeError):
        return False


def _unassessed(result: Result, limits: Limits) -> Iterator[str]:
    """Targets of whom one side saw nothing are in no figure."""
    risks = [
        risk for risk in result.risks
        if not risk.setting
        and limits.slots in {None, risk.slots}
        and limits.attack in {None, risk.attack}
    ]  # fmt: skip
    worst = max(risks, key=lambda risk: risk.not_assessed, default=None)
    if worst is None:
        return
    everyone = worst.targets + worst.not_assessed
    if worst.not_assessed > MOST_UNASSESSED * everyone:
        yield (
            f"{count(worst.not_assessed)} of {count(everyone)} targets could not be assessed, more "
            f"than {percent(MOST_UNASSESSED)}: the figures do not speak of them"
        )


def _weak(result: Result, judged: Collection[str]) -> Iterator[str]:
    """Only attacks that leave out what an attacker may well know; those of others are trusted."""
    if not judged or not all(name in ATTACKS for name in judged):
        return
    names = ", ".join(sorted(judged))
    if PLAIN.issuperset(judged):
        yield (
            f"only attacks were judged that compare rows as they are ({names}): add one that "
            "weighs tokens or learns from rows, such as weighted-hamming, rarity-overlap or "
            "learned-pairs"
        )
    elif _can_be_known(result) and not any(
        _KNOWLEDGE & set(attack_named(name).needs) for name in judged
    ):
        yield (
            f"no attack was judged that knows the release ({names}), although attackers may: add "
            "one, such as weighted-hamming"
        )


def _can_be_known(result: Result) -> bool:
    """Whether the study names a release of which attacks of this package can make use."""
    release = result.study.get("release")
    name = release.get("name") if isinstance(release, dict) else None
    return hasattr(release_kinds().get(str(name)), "one_of_top")


def _other_crowd(result: Result, before: Result | None) -> Iterator[str]:
    """Among more users everybody is harder to find, with the same release."""
    if before is not None and before.users != result.users:
        yield (
            f"the other run chose among {count(before.users)} users and this one among "
            f"{count(result.users)}: the crowd alone changes the figures"
        )


def _less_sure(result: Result, checks: Collection[Check]) -> Iterator[str]:
    """Figures that hold with a lower level than the result promises."""
    levels = [check.figure.level for check in checks if check.figure is not None]
    if levels and min(levels) < result.level - _ROUNDING:
        yield (
            f"a figure that was judged holds with {percent(min(levels))} only, and the study asked "
            f"for {percent(result.level)}"
        )
