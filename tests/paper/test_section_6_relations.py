"""What other notions imply.  Paper: section 6."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds import layouts, matrices

from reidrisk import theory
from reidrisk.theory import reference


@settings(max_examples=400)
@given(matrices(users=(1, 6), representations=(1, 6), zeros=False), st.floats(0, 1))
def test_lemma_6_local_privacy_bounds_the_optimum(array, delta):
    users, representations = array.shape
    epsilon = theory.local_dp_epsilon(array, delta)
    bound = theory.upper_from_local_dp(
        epsilon=epsilon, delta=delta, users=users, representations=representations
    )
    assert bound >= theory.random_user_optimum(array) * (
        1 - 1e-15
    )  # rows sum to 1 but for rounding


@given(
    st.integers(0, 40),
    st.floats(0, 1),
    st.integers(1, 10**9),
    st.integers(1, 10**9),
)
def test_lemma_6_the_bound_is_never_below_the_exact_value(power, delta, users, representations):
    """e = 2.718281828459045235... lies between these two fractions."""
    low_e, high_e = Fraction(2718281828459045235, 10**18), Fraction(2718281828459045236, 10**18)
    bound = theory.upper_from_local_dp(
        epsilon=power, delta=delta, users=users, representations=representations
    )
    extra = min(users, representations) * Fraction(delta)
    assert Fraction(bound.raw) >= (low_e**power + extra) / users
    assert Fraction(bound.raw) <= (high_e**power + extra) / users * (1 + Fraction(1, 10**14))
    assert bound == min(bound.raw, 1)


def test_lemma_6_at_the_ends():
    assert theory.upper_from_local_dp(epsilon=0, users=4) == 0.25
    assert theory.upper_from_local_dp(epsilon=0, delta=1, users=4, representations=2) == 0.75
    assert theory.upper_from_local_dp(epsilon=math.inf, users=4) == 1
    assert theory.upper_from_local_dp(epsilon=1e6, users=4).raw == math.inf


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_lemma_7_k_anonymity_bounds_the_optimum(representations):
    matrix = theory.RepresentationMatrix.from_assignment(representations)
    k = theory.anonymity(matrix)
    assert k == min(representations.count(item) for item in representations)
    assert theory.random_user_optimum(matrix) <= theory.upper_from_k_anonymity(k)


@given(st.integers(1, 10**12))
def test_lemma_7_the_bound_is_never_below_the_exact_value(k):
    bound = theory.upper_from_k_anonymity(k)
    assert Fraction(bound) >= Fraction(1, k) > Fraction(math.nextafter(bound, 0))


@pytest.mark.parametrize("users", [3, 4, 10, 1_001])
def test_lemma_8_neither_local_privacy_nor_k_anonymity_is_necessary(users):
    matrix = theory.safe_without_promise(users)
    assert theory.random_user_optimum(matrix) == 2 / users
    assert theory.anonymity(matrix) == 0
    assert theory.local_dp_epsilon(matrix) == math.inf
    assert theory.local_dp_epsilon(matrix, delta=0.999) == math.inf
    assert theory.local_dp_epsilon(matrix, delta=1.0) == 0


@settings(max_examples=400)
@given(matrices(users=(1, 8), representations=(1, 8)))
def test_lemma_9_mutual_information_bounds_the_optimum(array):
    for matrix in layouts(array).values():
        bits = theory.mutual_information(matrix)
        bound = theory.upper_from_mutual_information(bits=bits, users=len(array))
        assert bound >= theory.random_user_optimum(matrix) * (1 - 1e-15)


@given(st.floats(0, 64), st.integers(1, 60))
def test_lemma_9_the_bound_is_never_below_the_exact_value(bits, power):
    """log2 n is known exactly for powers of two, and between two of them for the rest."""
    bound = theory.upper_from_mutual_information(bits=bits, users=2**power)
    assert Fraction(bound.raw) >= (1 + Fraction(bits)) / power
    assert bound.raw == pytest.approx(float((1 + Fraction(bits)) / power), rel=1e-15)
    between = theory.upper_from_mutual_information(bits=bits, users=2**power + 1)
    assert Fraction(between.raw) >= (1 + Fraction(bits)) / (power + 1)


def test_lemma_9_the_bound_holds_for_a_number_of_users_that_is_no_power_of_two():
    """2^(1584962500721156/10^15) < 3, so 1 / 1.584962500721156 is above the exact bound's floor."""
    bound = theory.upper_from_mutual_information(bits=0, users=3)
    log2_of_3_is_below = Fraction(15849625007211562, 10**16)
    assert Fraction(bound.raw) >= 1 / log2_of_3_is_below
    assert theory.upper_from_mutual_information(bits=0, users=1) == 1


@given(matrices(users=(1, 6), representations=(1, 6)))
def test_mutual_information_is_the_drop_in_entropy(array):
    def entropy(chances):
        chances = chances[chances > 0]
        return -float(chances @ np.log2(chances))

    users = len(array)
    joint = array / users
    expected = math.log2(users) - (entropy(joint.ravel()) - entropy(joint.sum(axis=0)))
    for matrix in layouts(array).values():
        assert theory.mutual_information(matrix) == pytest.approx(expected, abs=1e-6)


def test_mutual_information_of_what_is_known():
    assert theory.mutual_information(np.eye(8)) == 3
    assert theory.mutual_information(np.full((5, 7), 1 / 7)) == pytest.approx(0, abs=1e-15)
    assert theory.mutual_information(np.eye(2), prior=[1, 0]) == 0


@given(matrices(users=(1, 4), representations=(1, 4)))
def test_quantitative_information_flow_bayes_vulnerability_is_the_best_accuracy(array):
    rows = reference.exact_rows(array)
    users = len(rows)
    same = [[Fraction(int(guess == user)) for user in range(users)] for guess in range(users)]
    exact = reference.g_vulnerability(rows, same, [Fraction(1, users)] * users)
    assert (
        theory.bayes_vulnerability(array)
        == theory.random_user_optimum(array)
        == min(float(exact), 1)
    )
    assert theory.multiplicative_leakage(array) == pytest.approx(array.max(axis=0).sum(), rel=1e-14)
