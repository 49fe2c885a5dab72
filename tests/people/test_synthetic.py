"""The embedded population: who is in it, and that nothing but seed and id decides."""

import itertools
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.people.weighted_sets import chances_of_sets, reference_set, set_by_rejection
from tests.snapshots import refuses

from reidrisk import TooLarge, uniforms
from reidrisk.data import Interests, SyntheticTopics, synthetic_topics
from reidrisk.people import interests
from reidrisk.people import weighted_sets as drawn

RARE = 1e-4  # seeds are fixed: a smaller p-value means that the code has changed for the worse

weights = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=7)


def small(users=40_000, **changes):
    return synthetic_topics(users, **{"topics": 6, "epochs": 2, "types": 3, "size": 2, **changes})


def everyone(people, top=None):
    return people.top_sets(0, people.users, top=top or people.interests.size, seed=0)


def p_value(found, chances):
    """Of a chi-square test; `found` counts outcomes, `chances` are theirs."""
    assert set(found) <= {outcome for outcome, chance in chances.items() if chance > 0}
    total = sum(found.values())
    outcomes = [outcome for outcome, chance in chances.items() if chance * total >= 5]
    counts = [found[outcome] for outcome in outcomes]
    expected = [chances[outcome] * total for outcome in outcomes]
    rest = total - sum(expected)
    if rest > 1e-6 * total:
        counts, expected = [*counts, total - sum(counts)], [*expected, rest]
    expected = np.array(expected) / sum(expected) * sum(counts)
    return stats.chisquare(counts, expected).pvalue


@given(weights, st.data())
def test_inclusion_and_pairs_equal_going_through_all_sets(values, data):
    size = data.draw(st.integers(1, len(values)))
    array = np.array([values])
    tails = drawn.tail_polynomials(array, size)
    pairs = np.empty((len(values), len(values)))
    drawn.pair_chances(array[0], tails[0], pairs)
    expected = np.zeros_like(pairs)
    for chosen, chance in chances_of_sets(values, size).items():
        expected[np.ix_(chosen, chosen)] += chance
    np.testing.assert_allclose(pairs, expected, rtol=1e-9, atol=0)
    np.testing.assert_allclose(
        interests.inclusion(array, size)[0], np.diag(expected), rtol=1e-9, atol=0
    )


def test_weights_are_those_of_the_specification():
    model = Interests()
    g = np.random.default_rng(20230407).standard_normal((64, 349))
    plain = np.arange(1, 350) ** -1.005805 * np.exp(2.221981 * g)
    np.testing.assert_allclose(
        model.weights, 5 * plain / plain.sum(axis=1, keepdims=True), rtol=1e-12
    )
    assert g[0, :2].tolist() == [-1.0948515958574037, -0.043257695356329104]


def test_inclusion_adds_up_to_the_size_of_the_set():
    model = Interests()
    assert model.type_inclusion().sum(axis=1) == pytest.approx(np.full(64, 5))
    assert model.pairs.sum() == pytest.approx(25)
    np.testing.assert_allclose(np.diag(model.pairs), model.popularity, rtol=1e-12)
    np.testing.assert_allclose(model.type_pairs().mean(axis=0), model.pairs, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 5, 40])
@pytest.mark.parametrize(("types", "sigma", "moods"), [(3, 2.2, 1), (1, 0.0, 1), (2, 5.0, 3)])
def test_the_fast_sampler_equals_the_reference_bit_by_bit(size, types, sigma, moods):
    people = synthetic_topics(
        25, topics=40, epochs=3, seed=9, types=types, sigma=sigma, size=size, moods=moods,
        mood_sigma=1.0,
    )  # fmt: skip
    draws = uniforms(seed=9, purpose="population/topics", users=range(25), count=3 * size)
    states = people.states(0, 25)
    for user, sets in enumerate(everyone(people).tolist()):
        for epoch, found in enumerate(sets):
            mine = draws[user, epoch * size : (epoch + 1) * size].tolist()
            weights = people.interests.weights[states[user, epoch]].tolist()
            assert found == reference_set(weights, mine)


@pytest.mark.parametrize("draw", [0.0, 1 - 2**-53])
def test_the_extreme_draws_give_sets_too(draw):
    model = Interests(topics=300, types=1, size=4)
    tails, order = drawn.search_tables(model.weights, 4)
    sets = np.empty((1, 1, 4), np.int32)
    drawn.draw_sets(tails, order, np.zeros((1, 1), np.int32), np.full((1, 4), draw), sets)
    expected = order[0, :4] if draw else order[0, -4:]
    assert sets[0, 0].tolist() == expected.tolist()


def test_a_draw_on_the_edge_belongs_to_the_earlier_position():
    """Two equal weights: draws from 1/2 on give the first, those below the second."""
    tables = drawn.search_tables(np.array([[0.5, 0.5]]), 1)
    states, sets = np.zeros((1, 3), np.int32), np.empty((1, 3, 1), np.int32)
    drawn.draw_sets(*tables, states, np.array([[0.5, 0.5 - 2**-53, 0.6]]), sets)
    assert sets.ravel().tolist() == [0, 1, 0]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_sets_have_their_chances(size):
    people = small(size=size, types=1, epochs=1, seed=3)
    found = Counter(map(tuple, np.sort(everyone(people)[:, 0]).tolist()))
    assert p_value(found, chances_of_sets(people.interests.weights[0], size)) > RARE


def test_sets_are_what_drawing_until_distinct_gives():
    weights = Interests(topics=6, types=1, size=3).weights[0].tolist()
    chance = random.Random(1)  # noqa: S311  nothing secret
    found = Counter(set_by_rejection(weights, 3, chance) for _ in range(20_000))
    assert p_value(found, chances_of_sets(weights, 3)) > RARE


def test_types_are_equally_likely_and_persistent():
    types = small(types=5, epochs=4).types(0, 40_000)
    assert (types == types[:, :1]).all()
    assert stats.chisquare(np.bincount(types[:, 0])).pvalue > RARE


@pytest.mark.parametrize("persistence", [0.0, 0.7])
def test_types_persist_as_often_as_they_should(persistence):
    types = small(types=5, epochs=3, persistence=persistence).types(0, 40_000)
    for epoch in (1, 2):
        same = np.count_nonzero(types[:, epoch] == types[:, epoch - 1])
        expected = persistence + (1 - persistence) / 5
        assert stats.binomtest(same, 40_000, expected).pvalue > RARE
        assert stats.chisquare(np.bincount(types[:, epoch])).pvalue > RARE


def test_moods_are_drawn_anew_each_epoch():
    people = small(types=3, moods=4, mood_sigma=1.0)
    states = people.states(0, 40_000)
    assert (states // 4 == people.types(0, 40_000)).all()
    table = np.zeros((4, 4))
    np.add.at(table, (states[:, 0] % 4, states[:, 1] % 4), 1)
    assert stats.chi2_contingency(table).pvalue > RARE
    assert stats.chisquare(table.ravel()).pvalue > RARE


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=6))
def test_any_cut_of_the_users_gives_the_same_users(cuts):
    people = synthetic_topics(3_000, seed=5)
    edges = [0, *sorted(cuts), 3_000]
    parts = [people.top_sets(low, high, top=5, seed=0) for low, high in itertools.pairwise(edges)]
    assert (np.concatenate(parts) == people.top_sets(0, 3_000, top=5, seed=0)).all()


@pytest.mark.parametrize("cores", [1, 2, 7])
def test_threads_change_nothing(monkeypatch, cores):
    people = small(20_000, topics=50, seed=2)
    usual = everyone(people)
    monkeypatch.setattr("reidrisk.core.parallel.cores", lambda: cores)
    monkeypatch.setattr("reidrisk.people.synthetic.BLOCK", 97)
    assert (everyone(people) == usual).all()


@pytest.mark.parametrize("shape", [{}, {"persistence": 0.5}, {"moods": 2, "mood_sigma": 1.0}])
def test_a_user_does_not_depend_on_the_number_of_users_or_epochs(shape):
    few, many = (synthetic_topics(users, seed=5, **shape) for users in (10, 10_000_000))
    short = synthetic_topics(10, epochs=3, seed=5, **shape)
    seven = few.top_sets(7, 8, top=5, seed=0)
    assert (many.top_sets(7, 8, top=5, seed=0) == seven).all()
    assert (short.top_sets(7, 8, top=5, seed=0) == seven[:, :3]).all()
    assert (synthetic_topics(10, seed=6, **shape).top_sets(7, 8, top=5, seed=0) != seven).any()


def test_the_users_of_this_version_are_the_users_of_all_versions():
    people = synthetic_topics(10_000_000, seed=1)
    assert people.top_sets(7, 8, top=5, seed=0)[0, :3].tolist() == [
        [0, 17, 269, 20, 138],
        [28, 17, 22, 238, 270],
        [0, 9, 92, 5, 307],
    ]
    assert people.types(9_999_999, 10_000_000)[0].tolist() == [6] * 8


def test_people_are_values():
    one, same = synthetic_topics(10, seed=1), synthetic_topics(10, seed=1)
    assert one == same
    assert hash(one) == hash(same)
    assert one != synthetic_topics(10, seed=2)
    assert (one.users, one.epochs, one.tokens) == (10, 8, 349)
    assert one.ids.tolist() == list(range(10))
    with pytest.raises(AttributeError):
        one.users = 3


def test_a_smaller_top_is_a_random_part_of_the_set():
    people = small(size=4, types=1, epochs=1)
    full, part = everyone(people)[:, 0], everyone(people, top=2)[:, 0]
    places = np.argmax(full[:, None, :] == part[:, :, None], axis=2)
    assert (np.take_along_axis(full, places, 1) == part).all()
    found = Counter(map(tuple, places.tolist()))
    assert (
        stats.chisquare([found[a, b] for a in range(4) for b in range(4) if a != b]).pvalue > RARE
    )


def test_priority_goes_before_chance():
    people = small(size=4, types=1, epochs=1)
    priority = np.array([0, 1, 0, 1, 2, 0], np.int8)
    full = everyone(people)[:, 0]
    part = people.top_sets(0, people.users, top=2, seed=0, priority=priority)[:, 0]
    best = -np.sort(-priority[full], axis=1)[:, :2]
    assert (priority[part] == best).all()
    rivals = (full == 0).any(1) & (full == 2).any(1) & (full == 4).any(1) & (full == 5).any(1)
    second = np.bincount(part[rivals, 1], minlength=6)[[0, 2, 5]]
    assert second.sum() == rivals.sum()
    assert stats.chisquare(second).pvalue > RARE


def test_a_larger_top_adds_uniform_distinct_topics():
    people = small(size=2, s=0, sigma=0)
    full, padded = everyone(people), everyone(people, top=5)
    assert (padded[:, :, :2] == full).all()
    assert (np.diff(np.sort(padded, axis=2), axis=2) > 0).all()
    assert padded.min() >= 0
    assert padded.max() <= 5
    mine = padded[(np.sort(full[:, 0], axis=1) == [0, 3]).all(axis=1), 0, 2:]
    found = Counter(map(tuple, mine.tolist()))
    orders = [(a, b, c) for a in (1, 2, 4, 5) for b in (1, 2, 4, 5) for c in (1, 2, 4, 5)]
    distinct = [order for order in orders if len(set(order)) == 3]
    assert sum(found[order] for order in distinct) == len(mine) > 1_000
    assert stats.chisquare([found[order] for order in distinct]).pvalue > RARE


def test_all_topics_can_be_in_the_top():
    assert (np.sort(everyone(small(50), top=6), axis=2) == np.arange(6)).all()


@pytest.mark.parametrize("top", [1, 2, 4])
def test_cutting_and_padding_do_not_depend_on_the_chunk(top):
    people = small(100)
    parts = [people.top_sets(user, user + 1, top=top, seed=3) for user in range(100)]
    assert (np.concatenate(parts) == people.top_sets(0, 100, top=top, seed=3)).all()
    assert (people.top_sets(0, 100, top=top, seed=4) != np.concatenate(parts)).any() == (top != 2)


@pytest.mark.slow
def test_a_million_users_have_the_popularity_and_the_pairs_of_the_model():
    people = synthetic_topics(1_000_000, epochs=1, seed=4)
    sets = everyone(people)[:, 0]
    shows = np.zeros((349, 349))
    for one, other in itertools.product(range(5), repeat=2):
        np.add.at(shows, (sets[:, one], sets[:, other]), 1)
    pairs = people.interests.pairs
    scores = (shows / 1e6 - pairs) / np.sqrt(pairs * (1 - pairs) / 1e6)
    assert np.abs(np.diag(scores)).max() < 4.5
    often = np.triu(pairs > 2e-5, 1)
    assert np.abs(scores[often]).max() < 6
    assert scores[often].std() == pytest.approx(1, abs=0.03)


@pytest.mark.slow
def test_ten_million_users_are_observed_within_the_memory():
    code = (
        "import resource\n"
        "from reidrisk.data import synthetic_topics\n"
        "from reidrisk.releases import TopicsApi\n"
        "people = synthetic_topics(10_000_000, seed=1)\n"
        "seen = TopicsApi().observe(people, targets=10_000, seed=7)\n"
        "assert seen.known.shape == (10_000_000, 8) and seen.known.dtype == 'int16'\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4 * 2**20  # kibibytes


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"users": 0}, "not-a-whole-number"),
        ({"users": 2.5}, "not-a-whole-number"),
        ({"epochs": 0}, "not-a-whole-number"),
        ({"seed": -1}, "not-a-whole-number"),
        ({"topics": 0}, "not-a-whole-number"),
        ({"types": 0}, "not-a-whole-number"),
        ({"size": 350}, "out-of-range"),
        ({"s": -1}, "not-a-number"),
        ({"s": float("nan")}, "not-a-number"),
        ({"sigma": float("inf")}, "not-finite"),
        ({"sigma": 900.0}, "overflow"),
        ({"persistence": 95}, "not-a-probability"),
        ({"moods": True}, "not-a-whole-number"),
        ({"mood_sigma": "1"}, "not-a-number"),
    ],
)
def test_bad_shapes_are_refused(change, code):
    with refuses(code):
        synthetic_topics(**{"users": 10, **change})


def test_users_who_do_not_exist_are_refused():
    people = synthetic_topics(10)
    for start, stop in ((-1, 3), (3, 11), (5, 4)):
        with refuses("row-out-of-range"):
            people.top_sets(start, stop, top=5, seed=0)
    with refuses("top-too-large"):
        people.top_sets(0, 1, top=350, seed=0)


def test_tables_that_would_not_fit_are_refused():
    with refuses("too-many-types", TooLarge):
        Interests(topics=5_000, types=100).type_pairs()
    with refuses("too-many-tokens", TooLarge):
        _ = Interests(topics=10_001, types=1).pairs


def test_the_class_can_be_built_by_hand():
    shape = Interests(topics=20, types=2)
    assert SyntheticTopics(users=5, epochs=8, seed=0, interests=shape) == synthetic_topics(
        5, topics=20, types=2
    )
