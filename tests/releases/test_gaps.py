"""Where gaps come from, against what is shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releases.worlds import Fixed

from reidrisk import ItemSamples, RandomisedResponse, TopicsApi
from reidrisk.releases import GapChances, observe

USERS = 20_000


def tabled(release, away=0.0):
    """The table that a release says, and how often it came so."""
    sets = np.random.default_rng(5).integers(0, 3, (USERS, 2, 1)) * 2 + np.array([0, 1])
    sets[np.random.default_rng(6).random((USERS, 2)) < away] = -1
    seen = observe(release, Fixed.of(sets, 6), seed=7)
    known, shown = np.asarray(seen.known)[seen.truth] == -1, seen.anonymous == -1
    both = np.array([[(shown == a) & (known == b) for b in (False, True)] for a in (False, True)])
    said = release.gaps((np.asarray(seen.known) == -1).mean(axis=0))
    return said.table, both.mean(axis=2).transpose(2, 0, 1)


@pytest.mark.parametrize(
    ("release", "away"),
    [
        (TopicsApi(topics=6, top=2), 0.0),
        (TopicsApi(topics=6, top=2), 0.25),
        (TopicsApi(topics=6, top=2, absence=0.3), 0.0),
        (TopicsApi(topics=6, top=2, absence=0.3), 0.25),
        (TopicsApi(topics=6, top=2, blocked=0.4), 0.0),
        (TopicsApi(topics=6, top=2, blocked=0.4, absence=0.2), 0.3),
        (TopicsApi(topics=6, top=2, presence=0.7, memory=1), 0.2),
        (TopicsApi(topics=6, top=2, delay=3.0), 0.2),
        (RandomisedResponse(epsilon=1.0), 0.25),
        (ItemSamples(samples=2, replacement=False), 0.25),
    ],
    ids=str,
)
def test_gaps_come_as_often_as_the_release_says(release, away):
    """Within 0.015: four standard errors of a share among 20,000 users."""
    said, came = tabled(release, away)
    np.testing.assert_allclose(said, came, atol=0.015)


@given(
    share=st.lists(st.floats(0, 1), min_size=1, max_size=3),
    one=st.floats(0, 1),
    other=st.floats(0, 1),
    together=st.floats(0, 1),
)
def test_chances_are_chances(share, one, other, together):
    least, most = max(0.0, one + other - 1), min(one, other)
    same = least + together * (most - least)
    found = GapChances.of(np.array(share), one=one, other=other, same=same)
    np.testing.assert_allclose(found.table.sum(axis=(1, 2)), 1, atol=1e-9)
    for chances in (found.given_gap, found.given_token):
        assert ((chances >= -1e-9) & (chances <= 1 + 1e-9)).all()


def test_who_is_away_is_away_from_both():
    found = TopicsApi().gaps(np.array([0.0, 0.25]))
    assert found.given_gap.tolist() == [0.0, 1.0]
    assert found.given_token.tolist() == [0.0, 0.0]


def test_equal_topics_of_a_call_make_no_gap_impossible():
    """Later slots of a call may be empty though something is known of it."""
    found = TopicsApi(per_call=3, every=1).gaps(np.array([0.1, 0.1, 0.1]))
    assert found.given_gap.tolist() == pytest.approx([1, 1, 1])
    assert found.given_token.tolist() == pytest.approx([0, 0.5, 0.5])
