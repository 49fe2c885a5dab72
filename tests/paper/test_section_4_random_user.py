"""One random user.  Paper: section 4."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.worlds import layouts, matrices

from reidrisk import theory
from reidrisk.theory import reference


@given(array=matrices(), data=st.data())
def test_lemma_1_the_accuracy_of_a_rule_is_the_trace_of_p_times_its_transpose(array, data):
    users, representations = array.shape
    named = data.draw(
        st.lists(st.integers(0, users - 1), min_size=representations, max_size=representations)
    )
    exact = reference.rule_accuracy(reference.exact_rows(array), named)
    chances = np.zeros_like(array)
    chances[named, np.arange(representations)] = 1
    assert float(exact) == pytest.approx(np.trace(array @ chances.T) / users, abs=1e-15)
    for matrix in layouts(array).values():
        assert theory.rule_accuracy(matrix, named) == min(float(exact), 1.0)
        for rule in layouts(chances).values():
            assert theory.rule_accuracy(matrix, rule) == min(float(exact), 1.0)


@given(matrices(), st.integers(0, 2**32 - 1))
def test_lemma_1_holds_for_rules_that_toss_coins(array, seed):
    chances = np.random.default_rng(seed).dirichlet(np.ones(len(array)), array.shape[1]).T
    expected = (array * chances).sum() / len(array)
    for matrix in layouts(array).values():
        for rule in layouts(chances).values():
            assert theory.rule_accuracy(matrix, rule) == pytest.approx(expected, abs=1e-14)


@given(matrices(users=(1, 4), representations=(1, 4)))
def test_corollary_1_no_rule_beats_the_sum_of_column_maxima(array):
    """The reference tries every rule there is; ours must give the nearest float to its best."""
    exact = reference.random_user_optimum(reference.exact_rows(array))
    for matrix in layouts(array).values():
        assert theory.random_user_optimum(matrix) == min(float(exact), 1.0)


@given(matrices(users=(1, 18), representations=(1, 6)))
def test_corollary_1_is_attained_by_naming_the_first_maximiser_of_each_column(array):
    expected = reference.optimal_rule(reference.exact_rows(array))
    for matrix in layouts(array).values():
        rule = theory.optimal_rule(matrix)
        assert rule.tolist() == expected
        assert theory.rule_accuracy(matrix, rule) == theory.random_user_optimum(matrix)


@pytest.mark.parametrize("users", [1, 7, 8, 9, 64, 1_000])
def test_layouts_agree_to_the_last_bit_on_larger_matrices(users):
    array = np.random.default_rng(users).dirichlet(np.full(301, 0.1), users)
    values = {name: theory.random_user_optimum(item) for name, item in layouts(array).items()}
    rules = [theory.optimal_rule(item) for item in layouts(array).values()]
    assert len(set(values.values())) == 1
    assert values["rows"] == float(sum(map(Fraction, array.max(axis=0))) / users)
    assert all((rule == array.argmax(axis=0)).all() for rule in rules)


WORLDS = [
    np.array([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25]]),
    np.array([[0.25, 0.25, 0.5], [0.0, 1.0, 0.0]]),
    np.array([[0.5, 0.0, 0.5], [0.5, 0.25, 0.25]]),
]


@pytest.mark.parametrize("weights", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.25, 0.25), (0.0, 0.125, 0.875)])
def test_lemma_2_no_attacker_who_sees_w_beats_the_column_maxima_of_the_expected_matrix(weights):
    """Conditioned on each W: brute force over all rules, worlds weighed by how well they fit W."""
    for shown in itertools.product(range(3), repeat=2):
        fit = [
            w * world[0, shown[0]] * world[1, shown[1]]
            for w, world in zip(weights, WORLDS, strict=True)
        ]
        if sum(fit) == 0:
            continue
        expected = theory.expected_matrix(WORLDS, shown, weights)
        best = max(
            sum(f * theory.rule_accuracy(world, rule) for f, world in zip(fit, WORLDS, strict=True))
            / sum(fit)
            for rule in itertools.product(range(2), repeat=3)
        )
        assert theory.partial_information_optimum(expected) == pytest.approx(best, abs=1e-15)
        attained = theory.optimal_rule(expected)
        assert theory.rule_accuracy(expected, attained) == pytest.approx(best, abs=1e-15)


def test_lemma_2_the_expected_matrix_stays_sparse_and_survives_underflow():
    """5,000 users: the likelihood of each world is about 2^-5000, below any float."""
    fair = theory.matching_beats_random_user(5_000)
    seen = np.arange(5_000)
    expected = theory.expected_matrix([fair, fair], seen)
    assert expected.entries.nnz == fair.entries.nnz
    assert theory.partial_information_optimum(expected) == pytest.approx(0.75, abs=1e-15)


def test_seeing_w_helps_no_more_than_knowing_p_and_no_less_than_knowing_nothing():
    prior = np.full(3, 1 / 3)
    everything = sum(
        w * theory.random_user_optimum(world) for w, world in zip(prior, WORLDS, strict=True)
    )
    nothing = theory.random_user_optimum(
        sum(w * world for w, world in zip(prior, WORLDS, strict=True))
    )
    something = 0.0
    for shown in itertools.product(range(3), repeat=2):
        chance = sum(
            w * world[0, shown[0]] * world[1, shown[1]]
            for w, world in zip(prior, WORLDS, strict=True)
        )
        if chance:
            expected = theory.expected_matrix(WORLDS, shown)
            something += chance * theory.partial_information_optimum(expected)
    assert nothing < something < everything
