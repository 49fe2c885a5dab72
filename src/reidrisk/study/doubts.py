"""Doubts about a result: those found while it was made, and those that its figures raise.

A doubt fails the gate until it is accepted by its code. Doubts whether attackers were strong enough
fail no limit that is proved for all attackers whom the figures are of.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from reidrisk.attacks.protocol import ONE_ROW
from reidrisk.attacks.table import attack_named, own_attack
from reidrisk.core.doubts import Code, Doubt, doubts_of_warnings, known_codes
from reidrisk.core.sanitize import cleaned
from reidrisk.core.settings_syntax import setting
from reidrisk.releases.table import own_release
from reidrisk.study._compare import MOST_UNASSESSED
from reidrisk.study.gate import Check, Limits, judge
from reidrisk.study.result import Result, Risk, Signoff
from reidrisk.study.run_store import Stored, found_json
from reidrisk.study.text.attacks import no_figure, not_assessed, unseen
from reidrisk.study.text.bounds import bounds_of
from reidrisk.study.text.numbers import after, count, exactly, listed, percent, unit
from reidrisk.study.text.singling import columns, incomplete_register
from reidrisk.study.text.unicity import point

_LEAST_LEVEL = 0.9
"""Intervals that hold with less say next to nothing; a study that asks for so little is a slip."""

_PLAIN = frozenset({"gaps", "hamming", "overlap"})
"""Attacks that compare rows as they are: every token weighs alike, nothing is learned, nothing is
known. Each is right less often than one that weighs tokens wherever some are rarer than others."""

_OF_FIGURES: frozenset[Code] = frozenset({
    "blind", "low-level", "register-incomplete", "register-unmatched", "unassessed", "weak-attacks",
})  # fmt: skip
"""Doubts that the figures of a result raise. They are found anew, about the figures that are judged
and by the rules of today, whatever the file says."""

_OF_ALL_ROWS = frozenset({"everyone at once"})
"""Bounds that also cover attackers who look at all anonymous rows at once; others are of one user
at random."""

# Levels are computed numbers; a difference in the last digits is no doubt.
_ROUNDING = 1e-9

_KNOWLEDGE = {"release", "panel", "population"}
"""What of a view tells how rows come about."""

STRICT = "strict does nothing: a doubt always fails the gate, until it is accepted by its code"
"""What is said of a setting that was needed before."""


@dataclass(frozen=True)
class Judgement:
    """A result, judged.

    Attributes:
        checks: Each figure with its limit.
        doubts: Reasons not to trust that it passes, each of which fails it.
        accepted: Doubts that somebody accepted by their codes.
        answered: Doubts whether attackers were strong enough, where the limit is proved.
        aside: What is said besides, and speaks against nothing.
        passed: Whether all figures are below their limits, and no doubt is left.
    """

    checks: tuple[Check, ...]
    doubts: tuple[Doubt, ...]
    accepted: tuple[Doubt, ...]
    answered: tuple[Doubt, ...]
    aside: tuple[str, ...]
    passed: bool

    @property
    def failing(self) -> tuple[Check, ...]:
        """Figures that are not below their limits."""
        return tuple(check for check in self.checks if not check.passed)

    def __str__(self) -> str:
        """Whether it passed, the checks that failed, and the codes of doubts that failed it."""
        failing = "".join(f"; {check.what}" for check in self.failing)
        codes = ", ".join(dict.fromkeys(doubt.code for doubt in self.doubts))
        doubted = f"; doubts: {codes}" if codes else ""
        said = "passed" if self.passed else "not passed"
        return f"{said}: {len(self.checks)} checked{failing}{doubted}"


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
    result: Result, limits: Limits, before: Result | None = None, *, accept: Iterable[str] = ()
) -> Judgement:
    """Judge a result, and say what speaks against trusting it.

    Args:
        result: What is judged.
        limits: What must not be exceeded.
        before: Another result, to compare with.
        accept: Codes of doubts that are accepted.
    """
    return Judgement(*_judged(result, limits, before, (), accept))


def judge_run(
    run: str | Path,
    limits: Limits,
    *,
    last: str | Path | None = None,
    accept: Iterable[str] = (),
) -> JudgedRun:
    """Judge the result of a run, and say what speaks against trusting it.

    Args:
        run: Its folder, or its `result.json`.
        limits: What must not be exceeded.
        last: Another run, to compare with.
        accept: Codes of doubts that are accepted.
    """
    stored, other = Stored.read(run), None if last is None else Stored.read(last)
    before = None if other is None else other.result
    about = (
        *about_file(stored, "the result"),
        *(() if other is None else about_file(other, "the result to compare with")),
    )
    return JudgedRun(*_judged(stored.result, limits, before, about, accept), stored, other)


_Judged = tuple[
    tuple[Check, ...], tuple[Doubt, ...], tuple[Doubt, ...], tuple[Doubt, ...], tuple[str, ...],
    bool,
]  # fmt: skip
"""The fields of a `Judgement`."""


def _judged(
    result: Result,
    limits: Limits,
    before: Result | None,
    about: tuple[Doubt, ...],
    accept: Iterable[str],
) -> _Judged:
    """The fields of a judgement; `about` are doubts of files."""
    codes = known_codes(accept, setting("accept"))
    checks = judge(result, limits, before)
    found = (*about, *doubts(result, checks, limits, before))
    left, accepted, answered = _told_apart(found, codes, proved=_is_proved(result, limits, checks))
    unused = [code for code in codes if code not in {doubt.code for doubt in found}]
    aside = (*_few_unassessed(result, limits), *map(_unused, unused))
    passed = all(check.passed for check in checks) and not left
    return checks, left, accepted, answered, aside, passed


def _unused(code: Code) -> str:
    return f"{setting('accept', code)}: there is no such doubt here, so nothing is accepted"


def _told_apart(
    found: Iterable[Doubt], codes: Collection[str], *, proved: bool
) -> tuple[tuple[Doubt, ...], tuple[Doubt, ...], tuple[Doubt, ...]]:
    """Doubts that fail a limit, those that are accepted, and those that a proof answers.

    Args:
        found: All of them.
        codes: Those that are accepted.
        proved: Whether a bound is proved that keeps the limit.
    """
    left: list[Doubt] = []
    accepted: list[Doubt] = []
    answered: list[Doubt] = []
    for doubt in found:
        if proved and doubt.about_strength:
            answered.append(doubt)
        elif doubt.code in codes:
            accepted.append(doubt)
        else:
            left.append(doubt)
    return tuple(left), tuple(accepted), tuple(answered)


def _is_proved(result: Result, limits: Limits, checks: Collection[Check]) -> bool:
    """Whether a bound that covers all attackers whom the figures are of keeps the only limit."""
    if limits.max_risk is None or any(check.limit_of != "max_risk" for check in checks):
        return False
    if limits.side == "upper":
        return all(check.passed for check in checks)
    return ruled_out(result, limits) <= limits.max_risk


def ruled_out(result: Result, limits: Limits) -> float:
    """The least that is proved of all attackers whom the limit on attacks speaks of; 1 if nothing.

    Args:
        result: What was judged.
        limits: By what.
    """
    names = {
        risk.attack
        for risk in result.risks
        if not risk.setting and limits.covers(risk.slots, risk.attack)
    }
    if not all(map(_uses_one_row, names)):
        bounds = tuple(one for one in bounds_of(result) if one.name in _OF_ALL_ROWS)
        result = replace(result, bounds=bounds)
    (check,) = judge(result, Limits(max_risk=1.0, side="upper", slots=limits.slots))
    return 1.0 if check.figure is None else check.figure.high


def _uses_one_row(name: str) -> bool:
    """Whether an attack looks at one anonymous row at a time; unknown of those of others."""
    kind = own_attack(name)
    return getattr(kind, "uses", None) == ONE_ROW


def doubts(
    result: Result, checks: Collection[Check], limits: Limits, before: Result | None = None
) -> tuple[Doubt, ...]:
    """All doubts about what was judged.

    Args:
        result: What was judged.
        checks: Its figures with their limits.
        limits: By what.
        before: Another result that it was compared with.
    """
    return cleaned(tuple(_doubts(result, checks, limits, before)))


def _doubts(
    result: Result, checks: Collection[Check], limits: Limits, before: Result | None
) -> Iterator[Doubt]:
    yield from _brought_along(result)
    yield from _blind(result, limits)
    yield from _many_unassessed(result, limits)
    yield from _of_tables(result)
    yield from _weak(result, {check.attack for check in checks if check.attack is not None})
    yield from _less_sure(result, checks, before)
    if before is not None:
        yield from _against(result, limits, before)


def accepting(result: Result, codes: Iterable[str]) -> Result:
    """The same result, of which whoever signs accepts further doubts by name.

    Args:
        result: What a study found.
        codes: Of the doubts.
    """
    words = result.signoff or Signoff()
    every = known_codes((*words.accept, *codes), setting("accept"))
    if every == words.accept:
        return result
    return replace(result, signoff=replace(words, accept=every))


def standing(result: Result) -> tuple[Doubt, ...]:
    """All doubts about a result, whatever it is judged by.

    Args:
        result: What a study found.
    """
    return cleaned(_standing(result))


def noted(result: Result) -> Result:
    """The result with all doubts about it noted.

    Args:
        result: What a study found.
    """
    return replace(result, doubts=_standing(result))


def _standing(result: Result) -> tuple[Doubt, ...]:
    measured = any(not risk.setting for risk in result.risks)
    checks = judge(result, Limits(max_risk=1.0)) if measured else ()
    return tuple(_doubts(result, checks, Limits(), None))


def _brought_along(result: Result) -> tuple[Doubt, ...]:
    """Doubts that were found when the study ran; results of 0.2.0 have sentences without codes."""
    told = {doubt.text for doubt in result.doubts}
    rest = [text for text in result.warnings if text not in told]
    kept = (doubt for doubt in result.doubts if doubt.code not in _OF_FIGURES)
    return (*doubts_of_warnings(rest), *kept)


def _blind(result: Result, limits: Limits) -> Iterator[Doubt]:
    """No attack is shown to be better than guessing; attackers of tables are the best there are."""
    if result.singling is not None or result.unicity is not None:
        return
    judged = [
        risk for risk in result.risks
        if not risk.setting and limits.covers(risk.slots, risk.attack)
    ]  # fmt: skip
    last = max((risk.slots for risk in judged), default=0)
    best = max(
        (risk for risk in judged if risk.slots == last), key=lambda risk: risk.low, default=None
    )
    if best is not None and best.low <= best.guessing < 1:
        yield Doubt(
            "blind",
            f"{after(result, best.slots)} no attack is shown to be better than guessing, which is "
            f"right in {exactly(best.guessing)}: the best lower end is {exactly(best.low)}, of "
            f"{best.attack}",
        )


def _of_tables(result: Result) -> Iterator[Doubt]:
    """What speaks against figures about a register of the whole population."""
    register = result.singling.register if result.singling else None
    if register and not register.found:
        yield Doubt(
            "register-unmatched",
            "no record has its values in the register, so no figure about it was judged",
        )
    if register and register.short:
        yield Doubt("register-incomplete", incomplete_register(register)[0].removesuffix("."))


def about_file(stored: Stored, what: str) -> Iterator[Doubt]:
    """Doubts about where a result comes from.

    Args:
        stored: As it was read.
        what: What it is called.
    """
    if not _belongs(stored.file, stored.result):
        yield Doubt(
            "not-this-run", f"{what} is not that of the run in its folder: run the study again"
        )
    if not stored.sealed:
        yield Doubt(
            "unsealed",
            f"{what} carries no checksum, as those of earlier versions do not, so nobody can tell "
            "whether it was changed after it was written: run the study again",
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


def _many_unassessed(result: Result, limits: Limits) -> Iterator[Doubt]:
    """Targets of whom one side saw nothing are in no figure."""
    worst = _least_assessed(result, limits)
    if worst is not None and _share_unassessed(worst) > MOST_UNASSESSED:
        why = no_figure(unseen(result))
        text = f"{not_assessed(worst)}, more than {percent(MOST_UNASSESSED)}: {why}"
        yield Doubt("unassessed", text)


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


def _weak(result: Result, judged: Collection[str]) -> Iterator[Doubt]:
    """Only attacks that leave out what an attacker may well know; those of others are trusted."""
    # What an attack of someone else knows cannot be told from its name.
    if not judged or not all(map(own_attack, judged)):
        return
    names = ", ".join(sorted(judged))
    if _PLAIN.issuperset(judged):
        yield Doubt(
            "weak-attacks",
            f"only attacks were judged that compare rows as they are ({names}): add one that "
            "weighs tokens or learns from rows, such as weighted-hamming, rarity-overlap or "
            "learned-pairs",
        )
    elif _can_be_known(result) and not any(
        _KNOWLEDGE & set(attack_named(name).needs) for name in judged
    ):
        yield Doubt(
            "weak-attacks",
            f"no attack was judged that knows the release ({names}), although attackers may: add "
            "one, such as weighted-hamming",
        )


def _can_be_known(result: Result) -> bool:
    """Whether the study names a release of which attacks of this package can make use."""
    release = result.study.get("release")
    name = release.get("name") if isinstance(release, dict) else None
    return hasattr(own_release(str(name)), "one_of_top")


def _against(result: Result, limits: Limits, before: Result) -> Iterator[Doubt]:
    """What speaks against a comparison with another run."""
    for doubt in _brought_along(before):
        yield replace(doubt, text=f"of the other run: {doubt.text}")
    for doubt in _many_unassessed(before, limits):
        yield replace(doubt, text=f"in the other run {doubt.text}")
    if before.users != result.users:
        # Among more users everybody is harder to find, with the same release.
        yield Doubt(
            "other-crowd",
            f"the other run chose among {count(before.users)} users and this one among "
            f"{count(result.users)}: the crowd alone changes the figures",
        )
    if before.unit != result.unit:
        yield Doubt(
            "other-unit",
            f"the other run counts {unit(before)} and this one {unit(result)}: as many of them do "
            "not show as much",
        )
    yield from _other_knowledge(result, before)
    yield from _not_compared(result, limits, before)


def _other_knowledge(result: Result, before: Result) -> Iterator[Doubt]:
    """Attackers of tables who know something else: that alone changes the figures."""
    now, then = result.singling, before.singling
    if now and then and now.columns != then.columns:
        yield Doubt(
            "other-knowledge",
            f"attackers of the other run know {columns(then)} and those of this one "
            f"{columns(now)}: what is known alone changes the figures",
        )
    if result.unicity and before.unicity and result.unicity.point != before.unicity.point:
        yield Doubt(
            "other-knowledge",
            f"a point of the other run is {point(before.unicity)} and one of this run "
            f"{point(result.unicity)}: what is known alone changes the figures",
        )


def _not_compared(result: Result, limits: Limits, before: Result) -> Iterator[Doubt]:
    """What this run has and the other has not; it may be where the risk has risen."""
    last = before.slots[-1]
    if result.singling is None and limits.slots is None and last < result.slots[-1]:
        yield Doubt(
            "not-compared",
            f"the other run ends {after(before, last)} and this one "
            f"{after(result, result.slots[-1])}: what comes later was not compared",
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
        yield Doubt(
            "not-compared", f"the other run did not try {listed(new)}, so it was not compared"
        )


def _less_sure(result: Result, checks: Collection[Check], before: Result | None) -> Iterator[Doubt]:
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
        yield Doubt(
            "low-level",
            f"a figure that was judged holds with {percent(least)} only, below "
            f"{percent(_LEAST_LEVEL)}: that says next to nothing; let level be 95% in the study "
            "file",
        )
    elif lower:
        level, asked = min(lower)
        yield Doubt(
            "low-level",
            f"a figure that was judged holds with {percent(level)} only, and {percent(asked)} was "
            "asked for",
        )
