"""Attacks on vectors: what each one finds, and that none knows more than the rows."""

import numpy as np
import pytest
from tests.baskets import baskets
from tests.snapshots import refuses
from tests.vectors import of_arrays, permuted, vectors

from reidrisk import (
    Cosine,
    CosineCsls,
    Hamming,
    InvalidInput,
    LocalEngine,
    Nearest,
    Observations,
    SelfTrained,
    Stacked,
    Study,
    TwoCovariance,
    VectorRows,
    measure,
)
from reidrisk.attacks import View, attack_named, uses_of
from reidrisk.core.machine import take_cores
from reidrisk.study.portfolio import plan
from reidrisk.study.source import source_of
from reidrisk.testing import check_attack

SEEN = vectors()
OTHERS = vectors(seed=5)
HALF = SEEN.only(slice(0, 60))
ALONE = [Nearest(), Cosine(), CosineCsls(), SelfTrained()]
ATTACKS = [
    *(pytest.param(one, id=one.name) for one in ALONE),
    pytest.param(TwoCovariance(HALF), id="two-covariance"),
    pytest.param(Stacked(HALF), id="stacked"),
    pytest.param(Stacked(OTHERS), id="stacked on other people", marks=pytest.mark.slow),
]
each = pytest.mark.parametrize("attack", ATTACKS)


def credit(attack, seen):
    return LocalEngine().credit(seen, attack.fit(View.of(seen)))


def right(attack, seen):
    """Share of targets named rightly, cross-fitted if the attack learns from pairs."""
    return measure(seen, attack)[seen.slots].value


@each
@pytest.mark.parametrize("slots", [1, 2])
def test_an_attack_keeps_its_promises_on_vectors(attack, slots):
    if slots == 1:
        check_attack(attack, SEEN)
        return
    seen = vectors(slots=2, gaps=0.2, bits=8)
    panel = getattr(attack, "panel", None)
    check_attack(attack if panel is None else type(attack)(seen.only(slice(0, 60))), seen)


@each
def test_the_order_of_rows_orders_the_answer_and_changes_nothing_else(attack):
    other, targets = permuted(SEEN)
    np.testing.assert_array_equal(credit(attack, other), credit(attack, SEEN)[targets])


@each
def test_the_number_of_threads_changes_no_score(attack):
    scores = []
    for threads in (1, 3):
        take_cores(threads)
        try:
            score = attack.fit(View.of(SEEN))
        finally:
            take_cores(None)
        known = SEEN.known.block(0, 120)
        scores.append([score.of(known, shown) for shown in SEEN.anonymous])
    np.testing.assert_array_equal(*scores)


@each
def test_with_the_truth_permuted_an_attack_is_at_guessing(attack):
    """Of 120 targets one is named by chance; six or more are in one of 1,500 worlds."""
    truth = np.random.default_rng(3).permutation(SEEN.truth)
    wrong = Observations(SEEN.known, SEEN.anonymous, truth)
    if hasattr(attack, "panel"):  # what it is taught is as wrong, and those taught are left out
        attack = type(attack)(wrong.only(slice(0, 60)))
        wrong = wrong.only(slice(60, 120))
    assert LocalEngine().credit(wrong, attack.fit(View.of(SEEN))).sum() < 6


@pytest.mark.parametrize("attack", [TwoCovariance(), Stacked()], ids=lambda one: one.name)
def test_cross_fitted_with_the_truth_permuted_it_is_at_guessing(attack):
    truth = np.random.default_rng(4).permutation(SEEN.truth)
    wrong = Observations(SEEN.known, SEEN.anonymous, truth)
    assert right(attack, wrong) < 6 / 120
    assert right(attack, SEEN) > 30 / 120


def test_nearest_is_the_nearest_by_its_definition():
    for slots, gaps in ((1, 0.0), (3, 0.3)):
        seen = vectors(40, slots=slots, gaps=gaps, bits=8)
        sides = []
        for rows in (seen.known.values, seen.anonymous.values):
            there = (rows != -128).any(axis=2, keepdims=True)
            means = np.where(there, rows, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
            sides.append(np.rint(means * slots))
        apart = ((sides[1][:, None] - sides[0]) ** 2).sum(axis=2)
        nearest = apart == apart.min(axis=1, keepdims=True)
        expected = nearest[np.arange(40), seen.truth] / nearest.sum(axis=1)
        np.testing.assert_array_equal(credit(Nearest(), seen), expected)


def test_the_cosine_is_the_cosine_by_its_definition():
    seen = vectors(60, shift=3.0)
    for centred in (True, False):
        score = Cosine(centred=centred).fit(View.of(seen))
        known, shown = (rows.values[:, 0].astype(float) for rows in (seen.known, seen.anonymous))
        if centred:
            unit = score.known_map.unit_first
            known, shown = (_unit(side) if unit else side for side in (known, shown))
            known, shown = known - known.mean(axis=0), shown - shown.mean(axis=0)
        expected = _unit(shown) @ _unit(known).T
        for target, row in enumerate(seen.anonymous):
            found = score.of(seen.known.values, row) / score.unit.steps
            np.testing.assert_allclose(found, expected[target], atol=2e-3)


def _unit(side):
    return side / np.linalg.norm(side, axis=1, keepdims=True)


def test_centring_is_chosen_where_one_side_is_shifted():
    assert right(Cosine(centred=False), vectors(shift=4.0)) < 0.3
    assert right(Cosine(), vectors(shift=4.0)) > 0.4


def test_two_covariance_learns_what_turns_round():
    """Half of the directions are the other way round on the anonymous side."""
    seen = vectors(300, turned=4)
    assert right(CosineCsls(), seen) < 0.1
    assert right(TwoCovariance(), seen) > 0.4
    assert right(Stacked(), seen) > 0.4


def test_two_covariance_learns_another_space():
    """The anonymous side is rotated at random: no number means the same on both sides."""
    seen = vectors(400, noise=0.3)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(8, 8)))[0]
    known, shown = seen.known.values[:, 0] / 1.0, seen.anonymous.values[:, 0] @ turn
    seen = of_arrays(known, shown, seen.truth)
    assert right(Cosine(), seen) < 0.05
    assert right(TwoCovariance(), seen) > 0.6


def test_two_covariance_is_about_as_good_as_the_law_that_made_the_vectors():
    """Log ratios by the true means and covariances, in floats."""
    seen = vectors(400, noise=0.5)
    spread, noise = np.linspace(2.0, 0.3, 8), 0.5
    correlation = spread**2 / (spread**2 + noise**2)
    scale = np.sqrt(spread**2 + noise**2) * seen.known.grid.scale
    known, shown = (rows.values[:, 0] / scale for rows in (seen.known, seen.anonymous))
    widths = 1 / (1 - correlation**2)
    scores = shown @ (known * correlation * widths).T
    scores -= (known**2 * correlation**2 * widths).sum(axis=1) / 2
    best = (scores.argmax(axis=1) == seen.truth).mean()
    assert right(TwoCovariance(OTHERS), seen) > 0.9 * best
    assert right(TwoCovariance(), seen) > 0.9 * best
    assert right(Nearest(), seen) < best


@pytest.mark.slow
def test_what_learns_finds_as_much_as_the_best_that_does_not():
    seen = vectors(300, dimensions=16, noise=0.7, shift=1.0)
    alone = max(right(one, seen) for one in (Nearest(), Cosine(), CosineCsls()))
    assert right(SelfTrained(), seen) > 0.9 * alone
    assert right(Stacked(), seen) > 0.9 * alone


@pytest.mark.slow
def test_a_panel_of_other_people_teaches_too():
    seen = vectors(300, turned=4)
    assert right(Stacked(vectors(200, turned=4, seed=9)), seen) > 0.4


def test_strangers_are_compared_too():
    seen = vectors(strangers=30)
    score = SelfTrained().fit(View.of(seen))
    assert (LocalEngine().search(seen.of_strangers(), score).ties == 1).any()


@each
def test_rows_without_anything_are_rated_like_anybody(attack):
    gap = np.full((4, 1, 8), np.iinfo(np.int16).min, np.int16)
    known, shown = (
        VectorRows(np.concatenate([rows.values, gap]), scale=rows.grid.scale)
        for rows in (SEEN.known, SEEN.anonymous)
    )
    seen = Observations(known, shown, [*SEEN.truth, *range(120, 124)])
    assert credit(attack, seen)[-4:].max() <= 1 / 4


def test_uses_says_whether_other_anonymous_rows_matter():
    uses = [uses_of(one) for one in (Nearest(), TwoCovariance(HALF), TwoCovariance(), Cosine())]
    assert uses == ["one row", "one row", "all rows", "all rows"]


ZERO = of_arrays(np.array([[1.0, 2], [0, 0], [3, 1]]), np.ones((1, 2)))


@pytest.mark.parametrize(
    ("attack", "seen", "code"),
    [
        (Nearest(), baskets(), "wrong-kind-of-rows"),
        (TwoCovariance(HALF), baskets(), "wrong-kind-of-rows"),
        (TwoCovariance(baskets()), SEEN, "panel-mismatch"),
        (TwoCovariance(vectors(dimensions=9)), SEEN, "panel-mismatch"),
        (TwoCovariance(SEEN.only(slice(0, 19))), SEEN, "too-few-users"),
        (Stacked(vectors(dimensions=9)), SEEN, "panel-mismatch"),
        (Cosine("log"), SEEN, "wrong-kind-of-rows"),
        (Hamming(), SEEN, "not-tokens"),
        (Cosine(), ZERO, "zero-vector"),
        (SelfTrained(), ZERO, "zero-vector"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(attack, seen, code):
    with refuses(code):
        attack.fit(View.of(seen))


def test_an_anonymous_vector_of_length_zero_is_refused_too():
    seen = of_arrays(np.array([[1.0, 2], [3, 1]]), np.array([[1.0, 1], [0, 0]]))
    with refuses("zero-vector"):
        Cosine().fit(View.of(seen))
    assert credit(Nearest(), seen).shape == (2,)


def test_the_portfolio_of_vectors_grows_with_the_dimensions():
    small, large = (plan(source_of(vectors(dimensions=one)), None) for one in (2, 64))
    names = [one.name for one in small]
    first = ["nearest", "cosine", "cosine-csls"]
    assert names == [*first, "two-covariance", "self-trained", "stacked"]
    assert all(one.seconds < other.seconds for one, other in zip(small, large, strict=True))
    few = plan(source_of(SEEN.only(slice(0, 20))), None)
    assert [one.name for one in few] == first


def test_a_study_of_vectors_runs_the_portfolio():
    planned = plan(source_of(SEEN), None)
    study = Study(attacks=[attack_named(one.name) for one in planned], targets=None)
    result = study.run(SEEN)
    assert [one.given for one in result.strongest] == ["rows", "rows and pairs"]
    assert not [one for one in result.doubts if one.code == "partial-portfolio"]
    assert max(one.value for one in result.risks) > 0.5


def test_cosine_refuses_nothing_that_it_can_rate():
    for seen in (vectors(3, dimensions=1), vectors(2, dimensions=3), vectors(gaps=0.9)):
        try:
            found = credit(Cosine(), seen)
        except InvalidInput as wrong:
            assert wrong.code == "zero-vector"  # noqa: PT017
            continue
        assert ((found >= 0) & (found <= 1)).all()
