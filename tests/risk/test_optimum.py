"""The best possible under a model, by brute force over all outcomes of tiny worlds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.risk.worlds import API, Nothing, conditional, outcomes, pair_table, rows_given

from reidrisk import InvalidInput, Observations, ReferenceEngine, theory
from reidrisk.attacks import Hamming, TokenTable, WeightedHamming
from reidrisk.risk import optimum, posterior
from reidrisk.scores import GRID

MODEL = TokenTable(API, pairs=pair_table().astype(float))


def world(known):
    """Everything that can be shown as targets; the truth does not matter."""
    shown = outcomes(len(known[0]))
    return Observations(known, shown, np.zeros(len(shown), int), tokens=4)


WORLDS = [[[0], [1], [3]], [[0, 0], [1, 2], [3, 1], [1, 2]], [[2, 2, 0], [0, 1, 3]]]


@pytest.mark.parametrize("known", WORLDS)
@pytest.mark.parametrize("engine", [None, ReferenceEngine()])
def test_the_optimum_is_the_sum_of_the_best_over_all_outcomes(known, engine):
    exact = sum(map(max, zip(*rows_given(known), strict=True))) / len(known)
    found = optimum(world(known), MODEL, engine=engine)
    assert found.value == pytest.approx(float(exact), rel=1e-9)
    assert (found.low, found.high, found.level) == (found.value, found.value, 1.0)
    assert found.method == "exact, all outcomes"


@pytest.mark.parametrize("known", WORLDS)
def test_the_posterior_of_the_best_guess_averages_to_the_optimum(known):
    """Outcomes weighted by their chances: the estimate has no bias."""
    rows = np.array(rows_given(known)).astype(float)
    found = posterior(world(known), MODEL)
    expected = rows.mean(axis=0) @ found.claimed
    assert expected == pytest.approx(optimum(world(known), MODEL).value, rel=1e-9)


@pytest.mark.parametrize("known", WORLDS)
@pytest.mark.parametrize("attack", [Hamming(), WeightedHamming(API), MODEL, Nothing()])
def test_no_attack_exceeds_the_optimum(known, attack):
    """Exact accuracy of the rule that names a random winner."""
    rows = np.array(rows_given(known)).astype(float)
    seen = world(known)
    score = attack.fit(seen)
    scores = np.array([score.of(seen.known, shown) for shown in seen.anonymous])
    winners = (scores == scores.max(axis=1, keepdims=True)).T
    accuracy = theory.rule_accuracy(rows, winners / winners.sum(axis=0))
    best = optimum(seen, MODEL).value
    assert accuracy <= best + 1e-12
    if attack is MODEL:
        assert accuracy == pytest.approx(best, rel=1e-9)
    if isinstance(attack, Nothing):
        assert accuracy == pytest.approx(1 / len(known))


def test_the_full_theorem_is_the_conditional_of_all_sets():
    """Slip 1 put right: gains are logarithms of what enumeration gives, noise included."""
    gain = MODEL.fit(world(WORLDS[0])).gain[0] / GRID
    np.testing.assert_allclose(np.exp(gain), conditional().astype(float), rtol=1e-11)


def test_over_all_known_rows_the_optimum_is_the_expected_one():
    """Two users, one slot: the expectation over W of the best over o, in fractions."""
    table, total = conditional(), Fraction(0)
    shown = rows_marginal()
    for one, other in product(range(4), repeat=2):
        best = sum(max(table[token, one], table[token, other]) for token in range(4)) / 2
        total += shown[one] * shown[other] * best
    found = sum(
        float(shown[one] * shown[other]) * optimum(world([[one], [other]]), MODEL).value
        for one, other in product(range(4), repeat=2)
    )
    assert found == pytest.approx(float(total), rel=1e-9)


def rows_marginal():
    pairs = pair_table()
    return [Fraction(5, 100) + Fraction(40, 100) * pairs[token, token] for token in range(4)]


def test_simplified_weights_are_no_distribution_and_use_the_posterior():
    found = optimum(world(WORLDS[0]), WeightedHamming(API))
    assert found.method != "exact, all outcomes"


def test_hamming_cannot_say_how_sure_it_is():
    for function in (optimum, posterior):
        with pytest.raises(InvalidInput, match="cannot say how sure it is"):
            function(world(WORLDS[0]), Hamming())
