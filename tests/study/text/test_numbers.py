"""Numbers as people say them."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.study.text import numbers


def span(value, low=None, high=None):
    return SimpleNamespace(
        value=value, low=value if low is None else low, high=value if high is None else high
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (0.017, 0.0122, 0.0227, "1.7 % (1.2 % to 2.3 %)"),
        (0.5, 0.31, 0.69, "50 % (31 % to 69 %)"),
        (0.957, 0.77, 1.0, "96 % (77 % to 100 %)"),
        (0.998, 0.96, 1.0, "99.8 % (96 % to 100 %)"),
        (0.005, 0.0004, 0.012, "0.5 % (0.04 % to 1.2 %)"),
        (6.1e-7, 0.0, 0.000216, "0.00006 % (0 % to 0.022 %)"),
        (0.0, 0.0, 0.0003, "0 % (0 % to 0.03 %)"),
        (1.0, 1.0, 1.0, "100 %"),
        (1e-7, 1e-7, 1e-7, "0.00001 %"),
        (0.25, 0.25, 0.25, "25 %"),
        (0.41868, 0.41868, 0.41868, "41.9 %"),
    ],
)
def test_a_share_has_the_digits_its_interval_supports(value, low, high, said):
    assert numbers.share_with_interval(span(value, low, high)) == said


def test_times_are_rounded_like_the_share_they_come_from():
    assert numbers.times(span(0.017, 0.0122, 0.0227), 1e-7) == "170,000"
    assert numbers.times(span(0.15, 0.14, 0.163), 0.1) == "1.5"


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.41868, "41.9 %"), (0.4181, "41.9 %"), (1.0, "100 %"), (0.9999999, "99.99999 %")],
)
def test_a_bound_is_rounded_upwards_and_never_to_something_vacuous(value, said):
    assert numbers.at_most(value) == said


def test_times_of_a_bound_are_rounded_upwards():
    assert numbers.times_at_most(0.10001, 0.1) == "1.01"
    assert numbers.times_at_most(0.1, 0.1) == "1"


def test_exact_percentages_and_bits():
    assert [numbers.percent(value) for value in (0.95, 0.999, 0.29, 0.0, 1.0)] == [
        "95 %", "99.9 %", "29 %", "0 %", "100 %",
    ]  # fmt: skip
    assert numbers.bits(1.0973, 0.006) == "1.097"
    assert numbers.bits(0.93, 0.0) == "0.93"


shares = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(shares, min_size=3, max_size=3))
def test_what_is_said_encloses_what_was_measured(three):
    low, value, high = sorted(three)
    said = numbers.interval(span(value, low, high))
    if low == high:
        assert said == ""
    else:
        ends = [float(end.replace(",", "").removesuffix(" %")) for end in said.split(" to ")]
        assert ends[0] <= 100 * low * (1 + 1e-12)
        assert ends[1] >= 100 * high * (1 - 1e-12)
    shown = float(numbers.share(span(value, low, high)).replace(",", "").removesuffix(" %"))
    assert (shown == 0) == (value == 0)
    assert shown == pytest.approx(100 * value, abs=1, rel=0.5)
    assert (shown == 100) <= (value > 0.999)


@given(shares)
def test_an_upper_bound_is_never_said_too_low(value):
    said = float(numbers.at_most(value).removesuffix(" %"))
    assert said >= 100 * value * (1 - 1e-12)
    assert (said == 100) == (value == 1)
