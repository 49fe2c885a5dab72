"""Rows that are made when asked for are those that would be held; nobody holds all users."""

import functools
import itertools
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.releases.slow_observing import slow_observe
from tests.snapshots import refuses

from reidrisk import (
    Cohorts,
    Generalised,
    ItemSamples,
    LocalEngine,
    MinimumUsers,
    RandomisedResponse,
    ReferenceEngine,
    TooLarge,
    TopicsApi,
)
from reidrisk.core.rows import Kind, TokenRows
from reidrisk.data import make_profiles, synthetic_topics
from reidrisk.engines import local
from reidrisk.people import sampling
from reidrisk.people.bottom_k import BottomK
from reidrisk.people.sampling import Rule, Share, select
from reidrisk.releases import observe, prepared, reveal
from reidrisk.releases.lazy_rows import LazyRows

_CALLS = TopicsApi(topics=6, top=2, noise=0.2, per_call=2, every=1, delay=2.0)
RELEASES = {
    "topics": TopicsApi(topics=6, top=2, noise=0.2),
    "every second week": TopicsApi(topics=6, top=2, noise=0.2, every=2),
    "absence": TopicsApi(topics=6, top=2, noise=0.2, absence=0.01),
    "witnessing": TopicsApi(topics=6, top=2, noise=0.2, presence=0.9),
    "blocked": TopicsApi(topics=6, top=2, noise=0.2, blocked=0.01),
    "calls": _CALLS,
    "randomised response": RandomisedResponse(epsilon=1.0),
    "item samples": ItemSamples(samples=3),
    "generalised": Generalised(users=9, of=ItemSamples(samples=3)),
    "generalised calls": Generalised(users=9, of=_CALLS),
    "minimum users": MinimumUsers(users=150, of=RandomisedResponse(epsilon=1.0)),
    "cohorts": Cohorts(users=3),
}
ALL_THERE = synthetic_topics(300, topics=6, epochs=4, size=2, seed=1)
AWAY = make_profiles(
    [f"user {row % 211}" for row in range(900)],
    [row * 7 // 3 % 4 for row in range(900)],
    [row * 5 % 6 for row in range(900)],
    [1 + row % 3 for row in range(900)],
    absent="missing",
)
PEOPLE = {"all there": ALL_THERE, "away at times": AWAY}


class Watch:
    """A hold that keeps what it was given, and counts how often it was asked."""

    def __init__(self):
        self.rows = []

    def __call__(self, rows):
        self.rows.append(rows)
        return rows


@pytest.fixture(params=[1 << 12, 64], ids=["one chunk", "chunks of 64"])
def chunks(request, monkeypatch):
    """People are counted in chunks, of which nothing depends."""
    monkeypatch.setattr(sampling, "CHUNK", request.param)
    monkeypatch.setattr(sampling, "_AT_A_TIME", request.param * 2)
    monkeypatch.setattr("reidrisk.releases.lazy_rows.USERS_AT_A_TIME", max(request.param // 4, 16))


HOW = {
    "all": {},
    "three sites": {"sites": 3, "targets": 40},
    "strangers": {"strangers": 0.3, "targets": 20, "sites": 2},
}


@functools.cache
def slowly_seen(release, people, how):
    """What is seen according to the definition; chunks are nothing to it."""
    return slow_observe(RELEASES[release], PEOPLE[people], seed=5, **HOW[how])


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("how", HOW)
@pytest.mark.usefixtures("chunks")
def test_they_are_those_that_observe_holds(release, people, how):
    slow = slowly_seen(release, people, how)
    release, people, how = RELEASES[release], PEOPLE[people], HOW[how]
    watch = Watch()
    for seen in (observe(release, people, seed=5, **how, hold=watch),
                 observe(release, people, seed=5, **how)):  # fmt: skip
        for name in ("anonymous", "truth", "true_rows", "strangers"):
            np.testing.assert_array_equal(getattr(seen, name), getattr(slow, name), name)
        assert seen.known.complete == slow.known.complete
    (rows,) = watch.rows
    same_rows(rows, slow.known)
    same_rows(pickle.loads(pickle.dumps(rows)), slow.known)  # noqa: S301
    same_rows(rows.part(30, 90), slow.known.part(30, 90))
    if rows.slots > 1:
        same_rows(rows.prefix(1), slow.known.prefix(1))
        same_rows(
            rows.part(3, 70).prefix(1).part(2, 9), slow.known.part(3, 70).prefix(1).part(2, 9)
        )


def same_rows(rows, held):
    """Whatever is asked of them."""
    for name in ("kind", "users", "slots", "set_size", "tokens", "complete"):
        assert getattr(rows, name) == getattr(held, name), name
    some = np.array([rows.users - 1, 0, 5, 5, 3])
    for made, kept in (
        (rows.block(0, rows.users), held.block(0, held.users)),
        (rows.block(2, 7), held.block(2, 7)),
        (rows.block(3, 3), held.block(3, 3)),
        (rows.take(some), held.take(some)),
        (rows.select(some).block(0, 5), held.select(some).block(0, 5)),
    ):
        np.testing.assert_array_equal(made, kept)
        assert made.dtype == kept.dtype
        assert made.flags.c_contiguous
    assert not rows.block(0, 1).flags.writeable


@pytest.mark.parametrize("people", PEOPLE.values(), ids=PEOPLE)
@pytest.mark.parametrize("strangers", [0.0, 0.4])
@pytest.mark.parametrize("release", [RELEASES["topics"], RELEASES["randomised response"]])
@pytest.mark.usefixtures("chunks")
def test_secrets_are_those_that_reveal_holds(release, people, strangers):
    watch = Watch()
    reveal(release, people, strangers=strangers, targets=9, seed=5, hold=watch)
    slow = slow_observe(
        release, people, strangers=strangers, targets=9, seed=5, secrets=True
    )  # fmt: skip
    same_rows(watch.rows[0], slow.known)


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, 300), max_size=8), sites=st.integers(2, 3))
def test_blocks_may_be_cut_anyhow(cuts, sites):
    watch = Watch()
    observe(_CALLS, ALL_THERE, sites=sites, strangers=0.2, targets=3, seed=2, hold=watch)
    (rows,) = watch.rows
    edges = sorted({0, *(min(cut, rows.users) for cut in cuts), rows.users})
    blocks = [rows.block(*ends) for ends in itertools.pairwise(edges)]
    slow = slow_observe(_CALLS, ALL_THERE, sites=sites, strangers=0.2, targets=3, seed=2)
    np.testing.assert_array_equal(np.concatenate(blocks), slow.known.values)


@pytest.mark.parametrize("people", PEOPLE.values(), ids=PEOPLE)
@pytest.mark.usefixtures("chunks")
def test_each_row_has_its_user(people):
    watch = Watch()
    seen = observe(RELEASES["cohorts"], people, strangers=0.4, targets=30, seed=5, hold=watch)
    (rows,) = watch.rows
    draws = Share("observe/strangers", 0.4, 5).of(people.ids)
    np.testing.assert_array_equal(rows.ids(0, rows.users), people.ids[~draws])
    np.testing.assert_array_equal(rows.part(7, 99).ids(2, 9), people.ids[~draws][9:16])
    np.testing.assert_array_equal(rows.ids_of(seen.truth), people.ids[~draws][seen.truth])
    places = rows.rows_of_people(seen.truth)
    np.testing.assert_array_equal(people.ids[places], rows.ids_of(seen.truth))


def test_a_row_beyond_the_last_is_no_row():
    rows = LazyRows.of(RELEASES["topics"], ALL_THERE, sites=(1,), seed=1)
    np.testing.assert_array_equal(rows.take(np.array([-1])), rows.take(np.array([299])))
    for wrong in (300, -301):
        with pytest.raises(IndexError):
            rows.take(np.array([wrong]))


def test_rows_travel_light():
    people = synthetic_topics(10**9, topics=6, epochs=4, size=2)
    rows = LazyRows.of(RELEASES["topics"], people, sites=(1, 3), seed=1)
    assert len(pickle.dumps(rows)) < 10_000
    assert rows.kind is Kind.SETS
    assert rows.complete
    assert rows.block(999_999_990, 10**9).shape == (10, 4, 2)
    assert rows.array_bytes == 10**9 * 4 * 2


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("people", PEOPLE.values(), ids=PEOPLE)
def test_what_is_proved_complete_is_complete(name, people):
    rows = LazyRows.of(prepared(RELEASES[name], people), people, sites=(1, 3), seed=1)
    if rows.surely_complete:
        assert (rows.block(0, rows.users) >= 0).all()
    proved = {"topics", "every second week", "randomised response", "cohorts"}
    if people is ALL_THERE:
        assert rows.surely_complete == (name in proved)
    else:
        assert rows.surely_complete == (name == "cohorts")


def test_a_release_that_shows_what_it_may_not_is_found_out():
    class Wrong:
        name = "wrong"

        def slots(self, people):
            return people.epochs

        def show(self, people, start, stop, *, site, seed, again=0):
            shown = np.zeros((stop - start, people.epochs), np.int32)
            shown[people.ids[start:stop] == 77, 1] = 6
            return shown

    with refuses("token-out-of-range"):
        observe(Wrong(), ALL_THERE, seed=1)
    rows = LazyRows.of(Wrong(), ALL_THERE, sites=(1,), seed=1).part(70, 90)
    with refuses("token-out-of-range"):
        rows.block(0, 20)


def test_what_is_left_of_memory_does_not_grow_with_users():
    """People are counted, targets chosen, and nobody is held."""

    def most(users):
        people = synthetic_topics(users, topics=20, epochs=2, size=2, seed=1)
        release = TopicsApi(topics=20, top=2)
        observe(release, people, targets=50, strangers=0.2, seed=3, hold=forget)  # compiled
        tracemalloc.start()
        observe(release, people, targets=50, strangers=0.2, seed=3, hold=forget)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    assert most(1_600_000) < 1.5 * most(200_000) + (1 << 20)


def forget(rows):
    """Rows of which nothing is kept but those of the targets."""

    class Forgotten:
        kind, users, slots, set_size = rows.kind, rows.users, rows.slots, rows.set_size
        tokens, complete, codec = rows.tokens, rows.complete, rows.codec

        def block(self, start, stop):
            raise AssertionError

        def take(self, some):
            return rows.take(some)

        def select(self, some):
            return rows.select(some)

    return Forgotten()


def test_engines_hold_rows_in_memory():
    rows = LazyRows.of(_CALLS, ALL_THERE, sites=(1,), seed=1)
    for engine in (LocalEngine(), ReferenceEngine()):
        held = engine.hold(rows)
        assert isinstance(held.values, np.ndarray)
        same_rows(rows, held)
        assert engine.hold(held) is held


def test_rows_that_do_not_fit_into_memory_are_held_on_disk(monkeypatch, tmp_path):
    monkeypatch.setattr(local, "usable_memory", lambda: 1000)
    monkeypatch.setattr(local.tempfile, "tempdir", str(tmp_path))
    rows = LazyRows.of(_CALLS, ALL_THERE, sites=(1,), seed=1)
    held = LocalEngine().hold(rows)
    assert isinstance(held.values, np.memmap)
    assert not list(tmp_path.iterdir()), "the file has no name"
    same_rows(rows, held)


def test_a_full_disk_is_told_at_once(monkeypatch):
    monkeypatch.setattr(local, "usable_memory", lambda: 1000)
    rows = LazyRows.of(TopicsApi(), synthetic_topics(10**15), sites=(1,), seed=1)
    with refuses("out-of-disk", TooLarge) as told:
        LocalEngine().hold(rows)
    assert "\n" not in str(told.value)
    assert isinstance(LocalEngine().hold(TokenRows([[1]], tokens=2)), TokenRows)


def test_room_on_disk_is_taken_before_rows_are_made(monkeypatch):
    def full(file, start, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(local, "usable_memory", lambda: 1000)
    monkeypatch.setattr(local.os, "posix_fallocate", full)
    rows = LazyRows.of(TopicsApi(), synthetic_topics(1000), sites=(1,), seed=1)
    with refuses("out-of-disk", TooLarge):
        LocalEngine().hold(rows)


@given(
    draws=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75]), min_size=1, max_size=60),
    wanted=st.one_of(st.none(), st.integers(0, 70)),
    cuts=st.lists(st.integers(0, 60), max_size=6),
    seed=st.integers(0, 99),
)
def test_the_smallest_are_the_smallest(draws, wanted, cuts, seed):
    draws, rows = np.array(draws), np.arange(len(draws)) * 3
    order = np.random.default_rng(seed).permutation(len(draws))
    nothing = np.array([], int)
    parts = [BottomK(wanted).add(nothing * 1.0, nothing, nothing) for _ in range(3)]
    for place, some in enumerate(np.split(order, sorted(min(cut, len(order)) for cut in cuts))):
        parts[place % 3].add(draws[some], rows[some], rows[some] % 7)
    kept = parts[2].add(*parts[0].kept).merge(parts[1]).kept
    order = np.lexsort((rows, draws))[:wanted]
    for found, right in zip(kept, (draws, rows, rows % 7), strict=True):
        np.testing.assert_array_equal(found, right[order])


def test_only_as_many_are_held_as_are_wanted():
    kept = BottomK(10)
    for start in range(0, 10_000, 100):
        kept.add(np.random.default_rng(start).random(100), np.arange(start, start + 100))
        assert kept.held <= 120


@pytest.mark.parametrize("people", PEOPLE.values(), ids=PEOPLE)
@pytest.mark.usefixtures("chunks")
def test_a_census_counts_groups_and_finds_the_first(people):
    mine, yours = Share("mine", 0.3, 1), Share("yours", 0.5, 1)
    draws = Rule(inside=(mine,), outside=(yours,)).of(people.ids)
    np.testing.assert_array_equal(draws, mine.of(people.ids) & ~yours.of(people.ids))
    everybody, some, nobody = select(
        people,
        [(Rule(), 7), (Rule((mine,), (yours,)), None), (Rule((mine,), (mine,)), 3)],
        purpose="first",
        seed=1,
    )
    assert everybody.users == people.users
    assert nobody.users == len(nobody.first) == 0
    assert some.users == draws.sum()
    order = np.argsort(Share("first", 1, 1).draws(people.ids), kind="stable")
    np.testing.assert_array_equal(everybody.first, order[:7])
    np.testing.assert_array_equal(some.first, order[draws[order]])
    np.testing.assert_array_equal(np.flatnonzero(draws)[some.places(people)], some.first)
    np.testing.assert_array_equal(everybody.places(people), everybody.first)
