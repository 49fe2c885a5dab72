"""How much is enough, searched with a made-up risk."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import data
from reidrisk.attacks import Overlap, WeightedHamming
from reidrisk.engines import LocalEngine
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.releases import RandomisedResponse, TopicsApi
from reidrisk.study import Study
from reidrisk.study._calibrate import (
    Calibration,
    Trial,
    advice,
    calibrate,
    candidates,
    check_targets,
    each_level,
    evaluations,
    first_enough,
    more_targets,
    most_users,
    risk_at,
    searched,
    values_of,
)
from reidrisk.study.parameters import parameter_of

API = TopicsApi()


class Risk:
    """A risk that falls with the value, and a count of who asked."""

    def __init__(self, high):
        self.high, self.asked = high, []

    def __call__(self, value):
        self.asked.append(value)
        high = self.high(value)
        return Estimate(high / 2, 0.0, high, 0.95, 100, "made up")


@given(st.integers(1, 300), st.integers(-1, 301))
def test_halving_finds_the_first_value_that_suffices(count, first):
    values = list(range(count))
    risk = Risk(lambda value: 0.01 if value >= first else 0.5)
    found = calibrate(risk, values, max_risk=0.01)
    enough = [value for value in values if value >= first]
    too_few = [value for value in values if value < first]
    assert (found.enough and found.enough.value) == (enough[0] if enough else None)
    assert (found.not_enough and found.not_enough.value) == (too_few[-1] if too_few else None)
    assert len(set(risk.asked)) == len(risk.asked) <= evaluations(values)
    assert [one.value for one in found.trials] == sorted(risk.asked)


@given(st.integers(1, 100), st.randoms(use_true_random=False))
def test_the_bracket_is_measured_whatever_the_risk_does(count, chance):
    """Measured risks need not fall everywhere; the answer is then still one that suffices."""
    highs = [chance.random() for _ in range(count)]
    found = calibrate(Risk(highs.__getitem__), range(count), max_risk=0.5)
    if found.enough is not None:
        assert found.enough.risk.high <= 0.5
    if found.not_enough is not None:
        assert found.not_enough.risk.high > 0.5
    if found.enough is not None and found.not_enough is not None:
        assert found.enough.value == found.not_enough.value + 1


def test_every_interval_is_as_wide_as_all_of_them_together_need():
    asked = []

    def risk(value, level):
        asked.append((value, level))
        return mean_of_credits(np.arange(1000) >= value, level=level)

    values = range(950, 1000)
    found = first_enough(risk, values, max_risk=0.03, level=0.9)
    each = 1 - 0.1 / evaluations(values)
    assert {level for _, level in asked} == {each}
    by_hand = calibrate(lambda value: risk(value, each), values, max_risk=0.03)
    assert found == by_hand
    assert found.enough != calibrate(lambda at: risk(at, 0.9), values, max_risk=0.03).enough


def test_a_measurement_that_does_not_heed_the_level_is_refused():
    with refuses("level-mismatch"):
        first_enough(lambda value, _: Risk(lambda _: 0.5)(value), [1, 2, 3], max_risk=0.1)


def test_candidates_have_two_digits():
    assert candidates(0.01, 0.99)[:3] == (0.01, 0.011, 0.012)
    assert candidates(0.1, 0.3) == tuple(round(0.1 + 0.01 * step, 2) for step in range(21))
    assert candidates(1, 12) == tuple(range(1, 13))
    assert candidates(95, 130) == (95, 96, 97, 98, 99, 100, 110, 120, 130)
    assert candidates(123, 131) == (123, 130, 131)
    assert candidates(5, 5) == (5,)
    assert all(isinstance(value, int) for value in candidates(1000, 10_000_000))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (0.5, 0.2)])
def test_bad_ranges_are_refused(low, high):
    with refuses("invalid-range"):
        candidates(low, high)


@pytest.mark.parametrize("values", [[], [1, 1]])
def test_values_differ(values):
    with refuses("empty-list"):
        calibrate(Risk(lambda _: 0.5), values, max_risk=0.1)


def test_values_go_from_the_least_safe_to_the_safest():
    noise, users = parameter_of(API, "noise"), parameter_of(API, "users")
    assert values_of(noise, "10%", 0.12) == (0.1, 0.11, 0.12)
    assert values_of(noise)[:2] == (0.01, 0.011)
    assert (values_of(users, "1k", "1.2k"), values_of(users)[-1]) == ((1000, 1100, 1200), 10**6)
    epsilon = parameter_of(RandomisedResponse(1.0), "epsilon")
    assert values_of(epsilon, "0.1", 0.12) == (0.12, 0.11, 0.1)
    assert (values_of(epsilon)[0], values_of(epsilon)[-1]) == (20.0, 0.01)


def test_less_epsilon_is_searched_downwards():
    risk = Risk(lambda epsilon: min(1.0, epsilon / 10))
    epsilon = parameter_of(RandomisedResponse(1.0), "epsilon")
    found = calibrate(risk, values_of(epsilon, 0.1, 9), max_risk=0.5)
    assert (found.enough.value, found.not_enough.value) == (5.0, 5.1)
    assert [one.value for one in found.trials] == sorted(risk.asked, reverse=True)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("delay", "cannot-be-searched"),
        ("parents", "cannot-be-varied"),
        ("nois", "unknown-parameter"),
    ],
)
def test_what_cannot_be_searched_is_refused(name, code):
    with refuses(code):
        searched(Study(release=API, attacks=(Overlap(),)), name)


def test_a_parameter_without_a_usual_range_needs_both_ends():
    bare = replace(parameter_of(API, "noise"), search=None)
    with refuses("no-usual-range"):
        values_of(bare, low=0.1)
    assert values_of(bare, 0.1, 0.1) == (0.1,)


@given(st.integers(1, 5_000), st.integers(1, 5_000), st.floats(0.0005, 0.2), st.integers(1, 300))
def test_a_search_is_refused_only_if_nobody_named_would_not_suffice(targets, users, limit, count):
    study = Study(release=API, attacks=(Overlap(),), targets=targets)
    people = data.synthetic_topics(users, epochs=1)
    values = tuple(range(1, count + 1))
    level = each_level(0.95, evaluations(values))
    nobody = mean_of_credits(np.zeros(min(targets, users)), level=level)
    if nobody.high <= limit:
        check_targets(study, people, "top", values, max_risk=limit)
    else:
        with refuses("too-few-targets", snapshot=False) as refused:
            check_targets(study, people, "top", values, max_risk=limit)
        needed = int(re.search(r"at least ([\d,]+)", str(refused.value))[1].replace(",", ""))
        shown = [
            mean_of_credits(np.zeros(number), level=level).high for number in (needed - 1, needed)
        ]
        assert shown[1] <= limit < shown[0]
        assert (needed > users) == ("users; allow more" in str(refused.value))


def test_all_users_are_targets_if_nothing_is_said():
    study = Study(release=API, attacks=(Overlap(),), targets=None)
    people = data.synthetic_topics(300, epochs=1)
    check_targets(study, people, "top", (5,), max_risk=0.02)
    with refuses("too-few-targets"):
        check_targets(study, people, "top", (5,), max_risk=0.01)
    check_targets(study, people, "users", (100, 1_000), max_risk=0.01)


def test_strangers_and_training_users_are_no_targets():
    people = data.synthetic_topics(1_000, epochs=1)
    study = Study(release=API, attacks=(Overlap(),), targets=None, strangers=0.3, training=0.2)
    known = study.context(people, LocalEngine()).users
    assert 480 < known < 640
    assert most_users(study, people, "top", (5,)) == known
    with refuses("too-few-targets"):
        check_targets(study, people, "top", (5,), max_risk=0.005)


def trial(right, trials, level=0.99):
    return Trial(1, mean_of_credits(np.arange(trials) < right, level=level))


@pytest.mark.parametrize(
    ("right", "users", "text"),
    [
        (100, 10_000, "More targets would not help: the risk is above 1 % for sure."),
        (12, 10_000, "More targets would hardly help: 1.2 % were named, which is not below 1 %."),
        (10, 10_000, "More targets would hardly help"),
        (5, 10_000, "More targets would help: if as large a share is named, about "),
        (5, 1_000, "More targets might help, but there are only 1,000 users: if as large"),
    ],
)
def test_whether_more_targets_would_help(right, users, text):
    found = Calibration(0.01, None, trial(right, 1_000), (trial(right, 1_000),))
    told = advice(found, users)
    assert told.startswith(text)
    if "about" in told:
        number = int(re.search(r"about ([\d,]+) in place of 1,000", told)[1].replace(",", ""))
        assert number == more_targets(found.trials[-1], 0.01)
        named = np.arange(number) < number * 0.005
        assert mean_of_credits(named, level=0.99).high == pytest.approx(0.01, rel=0.02)


def test_levels_add_up():
    assert each_level(0.95, 1) == pytest.approx(0.95)
    assert each_level(0.95, 10) == pytest.approx(0.995)


def test_the_risk_at_a_value_is_the_highest_of_a_study_with_it():
    people = data.synthetic_topics(500, epochs=2)
    api, noise = TopicsApi(), TopicsApi(noise=0.3)
    study = Study(release=api, attacks=(Overlap(), WeightedHamming(api)), targets=100)
    noisy = replace(study, release=noise, attacks=(Overlap(), WeightedHamming(noise)))
    weak, expected = sorted(replace(noisy, level=0.99).run(people).risks, key=lambda one: one.high)
    assert weak.high < expected.high
    found = risk_at(study, people, "noise", 0.3, engine=LocalEngine(), level=0.99)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert found.level == 0.99
    with refuses("cannot-be-searched"):
        risk_at(study, people, "delay", 1, engine=LocalEngine(), level=0.9)
