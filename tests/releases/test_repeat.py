"""What else a site might have been shown of a user."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import TopicsApi
from reidrisk.data import synthetic_topics

API = TopicsApi(topics=30, top=3, noise=0.1)
PEOPLE = synthetic_topics(users=50, topics=30, epochs=2, size=3, seed=4)


def test_repetitions_follow_the_exact_rows():
    """Chi-square against exact chances: 30 topics, one epoch, 20,000 repetitions of a user."""
    one = synthetic_topics(users=50, topics=30, epochs=1, size=3, seed=4)
    rows = API.rows(one, site=2, seed=9)
    again = API.repeat(one, np.array([17]), repeats=20_000, seed=9)
    counts = np.bincount(rows.column_of(again[0].astype(np.int64)), minlength=30)
    expected = rows.chances.toarray()[17] * 20_000
    assert ((counts - expected) ** 2 / expected).sum() < 60  # 29 degrees of freedom, p = 6e-4


def test_repetitions_differ_from_each_other_and_from_what_was_observed():
    again = API.repeat(PEOPLE, np.arange(50), repeats=3, seed=9)
    seen = API.observe(PEOPLE, seed=9)
    shown = np.empty_like(seen.anonymous)
    shown[seen.truth] = seen.anonymous
    assert again.shape == (50, 3, 2)
    assert 0 < (again[:, 0] == again[:, 1]).mean() < 0.6
    assert 0 < (again[:, 0] == shown).mean() < 0.6


def test_a_user_is_repeated_alike_in_any_company():
    both = API.repeat(PEOPLE, np.array([3, 17]), repeats=4, seed=9)
    np.testing.assert_array_equal(both[1:], API.repeat(PEOPLE, np.array([17]), repeats=4, seed=9))
    more = API.repeat(PEOPLE, np.array([17]), repeats=6, seed=9)
    np.testing.assert_array_equal(both[1], more[0, :4])


def test_blocked_topics_stay_blocked():
    api = TopicsApi(topics=30, top=3, noise=0, blocked=0.5)
    again = api.repeat(PEOPLE, np.arange(50), repeats=40, seed=9)
    seen = api.observe(PEOPLE, seed=9)
    for user in range(50):
        shown_here = set(again[user, :, 0].tolist()) - {-1}
        sets = set(PEOPLE.top_sets(user, user + 1, top=3, seed=9)[0, 0].tolist())
        assert shown_here <= sets
        if seen.known[user, 0] != -1:
            assert seen.known[user, 0] in sets
    assert (again == -1).any()


@pytest.mark.parametrize("rows", [[], [-1], [50], [[1]]])
def test_users_who_are_not_there(rows):
    with refuses("row-out-of-range"):
        API.repeat(PEOPLE, np.array(rows, int), repeats=2, seed=1)


def test_no_repetition_is_refused():
    with refuses("not-a-whole-number"):
        API.repeat(PEOPLE, np.array([1]), repeats=0, seed=1)
