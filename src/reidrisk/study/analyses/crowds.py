"""Analysis: risk among fewer users, and extrapolated to more."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.errors import InvalidInput
from reidrisk.estimates import extrapolate, sizes_to_fit
from reidrisk.estimates.extrapolation import FEWEST
from reidrisk.risk._measure import size_curve
from reidrisk.study.analyses.protocol import Part, Step
from reidrisk.study.analyses.risks import risk_of
from reidrisk.study.context import Context
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.result import Risk
    from reidrisk.study.study import Study

ORDER = 50


def check(study: "Study", source: Source | None) -> None:
    """Nothing is needed but enough known users, whom only the context has counted."""


def steps(context: Context) -> Iterator[Step]:
    """A step for each attack; it takes what the first step found, or searches again."""
    known = context.users
    if context.study.beyond and len(sizes_to_fit(known)) < FEWEST:
        raise InvalidInput(
            f"beyond extrapolates from smaller crowds, and {known} known users are too few for "
            "that; leave beyond out",
            code="too-few-users",
        )
    if context.study.sizes or context.study.beyond:
        for place, attack in enumerate(context.study.attacks):
            yield Step(f"sizes-{place}-{attack.name}", partial(_sizes, context, attack))


def _sizes(context: Context, attack: Attack, parts: Part) -> Part:
    found = context.headline_of(attack, _attacked(parts))
    curve = size_curve(found, context.crowds)
    sizes = tuple(
        risk_of(attack.name, curve.slots, size, estimate, curve.not_assessed, {})
        for size, estimate in curve.items()
    )
    if not context.beyond:
        return {"sizes": sizes}
    fitted = size_curve(found, context.crowds_to_fit)
    law = extrapolate(
        fitted, context.beyond, level=context.study.level, correlation=fitted.correlation
    )
    named = replace(law, attack=attack.name, slots=curve.slots)
    return {"sizes": sizes, "extrapolations": (named,)}


def _attacked(parts: Part) -> int:
    """How many targets were attacked: with a precision, not all."""
    first: Risk = parts["risks"][0]
    return first.targets + first.not_assessed
