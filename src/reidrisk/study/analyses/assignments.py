"""Analysis: attackers who name everybody at once, and nobody twice."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reidrisk.attacks.protocol import Attack
from reidrisk.core.digest import IF_SET
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.text.attacks import Sentence
from reidrisk.study.text.numbers import after, count, opening, share, share_with_interval

if TYPE_CHECKING:
    from reidrisk.estimates import Bound
    from reidrisk.risk.records import Assignment
    from reidrisk.study.context import Context
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 35

BOUND = "everyone at once"
"""The name of the bound that covers such attackers: `risk/bounds/matching.py`."""


@dataclass(frozen=True, kw_only=True)
class AssignmentSettings:
    """Whether everybody is named at once.

    Attributes:
        everyone: Whether attackers also name everybody at once, and nobody twice.
    """

    everyone: bool = field(default=False, metadata={IF_SET: True})


def check(_study: "Study", _source: "Source | None") -> None:
    """Whatever can be attacked one by one can be attacked at once."""


def assumptions(study: "Study", _source: "Source") -> Iterator[str]:
    """Who is taken to be there, and what intervals rest on."""
    if study.everyone:
        yield (
            "Attackers who name everybody at once take it that no known user has two of the rows "
            "they see. Targets are then right and wrong together: intervals of these figures are "
            "widened by leaving people out, which was tried in simulations and is not proved."
        )


def steps(context: "Context") -> Iterator[Step]:
    """A step for each attack."""
    if context.study.everyone:
        for place, attack in enumerate(context.study.attacks):
            if getattr(attack, "crossfits", False):
                continue  # it has two scores, one for each half of the people
            yield alone(f"everyone-{place}-{attack.name}", _assignment, context, attack)


def _assignment(context: "Context", attack: Attack) -> Part:
    from reidrisk.risk import measure_assignment

    here = context.beside(attack)
    found = measure_assignment(
        here.seen,
        context.subject(attack),
        view=here.view,
        slots=context.headline,
        engine=context.engine,
        level=context.study.level,
    )
    return {"assignments": (found,)}


def verdict(result: "Result") -> Iterator[Sentence]:
    """How often the strongest of them is right, and what is proved about such attackers."""
    best = _strongest(result)
    if best is not None:
        yield Sentence("found", " ".join((_found(result, best), *_bounded(result, best))))


def _strongest(result: "Result") -> "Assignment | None":
    """The attacker who names most if everybody is named at once.

    Args:
        result: What a study found.
    """
    return max(result.assignments, key=lambda one: (one.right.value, one.right.high), default=None)


def bound_at_once(result: "Result") -> "Bound | None":
    """What is proved about attackers who name everybody at once, if anything is.

    Args:
        result: What a study found.
    """
    slots = result.slots[-1]
    mine = (one for one in result.bounds if one.name == BOUND and not one.setting)
    return next((one for one in mine if one.slots in {0, slots}), None)


def compared(one: "Assignment") -> str:
    """What naming at once changes against naming one by one, as a sentence.

    Args:
        one: An attacker.
    """
    return opening(
        f"{one.attack} names {share_with_interval(one.right)} of {count(one.right.trials)} people "
        f"rightly at once, and {share(one.alone)} one by one."
    )


def _found(result: "Result", best: "Assignment") -> str:
    return (
        f"Everyone at once: {after(result, best.slots)}, an attacker who names all "
        f"{count(best.together)} rows together, and nobody twice, picks the right person in "
        f"{share_with_interval(best.right)} of {count(best.right.trials)} cases ({best.attack}). "
        f"One by one the same attack does so in {share(best.alone)}."
    )


def _bounded(result: "Result", best: "Assignment") -> Iterator[str]:
    bound = bound_at_once(result)
    if bound is None:
        yield "Bounds for one random user say nothing about such attackers."
    elif best.right.low > bound.high:
        yield (
            f"That is above {share(bound.estimate)}, which is proved for attackers who see "
            "everybody at once: what that bound assumes does not hold."
        )
    else:
        yield (
            f"It is proved that nobody who sees everybody at once does so in more than "
            f"{share(bound.estimate)}."
        )
