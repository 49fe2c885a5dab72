"""Against `qif`, an independent C++ package for quantitative information flow."""

from fractions import Fraction

import numpy as np
import pytest
import qif
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from qif.measure import bayes_vuln, g_vuln, shannon
from tests.worlds import layouts, matrices

from reidrisk import theory

TOLERANCE = 1e-12
SIZES = [(1, 1), (1, 5), (6, 1), (2, 3), (7, 4), (8, 8), (9, 17), (40, 25), (123, 300)]
seeds = st.integers(0, 2**32 - 1)


def channel(users, representations, seed=0):
    """A random matrix with small and zero entries, rows normalised."""
    rng = np.random.default_rng([users, representations, seed])
    array = rng.dirichlet(np.full(representations, 0.4), users)
    array[array < 0.02 / representations] = 0
    return array / array.sum(axis=1, keepdims=True)


def random_prior(users, seed, *, zeros=False):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(users, 0.5))
    if zeros and users > 1:
        weights[rng.permutation(users)[: users // 2]] = 0
    return weights / weights.sum()


def priors(users):
    """None, and what it must mean; a random one; one that excludes half of the users; certainty."""
    certain = np.eye(users)[users // 2]
    return [
        (None, np.full(users, 1 / users)),
        *((prior, prior) for prior in (random_prior(users, 1), random_prior(users, 2, zeros=True))),
        (certain, certain),
    ]


def close(value):
    return pytest.approx(value, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", ["rows", "columns", "sparse"])
def test_bayes_vulnerability_and_its_leakages_equal_those_of_qif(size, layout):
    array = channel(*size)
    matrix = layouts(array)[layout]
    for given_prior, pi in priors(size[0]):
        assert theory.prior_vulnerability(matrix, given_prior) == close(bayes_vuln.prior(pi))
        assert theory.bayes_vulnerability(matrix, given_prior) == close(
            bayes_vuln.posterior(pi, array)
        )
        assert theory.multiplicative_leakage(matrix, given_prior) == close(
            bayes_vuln.mult_leakage(pi, array)
        )
        assert theory.additive_leakage(matrix, given_prior) == close(
            bayes_vuln.add_leakage(pi, array)
        )
        assert theory.min_entropy_leakage(matrix, given_prior) == close(
            bayes_vuln.min_entropy_leakage(pi, array)
        )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", ["rows", "columns", "sparse"])
def test_the_random_user_optimum_is_the_posterior_bayes_vulnerability_of_the_uniform_prior(
    size, layout
):
    array = channel(*size)
    pi = qif.probab.uniform(size[0])
    optimum = theory.random_user_optimum(layouts(array)[layout])
    assert optimum == close(bayes_vuln.posterior(pi, array))
    named = bayes_vuln.strategy(pi, array).reshape(-1).astype(np.int64)
    assert theory.rule_accuracy(layouts(array)[layout], named) == close(optimum)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", ["rows", "columns", "sparse"])
def test_the_leakage_factor_of_the_uniform_prior_is_the_capacity_of_qif(size, layout):
    array = channel(*size)
    leakage = theory.multiplicative_leakage(layouts(array)[layout])
    assert leakage == close(bayes_vuln.mult_capacity(array))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", ["rows", "columns", "sparse"])
def test_mutual_information_is_the_additive_shannon_leakage_of_qif(size, layout):
    array = channel(*size)
    for given_prior, pi in priors(size[0]):
        bits = theory.mutual_information(layouts(array)[layout], given_prior)
        assert bits == close(shannon.add_leakage(pi, array))


@pytest.mark.parametrize("guesses", [1, 3, 50])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", ["rows", "columns", "sparse"])
def test_any_gain_gives_the_vulnerabilities_and_leakages_of_qif(size, layout, guesses):
    array = channel(*size)
    matrix = layouts(array)[layout]
    table = np.random.default_rng([*size, guesses]).uniform(0.1, 2, (guesses, size[0]))
    for (given_prior, pi), gain in zip(priors(size[0]), gains(table), strict=True):
        known = {"gain": gain, "guesses": guesses if callable(gain) else None}
        assert theory.g_vulnerability(matrix, gain, given_prior, guesses=known["guesses"]) == close(
            g_vuln.posterior(table, pi, array)
        )
        assert theory.prior_vulnerability(matrix, given_prior, **known) == close(
            g_vuln.prior(table, pi)
        )
        assert theory.multiplicative_leakage(matrix, given_prior, **known) == close(
            g_vuln.mult_leakage(table, pi, array)
        )
        assert theory.additive_leakage(matrix, given_prior, **known) == close(
            g_vuln.add_leakage(table, pi, array)
        )


def gains(table):
    """The same gain in each form it may have."""
    return [
        table,
        np.asfortranarray(table),
        sp.coo_array(table),
        lambda guesses, users: table[guesses, users],
    ]


def test_gains_may_be_negative_as_in_qif():
    array, pi = channel(5, 7), random_prior(5, 3)
    loss = -np.random.default_rng(4).uniform(0, 1, (3, 5))
    for matrix in layouts(array).values():
        for gain in (loss, sp.csr_array(loss)):
            assert theory.g_vulnerability(matrix, gain, pi) == close(
                g_vuln.posterior(loss, pi, array)
            )
            assert theory.prior_vulnerability(matrix, pi, gain=gain) == close(
                g_vuln.prior(loss, pi)
            )
            assert theory.additive_leakage(matrix, pi, gain=gain) == close(
                g_vuln.add_leakage(loss, pi, array)
            )


@given(array=matrices(users=(1, 12), representations=(1, 12)), seed=seeds, zeros=st.booleans())
def test_small_random_worlds_agree_on_everything(array, seed, zeros):
    users = len(array)
    pi = random_prior(users, seed, zeros=zeros)
    table = np.random.default_rng(seed).uniform(-1, 1, (4, users))
    for matrix in layouts(array).values():
        assert theory.bayes_vulnerability(matrix, pi) == close(bayes_vuln.posterior(pi, array))
        assert theory.g_vulnerability(matrix, table, pi) == close(
            g_vuln.posterior(table, pi, array)
        )
        assert theory.mutual_information(matrix, pi) == close(shannon.add_leakage(pi, array))
        assert theory.min_entropy_leakage(matrix, pi) == close(
            bayes_vuln.min_entropy_leakage(pi, array)
        )


whole_rows = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 9), min_size=columns, max_size=columns).filter(any),
        min_size=1,
        max_size=4,
    )
)


@given(whole_rows)
def test_the_optimum_is_the_nearest_float_to_the_rational_answer_of_qif(weights):
    """qif computes in exact rationals here; ours gets the floats nearest to the same entries."""
    exact = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    floats = np.array(exact, dtype=np.float64)
    entries = np.array([[Fraction(entry) for entry in row] for row in floats], dtype=object)
    uniform = np.array([Fraction(1, len(exact))] * len(exact), dtype=object)
    answer = sum(max(column) for column in entries.T) / len(exact)
    if all(sum(row) == 1 for row in entries):  # qif refuses rows that miss 1 by a rounding
        assert bayes_vuln.posterior(uniform, entries) == answer
    rational = bayes_vuln.posterior(uniform, np.array(exact, dtype=object))
    for matrix in layouts(floats).values():
        assert theory.random_user_optimum(matrix) == min(float(answer), 1.0)
        assert theory.random_user_optimum(matrix) == close(float(rational))


@given(array=matrices(users=(1, 5), representations=(1, 5)), seed=seeds, tries=st.integers(1, 6))
def test_several_tries_equal_a_gain_of_qif_whose_guesses_are_sets_of_users(array, seed, tries):
    users = len(array)
    pi = random_prior(users, seed)
    sets = np.array(
        [[mask >> user & 1 for user in range(users)] for mask in range(2**users)], dtype=float
    )
    sets = sets[sets.sum(axis=1) == min(tries, users)]
    for matrix in layouts(array).values():
        assert theory.bayes_vulnerability(matrix, pi, tries=tries) == close(
            g_vuln.posterior(sets, pi, array)
        )
        assert theory.prior_vulnerability(matrix, pi, tries=tries) == close(g_vuln.prior(sets, pi))
