"""Simulation follows the exact chances, and exact chances follow from the rules by hand."""

import numpy as np
import pytest
from tests.releases.worlds import RARE, Fixed, p_value
from tests.snapshots import refuses

from reidrisk import RepresentationMatrix, TooLarge, theory
from reidrisk.data import synthetic_topics
from reidrisk.releases import TopicsApi

SETS = [[0, 1], [0, 2], [3, 1]]  # of one user, epoch by epoch
ABSENT = [[0, 1], [-1, -1], [3, 1]]
PARENTS = (-1, 0, 0, 2)

SWITCHES = {
    "paper": {},
    "no noise": {"noise": 0.0},
    "only noise": {"noise": 1.0},
    "top of one": {"top": 1},
    "buckets": {"top": 1, "buckets": (0, 1, 0, 2)},
    "never witnessed": {"presence": 0.0},
    "always witnessed": {"presence": 1.0},
    "witnessed at times": {"presence": 0.4},
    "witnessed by topic": {"presence": (0.9, 0.1, 0.5, 0.0)},
    "witnessed, short memory": {"presence": 0.4, "memory": 1},
    "witnessed, in a tree": {"presence": 0.4, "parents": PARENTS},
    "witnessed, by site": {"presence": ((0.9, 0.1, 0.5, 0.0), (0.2, 0.3, 0.4, 0.5))},
    "delay": {"delay": 2.0},
    "longest delay": {"delay": 7.0},
    "blocked": {"blocked": 0.3},
    "blocked by topic": {"blocked": (1.0, 0.5, 0.0, 0.2)},
    "absence": {"absence": 0.3},
    "three per call": {"per_call": 3},
    "two per call, every week": {"per_call": 2, "every": 1},
    "a call every second week": {"every": 2},
    "everything": {
        "presence": 0.6, "parents": PARENTS, "blocked": 0.2, "delay": 2.0, "per_call": 2,
        "every": 1, "absence": 0.1,
    },
}  # fmt: skip


def api(**changes):
    return TopicsApi(**{"topics": 4, "top": 2, "noise": 0.2, **changes})


@pytest.mark.parametrize("sets", [SETS, ABSENT], ids=["present", "absent in an epoch"])
@pytest.mark.parametrize("switch", SWITCHES)
def test_simulation_follows_the_exact_rows(switch, sets):
    release = api(**SWITCHES[switch])
    seen = release.observe(Fixed.copies(sets, 4, 20_000), seed=11)
    for site, rows in ((1, first_of(seen.known, release.per_call)), (2, seen.anonymous)):
        exact = release.rows(Fixed.of([sets], 4), site=site)
        assert exact.chances.sum(axis=1) == pytest.approx(1)
        columns = exact.column_of(rows)
        assert p_value(columns, exact.chances.toarray()[0]) > RARE


@pytest.mark.parametrize("switch", [name for name in SWITCHES if "blocked" not in name])
def test_sites_are_independent_given_the_sets(switch):
    """Not so if topics are blocked: a user blocks them everywhere."""
    release = api(**SWITCHES[switch])
    if switch == "everything":
        release = api(**{**SWITCHES[switch], "blocked": 0.0})
    people = Fixed.copies(SETS, 4, 40_000)
    seen = release.observe(people, seed=12)
    one, two = (release.rows(Fixed.of([SETS], 4), site=site) for site in (1, 2))
    rows = first_of(seen.known[seen.truth], release.per_call)
    columns = one.column_of(rows) * two.outcomes.shape[0] + two.column_of(seen.anonymous)
    chances = np.outer(one.chances.toarray()[0], two.chances.toarray()[0]).ravel()
    assert p_value(columns, chances) > RARE


def first_of(known, per_call):
    """Rows of site 1: each slot of a call holds all of the call; take them one by one."""
    if known.ndim == 2:
        return known
    calls = known[:, ::per_call]
    assert all((known[:, place::per_call] == calls).all() for place in range(per_call))
    return calls.reshape(len(known), -1)


def chances(release, sets, site=1):
    exact = release.rows(Fixed.of([sets], release.topics), site=site)
    return dict(
        zip(map(tuple, exact.outcomes.tolist()), exact.chances.toarray()[0].tolist(), strict=True)
    )


def test_one_epoch_by_hand():
    assert chances(api(), [[0, 1]]) == pytest.approx(
        {(0,): 0.45, (1,): 0.45, (2,): 0.05, (3,): 0.05}
    )


def test_sequences_multiply():
    """Paper: section 7, `P[i,o] = prod_s P_s[i,o^s]`."""
    release = api()
    found = chances(release, SETS)
    for outcome, chance in found.items():
        factors = [
            release.q_in if o in s else release.q_out for o, s in zip(outcome, SETS, strict=True)
        ]
        assert chance == pytest.approx(np.prod(factors))
    assert len(found) == 4**3


def test_noise_is_withheld_with_the_real_topic():
    """Were it not, topic 3 would be shown by noise; it is never shown without a witness."""
    assert chances(api(presence=0.0), [[0, 1]]) == {(-1,): 1.0}
    assert chances(api(presence=(1.0, 0.0, 0.0, 0.0)), [[0, 1]]) == pytest.approx(
        {(-1,): 0.5, (0,): 0.5 * 0.85, (1,): 0.025, (2,): 0.025, (3,): 0.025}
    )
    assert chances(api(blocked=(0.0, 1.0, 0.0, 0.0)), [[0, 1]]) == pytest.approx(
        {(-1,): 0.5, (0,): 0.5 * 0.85, (1,): 0.025, (2,): 0.025, (3,): 0.025}
    )


@pytest.mark.parametrize(("memory", "withheld"), [(1, 1.0), (2, 1.0), (3, 0.0)])
def test_a_witness_remembers(memory, withheld):
    """Topic 0 is seen in the first epoch only as topic 1, of which it is the parent."""
    release = api(
        top=1, noise=0.0, presence=(0.0, 1.0, 1.0, 1.0), parents=(*PARENTS[:3], -1), memory=memory
    )
    found = chances(release, [[1], [3], [0]])
    assert sum(chance for outcome, chance in found.items() if outcome[2] == -1) == withheld


def test_the_witness_of_a_parent_is_none_of_its_child():
    release = api(top=1, noise=0.0, presence=(1.0, 0.0, 1.0, 1.0), parents=PARENTS)
    assert chances(release, [[0], [1]]) == {(0, -1): 1.0}


def test_a_delayed_week_shows_the_week_before():
    """One call is early with probability E[delay]/7 = 1/7; both with E[(delay/7)^2] = 4/147."""
    found = chances(api(top=1, noise=0.0, delay=2.0), [[0], [1]])
    both, one = 4 / 147, 1 / 7 - 4 / 147
    assert found == pytest.approx(
        {(-1, 0): both, (-1, 1): one, (0, 0): one, (0, 1): 1 - both - 2 * one}
    )


def test_a_call_says_neither_order_nor_number():
    release = api(top=1, noise=0.0, per_call=3)
    assert chances(release, [[2], [0], [2]]) == {(0, 2, -1): 1.0}
    assert chances(release, [[2], [2], [2]]) == {(2, -1, -1): 1.0}
    assert chances(release, [[-1], [3], [1]]) == {(1, 3, -1): 1.0}


def test_calls_may_overlap():
    release = api(top=1, noise=0.0, per_call=2, every=1)
    assert chances(release, [[2], [0], [3]]) == {(2, -1, 0, 2, 0, 3): 1.0}
    release = api(top=1, noise=0.0, per_call=2)
    assert chances(release, [[2], [0], [3]]) == {(0, 2): 1.0}


def test_rows_are_a_representation_matrix():
    release = api()
    exact = release.rows(Fixed.of([SETS[:2], [[2, 3], [2, 3]], [[0, 1], [1, 3]]], 4))
    matrix = RepresentationMatrix(exact.chances)
    assert (matrix.users, matrix.representations) == (3, 16)
    assert theory.local_dp_epsilon(release.rows(Fixed.of([[[0, 1]], [[2, 3]]], 4)).chances) == (
        pytest.approx(release.epsilon)
    )


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_rows_of_the_embedded_population_have_the_known_sum_of_column_maxima(noise):
    """Full information, one epoch: `m'(1-p)/k + p` with m' topics that occur.  Paper: section 7."""
    people = synthetic_topics(30, topics=40, epochs=1, seed=1)
    release = TopicsApi(topics=40, noise=noise)
    occurring = np.unique(people.top_sets(0, 30, top=5, seed=0)).size
    rows = release.rows(people).chances
    expected = occurring * (1 - noise) / 5 + noise
    assert theory.multiplicative_leakage(rows) == pytest.approx(expected)


def test_a_world_that_is_too_large_is_refused():
    people = synthetic_topics(10, epochs=3)
    with refuses("too-many-sequences", TooLarge):
        TopicsApi().rows(people)
    with refuses("too-many-sequences", TooLarge):
        api(presence=0.5).rows(Fixed.of([SETS * 3], 4))


def test_a_row_that_is_never_shown_is_refused():
    exact = api(top=1, noise=0.0).rows(Fixed.of([[[2]]], 4))
    assert exact.column_of(np.array([[2], [2]])).tolist() == [0, 0]
    for row in ([3], [0], [-1]):
        with refuses("unknown-row"):
            exact.column_of(np.array([[2], row]))
