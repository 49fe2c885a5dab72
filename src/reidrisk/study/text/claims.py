"""Sentences on what attackers claim and what came true."""

from typing import TYPE_CHECKING

from reidrisk.study.text.differences import points, points_interval
from reidrisk.study.text.numbers import exactly, share_with_interval
from reidrisk.study.text.units import opening

if TYPE_CHECKING:
    from reidrisk import estimates
    from reidrisk.study import result


def claimed(claims: "estimates.Claims | result.Claims", who: str = "the attacker") -> str:
    """What is claimed, and what of it came true; no full stop."""
    return (
        f"{who} claims to be right in {exactly(claims.claimed)} of cases and was right in "
        f"{share_with_interval(claims.right)}"
    )


def whether_it_fits(claims: "estimates.Claims") -> str:
    """A sentence on what was claimed, by how much it is off, and what that says of a model."""
    verdict = "may be chance, so its model fits"
    if not claims.fits:
        verdict = "is more than chance allows, so its model does not fit"
    off = f"{points(claims.gap)} points ({points_interval(claims.gap)})"
    return opening(f"{claimed(claims)}: the difference of {off} {verdict}.")
