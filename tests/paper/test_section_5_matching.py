"""Everyone at once.  Paper: section 5."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds import layouts, matrices

from reidrisk import theory
from reidrisk.theory import reference
from reidrisk.theory.columns import upper_someone


def product_formula(array):
    """(m - sum_o prod_i (1 - P[i,o])) / n in exact fractions."""
    rows = reference.exact_rows(array)
    products = (
        math.prod((1 - row[o] for row in rows), start=Fraction(1)) for o in range(len(rows[0]))
    )
    return (len(rows[0]) - sum(products, start=Fraction(0))) / len(rows)


@given(matrices(users=(1, 4), representations=(1, 3)))
def test_lemma_3_the_formula_is_the_expected_number_of_different_representations(array):
    rows = [[Fraction(int(entry * 64), 64) for entry in row] for row in array]
    rows = [[*row[:-1], 1 - sum(row[:-1])] for row in rows]
    assert reference.upper_matching(rows) == product_formula(np.array(rows, dtype=float))


@settings(max_examples=300)
@given(matrices(users=(1, 8), representations=(1, 8)))
def test_lemma_3_the_bound_is_never_below_the_exact_value_and_hardly_above(array):
    exact = product_formula(array)
    for matrix in layouts(array).values():
        bound = theory.upper_matching(matrix)
        assert Fraction(bound.raw) >= exact
        assert bound.raw <= float(exact) * (1 + 1e-14)
        assert bound == min(bound.raw, 1.0)


@given(matrices(users=(1, 4), representations=(1, 4)))
def test_lemma_3_no_matching_rule_exceeds_the_bound(array):
    assert theory.matching_optimum(array) <= theory.upper_matching(array) + 1e-12


def test_lemma_3_survives_products_that_underflow():
    """Half a million users, one representation: prod (1 - p) is 0 to any float."""
    users = 500_000
    same = theory.upper_matching(sp.csr_array(np.ones((users, 1))))
    assert same == pytest.approx(1 / users, rel=1e-9)
    even = theory.upper_matching(np.full((users, 2), 0.5))
    assert even == pytest.approx(2 / users, rel=1e-9)
    assert even * users >= 2


def test_lemma_3_keeps_chances_far_below_the_resolution_of_one():
    """With p = 1e-20 the factor 1 - p is 1 to any float; the chance of someone must not be 0."""
    for matrix in layouts(np.array([[1.0, 1e-20], [1.0, 3e-20]])).values():
        entries = theory.RepresentationMatrix(matrix).entries
        assert upper_someone(entries) == pytest.approx([1, 4e-20], rel=1e-14)


@given(matrices(users=(1, 3), representations=(1, 3)), st.data())
def test_lemma_4_a_random_user_rule_used_for_matching_keeps_its_accuracy(array, data):
    users, representations = array.shape
    rule = data.draw(
        st.lists(st.integers(0, users - 1), min_size=representations, max_size=representations)
    )
    accuracy = theory.rule_accuracy(array, rule)
    assert theory.matching_accuracy(array, theory.one_by_one(array, rule)) == pytest.approx(
        accuracy, abs=1e-12
    )
    exact = reference.matching_accuracy(
        reference.exact_rows(array), lambda seen: [rule[o] for o in seen]
    )
    assert float(exact) == pytest.approx(accuracy, abs=1e-12)


def test_lemma_4_holds_for_rules_that_toss_coins():
    rng = np.random.default_rng(4)
    array, rule = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(4), 3).T
    for item in layouts(rule).values():
        accuracy = theory.matching_accuracy(array, theory.one_by_one(array, item))
        assert accuracy == pytest.approx(theory.rule_accuracy(array, rule), abs=1e-12)


@pytest.mark.parametrize("users", [2, 4, 10, 1_000])
def test_lemma_5_matching_reaches_seven_eighths_where_one_user_gives_three_quarters(users):
    family = theory.matching_beats_random_user(users)
    assert (family.users, family.representations) == (users, 3 * users // 2)
    assert theory.random_user_optimum(family) == 3 / 4
    assert theory.matching_optimum(family) == pytest.approx(7 / 8, abs=1e-14)


@given(matrices(users=(1, 3), representations=(1, 3)))
def test_the_matching_optimum_equals_the_count_over_all_outcomes_and_orders(array):
    exact = float(reference.matching_optimum(reference.exact_rows(array)))
    for matrix in layouts(array).values():
        assert theory.matching_optimum(matrix) == pytest.approx(exact, abs=1e-12)


def test_the_matching_optimum_of_four_users_equals_the_count_over_all_outcomes_and_orders():
    array = np.random.default_rng(5).dirichlet(np.ones(4), 4)
    exact = float(reference.matching_optimum(reference.exact_rows(array)))
    assert theory.matching_optimum(array) == pytest.approx(exact, abs=1e-12)


@given(matrices(users=(1, 4), representations=(1, 4)))
def test_the_accuracy_optimal_rule_uses_posterior_marginals_and_attains_the_optimum(array):
    optimum = theory.matching_optimum(array)
    assert theory.matching_accuracy(array, theory.optimal_matching(array)) == pytest.approx(
        optimum, abs=1e-12
    )
    assert theory.matching_accuracy(array, theory.likeliest_assignment(array)) <= optimum + 1e-12
    assert theory.random_user_optimum(array) <= optimum + 1e-12


def test_posterior_marginals_can_beat_the_likeliest_assignment():
    """Three users; the likeliest permutation is one of many, the marginals weigh them all."""
    array = np.array([[0.4, 0.3, 0.3], [0.5, 0.1, 0.4], [0.1, 0.4, 0.5]])
    assignment = theory.matching_accuracy(array, theory.likeliest_assignment(array))
    optimum = theory.matching_optimum(array)
    assert optimum > assignment + 0.005
    exact = reference.matching_accuracy(
        reference.exact_rows(array), lambda seen: theory.likeliest_assignment(array)(np.array(seen))
    )
    assert assignment == pytest.approx(float(exact), abs=1e-12)
