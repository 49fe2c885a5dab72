"""The best possible under a model, by brute force over all outcomes of tiny worlds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.risk.worlds import (
    API,
    Nothing,
    conditional,
    marginal,
    outcomes,
    pair_table,
    rows_given,
)
from tests.snapshots import refuses

from reidrisk import Observations, ReferenceEngine, theory
from reidrisk.attacks import Hamming, TokenTable, WeightedHamming
from reidrisk.engines import LocalEngine
from reidrisk.risk import optimum, posterior
from reidrisk.risk._posterior import beliefs
from reidrisk.scores import GRID, normalised
from reidrisk.scores.type_mixture import TypeMixture

MODEL = TokenTable(API, pairs=pair_table().astype(float))
SHOWN = conditional().astype(float) * np.array([float(one) for one in marginal()])
MIXTURE = TypeMixture([0.5, 0.5], [SHOWN.sum(axis=0)] * 2, [SHOWN, SHOWN])


def world(known):
    """Every user as a target; what is shown of them does not matter to the optimum."""
    return Observations(known, known, np.arange(len(known)), tokens=4)


def all_outcomes(known):
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
    seen = all_outcomes(known)
    claimed, _, _ = beliefs(seen, normalised(MODEL.fit(seen)), LocalEngine())
    expected = rows.mean(axis=0) @ claimed
    assert expected == pytest.approx(optimum(world(known), MODEL).value, rel=1e-9)


@pytest.mark.parametrize("known", WORLDS)
@pytest.mark.parametrize("attack", [Hamming(), WeightedHamming(API), MODEL, Nothing()])
def test_no_attack_exceeds_the_optimum(known, attack):
    """Exact accuracy of the rule that names a random winner."""
    rows = np.array(rows_given(known)).astype(float)
    seen = all_outcomes(known)
    score = attack.fit(seen)
    scores = np.array([score.of(seen.known, shown) for shown in seen.anonymous])
    winners = (scores == scores.max(axis=1, keepdims=True)).T
    accuracy = theory.rule_accuracy(rows, winners / winners.sum(axis=0))
    best = optimum(world(known), MODEL).value
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
    shown = marginal()
    for one, other in product(range(4), repeat=2):
        best = sum(max(table[token, one], table[token, other]) for token in range(4)) / 2
        total += shown[one] * shown[other] * best
    found = sum(
        float(shown[one] * shown[other]) * optimum(world([[one], [other]]), MODEL).value
        for one, other in product(range(4), repeat=2)
    )
    assert found == pytest.approx(float(total), rel=1e-9)


def test_simplified_weights_are_made_a_distribution():
    score = WeightedHamming(API).fit(world(WORLDS[1])).normalised().as_table()
    np.testing.assert_allclose(np.exp(score.gain / GRID).sum(axis=1), 1, rtol=1e-9)
    found = optimum(world(WORLDS[0]), WeightedHamming(API))
    assert found.method == "exact, all outcomes"


def many(attack_world, targets=4_000):
    """The same known rows, with random users of them as targets."""
    known = np.array(attack_world)
    truth = np.random.default_rng(5).integers(0, len(known), targets)
    return Observations(known, known[truth], truth, tokens=4)


@pytest.mark.parametrize("known", WORLDS)
def test_rows_drawn_from_a_model_follow_it(known):
    """Chi-square over all outcomes of one user; the seed is fixed."""
    seen = many([known[0]])
    rows = np.array(rows_given([known[0]])).astype(float)[0]
    for score in (MODEL.fit(seen), MIXTURE):
        shown = score.sample(seen.known[seen.truth], seed=3)
        codes = shown @ 4 ** np.arange(len(known[0]))[::-1]
        counts = np.bincount(codes, minlength=len(rows))
        assert ((counts - 4_000 * rows) ** 2 / (4_000 * rows)).sum() < 2 * len(rows) + 20


def test_long_rows_are_drawn_and_give_the_optimum(monkeypatch):
    """Where outcomes are not gone through, the mean over draws is the same within its interval."""
    for slots in (1, 2, 3):
        seen = world(np.random.default_rng(slots).integers(0, 4, (4_000, slots)))
        exact = optimum(seen, MODEL).value
        with monkeypatch.context() as patch:
            patch.setattr("reidrisk.risk._optimum.MOST_OUTCOMES", 0)
            found = optimum(seen, MODEL)
        assert found.method == "betting, mean posterior"
        assert found.low <= exact <= found.high
        assert found.high - found.low < 0.01


def test_hamming_cannot_say_how_sure_it_is():
    for function in (optimum, posterior):
        with refuses("not-a-likelihood"):
            function(world(WORLDS[0]), Hamming())
