"""Betting intervals, against exact capital, symmetries, and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.estimates.hard_worlds import FEW, MANY, STUDIES, coins, floor, tied
from tests.snapshots import refuses

from reidrisk.estimates import anytime_interval, mean_of_numbers

UNIT = st.lists(st.floats(0, 1), min_size=1, max_size=12)
STEP = Fraction(1, 2**40)
FIXED, ANYTIME = mean_of_numbers, anytime_interval
SOME = 400
"""Studies of many targets, which take long; what the intervals miss is far below the floor."""


def most_capital(values, mean, level, *, anytime):
    """Exact largest capital of a gambler who bets on numbers above the mean; the definition."""
    capital, most = Fraction(1), Fraction(0)
    total, squares = 0.5, 0.25
    for time, value in enumerate(values, 1):
        pace = time * math.log1p(time) if anytime else len(values)
        bet = math.sqrt(2 * math.log(2 / (1 - level)) / (squares / time * pace))
        bet = min(Fraction(bet), Fraction(3, 4) / mean)
        capital *= 1 + bet * (Fraction(value) - mean)
        most = max(most, capital)
        total += value
        squares += (value - total / (time + 1)) ** 2
    return most


@pytest.mark.parametrize("anytime", [False, True])
@given(UNIT, st.sampled_from([0.1, 0.5, 0.95]))
def test_ends_are_where_the_capital_reaches_its_goal(anytime, values, level):
    estimate = (ANYTIME if anytime else FIXED)(values, level=level)
    goal, hair = 2 / (1 - Fraction(level)), 1 + Fraction(1, 10**9)
    turned = [1 - value for value in values]
    low, high, value = (Fraction(x) for x in (estimate.low, estimate.high, estimate.value))

    def won(numbers, mean):
        return mean > 0 and most_capital(numbers, mean, level, anytime=anytime)

    for numbers, against, end, middle in (
        (values, turned, low, value),
        (turned, values, 1 - high, 1 - value),
    ):
        assert end == 0 or won(numbers, end) >= goal / hair
        # Not if the mean of the values was ruled out, or two gamblers left nothing between them.
        if end + 3 * STEP < middle and won(against, 1 - end) < goal / hair:
            assert won(numbers, end + 3 * STEP) < goal * hair


def covering(interval, studies, mean):
    """Which studies have an interval that holds the mean; equal studies are worked out once."""
    different, place = np.unique(studies, axis=0, return_inverse=True)
    estimates = [interval(study, level=0.8) for study in different]
    return np.array([one.low <= mean <= one.high for one in estimates])[place.ravel()]


@pytest.mark.parametrize("interval", [FIXED, ANYTIME])
@pytest.mark.parametrize(("world", "targets"), FEW)
def test_few_targets_are_covered(interval, world, targets):
    studies, mean = world(np.random.default_rng(targets), (STUDIES, targets))
    assert covering(interval, studies, mean).mean() >= floor(0.8)


@pytest.mark.slow
@pytest.mark.parametrize(("world", "targets"), MANY)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_many_targets_are_covered(world, targets, level):
    rng = np.random.default_rng(20230407)
    covered = 0
    for _ in range(SOME):
        study, mean = world(rng, (targets,))
        estimate = mean_of_numbers(study, level=level)
        covered += estimate.low <= mean <= estimate.high
    assert covered / SOME >= floor(level, SOME)


@pytest.mark.parametrize("number", [SOME, pytest.param(STUDIES, marks=pytest.mark.slow)])
@pytest.mark.parametrize("world", [tied, coins])
def test_no_batch_of_a_growing_study_misses_the_mean(world, number):
    """Studies are looked at after 1, 2, 4, ... 512 targets: all looks together cover."""
    studies, mean = world(np.random.default_rng(512), (number, 512))
    looks = [covering(ANYTIME, studies[:, : 2**k], mean) for k in range(10)]
    assert np.all(looks, axis=0).mean() >= floor(0.8, number)


@pytest.mark.slow
@pytest.mark.parametrize(("world", "targets"), MANY)
def test_stopping_at_the_worst_moment_does_not_help(world, targets):
    """All looks together cover; between them the interval only shrinks."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(SOME):
        study, mean = world(rng, (targets,))
        looks = (anytime_interval(study[:seen]) for seen in (100, 500, 2_000, targets))
        covered += all(one.low <= mean <= one.high for one in looks)
    assert covered / SOME >= floor(0.95, SOME)


def test_looking_often_breaks_the_interval_of_a_fixed_number():
    """Why there are two: a fixed interval, looked at after each batch, misses too often."""
    studies, mean = coins(np.random.default_rng(3), (100, 1_000))
    missed = {FIXED: 0, ANYTIME: 0}
    for study in studies:
        for interval in missed:
            looks = [interval(study[:seen], level=0.8) for seen in range(10, 1_001, 45)]
            missed[interval] += any(not one.low <= mean <= one.high for one in looks)
    assert missed[FIXED] > 0.3 * len(studies)
    assert missed[ANYTIME] <= 0.2 * len(studies)


def test_a_growing_study_becomes_precise_and_stays_so():
    study, _ = tied(np.random.default_rng(5), (20_000,))
    widths = [
        one.high - one.low for one in (anytime_interval(study[:n]) for n in range(500, 20_001, 500))
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.04


@given(UNIT, st.sampled_from([FIXED, ANYTIME]), st.sampled_from([0.1, 0.5, 0.95, 0.999]))
def test_the_interval_holds_the_value(values, interval, level):
    estimate = interval(values, level=level)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.value == pytest.approx(np.mean(values))
    assert (estimate.trials, estimate.level) == (len(values), level)


@pytest.mark.parametrize("interval", [FIXED, ANYTIME])
def test_more_certainty_is_wider_on_average(interval):
    """Bets are tuned to the level, so that single studies may differ a little."""
    studies, _ = tied(np.random.default_rng(4), (50, 500))
    narrow, wide = (
        np.mean([one.high - one.low for one in (interval(study, level=level) for study in studies)])
        for level in (0.8, 0.99)
    )
    assert 1.3 * narrow < wide


@given(st.lists(st.integers(0, 64).map(lambda part: part / 64), min_size=1))
def test_turned_or_stretched_numbers_turn_or_stretch_the_interval(values):
    plain, array = mean_of_numbers(values), np.array(values)
    turned = mean_of_numbers(1 - array)
    assert (turned.low, turned.high) == pytest.approx((1 - plain.high, 1 - plain.low), abs=1e-11)
    stretched = mean_of_numbers(6 * array - 2, low=-2, high=4)
    assert (stretched.low, stretched.high) == pytest.approx(
        (6 * plain.low - 2, 6 * plain.high - 2), abs=1e-10
    )
    assert -2 <= stretched.low <= stretched.value <= stretched.high <= 4


@given(st.lists(st.floats(-1, 1), min_size=1), st.floats(-5, -1), st.floats(1, 5))
def test_a_wider_range_is_respected(values, low, high):
    assume(low < high)
    estimate = mean_of_numbers(values, low=low, high=high)
    assert low <= estimate.low <= estimate.value <= estimate.high <= high


def test_numbers_that_vary_little_have_a_narrow_interval():
    """Posterior means around 2 %: a tenth of the width an interval of hits would have."""
    values = np.random.default_rng(1).normal(0.02, 0.002, 10_000)
    estimate = mean_of_numbers(values)
    assert estimate.high - estimate.low < 0.0012
    assert estimate.method == "betting"
    assert anytime_interval(values).method == "betting, anytime"


def test_numbers_sorted_against_the_rules_still_enclose_their_mean():
    estimate = mean_of_numbers([0.0] * 500 + [1.0] * 500)
    assert estimate.low <= estimate.value == 0.5 <= estimate.high


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"values": []}, "too-few-targets"),
        ({"values": [-0.5]}, "out-of-range"),
        ({"values": [3], "low": -1}, "out-of-range"),
        ({"values": [0.5], "low": 1}, "invalid-range"),
        ({"values": [0.5], "high": np.inf}, "invalid-range"),
        ({"values": [0.5], "low": "a"}, "not-a-number"),
        ({"values": [0.5], "level": 1}, "invalid-level"),
    ],
)
def test_bad_numbers_are_refused(arguments, code):
    with refuses(code):
        mean_of_numbers(**arguments)


def test_bad_streams_are_refused():
    with refuses("too-few-targets"):
        anytime_interval([])
    with refuses("invalid-level"):
        anytime_interval([0.5], level=0)
