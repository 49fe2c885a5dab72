"""Analysis: risk among fewer users, and extrapolated to more."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from reidrisk.attacks.protocol import Attack
from reidrisk.core.checks import whole_number
from reidrisk.errors import InvalidInput
from reidrisk.estimates import extrapolate, sizes_to_fit
from reidrisk.estimates.crowds import ranks_for
from reidrisk.estimates.extrapolation import FEWEST
from reidrisk.study.analyses.protocol import Part, Step
from reidrisk.study.analyses.risks import Risk, risk_of
from reidrisk.study.settings import Size

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 50


@dataclass(frozen=True, kw_only=True)
class CrowdSettings:
    """Crowds in which the risk is told.

    Attributes:
        sizes: Smaller crowds to measure in.
        beyond: Larger crowds to extrapolate to.
    """

    sizes: tuple[Size, ...] = ()
    beyond: tuple[Size, ...] = ()


def check(study: "Study", source: "Source | None") -> None:
    """Sizes are numbers of users; whether enough are known, only the context has counted."""
    for name in ("sizes", "beyond"):
        for number in getattr(study, name):
            whole_number(name, number, least=1)


def steps(context: "Context") -> Iterator[Step]:
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


def ranks(context: "Context") -> int | None:
    """Up to which rank of the truth smaller crowds need."""
    sizes, to_fit, _ = _crowds(context)
    return ranks_for(context.seen.users, (*sizes, *to_fit))


def _crowds(context: "Context") -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Sizes to measure in, of which the last is everyone; those to extrapolate from, and to."""
    study, users = context.study, context.seen.users
    beyond = tuple(size for size in study.beyond if size > users)
    to_fit = sizes_to_fit(users) if beyond else ()
    smaller = {size for size in study.sizes if size < users}
    # If no smaller crowds are asked for, those that the law is fitted to are shown.
    return tuple(sorted({*(smaller or to_fit), users})), to_fit, beyond


def _sizes(context: "Context", attack: Attack, parts: Part) -> Part:
    from reidrisk.risk._measure import size_curve

    found = context.headline_of(attack, _attacked(parts))
    sizes, to_fit, beyond = _crowds(context)
    curve = size_curve(found, sizes)
    risks = tuple(
        risk_of(attack.name, curve.slots, size, estimate, curve.not_assessed, {})
        for size, estimate in curve.items()
    )
    if not beyond:
        return {"sizes": risks}
    # Measured on sizes of its own: those that a user asks for may be too few to fit a law.
    fitted = size_curve(found, to_fit)
    law = extrapolate(fitted, beyond, level=context.study.level, correlation=fitted.correlation)
    named = replace(law, attack=attack.name, slots=curve.slots)
    return {"sizes": risks, "extrapolations": (named,)}


def _attacked(parts: Part) -> int:
    """How many targets were attacked: with a precision, not all."""
    # From the records and not the context, since the first step may have run elsewhere.
    first: Risk = parts["risks"][0]
    return first.targets + first.not_assessed
