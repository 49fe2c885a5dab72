"""The attacker who names a person only when sure: thresholds with a proved precision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import probability
from reidrisk.core.ranges import Amount, Share
from reidrisk.estimates.credits import lower_limit, mean_of_credits
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import Numbers, claims_and_credits
from reidrisk.estimates.intervals import confidence

_MOST_POINTS = 200
# Sets of targets double in this many steps; after so many each has a chance to err of its own.
_STEPS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Selective:
    """What an attacker achieves who names somebody only if right with a wanted precision.

    Attributes:
        attack: Name of the attack, if it is said.
        slots: How many slots it has seen, if it is said.
        precision: The share right that was asked for.
        named: Share of targets that are named. It is 0 where these targets do not prove, at the
            level, that any claims reach the precision; with more targets some might.
        right: Share right among those named, on targets that had no part in choosing whom to name;
            None if nobody is named.
        expected_right: Expected number of targets named rightly.

    Example:
        >>> sure = np.tile([0.2, 0.2, 0.99, 0.99], 250)
        >>> right = np.where(sure > 0.5, 1.0, 0.0)
        >>> (one,) = rr.estimates.selective(sure, right, precisions=[0.9])
        >>> one.named.value, one.right.value, one.expected_right
        (0.5, 1.0, 500.0)
    """

    attack: str = ""
    slots: int = 0
    precision: Annotated[float, Share]
    named: Estimate
    right: Estimate | None
    expected_right: Annotated[float, Amount]

    def __str__(self) -> str:
        if self.right is None:
            return (
                f"{self.precision:.0%} right asked: names nobody; these targets do not show with "
                f"{self.named.level:.0%} confidence that any claims are right so often."
            )
        return f"{self.precision:.0%} right asked: names {self.named}, right in {self.right}."


def selective(
    claimed: ArrayLike,
    credits: ArrayLike,
    *,
    precisions: Sequence[float] = (0.5, 0.9, 0.95, 0.99),
    level: float = 0.95,
) -> tuple[Selective, ...]:
    """Share of people named by an attacker who names them only when sure, for several precisions.

    One half of the targets finds the least claim that has the precision (`least_claim`); it decides
    who is named in the other half, and the reverse. Choosing and judging on the same targets would
    overstate the attacker. Equal claims are named all or none.

    Args:
        claimed: Per target, how sure the attacker is of its guess, between 0 and 1.
        credits: Per target the credit. Targets are independent and in random order.
        precisions: Shares right that the attacker asks for.
        level: Chance with which each interval holds what it estimates, and with which those named
            reach the precision in the mean over the population, for each precision on its own. The
            share right among these targets varies about that mean.

    Example:
        >>> sure = np.tile([0.2, 0.2, 0.99, 0.99], 250)
        >>> right = np.where(sure > 0.5, 1.0, 0.0)
        >>> (one,) = rr.estimates.selective(sure, right, precisions=[0.9])
        >>> print(one.named)
        50.0000% [46.4115%, 53.5885%] (95%, n=1,000)
    """
    claims, right = claims_and_credits(claimed, credits, least=2)
    asked = [probability("a precision", precision) for precision in precisions]
    level = confidence(level)
    return tuple(_selective(claims, right, precision, level) for precision in asked)


def _selective(claims: Numbers, right: Numbers, precision: float, level: float) -> Selective:
    named = np.empty(len(claims), np.bool_)
    for half in (0, 1):
        here, other = slice(half, None, 2), slice(1 - half, None, 2)
        # Both halves are to be right, so each has half of the chance to be wrong.
        edge = least_claim(
            claims[other], right[other], precision, among=claims[here], error=(1 - level) / 2
        )
        named[here] = claims[here] >= edge
    return Selective(
        precision=precision,
        named=mean_of_credits(named, level=level),
        right=mean_of_credits(right[named], level=level) if named.any() else None,
        expected_right=float(right[named].sum()),
    )


def least_claim(
    claims: Numbers, right: Numbers, precision: float, *, among: Numbers, error: float
) -> float:
    """The least claim shown to have the precision; infinity if none is.

    Claims are tried from the highest down. A claim is accepted if the lower limit of the share
    right, among those who claim as much or more, reaches the precision. The chance to err is dealt
    out to some of the claims in equal parts; a claim that is accepted hands on what it held to the
    next one (the fallback procedure of Wiens). Proof that a claim without the precision is accepted
    with a chance of at most `error`: `docs/concepts/proofs.md`.

    Args:
        claims: Of the targets that choose.
        right: Their credits.
        precision: Share right to be reached.
        among: Claims of other targets, from which those to try are taken: a target's own claim
            must not decide whether it is looked at.
        error: Chance to accept a claim without the precision.
    """
    tried, parts = _claims_to_try(among, precision, error)
    order = np.argsort(-claims)
    totals = np.cumsum(right[order], dtype=np.longdouble)
    numbers = np.searchsorted(-claims[order], -tried, side="right")
    found, held = np.inf, 0.0
    for claim, number, part in zip(tried, numbers.tolist(), parts, strict=True):
        held += part
        if held and number and _limit(totals, number, held) >= precision:
            found = claim
        else:
            held = 0.0
    return float(found)


def _limit(totals: NDArray[np.longdouble], number: int, error: float) -> float:
    return lower_limit(float(totals[number - 1]), number, error=error)


def _claims_to_try(among: Numbers, precision: float, error: float) -> tuple[Numbers, Numbers]:
    """Claims with growing numbers of targets at or above them, and the chance to err of each.

    Sets so small that not even all being right would do are left out.
    """
    steps = np.arange(int(_STEPS * np.log2(len(among))) + 1)
    sizes = np.ceil(len(among) / np.exp2(steps / _STEPS)).astype(np.intp)
    sizes = sizes[(precision**sizes <= error / 2) | (steps == 0)]
    parts = np.where(np.arange(len(sizes)) % _STEPS == 0, error, 0.0)
    parts /= np.count_nonzero(parts)
    return -np.sort(-among)[sizes - 1][::-1], parts[::-1]


def risk_coverage(claimed: ArrayLike, credits: ArrayLike) -> Numbers:
    """Share named and share right among those named, for every least claim: a curve to draw.

    Chosen and judged on the same targets, so it flatters where few are named; `selective` does not.

    Args:
        claimed: Chance that each guess is right, as the attacker claims.
        credits: What each guess earned.

    Returns:
        At most 200 rows of coverage and precision, by rising coverage, densest where it is small.

    Example:
        >>> rr.estimates.risk_coverage([0.9, 0.5, 0.1], [1.0, 1.0, 0.0]).round(3).tolist()
        [[0.333, 1.0], [0.667, 1.0], [1.0, 0.667]]
    """
    claims, right = claims_and_credits(claimed, credits)
    _, which, counts = np.unique(-claims, return_inverse=True, return_counts=True)
    named = np.cumsum(counts)
    coverage, precision = named / len(claims), np.cumsum(np.bincount(which, weights=right)) / named
    if (points := len(coverage)) > _MOST_POINTS:
        kept = np.unique(np.geomspace(1, points, _MOST_POINTS).astype(np.intp)) - 1
        coverage, precision = coverage[kept], precision[kept]
    return np.column_stack([coverage, precision])
