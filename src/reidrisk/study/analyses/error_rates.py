"""Analysis: the error rates by which biometrics judges comparisons and searches."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reidrisk.attacks.protocol import Attack
from reidrisk.core.digest import IF_SET
from reidrisk.study.analyses.protocol import Part, Step, alone

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 37

_FEWEST = 2
"""Targets that can be assessed, and known users: one chooses, another judges."""


@dataclass(frozen=True, kw_only=True)
class ErrorRateSettings:
    """Whether the figures of biometrics are told.

    Attributes:
        error_rates: Whether attacks are also judged by the error rates of biometrics.
    """

    error_rates: bool = field(default=False, metadata={IF_SET: True})


def check(_study: "Study", _source: "Source | None") -> None:
    """Whatever has a score can be compared."""


def assumptions(study: "Study", _source: "Source") -> Iterator[str]:
    """With whom people are compared, and what intervals rest on."""
    if study.error_rates:
        yield (
            "Error rates of comparisons are of pairs: each target with their own row and with rows "
            "of others, which are a random sample where there are more than a hundred. Their "
            "intervals are of other targets among the same known people."
        )


def steps(context: "Context") -> Iterator[Step]:
    """A step for each attack that has one score."""
    if context.study.error_rates:
        for place, attack in enumerate(context.study.attacks):
            if getattr(attack, "crossfits", False):
                continue  # it has two scores, one for each half of the people
            yield alone(f"error-rates-{place}-{attack.name}", _error_rates, context, attack)


def _error_rates(context: "Context", attack: Attack) -> Part:
    from reidrisk.risk import measure_error_rates
    from reidrisk.risk.eligibility import assessable

    here = context.beside(attack)
    # Too few to say anything is no mistake of whoever asked.
    seen = here.seen.prefix(context.headline)
    if assessable(seen).sum() < _FEWEST or seen.users < _FEWEST:
        return {}
    found = measure_error_rates(
        here.seen,
        context.subject(attack),
        view=here.view,
        slots=context.headline,
        engine=context.engine,
        level=context.study.level,
        seed=context.study.seed,
    )
    return {"error_rates": (found,)}
