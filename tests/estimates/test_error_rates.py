"""Error rates of comparisons: ties, huge and infinite scores, intervals that hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.people_scores import IMPOSSIBLE, scores
from tests.snapshots import refuses

from reidrisk.estimates import equal_error_rate, error_tradeoff, global_linkability
from reidrisk.estimates.linkability import MOST_BINS

LEVEL = 0.9


def world(seed, people=200, others=5, apart=1.0, steps=None):
    """Scores of people, each of whom rates somewhat higher or lower than others do."""
    random = np.random.default_rng(seed)
    person = random.normal(0, 0.5, people)
    mated = random.normal(apart, 1, people) + person
    nonmated = random.normal(0, 1, (people, others)) + person[:, None]
    if steps is None:
        return mated, nonmated
    return np.round(mated * steps), np.round(nonmated * steps)


@given(scores(least=2), st.sampled_from([equal_error_rate, global_linkability]))
def test_only_the_order_of_scores_counts(given_scores, figure):
    mated, nonmated = given_scores
    values = sorted({*mated, *np.ravel(nonmated).tolist()})
    places = (
        [values.index(one) for one in mated],
        [list(map(values.index, row)) for row in nonmated],
    )
    found = figure(mated, nonmated)
    assert figure(*places) == found
    # Of floats the ends may be infinite.
    ends = {0: -np.inf, len(values) - 1: np.inf}
    infinite = [[ends.get(one, float(one)) for one in row] for row in (places[0], *places[1])]
    assert figure(infinite[0], infinite[1:]) == found


def test_whole_numbers_that_are_equal_as_floats_are_not_equal():
    lower = -IMPOSSIBLE - 1
    assert float(lower) == float(-IMPOSSIBLE)
    found = error_tradeoff([-IMPOSSIBLE], [[lower]])
    assert found.thresholds.tolist() == [lower, -IMPOSSIBLE]
    assert equal_error_rate([-IMPOSSIBLE] * 4, [[lower]] * 4).value == 0
    assert global_linkability([-IMPOSSIBLE] * 4, [[lower]] * 4).value == 1


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint32, np.int64, np.float32])
def test_every_kind_of_number_gives_the_same(kind):
    mated, nonmated = np.array([1, 1, 0, 1], kind), np.array([[0], [0], [1], [0]], kind)
    assert equal_error_rate(mated, nonmated).value == 0.25


def test_a_score_that_says_nothing_is_half_wrong_and_links_nobody():
    mated, nonmated = [5] * 200, [[5, 5]] * 200
    rate = equal_error_rate(mated, nonmated)
    assert (rate.value, rate.trials) == (0.5, 200)
    assert 0.35 < rate.low < 0.5 < rate.high < 0.65
    found = global_linkability(mated, nonmated)
    assert (found.value, found.low) == (0, 0)


def test_a_score_that_says_all_is_never_wrong_but_that_is_not_certain():
    rate = equal_error_rate([5] * 200, [[1, 2]] * 200)
    assert (rate.value, rate.low) == (0, 0)
    assert 0.02 < rate.high < 0.1
    found = global_linkability([5] * 200, [[1, 2]] * 200)
    assert (found.value, found.high) == (1, 1)
    assert 0.85 < found.low < 1


def test_a_score_that_is_always_wrong():
    assert equal_error_rate([1] * 9, [[2]] * 9).value == 1
    # It takes higher scores of one person for lower ones: whoever knows that links everybody.
    assert global_linkability([1] * 9, [[2]] * 9).value == 1


def test_an_end_needs_both_rates():
    """People who choose and people who judge are unlike: where one rate is 1, the other is 0."""
    found = equal_error_rate([10, 3] * 100, [[0], [7]] * 100)
    assert (found.value, found.low, found.high) == (0.5, 0, 1)


def test_equal_scores_stay_in_one_bin():
    """Half of the people have one score; the others have as many as there are."""
    random = np.random.default_rng(1)
    mated, nonmated = random.random(400), random.random((400, 3))
    mated[::2], nonmated[::2] = 0.5, 0.5
    found = global_linkability(mated, nonmated).value
    moved = np.where(mated == 0.5, 2, mated), np.where(nonmated == 0.5, 2, nonmated)
    # Where the frequent score lies changes which others share a bin, and little else.
    assert global_linkability(*moved).value == pytest.approx(found, abs=0.1)
    assert global_linkability([0.5] * 400, np.full((400, 3), 0.5)).value == 0


def test_bins_have_ten_people_at_least_and_are_a_hundred_at_most():
    """A score that says nothing seems to say more if its bins are finer."""
    few, many = (global_linkability(*world(1, people, 20, apart=0)) for people in (20, 4000))
    assert few.value < 0.35
    assert many.value < 0.07
    assert MOST_BINS == 100


@pytest.mark.parametrize(
    ("apart", "steps"),
    [
        (1.0, 1),
        *(
            pytest.param(apart, steps, marks=pytest.mark.slow)
            for apart in (0.0, 0.5, 2.0)
            for steps in (1, None)
        ),
    ],
)
def test_intervals_hold_in_worlds_whose_truth_is_known(apart, steps):
    """Of 100 samples, at most as many miss as one in a thousand such tests would see."""
    mated, nonmated = world(0, 200_000, 1, apart, steps or 8)
    rate = equal_error_rate(mated, nonmated).value
    values = np.unique(np.concatenate([mated, nonmated[:, 0]]))
    p, q = (
        np.bincount(np.searchsorted(values, side), minlength=len(values)) / len(mated)
        for side in (mated, nonmated[:, 0])
    )
    linked = (p * np.clip((p - q) / (p + q), 0, None)).sum()
    missed = {"rate": 0, "linked": 0}
    samples = 100
    for seed in range(1, samples + 1):
        some = world(seed, 150, 4, apart, steps)
        found = equal_error_rate(*some, level=LEVEL), global_linkability(*some, level=LEVEL)
        missed["rate"] += not found[0].low <= rate <= found[0].high
        missed["linked"] += not found[1].low <= linked + 0.01
        missed["linked"] += found[1].high < linked - 0.01
    # Binomial of 100 and a tenth: 21 or more have a chance of 0.001.
    assert max(missed.values()) < 21


def test_more_people_give_narrower_intervals():
    few, many = (equal_error_rate(*world(3, people)) for people in (200, 5000))
    assert many.high - many.low < (few.high - few.low) / 3
    few, many = (global_linkability(*world(3, people)) for people in (200, 5000))
    assert many.high - many.low < (few.high - few.low) / 2


@pytest.mark.parametrize("omega", [0.01, 1.0, 100.0])
def test_linkability_grows_with_the_odds(omega):
    mated, nonmated = world(5, 400, steps=1)
    less, more = (
        global_linkability(mated, nonmated, omega=odds).value for odds in (omega, 2 * omega)
    )
    assert 0 <= less <= more <= 1


@pytest.mark.parametrize(
    ("mated", "nonmated", "code"),
    [
        ([[1]], [[1]], "wrong-shape"),
        ([], [[1]], "wrong-shape"),
        ([1, 2], [1, 2], "wrong-shape"),
        ([1, 2], [[1], [2], [3]], "wrong-shape"),
        ([1, 2], [[], []], "wrong-shape"),
        ([1, float("nan")], [[1], [2]], "not-a-number"),
        ([1, 2], [[1], [float("nan")]], "not-a-number"),
        (["high", "low"], [[1], [2]], "not-a-number"),
        ([1], [[2]], "too-few-targets"),
    ],
)
def test_scores_that_are_none(mated, nonmated, code):
    with refuses(code):
        equal_error_rate(mated, nonmated)


@pytest.mark.parametrize(
    ("omega", "code"), [(0, "out-of-range"), (-1, "not-a-number"), (float("nan"), "not-a-number")]
)
def test_odds_that_are_none(omega, code):
    with refuses(code):
        global_linkability([1, 2], [[1], [2]], omega=omega)


def test_one_person_cannot_be_judged_either():
    with refuses("too-few-targets"):
        global_linkability([1], [[2]])
