"""Cohorts: similar users together, at least k of them, nothing else shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.randomness import uniforms
from reidrisk.data import make_profiles, synthetic_topics
from reidrisk.people.subset import Subset
from reidrisk.releases import Cohorts, observe, prepared
from reidrisk.releases.cohorts import BITS, simhashes
from reidrisk.risk.bounds.promises import CountedPeople

PEOPLE = synthetic_topics(103, topics=20, epochs=2, types=4, size=3, seed=1)


@given(users=st.integers(1, 103))
def test_every_cohort_is_large_enough(users):
    seen = observe(Cohorts(users=users), PEOPLE, seed=1)
    sizes = np.bincount(np.asarray(seen.known).ravel(), minlength=seen.tokens)
    assert seen.tokens == 103 // users
    assert sizes.min() >= users
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(np.asarray(seen.known)[seen.truth], seen.anonymous)


def test_a_hash_is_the_signs_of_weighted_sums():
    people = make_profiles([0, 0, 1, 2, 2], [0, 1, 0, 0, 0], [0, 1, 1, 2, 0], [3, 1, 2, 1, 1])
    signs = np.where(
        uniforms(seed=0, purpose="cohorts/signs", users=range(3), count=BITS) < 0.5, -1, 1
    )
    for weights, found in zip([[3, 1, 0], [0, 2, 0], [1, 0, 1]], simhashes(people), strict=True):
        bits = [int(np.dot(weights, signs[:, bit]) > 0) for bit in range(BITS)]
        assert found == int("".join(map(str, bits)), 2)


def test_similar_users_are_together():
    """Ten kinds of users, ten of each: cohorts of ten are the kinds."""
    users = np.arange(100).repeat(3)
    tokens = (np.arange(100) % 10)[:, None] * 3 + np.arange(3)
    people = make_profiles(users, np.zeros(300, int), tokens.ravel())
    seen = observe(Cohorts(users=10), people, seed=1)
    cohorts = np.asarray(seen.known)[:, 0].reshape(10, 10)  # ids 0 to 99; kinds are columns
    assert all(len(set(kind)) == 1 for kind in cohorts.T.tolist())


def test_the_promise_counts_who_is_left():
    """Among fewer users than were surveyed, the smallest cohort may have lost all the others."""
    shows = prepared(Cohorts(users=10), PEOPLE)
    assert [bound.estimate.value for bound in shows.promises(PEOPLE, 1)] == [pytest.approx(0.1)]
    (bound,) = shows.promises(CountedPeople(98, complete=True), 1)
    assert bound.estimate.value == pytest.approx(1 / 5)
    assert shows.promises(CountedPeople(94, complete=True), 1) == ()
    assert shows.promises(CountedPeople(104, complete=True), 1) == ()


def test_who_was_not_surveyed_is_refused():
    some = prepared(Cohorts(users=2), Subset.of(PEOPLE, np.arange(50)))
    with refuses("unknown-people"):
        some.show(PEOPLE, 0, 103, site=1, seed=1)
