"""A promise is made for the very parameters and people, or not at all."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releases.worlds import Fixed

from reidrisk import ItemSamples, RandomisedResponse, TopicsApi, theory
from reidrisk.data import make_profiles

TWO = Fixed.of([[[0]], [[1]]], 10)


def promised(release, people):
    return release.promises(people, release.slots(people))


def optimum(release, people, seed=0):
    return theory.random_user_optimum(release.rows(people, site=2, seed=seed).chances)


@pytest.mark.parametrize(
    "switch", [{"presence": [1] + [0] * 9}, {"blocked": [0] + [1] * 9}], ids=["presence", "blocked"]
)
def test_nothing_is_promised_where_topics_are_withheld(switch):
    """Noise of 99 % would allow 55 %, but who is shown nothing is known for sure."""
    plain = TopicsApi(topics=10, top=1, noise=0.99)
    withholding = replace(plain, **switch)
    (bound,) = promised(plain, TWO)
    assert bound.estimate.value == pytest.approx(0.55, abs=0.01)
    assert optimum(plain, TWO) <= bound.estimate.high
    assert optimum(withholding, TWO) == 1
    assert promised(withholding, TWO) == ()
    assert withholding.epsilon == math.inf


def test_nothing_is_promised_to_people_who_are_away():
    """The default for tables: a missing epoch is a gap, which both sites see."""
    people = make_profiles(["a", "a", "b"], [1, 2, 1], [0, 1, 1], taxonomy=range(5))
    for release in (TopicsApi(topics=5, top=1, noise=0.9), RandomisedResponse(epsilon=0.1)):
        assert not people.complete
        assert promised(release, people) == ()
        assert optimum(release, people) > 0.99
        padded = replace(people, absent="pad")
        (bound,) = promised(release, padded)
        assert bound.side == "upper"
        assert optimum(release, padded) <= bound.estimate.high


def test_a_caller_who_is_everywhere_withholds_nothing():
    everywhere = TopicsApi(topics=10, top=1, noise=0.5, presence=1.0)
    assert everywhere.epsilon == TopicsApi(topics=10, top=1, noise=0.5).epsilon
    assert promised(everywhere, TWO)


def test_without_noise_nothing_is_promised():
    assert TopicsApi(topics=10, top=1, noise=0).epsilon == math.inf
    assert promised(TopicsApi(topics=10, top=1, noise=0), TWO) == ()
    assert promised(ItemSamples(samples=2), TWO) == ()


@pytest.mark.parametrize(
    ("per_call", "every", "slots", "weeks"),
    [(1, 1, 8, 8), (3, 1, 18, 6), (3, 1, 4, 2), (3, 3, 6, 6), (2, 5, 4, 4), (1, 4, 2, 2)],
)
def test_a_week_that_is_shown_again_is_one_week(per_call, every, slots, weeks):
    assert TopicsApi(per_call=per_call, every=every).weeks(slots) == weeks


@given(
    sets=st.lists(
        st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=1), min_size=2, max_size=2),
        min_size=2,
        max_size=4,
    ),
    noise=st.sampled_from([0.2, 0.6, 0.95, 1.0]),
    switches=st.fixed_dictionaries(
        {},
        optional={
            "absence": st.sampled_from([0.3, 1.0]),
            "delay": st.sampled_from([2.0, 7.0]),
            "per_call": st.just(2),
            "every": st.integers(1, 2),
            "presence": st.sampled_from([1.0, 0.5, (1.0, 0.0, 1.0, 0.3)]),
            "blocked": st.sampled_from([0.0, 0.4, (0.0, 1.0, 0.5, 0.0)]),
        },
    ),
    away=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_no_promise_is_below_the_exact_optimum(sets, noise, switches, away):
    people = np.array(sets, np.int32)
    gone = np.array(away).reshape(4, 2)[: len(people)]
    release = TopicsApi(topics=4, top=1, noise=noise, **switches)
    for world in (people, np.where(gone[:, :, None], -1, people)):
        fixed = Fixed.of(world, 4)
        for bound in promised(release, fixed):
            assert optimum(release, fixed) <= bound.estimate.high + 1e-12
