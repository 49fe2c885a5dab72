"""What sites see: constants, targets, further sites, and that only seed and id decide."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy import stats
from tests.releases.worlds import RARE, Fixed
from tests.snapshots import refuses

from reidrisk import uniforms
from reidrisk.data import synthetic_topics
from reidrisk.releases import TopicsApi

EVERYTHING = TopicsApi(
    topics=50,
    top=3,
    presence=0.8,
    parents=[-1] * 10 + [topic % 10 for topic in range(40)],
    blocked=0.1,
    delay=2.0,
    per_call=3,
    every=1,
    absence=0.1,
    buckets=[topic % 2 for topic in range(50)],
)


def world(users=3_000, **changes):
    return synthetic_topics(users, **{"topics": 50, "epochs": 4, "types": 4, "seed": 1, **changes})


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("known", "anonymous", "truth", "tokens")
    )


def reference_show(api, sets, user, *, site, seed):
    """What the paper's release shows of one user, slowly."""
    draws = uniforms(
        seed=seed, purpose=f"topics/site {site}/show", users=[user], count=2 * len(sets)
    )[0].tolist()
    row = []
    for place, coin, mine in zip(draws[::2], draws[1::2], sets, strict=True):
        token = mine[math.floor(place * api.top)]
        if coin < api.noise:
            token = min(math.floor(coin / api.noise * api.topics), api.topics - 1)
        row.append(token)
    return row


def test_observations_equal_the_reference():
    people, api = world(200), TopicsApi(topics=50, noise=0.4)
    seen = api.observe(people, seed=7)
    sets = people.top_sets(0, 200, top=5, seed=7).tolist()
    known = [reference_show(api, sets[user], user, site=1, seed=7) for user in range(200)]
    anonymous = [reference_show(api, sets[user], user, site=2, seed=7) for user in seen.truth]
    assert seen.known.tolist() == known
    assert seen.anonymous.tolist() == anonymous
    assert (seen.tokens, seen.slots, seen.known.dtype) == (50, 4, np.int8)


@pytest.mark.parametrize("api", [TopicsApi(topics=50, top=3), EVERYTHING], ids=["paper", "all"])
@pytest.mark.parametrize("chunk", [1, 7, 1_000, 10_000])
@pytest.mark.parametrize("cores", [1, 5])
def test_chunks_and_threads_change_nothing(monkeypatch, api, chunk, cores):
    people = world(400)
    usual = api.observe(people, targets=100, sites=3, seed=7)
    monkeypatch.setattr("reidrisk.releases.lazy_rows.USERS_AT_A_TIME", chunk)
    monkeypatch.setattr("reidrisk.core.parallel.cores", lambda: cores)
    assert same(api.observe(people, targets=100, sites=3, seed=7), usual)


@pytest.mark.parametrize("api", [TopicsApi(topics=50, top=3), EVERYTHING], ids=["paper", "all"])
def test_what_is_shown_of_a_user_does_not_depend_on_the_others(api):
    few, many = (api.observe(world(users), seed=7) for users in (10, 2_000))
    assert (few.known == many.known[:10]).all()
    of_few, of_many = (dict(zip(seen.truth, seen.anonymous, strict=True)) for seen in (few, many))
    assert all((of_few[user] == of_many[user]).all() for user in range(10))


@pytest.mark.parametrize("names", [False, True], ids=["numbers", "names"])
def test_the_order_of_users_changes_nothing(names):
    rng = np.random.default_rng(3)
    sets = world(300).top_sets(0, 300, top=3, seed=0)
    ids = np.array([f"user {i}" for i in range(300)]) if names else np.arange(300)
    order = rng.permutation(300)
    api = TopicsApi(topics=50, top=3)
    plain = api.observe(Fixed.of(sets, 50, ids), targets=40, seed=7)
    mixed = api.observe(Fixed.of(sets[order], 50, ids[order]), targets=40, seed=7)
    assert (mixed.known == plain.known[order]).all()
    assert (order[mixed.truth] == plain.truth).all()
    assert (mixed.anonymous == plain.anonymous).all()


def test_fewer_epochs_are_the_first_of_many():
    api = TopicsApi(topics=50)
    short, long = (api.observe(world(epochs=epochs), targets=50, seed=7) for epochs in (2, 4))
    assert (short.known == long.known[:, :2]).all()
    assert (short.anonymous == long.anonymous[:, :2]).all()


def test_seeds_matter():
    api, people = TopicsApi(topics=50), world()
    one, other = (api.observe(people, targets=50, seed=seed) for seed in (7, 8))
    assert 0.1 < (one.known == other.known).mean() < 0.3
    assert set(one.truth) != set(other.truth)


def test_targets_are_nested_and_distinct():
    api, people = TopicsApi(topics=50), world()
    few, many, all_of_them = (api.observe(people, targets=t, seed=7) for t in (20, 100, None))
    assert (many.truth[:20] == few.truth).all()
    assert (many.anonymous[:20] == few.anonymous).all()
    assert (all_of_them.truth[:100] == many.truth).all()
    assert sorted(all_of_them.truth) == list(range(3_000))
    assert len(set(many.truth)) == 100


def test_every_user_is_as_likely_to_be_a_target():
    api = TopicsApi(topics=50)
    people = world(20, epochs=1)
    chosen = [api.observe(people, targets=5, seed=seed).truth for seed in range(400)]
    assert stats.chisquare(np.bincount(np.concatenate(chosen), minlength=20)).pvalue > RARE


@pytest.mark.parametrize("api", [TopicsApi(topics=50, top=3), EVERYTHING], ids=["paper", "all"])
def test_a_further_site_adds_what_it_knows_and_changes_nothing_else(api):
    people, size = world(), api.per_call
    two, three, four = (api.observe(people, targets=50, sites=s, seed=7) for s in (2, 3, 4))
    first = two.known.reshape(*two.known.shape[:2], -1)
    assert three.known.shape == (3_000, two.slots, 2 * size)
    assert four.set_size == 3 * size
    assert (three.known[:, :, :size] == first).all()
    assert (four.known[:, :, : 2 * size] == three.known).all()
    assert (four.anonymous == two.anonymous).all()
    assert (three.known[:, :, size:] != first).any()


def test_two_sites_agree_as_often_as_they_should():
    api, people = TopicsApi(topics=50, noise=0.2), world(20_000)
    seen = api.observe(people, sites=3, seed=7)
    for one, other in (
        (seen.known[seen.truth, :, 0], seen.anonymous),
        (seen.known[seen.truth, :, 1], seen.anonymous),
        (seen.known[:, :, 0], seen.known[:, :, 1]),
    ):
        agreeing = np.count_nonzero(one == other)
        assert stats.binomtest(agreeing, one.size, api.agreement).pvalue > RARE


def test_a_user_blocks_a_topic_at_all_sites_and_for_good():
    api = TopicsApi(topics=4, top=1, noise=0.0, blocked=0.5)
    seen = api.observe(Fixed.copies([[2], [2], [2]], 4, 1_000), sites=3, seed=7)
    assert (seen.known == seen.known[:, :1, :1]).all()
    assert (seen.anonymous == seen.known[seen.truth, :, 0]).all()
    assert 400 < np.count_nonzero(seen.known[:, 0, 0] == 2) < 600


def test_each_site_has_its_row_of_presence():
    api = TopicsApi(topics=4, top=1, noise=0.0, presence=[[1.0] * 4, [0.0] * 4, [1, 1, 0, 1]])
    seen = api.observe(Fixed.of([[[1], [2]]], 4), sites=3, seed=7)
    assert seen.known.tolist() == [[[1, 1], [2, -1]]]
    assert seen.anonymous.tolist() == [[-1, -1]]


def test_a_call_is_one_set_for_the_known_sites():
    api = TopicsApi(topics=9, top=1, noise=0.0, per_call=3)
    sets = [[[4], [2], [4], [8], [0], [1], [3]]]
    seen = api.observe(Fixed.of(sets, 9), sites=3, seed=7)
    first, second = [2, 4, -1], [0, 1, 8]
    assert seen.anonymous.tolist() == [[*first, *second]]
    assert seen.known[0].tolist() == [first + first] * 3 + [second + second] * 3


def test_absent_users_show_nothing():
    people = Fixed.of([[[0, 1], [-1, -1]], [[-1, -1], [2, 3]]], 4)
    seen = TopicsApi(topics=4, top=2, noise=1.0).observe(people, seed=7)
    assert (seen.known == -1).tolist() == [[False, True], [True, False]]


def test_buckets_are_asked_for_by_priority():
    people = synthetic_topics(2_000, topics=20, epochs=1, types=1, size=8, seed=1)
    api = TopicsApi(topics=20, noise=0.0, buckets=[topic % 2 for topic in range(20)])
    sets = people.sets(0, 2_000)[:, 0]
    enough = np.count_nonzero(sets % 2, axis=1) >= 5
    shown = api.observe(people, seed=7).known[:, 0]
    assert 100 < enough.sum() < 1_900
    assert (shown[enough] % 2 == 1).all()
    assert (shown[~enough] % 2 == 0).any()


def test_a_release_is_a_value():
    api = TopicsApi(topics=3, presence=np.array([0.1, 0.2, 0.3]), top=2)
    assert api == TopicsApi(topics=3, presence=[0.1, 0.2, 0.3], top=2)
    assert hash(api) == hash(replace(api))
    assert api.presence == (0.1, 0.2, 0.3)
    assert eval(repr(api)) == api  # noqa: S307  our own words
    with pytest.raises(FrozenInstanceError):
        api.noise = 0.5
    assert hash(EVERYTHING) == hash(replace(EVERYTHING))


def test_the_browser_has_its_rules():
    api = TopicsApi.browser(50, presence=0.7, top=3)
    assert (api.presence, api.memory, api.delay, api.per_call, api.top) == (0.7, 3, 2.0, 3, 3)
    seen = api.observe(world(epochs=6), targets=20, seed=7)
    assert (seen.slots, seen.set_size) == (6, 3)
    assert 0.2 < (seen.anonymous == -1).mean() < 0.8


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"topics": 0}, "not-a-whole-number"),
        ({"topics": "349"}, "not-a-whole-number"),
        ({"top": 0}, "not-a-whole-number"),
        ({"top": 5}, "top-too-large"),
        ({"noise": 5}, "not-a-probability"),
        ({"noise": -0.1}, "not-a-probability"),
        ({"noise": math.nan}, "not-a-number"),
        ({"absence": 1.5}, "not-a-probability"),
        ({"delay": -1}, "not-a-number"),
        ({"delay": 8}, "out-of-range"),
        ({"memory": 0}, "not-a-whole-number"),
        ({"per_call": 0}, "not-a-whole-number"),
        ({"every": 0}, "not-a-whole-number"),
        ({"blocked": None}, "not-a-number"),
        ({"buckets": []}, "length-mismatch"),
        ({"parents": []}, "length-mismatch"),
        ({"every": -1}, "not-a-whole-number"),
        ({"blocked": 2}, "not-a-probability"),
        ({"blocked": [0.1]}, "wrong-shape"),
        ({"blocked": [[0.1] * 4]}, "wrong-shape"),
        ({"blocked": [0.1, 0.2, math.nan, 0]}, "not-a-number"),
        ({"presence": "often"}, "not-a-probability"),
        ({"presence": [0.1, 0.2, 0.3, 1.4]}, "not-a-probability"),
        ({"presence": [[0.1] * 3]}, "wrong-shape"),
        ({"buckets": [1, 2]}, "length-mismatch"),
        ({"buckets": [0, 0, 0, 128]}, "length-mismatch"),
        ({"buckets": [0, 0, 0, 0.5]}, "not-a-whole-number"),
        ({"parents": [0, 0]}, "length-mismatch"),
        ({"parents": [-1, 0, 1, 4]}, "length-mismatch"),
        ({"parents": [1, 0, -1, -1]}, "parents-have-a-cycle"),
        ({"parents": [0, -1, -1, -1]}, "parents-have-a-cycle"),
    ],
)
def test_bad_releases_are_refused(change, code):
    with refuses(code):
        TopicsApi(**{"topics": 4, "top": 2, **change})


@pytest.mark.parametrize(
    ("release", "change", "code"),
    [
        ({}, {"targets": 4}, "too-many-targets"),
        ({}, {"targets": 0}, "not-a-whole-number"),
        ({}, {"sites": 1}, "not-a-whole-number"),
        ({}, {"seed": -1}, "not-a-whole-number"),
        ({"topics": 9}, {}, "alphabet-mismatch"),
        ({"per_call": 3}, {}, "too-few-epochs"),
        ({"presence": [[0.5] * 4] * 2}, {"sites": 3}, "length-mismatch"),
    ],
)
def test_bad_observations_are_refused(release, change, code):
    people = Fixed.copies([[0, 1], [2, 3]], 4, 3)
    api = TopicsApi(**{"topics": 4, "top": 2, **release})
    with refuses(code):
        api.observe(people, **{"seed": 7, **change})


def test_bad_rows_are_refused():
    with refuses("not-a-whole-number"):
        TopicsApi(topics=4, top=2).rows(Fixed.copies([[0, 1]], 4, 3), site=0)
