"""Axes that can be read."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.plotting import decades, log_range, log_ticks

PHONE = 270
"""Pixels of an axis on a phone of 390."""

LETTER = 7
"""Pixels of a letter of 12 pixels, generously."""


def people(number):
    """As the axis of people writes it."""
    for unit, sign in ((1e9, "B"), (1e6, "M")):
        if number >= unit:
            return f"{number / unit:.6g}{sign}"
    return f"{number:,.0f}"


def check(ticks, low, high, label, least=3):
    """Ticks are on the axis, three at least and none too near to another."""
    assert len(ticks) >= least
    assert ticks == sorted(set(ticks))
    assert low * (1 - 1e-12) <= ticks[0]
    assert ticks[-1] <= high * (1 + 1e-12)
    assert len(set(map(label, ticks))) == len(ticks)
    width = math.log(high / low)
    assert all(
        math.log(right / left) / width >= 0.2 - 1e-9 for left, right in itertools.pairwise(ticks)
    )


@given(st.floats(-10, -0.31))
def test_an_axis_of_shares_has_three_labels_or_more(power):
    low = 10**power
    ticks = decades(low)[::-1]
    check(ticks, low, 1.0, lambda share: f"{100 * share:.4g}")
    assert len(ticks) <= 6


@given(st.floats(0, 9), st.floats(0.31, 10))
def test_an_axis_of_people_has_three_labels_that_do_not_touch_on_a_phone(power, decades_wide):
    low, high = 10**power, 10 ** (power + decades_wide)
    ticks = log_ticks(low, high)
    check(ticks, low, high, lambda number: f"{number:.3g}")
    if low > 50:  # below, hardly anybody is left to choose among
        per_decade = PHONE / decades_wide
        places = [math.log10(tick / low) * per_decade for tick in ticks]
        for (left, one), (right, other) in itertools.pairwise(zip(places, ticks, strict=True)):
            assert right - left >= LETTER * (len(people(one)) + len(people(other))) / 2


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0009, 1, [0.001, 0.01, 0.1, 1]),
        (1e-7, 1, [1e-6, 0.0001, 0.01, 1]),
        (0.04, 1, [0.1, 0.3, 1]),
        (0.3, 1, [0.3, 0.5, 1]),
        (25, 10_000, [100, 1_000, 10_000]),
        (2, 900, [2, 10, 100, 500]),
        (1.1, 2.2, [1.2, 1.6, 2]),
    ],
)
def test_ticks_are_round(low, high, ticks):
    assert log_ticks(low, high) == ticks


@given(st.lists(st.floats(1e-9, 1), max_size=5))
def test_an_axis_holds_everything_and_is_wide_enough(values):
    low, high = log_range([0.0, *values], most=1.0)
    assert all(low * (1 - 1e-12) <= value <= high * (1 + 1e-12) for value in values)
    assert high / low >= 4 * (1 - 1e-12)
    assert high <= 1
