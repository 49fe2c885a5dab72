"""Repetition: what is learned, against a direct likelihood, and where it is worth it."""

import math

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import (
    LocalEngine,
    Observations,
    ReferenceEngine,
    TopicsApi,
    data,
    measure,
)  # fmt: skip
from reidrisk.attacks import Overlap, Repetition, View
from reidrisk.core.rows import BagRows
from reidrisk.scores import GRID, RepeatedTokens
from reidrisk.testing import check_attack, check_score

RANDOM = np.random.default_rng(4)
SEEN = Observations(
    RANDOM.integers(-1, 6, (60, 5)), RANDOM.integers(-1, 6, (9, 5)), np.arange(9), tokens=6
)
SETS = Observations(
    RANDOM.integers(-1, 6, (60, 5, 2)), RANDOM.integers(-1, 6, (9, 5)), np.arange(9), tokens=6
)


def stable_people(users, epochs):
    """Users with the same five topics in every week, drawn by popularity 1 / rank^1.5."""
    random = np.random.default_rng(1)
    lure = -1.5 * np.log(np.arange(1, 350)) + random.gumbel(size=(users, 349))
    sets = np.argsort(-lure, axis=1)[:, :5]
    rows = np.repeat(sets[:, None], epochs, axis=1)
    user, week, _ = np.indices(rows.shape)
    return data.make_profiles(user.ravel(), week.ravel(), rows.ravel(), taxonomy=np.arange(349))


def test_stable_users_are_named_where_overlap_forgets_them():
    """Overlap falls from about 53 to 49 %, as was reported of stable users; repetition rises.

    2,300 targets: a standard error of at most 1.1 points, and a tolerance of three of them.
    """
    seen = TopicsApi(noise=0.12).observe(stable_people(2_300, 30), seed=7)
    overlap, repetition = measure(seen, [Overlap(), Repetition()], slots=(15, 30))
    assert overlap[15].value == pytest.approx(0.53, abs=0.033)
    assert overlap[30].value == pytest.approx(0.49, abs=0.033)
    assert overlap[30].value < overlap[15].value
    assert repetition[15].value == pytest.approx(0.72, abs=0.033)
    assert repetition[30].value == pytest.approx(0.86, abs=0.033)


def test_what_is_noise_is_learned_from_the_rows_alone():
    api = TopicsApi(noise=0.12)
    seen = api.observe(stable_people(2_300, 30), targets=10, seed=7)
    score = Repetition().fit(View.of(seen))
    assert score.often == pytest.approx(api.q_in, rel=0.02)
    assert score.seldom == pytest.approx(api.q_out, rel=0.1)
    assert score.own[score.kind].sum() == pytest.approx(5, rel=0.02)


def binomial(times, places, chance):
    return math.comb(places, times) * chance**times * (1 - chance) ** (places - times)


@pytest.mark.parametrize("seen", [SEEN, SETS])
def test_a_score_is_the_likelihood_that_it_says(seen):
    own, often, seldom = np.array([0.1, 0.5, 0.3, 0.2, 0.9, 0.4]), 0.3, 0.05
    score = RepeatedTokens(own, often, seldom)
    score.check(seen)
    known, shown = np.asarray(seen.true_rows).reshape(9, -1), seen.anonymous
    nothing = [np.full(len(row), -1) for row in (known[0], shown[0])]

    def nats(row, target):
        total = 0.0
        for token, chance in enumerate(own):
            sides = [((side == token).sum(), len(side)) for side in (row, target)]
            mine, others = ([binomial(*side, rate) for side in sides] for rate in (often, seldom))
            both = chance * math.prod(mine) + (1 - chance) * math.prod(others)
            apart = [chance * a + (1 - chance) * b for a, b in zip(mine, others, strict=True)]
            total += math.log(both / math.prod(apart))
        return total

    expected = [nats(*pair) - nats(*nothing) for pair in zip(known, shown, strict=True)]
    np.testing.assert_allclose(score.of(seen.true_rows, shown) / GRID, expected, atol=1e-9)


@pytest.mark.parametrize("seen", [SEEN, SETS])
def test_every_promise_is_kept(seen):
    check_attack(Repetition(), seen)
    check_score(Repetition().fit(View.of(seen)), seen)


def test_tokens_that_came_very_often_count_alike():
    rows = np.zeros((3, 40), int)
    rows[1, 30:] = 1
    rows[2, :] = 2
    seen = Observations(rows, rows, np.arange(3), tokens=3)
    score = RepeatedTokens(np.full(3, 0.2), 0.3, 0.01)
    slow, fast = (one.search(seen, score) for one in (ReferenceEngine(), LocalEngine()))
    np.testing.assert_array_equal(fast.best, slow.best)
    assert score.of(rows[:1], rows[1]) == score.of(rows[:1], rows[1, ::-1])
    assert score.gains(40, 40).shape == (1, 16, 16)


@pytest.mark.parametrize("slots", [1, 2])
def test_rows_in_which_nothing_comes_again_are_rated_all_the_same(slots):
    rows = np.arange(8 * slots).reshape(8, slots) % (8 * slots)
    seen = Observations(rows, rows, np.arange(8), tokens=8 * slots)
    assert LocalEngine().credit(seen, Repetition().fit(View.of(seen))).tolist() == [1.0] * 8


def test_bags_have_no_slots_to_come_again_in():
    seen = Observations(BagRows([[0, 0], [1]], tokens=2), [[0]], [0], tokens=2)
    with refuses("wrong-kind-of-rows"):
        Repetition().fit(View.of(seen))
    with refuses("wrong-kind-of-rows"):
        RepeatedTokens([0.1, 0.1], 0.2, 0.1).check(seen)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: RepeatedTokens([0.0, 0.1], 0.2, 0.1), "invalid-weights"),
        (lambda: RepeatedTokens([0.1], 0.1, 0.2), "invalid-weights"),
        (lambda: RepeatedTokens([0.1], 1.0, 0.2), "invalid-weights"),
        (lambda: RepeatedTokens([0.1], 0.2, 0.1).check(SEEN), "score-mismatch"),
    ],
)
def test_impossible_chances_are_refused(make, code):
    with refuses(code):
        make()
