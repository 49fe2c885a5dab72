"""Popularity from what known users were shown."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.snapshots import refuses

from reidrisk.core.observations import Observations
from reidrisk.data import synthetic_topics
from reidrisk.releases import TopicsApi, popularity

API = TopicsApi(topics=6, top=2, noise=0.2)


def weights(api, p):
    """The authors' distances: smaller means closer.  Paper: section 7."""
    rise = api.q_in - api.q_out
    also = 0 * p if api.top == 1 else (api.top - 1) * p / (api.top - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        match = -np.log(api.q_out + rise * api.q_in * p / (api.q_out + rise * p))
        mismatch = -np.log(api.q_out + rise * also)
    return match, mismatch


def test_the_estimate_is_the_formula():
    known = np.array([[0, 5], [0, 5], [1, 5], [2, -1]])
    found = popularity(known, API)
    frequency = np.array([[0.5, 0.25, 0.25, 0, 0, 0], [0, 0, 0, 0, 0, 1]])
    np.testing.assert_allclose(found.raw, (frequency - API.q_out) / (API.q_in - API.q_out))
    assert found.users.tolist() == [4, 3]
    assert found.unseen.tolist() == [3, 5]
    assert found.not_positive.tolist() == [3, 5]
    assert found.above_one.tolist() == [1, 1]
    assert found.smoothed.tolist() == [4, 6]


def test_the_estimate_of_the_exact_frequencies_is_the_truth():
    """Unbiased: the expected frequency gives the popularity."""
    p = np.array([1, 0.7, 0.3, 0, 0, 0])
    frequency = API.q_out + (API.q_in - API.q_out) * p
    known = np.repeat(np.arange(6), np.rint(frequency * 30_000).astype(int))[:, None]
    np.testing.assert_allclose(popularity(known, API).raw[0], p, atol=1e-3)


def test_the_band_is_hoeffdings():
    known = np.zeros((500, 2), int)
    expected = math.sqrt(math.log(2 * 6 / 0.01) / (2 * 500)) / (API.q_in - API.q_out)
    assert popularity(known, API, delta=0.01).band == pytest.approx([expected] * 2)
    assert popularity(known, API, delta=0.01, pooled=True).band == pytest.approx([expected])


def test_pooled_slots_of_a_user_are_not_independent():
    known = np.full((100, 8), 3)
    assert popularity(known, API, pooled=True).users.tolist() == [100]
    known[:50, 1:] = -1
    assert popularity(known, API, pooled=True).users[0] == pytest.approx(450**2 / (50 + 50 * 64))


@pytest.mark.parametrize("pooled", [False, True])
def test_bands_hold_as_often_as_they_say(pooled):
    """Hoeffding is generous: not one of 60 populations may lie outside."""
    api = TopicsApi(topics=20, top=3, noise=0.1)
    for seed in range(60):
        people = synthetic_topics(500, topics=20, epochs=3, types=4, size=3, seed=seed)
        found = popularity(api.observe(people, targets=1, seed=seed), api, pooled=pooled, delta=0.1)
        assert (np.abs(found.raw - people.interests.popularity) < found.band[:, None]).all()


def test_the_estimate_is_unbiased():
    api = TopicsApi(topics=20, top=3, noise=0.1)
    people = synthetic_topics(40_000, topics=20, epochs=2, types=4, size=3, seed=1)
    found = popularity(api.observe(people, targets=1, seed=1).known, api)
    truth = people.interests.popularity
    q = api.q_out + (api.q_in - api.q_out) * truth
    error = np.sqrt(q * (1 - q) / 40_000) / (api.q_in - api.q_out)
    assert (np.abs(found.raw - truth) < 4.5 * error).all()


def test_sites_that_collude_are_counted_together():
    api = TopicsApi(topics=20, top=3, noise=0.1)
    people = synthetic_topics(4_000, topics=20, epochs=2, types=4, size=3, seed=1)
    seen = api.observe(people, targets=1, sites=3, seed=1)
    both = popularity(seen, api).raw
    each = [popularity(seen.known[:, :, site], api).raw for site in (0, 1)]
    np.testing.assert_allclose(both, np.mean(each, axis=0))
    assert popularity(seen, api).users.tolist() == [4_000, 4_000]


@given(
    hnp.arrays(
        np.int8, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.integers(0, 5)
    ),
    st.sampled_from([0.0, 0.05, 0.5, 0.99]),
    st.integers(1, 6),
    st.booleans(),
)
def test_what_is_used_never_inverts_a_weight(known, noise, top, pooled):
    api = TopicsApi(topics=6, top=top, noise=noise)
    if api.q_in - api.q_out < 1e-9:
        return
    found = popularity(known, api, pooled=pooled)
    assert ((found.in_use > 0) & (found.in_use <= 1)).all()
    match, mismatch = weights(api, found.in_use)
    assert np.isfinite(match).all()
    assert (match <= mismatch + 1e-9).all()
    same = found.in_use == found.raw
    assert (found.smoothed == np.count_nonzero(~same, axis=1)).all()


def test_a_rare_topic_has_no_logarithm_or_an_inverted_weight_without_smoothing():
    """What happened to the authors' trainer, at a population size where it does."""
    api = TopicsApi()
    people = synthetic_topics(3_000, epochs=1, seed=3)
    found = popularity(api.observe(people, targets=1, seed=3), api)
    assert found.unseen[0] > 10
    assert found.not_positive[0] == found.inverted[0]
    match, mismatch = weights(api, found.raw[0])
    assert np.count_nonzero(~(match <= mismatch)) == found.inverted[0]
    match, mismatch = weights(api, found.in_use[0])
    assert (match < mismatch).all()
    assert f"{found.unseen[0]} never seen" in str(found)


def test_an_estimate_slightly_below_zero_inverts():
    """Above the threshold where the logarithm fails, below zero: nothing fails, weights lie."""
    api = TopicsApi(topics=4, top=2, noise=0.4)
    known = np.repeat([0, 1, 2, 3], [500, 405, 97, 0])[:, None]
    found = popularity(known, api)
    match, mismatch = weights(api, found.raw[0, 2])
    assert -0.05 < found.raw[0, 2] < 0
    assert match > mismatch
    assert found.not_positive[0] == found.above_one[0] == 2
    assert found.inverted[0] == 4  # above one they invert too


@pytest.mark.parametrize(
    ("known", "change", "code"),
    [
        (np.array([[6]]), {}, "token-out-of-range"),
        (np.array([[-2]]), {}, "token-out-of-range"),
        (np.array([[0.5]]), {}, "wrong-shape"),
        (np.array([0, 1]), {}, "wrong-shape"),
        (np.empty((0, 3), int), {}, "wrong-shape"),
        (np.array([[0, -1], [1, -1]]), {}, "nothing-shown"),
        (np.array([[0]]), {"delta": 0}, "not-a-probability"),
        (np.array([[0]]), {"delta": 5}, "not-a-probability"),
        (np.array([[0]]), {"release": TopicsApi(noise=1.0)}, "nothing-to-learn"),
    ],
)
def test_bad_input_is_refused(known, change, code):
    with refuses(code):
        popularity(known, **{"release": API, **change})


def test_observations_are_taken_as_they_are():
    known = np.array([[0, 1], [2, 3]])
    seen = Observations(known, known[:1], np.array([0]), tokens=6)
    assert (popularity(seen, API).raw == popularity(known, API).raw).all()


def test_the_floor_is_half_a_sighting_among_all_sightings():
    """200 users in 8 slots are 1,600 sightings: a token seen once is not flattened."""
    api = TopicsApi()
    known = np.asarray(api.observe(synthetic_topics(200, seed=3), targets=1, seed=3).known)
    found = popularity(known, api, pooled=True)
    rise, seen = api.q_in - api.q_out, np.bincount(known.ravel(), minlength=349)
    assert found.floor == pytest.approx([0.5 / (1_600 * rise)])
    np.testing.assert_array_equal(found.in_use[0] == found.raw[0], seen > 0)
    once = found.in_use[0, seen == 1]
    assert (once == found.raw[0, seen == 1]).all()
    assert (once > found.floor[0]).all()
