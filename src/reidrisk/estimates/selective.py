"""The attacker who names a person only when sure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reidrisk.checks import probability
from reidrisk.estimates.arrays import Numbers, claims_and_credits
from reidrisk.estimates.credits import mean_of_credits
from reidrisk.estimates.estimate import Estimate

MOST_POINTS = 200


@dataclass(frozen=True, slots=True)
class Selective:
    """What an attacker achieves who wants to be right this often when it speaks.

    Attributes:
        precision: The share right that was asked for.
        named: Share of targets that are named.
        right: Share right among those named, on targets that had no part in choosing whom to name;
            None if nobody is named.
        expected_right: Expected number of targets named rightly.
    """

    precision: float
    named: Estimate
    right: Estimate | None
    expected_right: float


def selective(
    claimed: ArrayLike,
    credits: ArrayLike,  # noqa: A002
    *,
    precisions: Sequence[float] = (0.5, 0.9, 0.95, 0.99),
    level: float = 0.95,
) -> tuple[Selective, ...]:
    """Share of people named by someone who speaks only when sure, for several meanings of sure.

    On every second target the least claim is sought at which those who claim as much or more reach
    the precision; it decides who is named among the other targets, and the reverse. Choosing and
    judging on the same targets would flatter the attacker. Equal claims are named all or none.

    Args:
        claimed: Per target, how sure the attacker is of its guess, between 0 and 1.
        credits: Per target the credit. Targets are independent and in random order.
        precisions: Shares right that the attacker asks for.
        level: Chance with which each interval holds what it estimates.
    """
    claims, right = claims_and_credits(claimed, credits, least=2)
    asked = [probability("a precision", precision) for precision in precisions]
    return tuple(_selective(claims, right, precision, level) for precision in asked)


def _selective(claims: Numbers, right: Numbers, precision: float, level: float) -> Selective:
    named = np.empty(len(claims), np.bool_)
    for half in (0, 1):
        other = slice(1 - half, None, 2)
        named[half::2] = claims[half::2] >= least_claim(claims[other], right[other], precision)
    return Selective(
        precision,
        mean_of_credits(named, level=level),
        mean_of_credits(right[named], level=level) if named.any() else None,
        float(right[named].sum()),
    )


def least_claim(claims: Numbers, right: Numbers, precision: float) -> float:
    """The least claim with which the precision is reached by all who claim as much; or none."""
    levels, _, realised = _by_claim(claims, right)
    reached = np.flatnonzero(realised >= precision)
    return float(levels[reached[-1]]) if len(reached) else np.inf


def _by_claim(claims: Numbers, right: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Each distinct claim, highest first; how many claim as much or more; their share right."""
    levels, which, counts = np.unique(-claims, return_inverse=True, return_counts=True)
    named = np.cumsum(counts)
    return -levels, named / len(claims), np.cumsum(np.bincount(which, weights=right)) / named


def risk_coverage(claimed: ArrayLike, credits: ArrayLike) -> Numbers:  # noqa: A002
    """Share named and share right among those named, for every least claim: a curve to draw.

    Chosen and judged on the same targets, so it flatters where few are named; `selective` does not.

    Returns:
        At most 200 rows of coverage and precision, by rising coverage, densest where it is small.
    """
    _, coverage, precision = _by_claim(*claims_and_credits(claimed, credits))
    if (points := len(coverage)) > MOST_POINTS:
        kept = np.unique(np.geomspace(1, points, MOST_POINTS).astype(np.intp)) - 1
        coverage, precision = coverage[kept], precision[kept]
    return np.column_stack([coverage, precision])
