"""How much is enough, searched with a made-up risk."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk import data
from reidrisk.attacks import Overlap, WeightedHamming
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.releases import RandomisedResponse, TopicsApi
from reidrisk.study import Study
from reidrisk.study.parameters import parameter_of
from reidrisk.study.search import (
    calibrate,
    candidates,
    each_level,
    evaluations,
    risk_at,
    searched,
    values_of,
)

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
    with pytest.raises(InvalidInput, match="from a positive number up"):
        candidates(low, high)


@pytest.mark.parametrize("values", [[], [1, 1]])
def test_values_differ(values):
    with pytest.raises(InvalidInput, match="each once, at least one"):
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
    ("name", "message"),
    [
        ("delay", "whether people become safer as delay grows depends"),
        ("parents", "parents is no number"),
        ("nois", "did you mean noise"),
    ],
)
def test_what_cannot_be_searched_is_refused(name, message):
    with pytest.raises(InvalidInput, match=f"calibrate: .*{message}"):
        searched(Study(release=API, attacks=(Overlap(),)), name)


def test_a_parameter_without_a_usual_range_needs_both_ends():
    bare = replace(parameter_of(API, "noise"), search=None)
    with pytest.raises(InvalidInput, match="noise has no usual range to search"):
        values_of(bare, low=0.1)
    assert values_of(bare, 0.1, 0.1) == (0.1,)


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
    with pytest.raises(InvalidInput, match="it cannot be searched"):
        risk_at(study, people, "delay", 1, engine=LocalEngine(), level=0.9)
