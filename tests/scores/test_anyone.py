"""How likely a row is of which nobody knows whose it is, against enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reidrisk.core.observations import MISSING
from reidrisk.core.rows import SetRows, TokenRows
from reidrisk.scores import GRID, OfAnyone, TokenPairWeights, TokenWeights, TypeMixture

TOKENS, SLOTS = 3, 2
GAPS = {"known_gap": [-0.3, -1.0, 0.2], "shown_gap": -0.7, "both_gaps": 0.4}


def rows(*shape, gaps):
    random = np.random.default_rng(len(shape) + gaps)
    made = random.integers(0, TOKENS, (9, SLOTS, *shape))
    if gaps:
        made[random.random(made.shape) < 0.4] = MISSING
    return made


def outcomes(model):
    symbols = [*range(TOKENS), *([MISSING] if model.gaps else [])]
    return np.array(list(product(symbols, repeat=SLOTS)))


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("gaps", [{}, GAPS])
@pytest.mark.parametrize("offset", [0.0, 900.0])
def test_slots_are_independent_and_have_the_mean_of_the_known_rows(shape, gaps, offset):
    """Over every combination of what is known of each slot: offsets, which mean nothing, vanish."""
    match = np.array([[1.0, 2.0, 0.5], [0.1, 3.0, 1.5]]) + offset
    gaps = {name: np.asarray(gain) + offset for name, gain in gaps.items()}
    model = TokenWeights(match, [offset - 1.0, offset - 0.5, offset - 2.0], **gaps).normalised()
    known = rows(*shape, gaps=1)
    shown = outcomes(model)
    expected = np.zeros(len(shown))
    for combination in product(range(len(known)), repeat=SLOTS):
        mixed = known[list(combination), range(SLOTS)][None]
        beside = np.repeat(mixed, len(shown), axis=0)
        expected += np.exp(model.of(beside, shown) / GRID) / len(known) ** SLOTS
    handle = (SetRows if shape else TokenRows)(known, tokens=TOKENS)
    found = np.exp(model.of_anyone(handle, shown))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("gaps", [False, True])
def test_tables_do_as_weights_do(gaps):
    random = np.random.default_rng(3)
    size = TOKENS + gaps
    model = TokenPairWeights(random.normal(size=(SLOTS, size, size)), gaps=gaps).normalised()
    known, shown = rows(gaps=1), outcomes(model)
    expected = np.zeros(len(shown))
    for combination in product(range(len(known)), repeat=SLOTS):
        mixed = known[list(combination), range(SLOTS)][None]
        beside = np.repeat(mixed, len(shown), axis=0)
        expected += np.exp(model.of(beside, shown) / GRID) / len(known) ** SLOTS
    found = np.exp(model.of_anyone(TokenRows(known, tokens=TOKENS), shown))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found.sum() == pytest.approx(1)


def test_what_is_not_shown_says_nothing_unless_gaps_have_chances():
    known = TokenRows(rows(gaps=0), tokens=TOKENS)
    weights = TokenWeights([1.0, 2.0, 0.5], -1.0).normalised()
    table = weights.as_table()
    for model in (weights, table):
        (nothing, first, both) = model.of_anyone(known, np.array([[-1, -1], [1, -1], [1, 1]]))
        (_, second) = model.of_anyone(known, np.array([[-1, -1], [-1, 1]]))
        assert nothing == pytest.approx(0, abs=1e-12)
        assert both == pytest.approx(first + second)


def test_a_mixture_is_a_mean_over_types():
    weights = [Fraction(1, 3), Fraction(2, 3)]
    single = [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)],
              [Fraction(1, 8), Fraction(7, 8), Fraction(0)]]  # fmt: skip
    joint = [[[single[z][o] * single[z][w] for w in range(3)] for o in range(3)] for z in range(2)]
    model = TypeMixture(*(np.array(one, float) for one in (weights, single, joint)))
    known = TokenRows(rows(gaps=0), tokens=TOKENS)
    shown = outcomes(model)
    found = model.of_anyone(known, shown)
    for row, nats in zip(shown, found, strict=True):
        chance = sum(
            share * np.prod([one[token] for token in row])
            for share, one in zip(weights, single, strict=True)
        )
        assert np.exp(nats) == pytest.approx(float(chance), rel=1e-12)


def test_what_cannot_be_shown_is_as_low_as_scores_are():
    model = TypeMixture([1.0], [[1.0, 0.0]], [[[1.0, 0.0], [0.0, 0.0]]])
    known = TokenRows([[0]], tokens=2)
    assert model.of_anyone(known, np.array([[1]])).tolist() == [-(2.0**20)]


def test_who_says_so():
    assert isinstance(TokenWeights([1.0]).normalised(), OfAnyone)
    assert isinstance(TokenPairWeights([[1.0]]), OfAnyone)
    assert not isinstance(TokenWeights([1.0]), OfAnyone)
