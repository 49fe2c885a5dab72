"""No upper bound is below what the best attacker reaches, whatever the release and the people."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.releases.worlds import Fixed

from reidrisk import (
    Cohorts,
    Generalised,
    InvalidInput,
    ItemSamples,
    MinimumUsers,
    Observations,
    RandomisedResponse,
    TopicsApi,
    theory,
)
from reidrisk.data import make_profiles
from reidrisk.releases import observe, prepared
from reidrisk.risk.bounds import Setting, bounds_in

TOKENS = 4
SURE = 1 - 1e-6


def chances(release, people, slots, seed):
    """For each user the chance of each row of the first slots, by adding up."""
    rows = release.rows(people, site=2, seed=seed)
    table = rows.chances.toarray()
    users = [defaultdict(float) for _ in range(people.users)]
    for column, outcome in enumerate(rows.outcomes[:, :slots].tolist()):
        for user, mine in enumerate(users):
            mine[tuple(outcome)] += table[user, column]
    return users


def best(release, people, slots, seed):
    """The exact optimum over whole rows, gaps included."""
    users = chances(release, people, slots, seed)
    return sum(max(mine[row] for mine in users) for row in set().union(*users)) / len(users)


def best_of_assessed(release, people, slots, seed, seen):
    """The same among users and rows that an attack assesses, as a share of these."""
    users = [
        mine
        for mine, known in zip(chances(release, people, slots, seed), seen.known, strict=True)
        if (known[:slots] >= 0).any()
    ]
    rows = {row for mine in users for row in mine if max(row) >= 0}
    total = sum(mine[row] for mine in users for row in rows)
    return sum(max(mine[row] for mine in users) for row in rows) / total if total else 0.0


def check(release, people, seed):
    """All uppers after every number of slots, with people and without; how many there were."""
    release = prepared(release, people)
    seen = observe(release, people, seed=seed)
    if release.slots(people) == people.epochs:
        exact = theory.random_user_optimum(release.rows(people, site=2, seed=seed).chances)
        assert exact == pytest.approx(best(release, people, seen.slots, seed))
    names = set()
    for slots in range(1, seen.slots + 1):
        reached = [
            best(release, people, slots, seed),
            best_of_assessed(release, people, slots, seed, seen),
        ]
        for setting in (
            Setting(seen, slots, SURE, release=release, people=people, seed=seed),
            Setting(seen, slots, SURE, release=release, people=people),
            Setting(seen, slots, SURE, release=release),
        ):
            for bound in bounds_in(setting):
                if bound.side == "upper":
                    assert bound.estimate.high >= max(reached) - 1e-12, (bound, slots)
                    names.add(bound.name)
    return names


@st.composite
def crowds(draw, *, top, epochs=(1, 3)):
    """Two to four people, some of them away at times."""
    users, weeks = draw(st.integers(2, 4)), draw(st.integers(*epochs))
    orders = st.permutations(range(TOKENS))
    sets = [[draw(orders)[:top] for _ in range(weeks)] for _ in range(users)]
    away = draw(st.lists(st.booleans(), min_size=users * weeks, max_size=users * weeks))
    gone = np.array(away).reshape(users, weeks, 1) & draw(st.booleans())
    return Fixed.of(np.where(gone, -1, np.array(sets)), TOKENS)


SWITCHES = st.fixed_dictionaries(
    {"noise": st.sampled_from([0.0, 0.2, 0.95, 1.0])},
    optional={
        "absence": st.sampled_from([0.3, 1.0]),
        "delay": st.sampled_from([2.0, 7.0]),
        "per_call": st.just(2),
        "every": st.integers(1, 2),
        "presence": st.sampled_from([1.0, 0.5, (1.0, 0.0, 1.0, 0.3)]),
        "blocked": st.sampled_from([0.4, (0.0, 1.0, 0.5, 0.0), (0.0, 1.0, 0.0, 0.0)]),
    },
)


@settings(max_examples=50)
@given(data=st.data(), top=st.integers(1, 2), switches=SWITCHES, seed=st.integers(0, 9))
def test_topics(data, top, switches, seed):
    people = data.draw(crowds(top=top, epochs=(max(switches.get("every", 1), 1), 3)))
    release = TopicsApi(topics=TOKENS, top=top, **switches)
    if release.slots(people):
        check(release, people, seed)


@given(crowds(top=1), st.sampled_from([0.0, 0.1, 2.0, 30.0, np.inf]), st.integers(0, 9))
def test_randomised_response(people, epsilon, seed):
    check(RandomisedResponse(epsilon=epsilon), people, seed)


@given(crowds(top=2, epochs=(1, 2)), st.integers(1, 3), st.booleans(), st.integers(0, 9))
def test_item_samples(people, samples, replacement, seed):
    check(ItemSamples(samples=samples, replacement=replacement), people, seed)


OTHERS = st.sampled_from(
    [
        RandomisedResponse(epsilon=0.1),
        RandomisedResponse(epsilon=2.0),
        TopicsApi(topics=TOKENS, top=1, noise=0.95),
        TopicsApi(topics=TOKENS, top=1, noise=0.5, per_call=2, every=1),
        ItemSamples(samples=2),
        Cohorts(users=2),
    ]
)
PATHS = ("/a/b", "/a/c", "/d", "/d/e")


@given(
    people=crowds(top=1, epochs=(1, 2)),
    of=OTHERS,
    make=st.sampled_from(
        [
            lambda of: Generalised(users=2, of=of),
            lambda of: Generalised(depth=1, taxonomy=PATHS, of=of),
            lambda of: MinimumUsers(users=2, of=of),
            lambda of: MinimumUsers(users=2, of=Generalised(depth=1, taxonomy=PATHS, of=of)),
        ]
    ),
    seed=st.integers(0, 9),
)
def test_functions_of_other_releases(people, of, make, seed):
    """What the other release promises holds, also among those of whom something is shown."""
    try:
        release = prepared(make(of), people)
    except InvalidInput:
        return  # nobody holds enough, or cohorts are no tokens
    if release.slots(people):
        check(release, people, seed)


@given(crowds(top=2), st.integers(1, 4), st.integers(0, 9))
def test_cohorts(people, users, seed):
    if users <= people.users:
        names = check(Cohorts(users=users), people, seed)
        assert ("promised k-anonymity" in names) == (people.users // (people.users // users) > 1)


def test_a_promise_holds_among_those_of_whom_something_is_left():
    """Half of the users lose everything; for the others the promise still counts all of them."""
    people = Fixed.of([[[0]], [[0]], [[1]], [[2]]], TOKENS)
    release = MinimumUsers(users=2, of=RandomisedResponse(epsilon=0.5))
    assert "local privacy" in check(release, people, 3)


def test_every_upper_was_looked_at():
    """The worlds above are not vacuous: here each upper bound is there."""
    alike = Fixed.of([[[0, 1]], [[0, 1]], [[2, 3]], [[2, 3]]], TOKENS)
    assert check(TopicsApi(topics=TOKENS, top=1, noise=0), alike, 1) == {
        "full information", "exact optimum", "everyone at once", "k-anonymity",
    }  # fmt: skip
    assert "local privacy" in check(TopicsApi(topics=TOKENS, top=2, noise=0.5), alike, 1)


def uppers(release, people, seed=1):
    seen = observe(release, people, seed=seed)
    setting = Setting(seen, seen.slots, release=release, people=people, seed=seed)
    return {one.name: one.estimate for one in bounds_in(setting) if one.side == "upper"}


@pytest.mark.parametrize(
    "switch", [{"presence": [1] + [0] * 9}, {"blocked": [0] + [1] * 9}], ids=["presence", "blocked"]
)
def test_withheld_topics_give_two_users_away(switch):
    """Local privacy said 55 %, from the noise alone; the exact optimum is 100 %."""
    two = Fixed.of([[[0]], [[1]]], 10)
    found = uppers(TopicsApi(topics=10, top=1, noise=0.99, **switch), two)
    assert "local privacy" not in found
    assert found["exact optimum"].value == 1


@pytest.mark.parametrize(
    "release", [TopicsApi(topics=5, top=1, noise=0.9), RandomisedResponse(epsilon=0.1)]
)
def test_a_missing_epoch_has_no_epsilon(release):
    """The default for tables: both sites see who was away."""
    people = make_profiles(["a", "a", "b"], [1, 2, 1], [0, 1, 1], taxonomy=range(5))
    assert not people.complete
    found = uppers(release, people)
    assert "local privacy" not in found
    assert found["exact optimum"].value > 0.99
    seen = observe(release, people, seed=1)
    assert not any(one.side == "upper" for one in bounds_in(Setting(seen, 2, release=release)))


def test_who_has_blocked_a_topic_has_blocked_it_everywhere():
    """Rows alone say a guess; who has seen one site knows which topic each user has blocked."""
    people = Fixed.copies([[[0, 1]] * 4], 2, 2)
    release = TopicsApi(topics=2, top=2, noise=0, blocked=0.5)
    assert not any("optimum" in name or "once" in name for name in uppers(release, people))


def test_a_promise_counts_only_users_of_whom_something_is_known():
    """Noise hides everything, but who was never seen cannot be a target that counts."""
    people = Fixed.copies([[[0]]], TOKENS, 40)
    release = TopicsApi(topics=TOKENS, top=1, noise=1, absence=0.5)
    seen = observe(release, people, seed=3)
    traced = int((seen.known >= 0).any(axis=1).sum())
    (bound,) = bounds_in(Setting(seen, 1, release=release, people=people), ["promises"])
    assert 0 < traced < 40
    assert bound.estimate.value == pytest.approx(1 / traced)
    assert f"among the {traced} users" in bound.assumes


def test_with_delays_observations_do_not_stand_in_for_people():
    """The known site may have missed a week that the other one sees."""
    people = Fixed.copies([[[0]] * 2], TOKENS, 3)
    known = np.zeros((3, 2), int)
    release = TopicsApi(topics=TOKENS, top=1, noise=0.9, delay=2.0)
    seen = type(observe(release, people, seed=1))(known, known, np.arange(3), tokens=TOKENS)
    assert bounds_in(Setting(seen, 2, release=release), ["promises"]) == ()
    assert bounds_in(Setting(seen, 2, release=release, people=people), ["promises"])


def test_with_several_weeks_a_call_observations_do_not_stand_in_for_people():
    """Away in one of the two weeks of a call: something is known, and the gap is seen."""
    people = Fixed.of([[[0], [1]], [[0], [-1]]], TOKENS)
    release = TopicsApi(topics=TOKENS, top=1, noise=0.9, per_call=2)
    seen = observe(release, people, seed=1)
    assert bounds_in(Setting(seen, 2, release=release), ["promises"]) == ()
    assert release.promises(Observations([[0], [1]], [[0]], [0], tokens=TOKENS), 2) == ()


def test_what_is_not_shown_of_a_target_may_have_been_away():
    seen = Observations([[0], [1]], [[0], [-1]], [0, 1], tokens=TOKENS)
    release = TopicsApi(topics=TOKENS, top=1, noise=0.9)
    assert bounds_in(Setting(seen, 1, release=release), ["promises"]) == ()
    assert bounds_in(Setting(seen.only(slice(1)), 1, release=release), ["promises"])


def test_a_promise_is_for_users_who_are_equally_likely():
    """Two tables may hold 2,000 rows of one user: naming always that one is then right."""
    release = TopicsApi(topics=TOKENS, top=1, noise=1.0)
    for truth, side in (([0, 1], "upper"), ([0, 0], "estimate"), ([1], "estimate")):
        seen = Observations([[0], [1]], [[0]] * len(truth), truth, tokens=TOKENS)
        (found,) = bounds_in(Setting(seen, 1, release=release), ["promises"])
        assert found.side == side


@dataclass(frozen=True)
class SameEverywhere(RandomisedResponse):
    """One noisy value of each user, the same at every site; it says so."""

    @property
    def independent_sites(self):
        return False

    def show(self, people, start, stop, *, site, seed, again=0):
        return super().show(people, start, stop, site=1, seed=seed, again=again)


def test_where_sites_depend_on_each_other_nothing_is_an_upper_bound():
    people = Fixed.of([[[0], [1]], [[1], [0]], [[2], [2]]], TOKENS)
    release = SameEverywhere(epsilon=0.1)
    seen = observe(release, people, seed=1)
    found = bounds_in(Setting(seen, 2, release=release, people=people, seed=1))
    assert [one.name for one in found if one.side == "upper"] == []
