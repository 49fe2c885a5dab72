"""Analysis: how sure attackers are, and how often they are right."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reidrisk.attacks.protocol import Attack
from reidrisk.estimates import Claims
from reidrisk.risk.eligibility import assessable
from reidrisk.study.analyses.protocol import Part, Step, alone
from reidrisk.study.text.differences import points, points_interval
from reidrisk.study.text.numbers import exactly, opening, share_with_interval

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 20

_FEWEST = 2
"""Targets whose claims can be compared with what came true."""


def check(study: "Study", source: "Source | None") -> None:
    """Nothing is needed: attacks that cannot say how sure they are have no step."""


def steps(context: "Context") -> Iterator[Step]:
    """A step for each attack that is a likelihood."""
    for place, attack in enumerate(context.study.attacks):
        if attack.likelihood:
            yield alone(f"claims-{place}-{attack.name}", _claims, context, attack)


def _claims(context: "Context", attack: Attack) -> Part:
    if assessable(context.seen.prefix(context.headline)).sum() < _FEWEST:
        return {}
    found = context.posterior(attack)
    return {"claims": (found.claims,), "selections": found.selective}


def claimed(claims: Claims, who: str = "the attacker") -> str:
    """What is claimed, and what of it came true; no full stop.

    Args:
        claims: Of an attacker.
        who: That attacker, in words.
    """
    return (
        f"{who} claims to be right in {exactly(claims.claimed)} of cases and was right in "
        f"{share_with_interval(claims.right)}"
    )


def whether_it_fits(claims: Claims) -> str:
    """A sentence on what was claimed, by how much it is off, and what that says of a model.

    Args:
        claims: Of an attacker.
    """
    verdict = "may be chance, so its model fits"
    if not claims.fits:
        verdict = "is more than chance allows, so its model does not fit"
    off = f"{points(claims.gap)} points ({points_interval(claims.gap)})"
    return opening(f"{claimed(claims)}: the difference of {off} {verdict}.")
