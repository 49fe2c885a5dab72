"""The matching attack at scale."""

import numpy as np
import pytest
import scipy.sparse as sp

from reidrisk import theory
from reidrisk.theory.matching import _draw, _share_right


def test_the_measured_accuracy_agrees_with_enumeration():
    """5 users, 4,000 releases: the 99.9 % interval holds the exact accuracy."""
    array = np.random.default_rng(3).dirichlet(np.ones(4), 5)
    exact = theory.matching_accuracy(array, theory.likeliest_assignment(array))
    attack = theory.matching_attack(array, releases=4_000, seed=1, level=0.999)
    assert attack.accuracy.low <= exact <= attack.accuracy.high
    assert attack.accuracy.high - attack.accuracy.low < 0.03
    assert attack.random_user_optimum == theory.random_user_optimum(array)
    assert attack.upper_matching == theory.upper_matching(array)
    assert attack.guessing == 0.2


def test_users_who_cannot_be_told_apart_are_not_told_apart():
    """All rows equal: an attack that gained from the order of the rows would exceed 1/n."""
    attack = theory.matching_attack(np.full((50, 4), 0.25), releases=400, seed=2, level=0.999)
    assert attack.accuracy.low <= 1 / 50 <= attack.accuracy.high


def test_users_with_symbols_of_their_own_are_all_found():
    attack = theory.matching_attack(sp.eye_array(300), releases=3)
    assert attack.accuracy.value == 1
    assert attack.accuracy.low < 1


def test_the_layout_does_not_change_the_draws():
    array = np.random.default_rng(0).dirichlet(np.full(9, 0.3), 40)
    dense = theory.matching_attack(array, releases=5, seed=9)
    sparse = theory.matching_attack(sp.csc_array(array), releases=5, seed=9)
    assert dense == sparse
    assert dense != theory.matching_attack(array, releases=5, seed=10)


def test_representations_are_drawn_with_their_chances():
    """100,000 draws of each user: frequencies within 0.01, six standard errors."""
    array = np.array([[0.2, 0.0, 0.8], [0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    shown = _draw(theory.RepresentationMatrix(array), 100_000, seed=5)
    frequencies = np.stack([np.bincount(row, minlength=3) for row in shown]) / 100_000
    np.testing.assert_allclose(frequencies, array, atol=0.01)
    assert (frequencies[array == 0] == 0).all()


def test_the_share_right_averages_over_users_who_show_the_same():
    """Positions 0 and 1 show 7; users 0 and 1 do. Whoever is named there is right half the time."""
    shown = np.array([7, 7, 3])
    seen = np.array([7, 7, 3])
    assert _share_right(seen, np.array([0, 1, 2]), shown) == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert _share_right(seen, np.array([2, 1, 0]), shown) == pytest.approx(0.5 / 3)


def test_progress_is_told():
    told = []
    theory.matching_attack(np.eye(3), releases=4, progress=lambda *step: told.append(step))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
