"""Type mixtures: the chance they claim, by brute force in fractions, and what they refuse."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.observations import Observations
from reidrisk.errors import TooLarge
from reidrisk.scores import GRID
from reidrisk.scores.type_mixture import IMPOSSIBLE, TypeMixture

ROWS = np.array([[0, 1, 2]])


def fractions(values):
    return [fractions(value) if np.ndim(value) else Fraction(float(value)) for value in values]


def tables(seed, types, tokens, zeros=0.0):
    random = np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(types))
    single = random.dirichlet(np.ones(tokens), types)
    given_known = random.dirichlet(np.ones(tokens), (types, tokens)).transpose(0, 2, 1)
    given_known[random.random(given_known.shape) < zeros] = 0
    sums = given_known.sum(axis=1, keepdims=True)
    given_known = np.where(sums > 0, given_known / np.where(sums > 0, sums, 1), 1 / tokens)
    return weights, single, given_known * single[:, None, :]


def exact_chance(weights, single, joint, shown, known):
    """The sum over types of the product over slots, in fractions."""
    total = Fraction(0)
    for share, one, two in zip(weights, single, joint, strict=True):
        product = share
        for here, there in zip(shown, known, strict=True):
            if here >= 0 and there >= 0:
                product *= two[here][there]
            elif max(here, there) >= 0:
                product *= one[max(here, there)]
        total += product
    return total


def logarithm(chance):
    return math.log(chance.numerator) - math.log(chance.denominator)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    types=st.integers(1, 9),
    tokens=st.integers(1, 5),
    slots=st.integers(1, 6),
    zeros=st.sampled_from([0.0, 0.5, 0.9]),
)
def test_the_score_is_the_chance_of_the_shown_row_given_the_known_one(
    seed, types, tokens, slots, zeros
):
    arrays = tables(seed, types, tokens, zeros)
    exact = fractions(arrays)
    random = np.random.default_rng(seed)
    known, shown = random.integers(-1, tokens, (2, 5, slots))
    scores = TypeMixture(*arrays).of(known, shown) / GRID
    for row, score in enumerate(scores):
        both = exact_chance(*exact, shown[row], known[row])
        alone = exact_chance(*exact, [-1] * slots, known[row])
        expected = logarithm(both / alone) if both else IMPOSSIBLE
        assert score == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32), st.sampled_from([200, 700]))
def test_long_rows_do_not_vanish(seed, slots):
    weights, single, joint = tables(seed, 3, 40)
    single, joint = single**9, joint**9  # chances of widely different size
    scale = single.sum(axis=1, keepdims=True)
    joint = joint / joint.sum(axis=1, keepdims=True) * (single / scale)[:, None]
    arrays = weights, single / scale, joint
    known, shown = np.random.default_rng(seed).integers(-1, 40, (2, 1, slots))
    exact = fractions(arrays)
    both = exact_chance(*exact, shown[0], known[0])
    alone = exact_chance(*exact, [-1] * slots, known[0])
    expected = logarithm(both) - logarithm(alone)
    assert TypeMixture(*arrays).of(known, shown)[0] / GRID == pytest.approx(expected, rel=1e-9)


def test_a_type_that_fell_far_behind_counts_when_the_others_are_ruled_out():
    single = np.array([[0.9, 0.1 - 1e-9, 1e-9, 0.0], [1e-9, 0.1, 0.1, 0.8 - 1e-9]])
    single /= single.sum(axis=1, keepdims=True)
    joint = single[:, :, None] * single[:, None, :]
    known = np.array([[0] * 100 + [3]])
    score = TypeMixture([0.5, 0.5], single, joint)
    assert score.of(known, np.array([3] * 101)) / GRID == pytest.approx(
        101 * math.log(single[1, 3])
    )


def test_the_score_of_a_pair_does_not_depend_on_its_neighbours():
    score = TypeMixture(*tables(1, 7, 30))
    known, shown = np.random.default_rng(2).integers(-1, 30, (2, 50, 6))
    together = score.of(known, shown)
    alone = [score.of(known[row : row + 1], shown[row])[0] for row in range(50)]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(score.of(np.repeat(known, 3, axis=0)[1::3], shown), together)


def test_with_one_type_slots_are_independent():
    weights, single, joint = tables(3, 1, 4)
    known, shown = np.array([[2, 0, -1]]), np.array([1, -1, 3])
    expected = math.log(joint[0, 1, 2] / single[0, 2]) + math.log(single[0, 3])
    assert TypeMixture(weights, single, joint).of(known, shown) / GRID == pytest.approx(expected)


def test_the_chances_of_all_rows_sum_to_one():
    score = TypeMixture(*tables(4, 5, 3))
    every = np.stack(np.meshgrid(*[range(3)] * 3), axis=-1).reshape(-1, 3)
    for known in ([0, 1, 2], [1, -1, 1], [-1, -1, -1]):
        scores = score.of(np.broadcast_to(known, every.shape), every)
        assert np.exp(scores / GRID).sum() == pytest.approx(1)


def test_types_of_rows_follow_bayes():
    weights, single, joint = tables(5, 3, 4)
    found = TypeMixture(weights, single, joint).types_of(np.array([[1, -1, 2], [-1, -1, -1]]))
    expected = weights * single[:, 1] * single[:, 2]
    np.testing.assert_allclose(found, [expected / expected.sum(), weights])


def test_a_known_row_that_cannot_be_is_impossible():
    single, half = np.array([[1.0, 0.0]]), np.array([[[0.5, 0.0], [0.5, 0.0]]])
    score = TypeMixture([1.0], single, half)
    assert (score.of(np.array([[1]]), np.array([0])) == IMPOSSIBLE * GRID).all()
    assert (score.types_of(np.array([[1]])) == 0).all()


def test_arrays_of_the_caller_stay_as_they_are():
    weights, single, joint = tables(6, 2, 3)
    score = TypeMixture(weights, single, joint)
    joint[:], single[:] = 0, 0
    assert score.chances.joint[:-1, :-1].sum() == pytest.approx(2)
    with pytest.raises(ValueError, match="read-only"):
        score.chances.joint[0] = 1


GOOD = tables(7, 2, 3)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: TypeMixture([1.0], *GOOD[1:]), "wrong-shape"),
        (lambda: TypeMixture(GOOD[0], GOOD[1], GOOD[2][:, :2]), "wrong-shape"),
        (lambda: TypeMixture(GOOD[0], GOOD[1][0], GOOD[2]), "wrong-shape"),
        (lambda: TypeMixture([], np.empty((0, 3)), np.empty((0, 3, 3))), "wrong-shape"),
        (lambda: TypeMixture(GOOD[0] * 2, *GOOD[1:]), "not-normalised"),
        (lambda: TypeMixture(GOOD[0], GOOD[1] / 2, GOOD[2] / 2), "not-normalised"),
        (lambda: TypeMixture(GOOD[0], GOOD[1], GOOD[2] / 2), "not-normalised"),
        (lambda: TypeMixture([1.5, -0.5], *GOOD[1:]), "not-a-probability"),
        (lambda: TypeMixture([1.0, np.nan], *GOOD[1:]), "not-a-probability"),
        (lambda: TypeMixture([1.0, np.inf], *GOOD[1:]), "not-a-probability"),
        (
            lambda: TypeMixture(*GOOD).check(Observations(ROWS[:, :, None], ROWS, [0], tokens=3)),
            "wrong-kind-of-rows",
        ),
        (
            lambda: TypeMixture(*GOOD).check(Observations(ROWS, ROWS, [0], tokens=4)),
            "alphabet-mismatch",
        ),
    ],
)
def test_impossible_tables_are_refused(make, code):
    with refuses(code):
        make()


def test_tables_too_large_are_refused_before_they_are_made():
    def wide(*shape):
        return np.broadcast_to(np.float64(0), shape)

    with refuses("too-many-types", TooLarge):
        TypeMixture(wide(1), wide(1, 100_000), wide(1, 100_000, 100_000))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4), st.sampled_from([0.0, 0.5]))
def test_gaps_with_chances_are_one_more_token(seed, types, tokens, zeros):
    """The gap is seen: the same scores as if it were a token, behind the others."""
    arrays = tables(seed, types, tokens + 1, zeros)
    known, shown = np.random.default_rng(seed).integers(0, tokens + 1, (2, 20, 4))
    expected = TypeMixture(*arrays).of(known, shown)
    score = TypeMixture(*arrays, gaps=True)
    assert score.tokens == tokens
    known[known == tokens], shown[shown == tokens] = -1, -1
    np.testing.assert_array_equal(score.of(known, shown), expected)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("known", [[0, 2], [1, -1]])
def test_samples_follow_the_mixture(known, gaps):
    score = TypeMixture(*tables(8, 3, 4), gaps=gaps)
    symbols = np.array([0, 1, 2, -1 if gaps else 3])
    every = symbols[np.indices((4, 4)).reshape(2, -1).T]
    chances = np.exp(score.of(np.broadcast_to(known, every.shape), every) / GRID)
    assert chances.sum() == pytest.approx(1)
    drawn = score.sample(np.broadcast_to(known, (20_000, 2)), seed=5)
    counts = np.array([(drawn == row).all(axis=1).sum() for row in every])
    assert counts.sum() == 20_000
    assert ((counts - 20_000 * chances) ** 2 / (20_000 * chances)).sum() < 50
