"""How ours stands to the published: computed from both, so that a figure that is off says so."""

from fractions import Fraction

from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import Mark


def exact(published: Fraction | float, ours: Fraction | float) -> Mark:
    """Of an exact statement: equal, or not."""
    return "reproduced" if ours == published else "differs"


def measured(
    published: float, ours: Estimate, *, rounding: float = 0.0, calibrated: bool = False
) -> Mark:
    """Of a figure: whether our interval holds it, give or take how it was rounded.

    Args:
        published: In the unit of ours.
        ours: With its interval.
        rounding: Half a unit of the last published digit.
        calibrated: Whether ours is of other people than the published.
    """
    return claimed(
        holds=ours.low - rounding <= published <= ours.high + rounding, calibrated=calibrated
    )


def claimed(*, holds: bool, calibrated: bool = False) -> Mark:
    """Of a claim in words: whether it holds here, for all that was measured."""
    if not holds:
        return "differs"
    return "on the calibrated population" if calibrated else "reproduced"
