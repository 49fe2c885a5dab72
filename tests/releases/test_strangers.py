"""Some users stay unknown and are met; nobody else notices."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import data
from reidrisk.releases import RandomisedResponse, TopicsApi, are_strangers, observe, reveal

API = TopicsApi()
PEOPLE = data.synthetic_topics(3000, epochs=3)


@pytest.mark.parametrize("release", [API, RandomisedResponse(epsilon=2.0)])
@pytest.mark.parametrize("sites", [2, 3])
def test_what_is_shown_of_others_stays_as_it_is(release, sites):
    whole = observe(release, PEOPLE, sites=sites, seed=5)
    some = observe(release, PEOPLE, sites=sites, strangers=0.3, seed=5)
    strange = are_strangers(PEOPLE.ids, 0.3, 5)
    assert 0.27 < strange.mean() < 0.33
    np.testing.assert_array_equal(some.known, np.asarray(whole.known)[~strange])
    shown = np.empty_like(whole.anonymous)
    shown[whole.truth] = whole.anonymous
    np.testing.assert_array_equal(shown[~strange][some.truth], some.anonymous)
    # Strangers come in the order in which they would be targets if they were known.
    theirs = strange[whole.truth]
    np.testing.assert_array_equal(some.strangers, whole.anonymous[theirs])
    known = np.cumsum(~strange) - 1
    np.testing.assert_array_equal(some.truth, known[whole.truth[~theirs]])


def test_as_many_strangers_as_targets_are_met():
    whole = API.observe(PEOPLE, strangers=0.3, seed=5)
    few = API.observe(PEOPLE, targets=200, strangers=0.3, seed=5)
    assert (len(few.anonymous), len(few.strangers)) == (200, 200)
    np.testing.assert_array_equal(few.strangers, whole.strangers[:200])
    np.testing.assert_array_equal(few.truth, whole.truth[:200])
    many = API.observe(PEOPLE, targets=2000, strangers=0.3, seed=5)
    assert len(many.strangers) == len(whole.strangers) < 2000


def test_with_a_larger_share_strangers_stay_strangers():
    few, many = (are_strangers(PEOPLE.ids, share, 5) for share in (0.2, 0.6))
    assert (many >= few).all()
    assert (are_strangers(PEOPLE.ids[::-1], 0.2, 5) == few[::-1]).all()
    assert not are_strangers(PEOPLE.ids, 0.0, 5).any()


def test_without_strangers_nothing_changes():
    one, other = API.observe(PEOPLE, seed=5), API.observe(PEOPLE, strangers=0.0, seed=5)
    assert other.strangers is None
    np.testing.assert_array_equal(one.known, other.known)
    np.testing.assert_array_equal(one.anonymous, other.anonymous)


def test_secrets_are_those_of_the_same_people():
    seen = API.observe(PEOPLE, targets=100, strangers=0.3, seed=5)
    revealed = reveal(API, PEOPLE, targets=100, strangers=0.3, seed=5)
    assert revealed.users == seen.users
    for name in ("truth", "anonymous", "strangers"):
        np.testing.assert_array_equal(getattr(revealed, name), getattr(seen, name))


@pytest.mark.parametrize(
    ("share", "targets", "code"),
    [
        (1.0, None, "share-out-of-range"),
        (-0.1, None, "not-a-probability"),
        (30, None, "not-a-probability"),
        ("30%", None, "not-a-probability"),
        (1e-9, None, "empty-side"),
        (1 - 1e-9, 1, "empty-side"),
        (0.5, 2000, "too-many-targets"),
    ],
)
def test_impossible_shares_are_refused(share, targets, code):
    with refuses(code):
        API.observe(PEOPLE, targets=targets, strangers=share, seed=5)
