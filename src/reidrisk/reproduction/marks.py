"""Mark how our figure relates to the published one, computed from both."""

from fractions import Fraction

from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import Mark, Row


def exact(published: Fraction | float, ours: Fraction | float) -> Mark:
    """Of an exact statement: equal, or not."""
    return "reproduced" if ours == published else "differs"


def no_difference(
    where: str, what: str, largest: Fraction | float, why: str, slip: str = ""
) -> Row:
    """A row of an exact statement: the largest difference that was found, which should be none."""
    ours = Estimate.computed(float(largest))
    return Row(where, what, "0", ours, "", exact(0, largest), why, slip)


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


def apart(published: float, ours: Estimate, mark: Mark, because: str) -> str:
    """For a share that differs, by how many points and why we think so; else nothing."""
    if mark != "differs":
        return ""
    points = 100 * (ours.value - published)
    return f" Ours is {abs(points):.2g} points {'higher' if points > 0 else 'lower'}: {because}"
