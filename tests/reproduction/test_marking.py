"""Marks come from both figures."""

from fractions import Fraction

import pytest

from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import claimed, exact, measured

OURS = Estimate(0.5, 0.4, 0.6, 0.95, 100, "by hand")


def test_what_is_exact_is_equal_or_differs():
    assert exact(Fraction(7, 8), Fraction(7, 8)) == "reproduced"
    assert exact(Fraction(7, 8), 0.875) == "reproduced"
    assert exact(Fraction(7, 8), 0.875 + 1e-15) == "differs"


@pytest.mark.parametrize(
    ("published", "rounding", "holds"),
    [(0.4, 0, True), (0.6, 0, True), (0.39, 0, False), (0.61, 0, False), (0.61, 0.01, True)],
)
def test_what_is_measured_lies_in_the_interval_give_or_take_rounding(published, rounding, holds):
    assert measured(published, OURS, rounding=rounding) == ("reproduced" if holds else "differs")
    calibrated = measured(published, OURS, rounding=rounding, calibrated=True)
    assert calibrated == ("on the calibrated population" if holds else "differs")


def test_a_claim_holds_or_differs():
    assert claimed(holds=True) == "reproduced"
    assert claimed(holds=True, calibrated=True) == "on the calibrated population"
    assert claimed(holds=False) == claimed(holds=False, calibrated=True) == "differs"
