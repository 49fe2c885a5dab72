"""Gains, tries and leakages: what must hold of them for every channel."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds import layouts, matrices

from reidrisk import theory
from reidrisk.theory import qif, reference

TOLERANCE = 1e-12
"""Rows, priors and post-processings are rounded, so sums miss 1 by some 1e-16."""

seeds = st.integers(0, 2**32 - 1)
some = settings(max_examples=60)
"""Each example asks many functions of three layouts."""


def random_prior(users, seed):
    return np.random.default_rng(seed).dirichlet(np.full(users, 0.5))


def random_gain(guesses, users, seed, low=0.0):
    return np.random.default_rng(seed).uniform(low, 1, (guesses, users))


def close(value):
    return pytest.approx(value, rel=TOLERANCE, abs=TOLERANCE)


def gain_forms(table):
    """The same gain in every form, with the number of guesses where it must be told."""
    return [
        (table, None),
        (table.tolist(), None),
        (np.asfortranarray(table), None),
        (np.repeat(table, 2, axis=1)[:, ::2], None),
        *((getattr(sp, f"{name}_array")(table), None) for name in ("csr", "csc", "coo", "lil")),
        *((getattr(sp, f"{name}_matrix")(table), None) for name in ("bsr", "dia", "dok")),
        (lambda guesses, users: table[guesses, users], len(table)),
    ]


@some
@given(matrices(users=(1, 5), representations=(1, 5)), st.integers(1, 7), seeds)
def test_a_gain_of_any_form_equals_the_exact_definition(array, guesses, seed):
    users = len(array)
    prior = random_prior(users, seed)
    table = np.round(random_gain(guesses, users, seed, low=-1), 1)
    exact = reference.g_vulnerability(
        reference.exact_rows(array), reference.exact_rows(table), list(map(Fraction, prior))
    )
    before = max(
        sum(Fraction(g) * Fraction(p) for g, p in zip(row, prior, strict=True)) for row in table
    )
    matrix = layouts(array)["sparse" if seed % 2 else "rows"]
    for gain, count in gain_forms(table):
        assert theory.g_vulnerability(matrix, gain, prior, guesses=count) == close(float(exact))
        assert theory.prior_vulnerability(matrix, prior, gain=gain, guesses=count) == close(
            float(before)
        )


def test_a_gain_function_gets_index_arrays_that_broadcast_and_may_have_more_guesses_than_users():
    shapes = []

    def within_reach(guesses, users):
        """Guess g means: one of the users g and g + 1 (in a circle of three)."""
        shapes.append((guesses.shape, users.shape, guesses.dtype.kind, users.dtype.kind))
        return (guesses % 3 == users) | ((guesses + 1) % 3 == users)

    array = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5]])
    pairs = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    for matrix in layouts(array).values():
        assert theory.g_vulnerability(matrix, within_reach, guesses=4) == close(
            theory.g_vulnerability(matrix, pairs)
        )
        assert theory.bayes_vulnerability(matrix, tries=2) == close(
            theory.g_vulnerability(matrix, within_reach, guesses=3)
        )
    assert set(shapes) == {((4, 1), (1, 3), "i", "i"), ((3, 1), (1, 3), "i", "i")}


def test_a_gain_function_has_one_guess_per_user_unless_told():
    array = np.random.default_rng(0).dirichlet(np.ones(4), 6)
    prior = random_prior(6, 1)
    for matrix in layouts(array).values():
        for ask in (theory.multiplicative_leakage, theory.additive_leakage):
            assert ask(matrix, prior, gain=np.equal) == close(ask(matrix, prior))
        assert theory.g_vulnerability(matrix, np.equal, prior) == close(
            theory.bayes_vulnerability(matrix, prior)
        )
        assert theory.prior_vulnerability(matrix, prior, gain=np.equal) == close(prior.max())


@pytest.mark.parametrize("most", [1, 7, 20, 1000])
def test_cutting_the_guesses_into_blocks_changes_nothing(monkeypatch, most):
    array = np.random.default_rng(2).dirichlet(np.ones(5), 6)
    prior, table = random_prior(6, 3), random_gain(23, 6, 4, low=-1)
    sizes = []

    def watched(guesses, users):
        sizes.append(guesses.size)
        return table[guesses, users]

    expected = theory.g_vulnerability(array, table, prior)
    before = theory.prior_vulnerability(array, prior, gain=table)
    monkeypatch.setattr(qif, "MOST_AT_ONCE", most)
    for matrix in layouts(array).values():
        for gain, count in (*gain_forms(table), (watched, 23)):
            assert theory.g_vulnerability(matrix, gain, prior, guesses=count) == close(expected)
            assert theory.prior_vulnerability(matrix, prior, gain=gain, guesses=count) == close(
                before
            )
    assert max(sizes) == min(max(most // 6, 1), 23)
    assert sum(sizes) == 23 * 2 * 3


def test_more_columns_than_are_sorted_at_once_do_not_change_several_tries(monkeypatch):
    array = np.random.default_rng(5).dirichlet(np.ones(30), 9)
    prior = random_prior(9, 6)
    expected = np.sort(array * prior[:, None], axis=0)[-4:].sum()
    monkeypatch.setattr(qif, "COLUMNS_AT_ONCE", 7)
    for matrix in layouts(array).values():
        assert theory.bayes_vulnerability(matrix, prior, tries=4) == close(expected)


@some
@given(matrices(users=(1, 6), representations=(1, 6)), seeds, st.integers(1, 6))
def test_k_tries_are_the_gain_whose_guesses_are_the_sets_of_k_users(array, seed, tries):
    users = len(array)
    prior = random_prior(users, seed)
    tries = min(tries, users)
    sets = list(itertools.combinations(range(users), tries))
    members = np.zeros((len(sets), users))
    for row, chosen in enumerate(sets):
        members[row, list(chosen)] = 1
    for matrix in layouts(array).values():
        for known in (None, prior):
            assert theory.bayes_vulnerability(matrix, known, tries=tries) == close(
                theory.g_vulnerability(matrix, members, known)
            )
            assert theory.prior_vulnerability(matrix, known, tries=tries) == close(
                theory.prior_vulnerability(matrix, known, gain=members)
            )


@some
@given(matrices(users=(1, 7), representations=(1, 7)), seeds)
def test_more_tries_never_hurt_and_naming_everyone_is_certain(array, seed):
    users = len(array)
    prior = random_prior(users, seed)
    for matrix in layouts(array).values():
        for known in (None, prior):
            chances = [theory.bayes_vulnerability(matrix, known, tries=k + 1) for k in range(users)]
            before = [theory.prior_vulnerability(matrix, known, tries=k + 1) for k in range(users)]
            for values in (chances, before):
                assert all(b >= a - TOLERANCE for a, b in itertools.pairwise(values))
                assert values[-1] == close(1)
            assert all(b >= a - TOLERANCE for a, b in zip(before, chances, strict=True))
            for ask in (theory.bayes_vulnerability, theory.prior_vulnerability):
                assert ask(matrix, known, tries=users + 1) == close(1)
                assert ask(matrix, known, tries=10**30) == close(1)


@some
@given(matrices(users=(1, 6), representations=(1, 6)), seeds, st.integers(1, 6))
def test_no_prior_and_no_non_negative_gain_leaks_more_than_the_capacity(array, seed, guesses):
    """Tolerance: relative 1e-12, for rows and priors that miss 1 by roundings."""
    users = len(array)
    capacity = theory.multiplicative_leakage(array)
    assert capacity == close(array.max(axis=0).sum())
    prior = random_prior(users, seed)
    gain = random_gain(guesses, users, seed)
    for matrix in layouts(array).values():
        for known in (prior, np.eye(users)[seed % users]):
            assert theory.multiplicative_leakage(matrix, known) <= capacity * (1 + TOLERANCE)
            assert theory.multiplicative_leakage(matrix, known, gain=gain) <= capacity * (
                1 + TOLERANCE
            )
            assert theory.min_entropy_leakage(matrix, known) <= math.log2(capacity) + TOLERANCE


@some
@given(matrices(users=(1, 6), representations=(1, 6)), seeds, st.integers(1, 6))
def test_seeing_something_never_hurts_the_attacker(array, seed, guesses):
    users = len(array)
    prior, gain = random_prior(users, seed), random_gain(guesses, users, seed, low=-1)
    for matrix in layouts(array).values():
        assert theory.additive_leakage(matrix, prior) >= 0
        assert theory.additive_leakage(matrix, prior, gain=gain) >= 0
        assert theory.multiplicative_leakage(matrix, prior) >= 1
        assert theory.min_entropy_leakage(matrix, prior) >= 0
        assert theory.g_vulnerability(matrix, gain, prior) >= (
            theory.prior_vulnerability(matrix, prior, gain=gain) - TOLERANCE
        )


@some
@given(
    matrices(users=(1, 6), representations=(1, 6)),
    seeds,
    st.integers(1, 6),
    st.integers(1, 6),
)
def test_post_processing_never_helps_the_attacker(array, seed, columns, guesses):
    """P R is what is left of P after each representation is replaced by a random other one."""
    rng = np.random.default_rng(seed)
    replace = rng.dirichlet(np.full(columns, 0.3), array.shape[1])
    blurred = array @ replace
    users = len(array)
    prior, gain = random_prior(users, seed), random_gain(guesses, users, seed, low=-1)
    for kind in ("rows", "columns", "sparse"):
        sharp, soft = layouts(array)[kind], layouts(blurred)[kind]
        for ask in (
            lambda matrix: theory.bayes_vulnerability(matrix, prior),
            lambda matrix: theory.bayes_vulnerability(matrix, prior, tries=2),
            lambda matrix: theory.g_vulnerability(matrix, gain, prior),
            lambda matrix: theory.multiplicative_leakage(matrix, prior),
            lambda matrix: theory.mutual_information(matrix, prior),
            theory.random_user_optimum,
            theory.min_entropy_leakage,
        ):
            assert ask(soft) <= ask(sharp) + TOLERANCE * 10


@pytest.mark.parametrize("users", [1, 2, 3, 7, 49, 1000])
def test_a_channel_that_tells_nothing_leaks_nothing_and_one_that_tells_all_leaks_all(users):
    nothing = np.tile([0.1, 0.2, 0.7], (users, 1))
    for matrix in layouts(nothing).values():
        assert theory.multiplicative_leakage(matrix) == close(1)
        assert theory.additive_leakage(matrix) == close(0)
        assert theory.min_entropy_leakage(matrix) == close(0)
        assert theory.mutual_information(matrix) == close(0)
    for matrix in layouts(np.eye(users)).values():
        assert theory.multiplicative_leakage(matrix) == close(users)
        assert theory.additive_leakage(matrix) == close(1 - 1 / users)
        assert theory.min_entropy_leakage(matrix) == close(math.log2(users))
        assert theory.mutual_information(matrix) == close(math.log2(users))


@some
@given(matrices(users=(2, 6), representations=(1, 6)), seeds)
def test_a_user_who_is_never_seen_may_as_well_not_exist(array, seed):
    prior = random_prior(len(array) - 1, seed)
    padded = np.append(prior, 0.0)
    for kind in ("rows", "columns", "sparse"):
        with_ghost, without = layouts(array)[kind], layouts(array[:-1])[kind]
        for ask in (
            theory.bayes_vulnerability,
            theory.prior_vulnerability,
            theory.multiplicative_leakage,
            theory.min_entropy_leakage,
            theory.mutual_information,
        ):
            assert ask(with_ghost, padded) == close(ask(without, prior))


@some
@given(matrices(users=(1, 6), representations=(1, 6)), seeds)
def test_the_order_of_users_and_representations_changes_nothing(array, seed):
    rng = np.random.default_rng(seed)
    prior, gain = random_prior(len(array), seed), random_gain(3, len(array), seed, low=-1)
    users, shown = rng.permutation(len(array)), rng.permutation(array.shape[1])
    shuffled = array[users][:, shown]
    for kind in ("rows", "columns", "sparse"):
        one, other = layouts(array)[kind], layouts(shuffled)[kind]
        assert theory.bayes_vulnerability(other, prior[users]) == close(
            theory.bayes_vulnerability(one, prior)
        )
        assert theory.g_vulnerability(other, gain[:, users], prior[users]) == close(
            theory.g_vulnerability(one, gain, prior)
        )
        assert theory.mutual_information(other, prior[users]) == close(
            theory.mutual_information(one, prior)
        )


def test_scaling_a_gain_scales_its_vulnerability_and_leaves_the_factor():
    array, prior = np.random.default_rng(8).dirichlet(np.ones(4), 5), random_prior(5, 9)
    gain = random_gain(6, 5, 10)
    for matrix in layouts(array).values():
        for scale in (1e-200, 0.25, 1e200):
            assert theory.g_vulnerability(matrix, gain * scale, prior) == pytest.approx(
                theory.g_vulnerability(matrix, gain, prior) * scale, rel=1e-12
            )
            assert theory.multiplicative_leakage(matrix, prior, gain=gain * scale) == close(
                theory.multiplicative_leakage(matrix, prior, gain=gain)
            )
