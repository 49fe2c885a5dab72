"""Judge a result against limits; the rule of gate, verdict and sign-off.

What counts is the upper end of an interval, so that nothing passes by being vague; and what is
asked for but not there does not pass.
"""

from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal, get_args

from reidrisk.core.checks import shown
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.risk.tables.records import REGISTER_MATCH
from reidrisk.study._compare import compare
from reidrisk.study.analyses import ANALYSES
from reidrisk.study.result import Bound, Result, Risk
from reidrisk.study.text.attacks import as_chosen
from reidrisk.study.text.bounds import bounds_of, covers
from reidrisk.study.text.numbers import after

_Judged = Literal["lower", "upper"]
"""What attacks did, below which no attacker need stay; or what is proved that none exceeds."""


@dataclass(frozen=True)
class Limits:
    """What a result is judged by; None is not asked.

    Attributes:
        max_risk: The most that attacks may be right, or, on the upper side, could ever be.
        side: Whether attacks are judged or what is proved.
        worst_tenth: The most that the tenth of users at the highest risk may be named, on average.
        false_claims: The most strangers of whom an attacker may claim to know them, who means to
            accuse no more.
        worse_by: By how much the risk may be higher than that of another result.
        slots: Only after so many.
        attack: Only this one.
    """

    max_risk: float | None = None
    side: _Judged = "lower"
    worst_tenth: float | None = None
    false_claims: float | None = None
    worse_by: float | None = None
    slots: int | None = None
    attack: str | None = None

    def __post_init__(self) -> None:
        if self.side not in get_args(_Judged):
            raise InvalidInput(
                f"side is {' or '.join(get_args(_Judged))}, what attacks did or what is proved; "
                f"got {shown(self.side)}",
                code="unknown-choice",
            )

    def covers(self, slots: int, attack: str) -> bool:
        """Whether a figure is one of those that are judged.

        Args:
            slots: After how many.
            attack: Of whom.
        """
        return self.slots in {None, slots} and self.attack in {None, attack}

    @property
    def chosen(self) -> str:
        """Which figures were asked for, for a message."""
        parts = [f"after {self.slots} slots"] if self.slots is not None else []
        parts += [f"for the attack {self.attack!r}"] if self.attack is not None else []
        return f" {' and '.join(parts)}" if parts else ""


@dataclass(frozen=True)
class Check:
    """A figure, and the limit that its upper end must not exceed.

    Attributes:
        limit_of: Which limit: a field of `Limits`.
        what: What it is a figure of, in words.
        limit: The limit.
        figure: None if what is asked for is not there, which does not pass.
        attack: Of whom it is; None if of every attacker.
        slots: After how many.
    """

    limit_of: str
    what: str
    limit: float
    figure: Estimate | None
    attack: str | None
    slots: int

    @property
    def passed(self) -> bool:
        """Whether the figure is there and its upper end is not above the limit."""
        return self.figure is not None and self.figure.high <= self.limit


def judge(result: Result, limits: Limits, before: Result | None = None) -> tuple[Check, ...]:
    """Every figure that limits speak of.

    Args:
        result: What is judged.
        limits: By what.
        before: The result that this one may not be worse than; needed for `worse_by`.

    Raises:
        InvalidInput: No limit is given, or the result has no figures of the kind that one speaks
            of: what has nothing to check does not pass.
    """
    checks: list[Check] = []
    if limits.max_risk is not None:
        ways = {"lower": _attacks, "upper": _proved}
        checks += ways[limits.side](result, limits, limits.max_risk)
    # In the order of the fields of `Limits`, which is that of the printed lines.
    of_analyses = ChainMap(*(getattr(one, "LIMITS", {}) for one in ANALYSES))
    for part in fields(limits):
        if part.name in of_analyses and (limit := getattr(limits, part.name)) is not None:
            _refuse_of_table(result, part.name)
            checks += of_analyses[part.name](result, limits, limit)
    if limits.worse_by is not None:
        if before is None:
            raise InvalidInput(
                "worse_by needs the result that this one may not be worse than",
                code="missing-result",
            )
        checks += _not_worse(result, limits, limits.worse_by, before)
    if not checks:
        raise InvalidInput(
            "no limit is given, so there is nothing to check and nothing passes",
            code="nothing-to-check",
        )
    return tuple(checks)


def _refuse_of_table(result: Result, name: str) -> None:
    """Refuse a limit on figures that only studies have."""
    if result.singling is not None or result.unicity is not None:
        raise InvalidInput(
            f"{setting(name)} is a limit for studies, and this is the result of a table, which has "
            f"no such figure, so it does not pass; judge it by {setting('max_risk', '1%')}",
            code="not-measured",
        )


def judged(
    result: Result, *, slots: int | None = None, attack: str | None = None
) -> tuple[Risk, ...]:
    """Figures of the study itself, perhaps of one number of slots and one attack.

    Sweeps do not count.

    Args:
        result: What is judged.
        slots: Only after so many.
        attack: Only this one.

    Raises:
        InvalidInput: There are none: what has nothing to check does not pass.
    """
    base = [as_chosen(result, risk) for risk in result.risks if not risk.setting]
    chosen = tuple(
        risk for risk in base
        if slots in {None, risk.slots} and attack in {None, risk.attack}
    )  # fmt: skip
    if not chosen:
        lengths = ", ".join(str(one) for one in sorted({risk.slots for risk in base}))
        names = ", ".join(sorted({risk.attack for risk in base}))
        raise InvalidInput(
            "the gate has nothing to check, so it does not pass; the result has slots "
            f"{lengths or 'none'} and attacks {names or 'none'}",
            code="nothing-to-check",
        )
    return chosen


def above(risks: tuple[Risk, ...], limit: float) -> tuple[Risk, ...]:
    """Those that may be above a limit: the upper end of the interval counts."""
    # `not <=` and not `>`: what cannot be compared counts as above.
    return tuple(risk for risk in risks if not risk.high <= limit)


def _attacks(result: Result, limits: Limits, limit: float) -> Iterator[Check]:
    """How often each attack is right."""
    for risk in judged(result, slots=limits.slots, attack=limits.attack):
        what = f"{risk.attack} {after(result, risk.slots)} among {risk.users:,} users"
        yield Check("max_risk", what, limit, risk.estimate, risk.attack, risk.slots)
    for one in result.assignments:
        if limits.covers(one.slots, one.attack):
            time = after(result, one.slots)
            what = f"{one.attack}, everyone at once, {time} among {one.users:,} users"
            yield Check("max_risk", what, limit, one.right, one.attack, one.slots)


def _proved(result: Result, limits: Limits, limit: float) -> Iterator[Check]:
    """The lowest of what is proved, since each bound holds by itself.

    What holds after more slots holds after fewer: nobody has to look at all of them. A bound that
    an attack surely exceeds rests on something that does not hold, so nothing is proved then.
    """
    if limits.attack is not None:
        raise InvalidInput(
            "what is proved holds for every attacker, so it cannot be judged for the attack "
            f"{limits.attack!r} alone; judge attacks, or leave the attack out",
            code="conflicting-arguments",
        )
    slots = result.slots[-1] if limits.slots is None else limits.slots
    if slots not in result.slots:
        judged(result, slots=slots)  # says what there is
    time = after(result, slots)
    # A bound that rests on no model has None for `fits`, and counts.
    bounds = [
        bound for bound in bounds_of(result)
        if bound.side == "upper" and bound.slots >= slots and bound.fits is not False
    ]  # fmt: skip
    if not bounds:
        what = f"nothing is proved about attackers {time}"
        yield Check("max_risk", what, limit, None, None, slots)
        return
    least = min(bounds, key=lambda bound: bound.high)
    if beaten := _exceeding(result, least):
        what = (
            f"any attacker {time} ({least.name}): {beaten.attack} exceeds this bound, so what it "
            "assumes does not hold"
        )
        yield Check("max_risk", what, limit, None, None, slots)
        return
    what = f"any attacker {time} ({least.name})"
    yield Check("max_risk", what, limit, least.estimate, None, slots)


def _exceeding(result: Result, bound: Bound) -> Risk | None:
    """An attack that surely does what the bound says none can.

    An attacker with a register is right more often among the records in it than among all.
    """
    risks = [
        risk
        for risk in result.risks
        if not risk.setting
        and risk.slots <= bound.slots
        and risk.attack != REGISTER_MATCH
        and covers(bound, risk.attack)
    ]
    return next((risk for risk in risks if risk.low > bound.high), None)


def _not_worse(result: Result, limits: Limits, limit: float, before: Result) -> Iterator[Check]:
    """By how much each attack is right more often, after the most slots of the result before.

    An attack that is missing now may be the one that would have been right more often.
    """
    # Of two tables of people, whose columns may differ, `compare` knows which figures belong
    # together.
    last = None if result.singling is not None else before.slots[-1]
    compared = compare(before, result, slots=last if limits.slots is None else limits.slots)
    slots = compared.slots
    time = after(result, slots)
    yield from (
        Check("worse_by", f"{one.attack} {time}, more than before", limit, one.change, one.attack,
              slots)
        for one in compared.differences
        if limits.attack in {None, one.attack}
    )  # fmt: skip
    yield from (
        Check("worse_by", f"{attack} {time} was tried before and is missing now", limit, None,
              attack, slots)
        for attack in compared.only_before
        if limits.attack in {None, attack}
    )  # fmt: skip
    if limits.attack is not None and limits.attack not in {
        *(one.attack for one in compared.differences),
        *compared.only_before,
    }:
        raise InvalidInput(
            f"the attack {limits.attack!r} was not tried before, so nothing can be said about it",
            code="not-measured",
        )
