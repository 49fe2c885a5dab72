"""Type chains: the chance they claim, by brute force over all ways through the classes."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.scores import GRID, IMPOSSIBLE, OfAnyone, TypeChain
from reidrisk.testing import check_score


def tables(seed, classes, tokens, *, zeros=0.0, keep=None):
    """Weights, keep, known, copy and other, the gap last."""
    random = np.random.default_rng(seed)
    symbols = tokens + 1

    def chances(*shape):
        table = random.dirichlet(np.ones(symbols), shape)
        table[random.random(table.shape) < zeros] = 0
        sums = table.sum(axis=-1, keepdims=True)
        return np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / symbols)

    stays = random.random(classes) if keep is None else np.full(classes, keep)
    copy = random.random((classes, symbols))
    copy[random.random(copy.shape) < zeros] = 0
    weights = random.dirichlet(np.ones(classes))
    return weights, stays, chances(classes), copy, chances(classes)


def exact_chance(arrays, known, shown=None):
    """The sum over all ways through the classes of the product over slots, in fractions."""
    weights, keep, single, copy, other = (np.vectorize(Fraction)(one) for one in arrays)
    total = Fraction(0)
    for way in itertools.product(range(len(weights)), repeat=len(known)):
        chance = weights[way[0]]
        for before, here in itertools.pairwise(way):
            chance *= keep[before] * (before == here) + (1 - keep[before]) * weights[here]
        for slot, kind in enumerate(way):
            a = known[slot]
            chance *= single[kind, a]
            if shown is None:
                continue
            b, left = shown[slot], 1 - other[kind, a]
            copied = copy[kind, a] if left > 0 else Fraction(1)
            chance *= copied if a == b else (1 - copied) * other[kind, b] / left if left > 0 else 0
        total += chance
    return total


def logarithm(chance):
    return math.log(chance.numerator) - math.log(chance.denominator)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    classes=st.integers(1, 5),
    tokens=st.integers(1, 4),
    slots=st.integers(1, 4),
    zeros=st.sampled_from([0.0, 0.5]),
)
def test_the_score_is_the_chance_of_the_shown_row_given_the_known_one(
    seed, classes, tokens, slots, zeros
):
    arrays = tables(seed, classes, tokens, zeros=zeros)
    known, shown = np.random.default_rng(seed).integers(-1, tokens, (2, 3, slots))
    scores = TypeChain(*arrays).of(known, shown) / GRID
    for row, score in enumerate(scores):
        both, alone = exact_chance(arrays, known[row], shown[row]), exact_chance(arrays, known[row])
        expected = logarithm(both / alone) if both else IMPOSSIBLE
        assert score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("classes", [1, 4, 7])
def test_it_keeps_the_promises_of_a_score(classes):
    check_score(TypeChain(*tables(classes, classes, 4)))


def test_it_says_how_likely_rows_are_of_anyone():
    """What anyone shows: the sum over all that may be known."""
    arrays = tables(5, 3, 2)
    score = TypeChain(*arrays)
    assert isinstance(score, OfAnyone)
    every = [np.array(row) for row in itertools.product(range(-1, 2), repeat=3)]
    chances = np.exp(score.of_anyone(None, np.array(every)))
    assert chances.sum() == pytest.approx(1)
    shown = every[5]
    expected = sum(exact_chance(arrays, known, shown) for known in every)
    assert chances[5] == pytest.approx(float(expected))


def test_a_chain_that_never_changes_is_a_mixture():
    score = TypeChain(*tables(6, 5, 8, keep=1.0))
    known, shown = np.random.default_rng(1).integers(-1, 8, (2, 400, 6))
    assert not score.changes
    np.testing.assert_allclose(
        score.of(known, shown), score.for_good().of(known, shown), atol=GRID * 1e-9
    )


def test_with_nothing_kept_slots_are_independent():
    score = TypeChain(*tables(7, 3, 4, keep=0.0))
    known, shown = np.random.default_rng(1).integers(-1, 4, (2, 30, 5))
    slots = [score.of(known[:, [slot]], shown[:, [slot]]) for slot in range(5)]
    np.testing.assert_allclose(score.of(known, shown), sum(slots), atol=GRID * 1e-9)


def test_what_a_slot_says_on_its_own():
    """Chances of a symbol beside itself, and beside any other, summed by hand."""
    score = TypeChain(*tables(11, 3, 3))
    every = np.array(list(itertools.product((0, 1, 2, -1), repeat=2)))
    joint = np.exp(score.of(every[:, :1], every[:, 1:]) / GRID).reshape(4, 4)
    joint *= (score.chances.known @ score.chances.weights)[:, None]
    (match, mismatch, known_gap) = np.exp(score.by_token().table[:, 0] / GRID)
    alone = joint.sum(axis=1)
    np.testing.assert_allclose(match[:3], np.diagonal(joint)[:3] / alone[:3])
    for token in range(3):
        others = [one for one in range(3) if one != token]
        assert mismatch[token] == pytest.approx(joint[others, token].sum() / alone[others].sum())
    np.testing.assert_allclose(known_gap, joint[3] / alone[3])
    assert mismatch[3] == pytest.approx(joint[:3, 3].sum() / alone[:3].sum())


def test_long_rows_do_not_vanish():
    arrays = tables(8, 3, 30)
    known, shown = np.random.default_rng(1).integers(-1, 30, (2, 1, 900))
    score = TypeChain(*arrays)
    assert score.of(known, shown)[0] > IMPOSSIBLE * GRID
    nothing_kept = TypeChain(arrays[0], np.zeros(3), *arrays[2:])
    halves = [
        nothing_kept.of(known[:, part], shown[:, part]) for part in (slice(450), slice(450, 900))
    ]
    np.testing.assert_allclose(nothing_kept.of(known, shown), sum(halves), rtol=1e-9)


def test_the_score_of_a_pair_does_not_depend_on_its_neighbours():
    score = TypeChain(*tables(9, 7, 30))
    known, shown = np.random.default_rng(2).integers(-1, 30, (2, 50, 6))
    together = score.of(known, shown)
    alone = [score.of(known[row : row + 1], shown[row])[0] for row in range(50)]
    np.testing.assert_array_equal(together, alone)


def test_what_is_drawn_follows_the_chain_over_several_slots():
    score = TypeChain(*tables(10, 3, 1, keep=0.9))
    known = np.array([[0, 1, 1]]) - 1
    drawn = score.sample(np.repeat(known, 40_000, axis=0), seed=3)
    every = np.array(list(itertools.product(range(-1, 1), repeat=3)))
    chances = np.exp(score.of(np.repeat(known, len(every), axis=0), every) / GRID)
    shares = (drawn[:, None] == every).all(axis=2).mean(axis=0)
    np.testing.assert_allclose(shares, chances, atol=0.012)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({0: [0.5, 0.6]}, "not-normalised"),
        ({1: [0.5, 1.5]}, "not-a-probability"),
        ({1: [0.5]}, "wrong-shape"),
        ({2: np.full((2, 4), 0.2)}, "not-normalised"),
        ({3: np.full((2, 4), np.nan)}, "not-a-probability"),
        ({4: np.full((2, 3), 1 / 3)}, "wrong-shape"),
    ],
)
def test_what_is_no_chain_is_refused(change, code):
    given = [change.get(place, one) for place, one in enumerate(tables(1, 2, 3))]
    with refuses(code):
        TypeChain(*given)


def test_sets_bags_and_other_alphabets_are_refused():
    score, rows = TypeChain(*tables(1, 2, 3)), np.zeros((4, 2), int)
    with refuses("alphabet-mismatch"):
        score.check(Observations(rows, rows, np.arange(4), tokens=5))
    sets = Observations(rows[:, :, None], rows, np.arange(4), tokens=3)
    with refuses("wrong-kind-of-rows"):
        score.check(Observations(np.zeros((4, 2, 2), int), rows, np.arange(4), tokens=3))
    bags = BagRows([[0], [1]], tokens=3)
    with refuses("wrong-kind-of-rows"):
        score.check(Observations(bags, bags, [0, 1], tokens=3))
    assert sets.slots == 2
