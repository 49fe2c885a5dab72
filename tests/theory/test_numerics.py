"""Sums and roundings."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.theory.numerics import UpperBound, chance, exact_sum, round_up


@given(st.lists(st.floats(-1e300, 1e300), max_size=50))
def test_the_exact_sum_rounds_to_what_fsum_gives(values):
    array = np.array(values, dtype=np.float64)
    assert float(exact_sum(array)) == pytest.approx(math.fsum(values), rel=1e-15, abs=1e-300)


def test_the_exact_sum_keeps_what_a_float_loses():
    assert exact_sum(np.array([1.0, 1e-30, 1e-30])) == Fraction(1) + 2 * Fraction(1e-30)
    assert exact_sum(np.full(10**6, 0.1)) == 10**6 * Fraction(0.1)


@given(st.fractions(0, 2))
def test_rounding_up_gives_the_smallest_float_that_is_not_below(value):
    rounded = round_up(value)
    assert Fraction(rounded) >= value > Fraction(math.nextafter(rounded, -1))


def test_an_upper_bound_is_a_number_that_remembers_its_raw_value():
    bound = UpperBound(Fraction(3, 2))
    assert (bound, bound.raw) == (1.0, 1.5)
    assert isinstance(bound, float)
    again = pickle.loads(pickle.dumps(bound))  # noqa: S301  our own bytes
    assert (again, again.raw) == (1.0, 1.5)
    assert (UpperBound(math.inf), UpperBound(math.inf).raw) == (1.0, math.inf)


def test_a_chance_is_at_most_one():
    assert chance(Fraction(10**9 + 1, 10**9)) == 1.0
