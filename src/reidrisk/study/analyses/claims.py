"""Analysis: how sure attackers are, and how often they are right."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.attacks import Attack
from reidrisk.risk.eligibility import assessable
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.context import Context
from reidrisk.study.source import Source

if TYPE_CHECKING:
    from reidrisk.study.study import Study

ORDER = 20

_FEWEST = 2
"""Targets whose claims can be compared with what came true."""


def check(study: "Study", source: Source | None) -> None:
    """Nothing is needed: attacks that cannot say how sure they are have no step."""


def steps(context: Context) -> Iterator[Step]:
    """A step for each attack that is a likelihood."""
    for place, attack in enumerate(context.study.attacks):
        if attack.likelihood:
            yield alone(f"claims-{place}-{attack.name}", _claims, context, attack)


def _claims(context: Context, attack: Attack) -> Part:
    if assessable(context.seen.prefix(context.headline)).sum() < _FEWEST:
        return {}
    found = context.posterior(attack)
    return {"claims": (found.claims,), "selections": found.selective}
