"""Coarser tokens and withheld ones: what is shown is a function of what another release shows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import ItemSamples, RandomisedResponse, TopicsApi
from reidrisk.core.observations import MISSING
from reidrisk.data import make_profiles, synthetic_topics
from reidrisk.people.subset import Subset
from reidrisk.releases import (
    Cohorts,
    Generalised,
    MinimumUsers,
    Recodes,
    observe,
    prepared,
    repeat,
    reveal,
)
from reidrisk.releases.postprocess import Mapped, MappedExactly
from reidrisk.releases.support import holders_of, merged

TWO = ItemSamples(samples=2)
RELEASES = [
    Generalised(users=2, of=TWO),
    MinimumUsers(users=2, of=TWO),
    Generalised(rounding=3, of=RandomisedResponse(epsilon=1.0)),
    Cohorts(users=2),
]


def baskets(held, labels):
    """People with one epoch; `held[user]` are the tokens of a user."""
    pairs = [(user, token) for user, tokens in enumerate(held) for token in tokens]
    users, tokens = zip(*pairs, strict=True)
    names = [labels[token] for token in tokens]
    return make_profiles(users, [0] * len(users), names, taxonomy=labels)


PEOPLE = baskets([(0, 1), (0, 2), (0, 3, 4), (0, 4), (4, 5), (1,)], list(range(6)))


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_a_survey_gives_the_same_in_any_chunking(release, monkeypatch):
    whole = observe(release, PEOPLE, seed=3)
    again = repeat(release, PEOPLE, np.array([4, 0, 2]), repeats=3, seed=3)
    shows = prepared(release, PEOPLE)
    few = Subset.of(PEOPLE, np.array([1, 4]))
    np.testing.assert_array_equal(
        shows.show(few, 0, 2, site=1, seed=3), np.asarray(whole.known)[[1, 4]]
    )
    monkeypatch.setattr("reidrisk.releases.lazy_rows.USERS_AT_A_TIME", 1)
    monkeypatch.setattr("reidrisk.releases.profiles.USERS_AT_A_TIME", 2)
    cut = observe(release, PEOPLE, seed=3)
    np.testing.assert_array_equal(np.asarray(cut.known), np.asarray(whole.known))
    np.testing.assert_array_equal(cut.anonymous, whole.anonymous)
    np.testing.assert_array_equal(
        again, repeat(release, PEOPLE, np.array([4, 0, 2]), repeats=3, seed=3)
    )


def test_a_prepared_release_is_not_surveyed_again():
    """Who sees only some of the people must not survey those."""
    shows = prepared(MinimumUsers(users=3, of=TWO), PEOPLE)
    assert prepared(shows, Subset.of(PEOPLE, np.array([5]))) is shows


@given(
    held=st.lists(st.sets(st.integers(0, 7), max_size=4), min_size=2, max_size=8),
    least=st.integers(1, 5),
)
def test_groups_are_those_of_the_rule(held, least):
    """The rule once more, with sets and in words."""
    if not any(held):
        return
    people = baskets([*held, {0}], list(range(8)))
    held = [*(one for one in held if one), {0}]  # make_profiles knows only who has something
    who = [{user for user, mine in enumerate(held) if token in mine} for token in range(8)]
    own = np.arange(8, dtype=np.int32)
    assert holders_of(people, own, 8).tolist() == [len(mine) for mine in who]
    alone = [token for token in range(8) if len(who[token]) >= least]
    groups, open_group = [[token] for token in alone], []
    closed = []
    for token in range(8):
        if token not in alone:
            open_group.append(token)
            if len(set().union(*(who[one] for one in open_group))) >= least:
                closed.append(open_group)
                open_group = []
    if open_group and closed:
        closed[-1] += open_group
    elif open_group and alone:
        smallest = min(range(len(alone)), key=lambda place: len(who[alone[place]]))
        groups[smallest] = groups[smallest] + open_group
    elif open_group:
        with refuses("too-few-users", snapshot=False):
            merged(people, own, 8, least)
        return
    found = merged(people, own, 8, least).tolist()
    expected = sorted(sorted(group) for group in groups + closed)
    assert [[token for token in range(8) if found[token] == one]
            for one in range(max(found) + 1)] == expected  # fmt: skip
    for group in expected:
        assert len(set().union(*(who[token] for token in group))) >= least


@pytest.mark.parametrize("of", [TWO, RandomisedResponse(epsilon=0.7), ItemSamples(2, True, False)])  # noqa: FBT003
@pytest.mark.parametrize("make", [lambda of: Generalised(users=3, of=of),
                                  lambda of: MinimumUsers(users=2, of=of)])  # fmt: skip
def test_what_is_shown_is_a_function_of_what_the_other_shows(of, make):
    shows = prepared(make(of), PEOPLE)
    assert isinstance(shows, MappedExactly)
    before = of.show(PEOPLE, 0, 6, site=2, seed=5)
    after = shows.show(PEOPLE, 0, 6, site=2, seed=5)
    for old, new in zip(before.ravel().tolist(), after.ravel().tolist(), strict=True):
        assert new == (-1 if old < 0 else shows.table[old])
    rows, exact = of.rows(PEOPLE, site=2, seed=5), shows.rows(PEOPLE, site=2, seed=5)
    sums = {}
    for outcome, column in zip(rows.outcomes.tolist(), rows.chances.toarray().T, strict=True):
        key = tuple(-1 if token < 0 else int(shows.table[token]) for token in outcome)
        sums[key] = sums.get(key, 0) + column
    assert [tuple(row) for row in exact.outcomes.tolist()] == sorted(sums)
    for row, column in zip(exact.outcomes.tolist(), exact.chances.toarray().T, strict=True):
        np.testing.assert_allclose(column, sums[tuple(row)])


def test_tokens_of_few_users_are_withheld():
    shows = prepared(MinimumUsers(users=3, of=TWO), PEOPLE)
    assert shows.table.tolist() == [0, -1, -1, -1, 1, -1]
    assert shows.labels.tolist() == [0, 4]
    assert shows.tokens(PEOPLE) == 2
    seen = observe(MinimumUsers(users=3, of=TWO), PEOPLE, seed=1)
    assert np.asarray(seen.known)[5].tolist() == [-1, -1]
    # Users 0, 1, 2 and 4 have rare items: half, half, a third and half of what they have; 5 all.
    shares = np.array([1 / 2, 1 / 2, 1 / 3, 0, 1 / 2, 1])
    assert shows.withheld.one == pytest.approx(shares.mean())
    assert shows.withheld.both == pytest.approx((shares**2).mean())
    chances = shows.gaps(np.full(2, shares.mean()))
    assert chances.both[0] == pytest.approx((shares**2).mean())


def test_tokens_that_come_at_once_stay_a_set():
    """Their order would tell what they were; equal ones are shown once."""
    people = synthetic_topics(400, topics=12, epochs=6, types=4, size=3, seed=1)
    of = TopicsApi(topics=12, top=3, noise=0.1, per_call=3, every=1)
    shows = prepared(Generalised(users=150, of=of), people)
    assert shows.together == 3
    before = of.show(people, 0, 400, site=1, seed=2).reshape(400, -1, 3)
    after = shows.show(people, 0, 400, site=1, seed=2).reshape(400, -1, 3)
    for old, new in zip(before.reshape(-1, 3).tolist(), after.reshape(-1, 3).tolist(), strict=True):
        tokens = sorted({int(shows.table[token]) for token in old if token >= 0})
        assert new == tokens + [-1] * (3 - len(tokens))
    seen = observe(Generalised(users=150, of=of), people, seed=2)
    assert np.asarray(seen.known).shape == (400, 18, 3)


TREE = ["/Arts/Music/Jazz", "/Arts/Music/Rock", "/Arts/Film", "/Sport", "Arts/Music", "/Arts"]


@pytest.mark.parametrize(
    ("how", "labels", "shown"),
    [
        ({"depth": 1}, TREE, ["/Arts"] * 3 + ["/Sport", "Arts", "/Arts"]),
        ({"depth": 2}, TREE,
         ["/Arts/Music"] * 2 + ["/Arts/Film", "/Sport", "Arts/Music", "/Arts"]),
        ({"depth": 1, "between": "."}, ["a.b", "a.c", "b"], ["a", "a", "b"]),
        ({"rounding": 10}, [4, 5, 14, 15, -6, 100], ["0", "10", "10", "20", "-10", "100"]),
        ({"rounding": 1}, [4006381333931, 4006381333932], ["4006381333931", "4006381333932"]),
        ({"rounding": 0.1}, ["0.15", "0.25", "-0.05"], ["0.2", "0.3", "0"]),
        ({"rounding": 0.25}, ["0.1", "0.2", "1e3"], ["0", "0.25", "1000"]),
        ({"dates": "day"}, ["2024-05-31", "2024-05-31T17:00", "2024-06-01"],
         ["2024-05-31", "2024-05-31", "2024-06-01"]),
        ({"dates": "week"}, ["2024-12-30", "2025-01-01", "2025-01-06"],
         ["2025-W01", "2025-W01", "2025-W02"]),
        ({"dates": "month"}, ["2024-05-31", "2024-06-01"], ["2024-05", "2024-06"]),
        ({"dates": "year"}, ["2024-05-31", "2024-06-01", "1999-01-01"], ["2024", "2024", "1999"]),
    ],
)  # fmt: skip
def test_labels_become_coarser(how, labels, shown):
    people = baskets([range(len(labels))], labels)
    shows = prepared(Generalised(of=TWO, **how), people)
    names = dict(zip(people.labels.tolist(), shows.labels[shows.table].tolist(), strict=True))
    assert [names[label] for label in labels] == shown
    assert len(set(shows.labels.tolist())) == len(shows.labels)


def test_a_taxonomy_may_stand_beside_the_labels():
    people = baskets([(0, 1, 2)], [11, 12, 13])
    release = Generalised(depth=1, taxonomy=("/a/b", "/a/c", "/d"), of=TWO)
    assert prepared(release, people).labels.tolist() == ["/a", "/d"]
    with refuses("length-mismatch"):
        prepared(release, PEOPLE)


def test_labels_of_groups_say_how_many_were_merged():
    shows = prepared(Generalised(users=3, of=TWO), PEOPLE)
    assert shows.labels.tolist() == ["0", "1 and 3 more", "4"]
    people = synthetic_topics(50, topics=6, epochs=1, types=2, size=2, seed=1)
    assert prepared(Generalised(users=1, of=TWO), people).labels.tolist() == list("012345")


def test_maps_of_maps():
    release = MinimumUsers(users=4, of=Generalised(rounding=3, of=TWO))
    shows = prepared(release, PEOPLE)
    assert isinstance(shows, Recodes)
    assert shows.of.labels.tolist() == ["0", "3", "6"]  # 0 1 | 2 3 4 | 5
    assert shows.recoded.tolist() == [0, 0, 1, 1, 1, -1]
    assert shows.labels.tolist() == ["0", "3"]
    # Users 0, 2 and 3 hold two tokens that have become one.
    assert holders_of(PEOPLE, np.array([0, 0, 1, 1, 1, 2], np.int32), 3).tolist() == [5, 4, 1]


class Opaque:
    """Shows whether a user has many tokens; it cannot say more."""

    name = "opaque"

    def slots(self, people):
        return 1

    def tokens(self, people):
        return 2

    def show(self, people, start, stop, *, site, seed, again=0):
        sizes = np.diff(people.cells(start, stop).starts)
        return (sizes > 1).astype(int)[:, None]

    def promises(self, people, slots):
        return ()


def test_a_release_that_can_do_less_is_mapped_too():
    release = Generalised(depth=1, taxonomy=("few", "many"), of=Opaque())
    shows = prepared(release, PEOPLE)
    assert type(shows) is Mapped
    assert observe(release, PEOPLE, seed=1).known.users == 6
    assert not hasattr(shows, "rows")
    assert shows.there(PEOPLE, 0, 6).all()
    with refuses("unsupported-release"):
        reveal(release, PEOPLE, seed=1)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (Generalised, "conflicting-arguments"),
        (lambda: Generalised(users=3, depth=1), "conflicting-arguments"),
        (lambda: Generalised(users=0), "not-a-whole-number"),
        (lambda: Generalised(rounding=0), "out-of-range"),
        (lambda: Generalised(dates="hour"), "unknown-choice"),
        (lambda: Generalised(users=2, taxonomy=("a",)), "missing-argument"),
        (lambda: Generalised(depth=1, between=""), "missing-argument"),
        (lambda: MinimumUsers(users=0), "not-a-whole-number"),
        (lambda: Cohorts(users=1.5), "not-a-whole-number"),
    ],
)
def test_bad_releases_are_refused(make, code):
    with refuses(code):
        make()


SYNTHETIC = synthetic_topics(30, topics=6, epochs=1, types=2, size=2, seed=1)
WORDS = baskets([(0, 1)], ["ten", "2024-13-01"])


@pytest.mark.parametrize(
    ("release", "people", "code"),
    [
        (Generalised(users=7), PEOPLE, "too-few-users"),
        (MinimumUsers(users=7), PEOPLE, "too-few-users"),
        (Cohorts(users=7), PEOPLE, "too-few-users"),
        (Generalised(depth=1), SYNTHETIC, "no-labels"),
        (Generalised(rounding=10), WORDS, "wrong-label-type"),
        (Generalised(dates="year"), WORDS, "wrong-label-type"),
        (MinimumUsers(users=2, of=Cohorts(users=2)), PEOPLE, "unsupported-release"),
        (Generalised(depth=1, of=Cohorts(users=2)), PEOPLE, "no-labels"),
    ],
)  # fmt: skip
def test_people_who_cannot_be_shown_so_are_refused(release, people, code):
    with refuses(code):
        observe(release, people, seed=1)


def test_draws_of_items_are_those_of_a_slow_walk():
    """One coin a draw: the first item whose weights, with those before it, exceed coin x total."""
    from reidrisk.core.randomness import uniforms

    random = np.random.default_rng(4)
    held = [sorted(random.choice(40, size, replace=False).tolist()) for size in (1, 3, 17, 40)]
    pairs = [(user, token) for user, mine in enumerate(held) for token in mine]
    users, tokens = zip(*pairs, strict=True)
    weights = random.integers(1, 50, len(pairs))
    people = make_profiles(users, [0] * len(pairs), tokens, weights, taxonomy=range(40))
    for by_count, replacement in itertools.product((True, False), repeat=2):
        release = ItemSamples(5, by_count, replacement)
        rows = release.show(people, 0, 4, site=1, seed=9)
        coins = uniforms(seed=9, purpose="item samples/site 1/again 0", users=people.ids, count=5)
        there = release.there(people, 0, 4)
        for user, row in enumerate(rows.tolist()):
            left = {
                token: int(weight) if by_count else 1
                for (one, token), weight in zip(pairs, weights, strict=True)
                if one == user
            }
            for slot, shown in enumerate(row):
                assert there[user, slot] == bool(left)
                if not left:
                    assert shown == -1
                    continue
                goal = coins[user, slot] * sum(left.values())
                sums = itertools.accumulate(left.values())
                expected = next(token for token, reached in zip(left, sums, strict=True)
                                if reached > goal)  # fmt: skip
                assert shown == expected
                if not replacement:
                    del left[expected]


def test_a_map_of_a_map_takes_what_comes_at_once_token_by_token():
    """Two topics a call are a set, but the tokens that people hold are none."""
    weeks = make_profiles([0, 0, 1, 1, 2, 2], [0, 1] * 3, [0, 1, 0, 2, 1, 2], taxonomy=range(4))
    pairs = MinimumUsers(users=2, of=TopicsApi(topics=4, top=1, noise=0, per_call=2))
    shows = prepared(Generalised(users=3, of=pairs), weeks)
    assert isinstance(shows, Recodes)
    assert shows.recoded.tolist()[3] == MISSING
    held = shows.recoded[:3]
    assert len(set(held.tolist())) == 1
    shown = shows.show(weeks, 0, 3, site=1, seed=1)
    assert set(shown.ravel().tolist()) == {*held.tolist(), MISSING}
