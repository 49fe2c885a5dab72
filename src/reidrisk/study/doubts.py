"""Doubts: reasons not to trust a low figure."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from reidrisk.attacks.table import attack_named, own_attack
from reidrisk.core.doubts import Doubt, doubts_of_warnings
from reidrisk.core.sanitize import cleaned
from reidrisk.releases.table import own_release
from reidrisk.study._compare import MOST_UNASSESSED
from reidrisk.study.gate import Check, Limits, judge
from reidrisk.study.result import Result, Risk
from reidrisk.study.run_store import Stored, found_json
from reidrisk.study.text.attacks import no_figure, not_assessed, unseen
from reidrisk.study.text.numbers import after, count, listed, percent, unit
from reidrisk.study.text.singling import columns, incomplete_register
from reidrisk.study.text.unicity import point

_LEAST_LEVEL = 0.9
"""Intervals that hold with less say next to nothing; a study that asks for so little is a slip."""

_PLAIN = frozenset({"gaps", "hamming", "overlap"})
"""Attacks that compare rows as they are: every token weighs alike, nothing is learned, nothing is
known. Each is right less often than one that weighs tokens wherever some are rarer than others."""

# Levels are computed numbers; a difference in the last digits is no doubt.
_ROUNDING = 1e-9

_KNOWLEDGE = {"release", "panel", "population"}
"""What of a view tells how rows come about."""


@dataclass(frozen=True)
class Judgement:
    """A result, judged.

    Attributes:
        checks: Each figure with its limit.
        doubts: Reasons not to trust that it passes.
        aside: What is said besides, and speaks against nothing.
        passed: Whether all figures are below their limits and, if asked for, nobody doubts it.
    """

    checks: tuple[Check, ...]
    doubts: tuple[str, ...]
    aside: tuple[str, ...]
    passed: bool

    @property
    def failing(self) -> tuple[Check, ...]:
        """Figures that are not below their limits."""
        return tuple(check for check in self.checks if not check.passed)

    def __str__(self) -> str:
        """Whether it passed, and the checks that failed."""
        failing = "".join(f"; {check.what}" for check in self.failing)
        return f"{'passed' if self.passed else 'not passed'}: {len(self.checks)} checked{failing}"


@dataclass(frozen=True)
class JudgedRun(Judgement):
    """A run, judged.

    Attributes:
        stored: The result that was judged.
        other: The one that it was compared with, if any.
    """

    stored: Stored
    other: Stored | None


def judge_result(
    result: Result, limits: Limits, before: Result | None = None, *, strict: bool = False
) -> Judgement:
    """Judge a result, and say what speaks against trusting it.

    Args:
        result: What is judged.
        limits: What must not be exceeded.
        before: Another result, to compare with.
        strict: Whether a doubt is enough to fail.
    """
    return Judgement(*_judged(result, limits, before, (), strict=strict))


def judge_run(
    run: str | Path, limits: Limits, *, last: str | Path | None = None, strict: bool = False
) -> JudgedRun:
    """Judge the result of a run, and say what speaks against trusting it.

    Args:
        run: Its folder, or its `result.json`.
        limits: What must not be exceeded.
        last: Another run, to compare with.
        strict: Whether a doubt is enough to fail.
    """
    stored, other = Stored.read(run), None if last is None else Stored.read(last)
    before = None if other is None else other.result
    about = (
        *about_file(stored, "the result"),
        *(() if other is None else about_file(other, "the result to compare with")),
    )
    return JudgedRun(*_judged(stored.result, limits, before, about, strict=strict), stored, other)


def _judged(
    result: Result, limits: Limits, before: Result | None, about: tuple[str, ...], *, strict: bool
) -> tuple[tuple[Check, ...], tuple[str, ...], tuple[str, ...], bool]:
    """Checks, doubts, what is said besides, and whether it passed; `about` are doubts of files."""
    checks = judge(result, limits, before)
    found = (*about, *doubts(result, checks, limits, before))
    passed = all(check.passed for check in checks) and not (strict and found)
    return checks, found, tuple(_few_unassessed(result, limits)), passed


def doubts(
    result: Result, checks: Collection[Check], limits: Limits, before: Result | None = None
) -> tuple[str, ...]:
    """A sentence for each doubt about what was judged."""
    found = (
        *(doubt.text for doubt in found_before(result)),
        *_many_unassessed(result, limits),
        *_of_tables(result),
        *_weak(result, {check.attack for check in checks if check.attack is not None}),
        *_less_sure(result, checks, before),
        *(_against(result, limits, before) if before is not None else ()),
    )
    return cleaned(found)


def found_before(result: Result) -> tuple[Doubt, ...]:
    """The doubts that a result brings along; results of 0.2.0 have sentences without codes.

    Args:
        result: As it was found, or read from a file.
    """
    told = {doubt.text for doubt in result.doubts}
    rest = [text for text in result.warnings if text not in told]
    return (*doubts_of_warnings(rest), *result.doubts)


def _of_tables(result: Result) -> Iterator[str]:
    """What speaks against figures about a register of the whole population."""
    register = result.singling.register if result.singling else None
    if register and not register.found:
        yield "no record has its values in the register, so no figure about it was judged"
    if register and register.short:
        yield incomplete_register(register)[0].removesuffix(".")


def about_file(stored: Stored, what: str) -> Iterator[str]:
    """A sentence for each doubt about where a result comes from; `what` is what it is called."""
    if not _belongs(stored.file, stored.result):
        yield f"{what} is not that of the run in its folder: run the study again"
    if not stored.sealed:
        yield (
            f"{what} carries no checksum, as those of earlier versions do not, so nobody can tell "
            "whether it was changed after it was written: run the study again"
        )


def _belongs(result_file: Path, result: Result) -> bool:
    """Whether a result is that of the run in whose folder it lies, if it lies in one."""
    file = result_file.with_name("run.json")
    if not file.is_file():
        return True
    note = found_json(file)
    return isinstance(note, dict) and all(
        note.get(part) == getattr(result, part) for part in ("study", "inputs")
    )


def _few_unassessed(result: Result, limits: Limits) -> Iterator[str]:
    """A sentence on targets who are in no figure, if they are so few that there is no doubt."""
    worst = _least_assessed(result, limits)
    if worst is not None and 0 < _share_unassessed(worst) <= MOST_UNASSESSED:
        yield f"{not_assessed(worst)}: {no_figure(unseen(result))}"


def _many_unassessed(result: Result, limits: Limits) -> Iterator[str]:
    """Targets of whom one side saw nothing are in no figure."""
    worst = _least_assessed(result, limits)
    if worst is not None and _share_unassessed(worst) > MOST_UNASSESSED:
        why = no_figure(unseen(result))
        yield f"{not_assessed(worst)}, more than {percent(MOST_UNASSESSED)}: {why}"


def _least_assessed(result: Result, limits: Limits) -> Risk | None:
    risks = [
        risk for risk in result.risks
        if not risk.setting
        and limits.slots in {None, risk.slots}
        and limits.attack in {None, risk.attack}
    ]  # fmt: skip
    return max(risks, key=_share_unassessed, default=None)


def _share_unassessed(risk: Risk) -> float:
    return risk.not_assessed / max(1, risk.targets + risk.not_assessed)


def _weak(result: Result, judged: Collection[str]) -> Iterator[str]:
    """Only attacks that leave out what an attacker may well know; those of others are trusted."""
    # What an attack of someone else knows cannot be told from its name.
    if not judged or not all(map(own_attack, judged)):
        return
    names = ", ".join(sorted(judged))
    if _PLAIN.issuperset(judged):
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
    return hasattr(own_release(str(name)), "one_of_top")


def _against(result: Result, limits: Limits, before: Result) -> Iterator[str]:
    """What speaks against a comparison with another run."""
    yield from (f"of the other run: {doubt}" for doubt in before.warnings)
    yield from (f"in the other run {doubt}" for doubt in _many_unassessed(before, limits))
    if before.users != result.users:
        # Among more users everybody is harder to find, with the same release.
        yield (
            f"the other run chose among {count(before.users)} users and this one among "
            f"{count(result.users)}: the crowd alone changes the figures"
        )
    if before.unit != result.unit:
        yield (
            f"the other run counts {unit(before)} and this one {unit(result)}: as many of them do "
            "not show as much"
        )
    yield from _other_knowledge(result, before)
    yield from _not_compared(result, limits, before)


def _other_knowledge(result: Result, before: Result) -> Iterator[str]:
    """Attackers of tables who know something else: that alone changes the figures."""
    now, then = result.singling, before.singling
    if now and then and now.columns != then.columns:
        yield (
            f"attackers of the other run know {columns(then)} and those of this one "
            f"{columns(now)}: what is known alone changes the figures"
        )
    if result.unicity and before.unicity and result.unicity.point != before.unicity.point:
        yield (
            f"a point of the other run is {point(before.unicity)} and one of this run "
            f"{point(result.unicity)}: what is known alone changes the figures"
        )


def _not_compared(result: Result, limits: Limits, before: Result) -> Iterator[str]:
    """What this run has and the other has not; it may be where the risk has risen."""
    last = before.slots[-1]
    if result.singling is None and limits.slots is None and last < result.slots[-1]:
        yield (
            f"the other run ends {after(before, last)} and this one "
            f"{after(result, result.slots[-1])}: what comes later was not compared"
        )
    slots = last if limits.slots is None else limits.slots
    now, then = (
        Counter(
            risk.attack
            for risk in one.risks
            # All figures of a table of people are of all its columns.
            if not risk.setting and (risk.slots == slots or one.singling is not None)
        )
        for one in (result, before)
    )
    new = [attack for attack in now - then if limits.attack in {None, attack}]
    if new:
        yield f"the other run did not try {listed(new)}, so it was not compared"


def _less_sure(result: Result, checks: Collection[Check], before: Result | None) -> Iterator[str]:
    """Figures that hold with a lower level than was asked for, or with hardly any."""
    higher = max(result.level, before.level if before is not None else 0)
    sure = [
        (check.figure.level, higher if check.limit_of == "worse_by" else result.level)
        for check in checks
        if check.figure is not None
    ]
    least = min((level for level, _ in sure), default=1.0)
    lower = [(level, asked) for level, asked in sure if level < asked - _ROUNDING]
    if least < _LEAST_LEVEL - _ROUNDING:
        yield (
            f"a figure that was judged holds with {percent(least)} only, below "
            f"{percent(_LEAST_LEVEL)}: that says next to nothing; let level be 95% in the study "
            "file"
        )
    elif lower:
        level, asked = min(lower)
        yield (
            f"a figure that was judged holds with {percent(level)} only, and {percent(asked)} was "
            "asked for"
        )
