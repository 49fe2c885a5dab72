"""The attacker who knows types: Bayes' rule over all sets of tiny worlds, and people."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.people.weighted_sets import chances_of_sets
from tests.shared_data import DATA, needs_data
from tests.snapshots import refuses

from reidrisk import Observations, ReferenceEngine, TokenWeights, TooLarge, TopicsApi
from reidrisk.attacks import View
from reidrisk.attacks.type_aware import TypeAware, pairs_of, set_weights
from reidrisk.attacks.weighted_hamming import WeightedHamming
from reidrisk.data import Interests, read_profiles, synthetic_topics
from reidrisk.learning.latent_types import NEARLY, fit_types
from reidrisk.people.interests import inclusion
from reidrisk.scores import GRID

TINY = Interests(topics=5, types=3, size=2, sigma=1.5)
TINY_API = TopicsApi(topics=5, top=2, noise=0.2)


def rows_seen(tokens=5, slots=2):
    rows = np.arange(20 * slots).reshape(20, slots) % tokens
    return Observations(rows, rows[:2], np.array([0, 1]), tokens=tokens)


def shown_by_type(interests, noise):
    """For each type, the exact chance that two sites show o and w, through every set."""
    tokens = range(interests.topics)
    tables = []
    for row in interests.weights:
        weights = [Fraction(float(weight)) for weight in row]
        sets = list(itertools.combinations(tokens, interests.size))
        products = [math.prod(weights[token] for token in chosen) for chosen in sets]
        table = [[Fraction(0)] * len(tokens) for _ in tokens]
        for chosen, product in zip(sets, products, strict=True):
            shows = [
                noise / len(tokens) + (1 - noise) * Fraction(token in chosen, interests.size)
                for token in tokens
            ]
            for shown, known in itertools.product(tokens, repeat=2):
                table[shown][known] += product / sum(products) * shows[shown] * shows[known]
        tables.append(table)
    return tables


@pytest.mark.parametrize("moods", [1, 2])
def test_the_score_is_bayes_rule_over_all_types_and_sets(moods):
    interests = Interests(
        topics=5, types=3, size=2, sigma=1.5, moods=moods, mood_sigma=1.0 * (moods > 1)
    )
    states = shown_by_type(interests, Fraction(1, 5))
    types = [states[place : place + moods] for place in range(0, len(states), moods)]

    def joint(one, shown, known):
        return sum(table[shown][known] for table in one) / moods

    def single(one, known):
        return sum(joint(one, shown, known) for shown in range(5))

    score = TypeAware(TINY_API, interests).fit(View.of(rows_seen()))
    known = np.array(list(itertools.product(range(5), repeat=2)))
    for shown in ((0, 0), (1, 4), (3, 2)):
        found = score.of(known, np.array(shown)) / GRID
        for row, value in zip(known, found, strict=True):
            both = sum(
                math.prod(joint(one, o, w) for o, w in zip(shown, row, strict=True))
                for one in types
            )
            alone = sum(math.prod(single(one, w) for w in row) for one in types)
            assert value == pytest.approx(math.log(both / alone), abs=1e-9)


@given(st.lists(st.floats(1e-4, 1e4), min_size=4, max_size=7), st.integers(1, 3), st.booleans())
def test_weights_are_found_from_the_chances_they_give(weights, size, has_zero):
    weights = np.array([weights])
    weights[0, 0] *= not has_zero
    chances = inclusion(weights, size)
    if chances.max() > NEARLY:  # learned chances stay below
        return
    found = set_weights(chances, size)
    np.testing.assert_allclose(inclusion(found, size), chances, rtol=1e-8)
    ratio = found[weights > 0] / weights[weights > 0]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


@pytest.mark.parametrize("sure", [1, 4, 5])
def test_weights_are_found_for_tokens_that_are_nearly_sure(sure):
    chances = np.full((1, 349), (5 - sure * NEARLY) / (349 - sure))
    chances[0, :sure] = NEARLY
    np.testing.assert_allclose(inclusion(set_weights(chances, 5), 5), chances, rtol=1e-8)


def test_chances_that_no_sets_have_are_refused():
    with refuses("did-not-converge"):
        set_weights(np.array([[0.5, 0.5, 0.5]]), 2)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_pairs_are_those_of_all_sets(size):
    weights = [[3.0, 1.0, 0.5, 0.1, 2.0], [1.0, 1.0, 1.0, 1.0, 40.0]]
    pairs = pairs_of(inclusion(np.array(weights), size), size)
    for row, found in zip(weights, pairs, strict=True):
        expected = np.zeros((5, 5))
        for chosen, chance in chances_of_sets(row, size).items():
            expected[np.ix_(chosen, chosen)] += chance
        np.testing.assert_allclose(found, expected, atol=1e-10)


API = TopicsApi(topics=60, top=4, noise=0.05)
PEOPLE = synthetic_topics(5_000, topics=60, epochs=8, types=8, size=4, seed=2)


def test_it_finds_more_people_than_weighted_hamming():
    """5,000 users, 8 slots: all scores see the same targets; seeds are fixed.

    Differences are of the same targets, so they vary less than the shares: 0.03 is about two
    standard errors.
    """
    seen = API.observe(PEOPLE, targets=300, seed=3)
    simple, exact, learned = (
        ReferenceEngine().credit(seen, score).mean()
        for score in (
            WeightedHamming(API).fit(View.of(seen)),
            TypeAware(API, PEOPLE.interests).fit(View.of(seen)),
            TypeAware(API, types=8).fit(View.of(seen)),
        )
    )
    assert exact > simple + 0.03
    assert learned > simple + 0.03
    assert learned == pytest.approx(exact, abs=0.03)


@pytest.mark.slow
def test_it_finds_more_of_the_embedded_population_than_weighted_hamming():
    """All 64 types, learned from 5,000 users: 37 % and 41 % against 23 % of other targets."""
    api, people = TopicsApi(), synthetic_topics(5_000, seed=1)
    seen = api.observe(people, targets=300, seed=7)
    simple = ReferenceEngine().credit(seen, WeightedHamming(api).fit(View.of(seen))).mean()
    for attack in (TypeAware(api, people.interests), TypeAware(api)):
        assert ReferenceEngine().credit(seen, attack.fit(View.of(seen))).mean() > simple + 0.06


def test_what_is_learned_is_what_the_fit_says():
    seen = API.observe(PEOPLE, targets=3, seed=3)
    score = TypeAware(API, types=4, users=500, seed=9).fit(View.of(seen))
    fit = fit_types(seen.known, tokens=60, top=4, noise=0.05, types=4, users=500, seed=9)
    np.testing.assert_allclose(score.chances.weights, fit.weights, rtol=1e-12)
    shown = API.q_out + (API.q_in - API.q_out) * fit.inclusion
    single, joint = score.chances.single[:60], score.chances.joint[:60, :60]
    np.testing.assert_allclose(single.T, shown, rtol=1e-8)
    np.testing.assert_allclose(joint.sum(axis=0), single, rtol=1e-8)


def test_a_panel_is_learned_from_on_both_sides_without_its_truth():
    seen, panel = API.observe(PEOPLE, targets=3, seed=3), API.observe(PEOPLE, targets=900, seed=4)
    score = TypeAware(API, types=4, panel=panel, users=9_000).fit(View.of(seen))
    rows = np.concatenate([panel.known, panel.anonymous])
    other = Observations(rows, rows[:1], np.array([0]), tokens=60)
    same = TypeAware(API, types=4, users=9_000).fit(View.of(other))
    np.testing.assert_array_equal(score.chances.joint, same.chances.joint)


def test_the_truth_is_not_used():
    seen = API.observe(PEOPLE, targets=50, seed=3)
    other = Observations(seen.known, seen.anonymous, seen.truth[::-1], tokens=60)
    one, two = (TypeAware(API, types=2, users=500).fit(View.of(which)) for which in (seen, other))
    np.testing.assert_array_equal(one.chances.joint, two.chances.joint)


def test_of_several_numbers_of_types_the_best_is_taken():
    seen = API.observe(PEOPLE, targets=3, seed=3)
    assert TypeAware(API, types=(1, 8), users=2_000).fit(View.of(seen)).chances.weights.size == 8


def test_the_view_tells_what_was_not_given():
    seen, panel = API.observe(PEOPLE, targets=3, seed=3), API.observe(PEOPLE, targets=900, seed=4)
    other = Interests(topics=60, types=8, size=4, persistence=0.5)
    exact = TypeAware(API, PEOPLE.interests).fit(View.of(seen))
    known, learned = (
        TypeAware(API, types=2, panel=given, users=2_000).fit(View.of(seen))
        for given in (None, panel)
    )
    few = TypeAware(types=2, users=2_000)
    full = View.of(seen, release=API, panel=panel, population=PEOPLE.interests)
    for attack, view, expected in (
        (TypeAware(), full, exact),
        (few, full, learned),
        (few, View.of(seen, release=API), known),
        (TypeAware(API, users=2_000), View.of(seen, population=other), None),
    ):
        found = attack.fit(view)
        if expected is None:
            assert found.chances.weights.size in {1, 4, 16, 64}
        else:
            np.testing.assert_array_equal(found.chances.joint, expected.chances.joint)


def test_what_is_learned_does_not_depend_on_the_order_of_users():
    seen = API.observe(PEOPLE, targets=3, seed=3)
    order = np.random.default_rng(5).permutation(PEOPLE.users)
    shuffled = Observations(seen.known[order], seen.anonymous, seen.truth, tokens=60)
    attack = TypeAware(API, types=(2, 4), users=1_000)
    one, other = (attack.fit(View.of(which)).chances for which in (seen, shuffled))
    for part in ("weights", "single", "joint"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"types": 0}, "not-a-whole-number"),
        ({"types": ()}, "empty-list"),
        ({"types": (2, 0)}, "not-a-whole-number"),
        ({"users": 0}, "not-a-whole-number"),
        ({"seed": -1}, "not-a-whole-number"),
        ({"interests": Interests(topics=5, size=2, persistence=0.5)}, "unsupported-interests"),
        ({"interests": Interests(topics=6, size=2)}, "alphabet-mismatch"),
        ({"interests": Interests(topics=5, size=3)}, "length-mismatch"),
    ],
)
def test_what_is_wrong_in_itself_is_refused_at_once(arguments, code):
    with refuses(code):
        TypeAware(TINY_API, **arguments)


SETS = Observations(np.zeros((3, 2, 2), int), np.zeros((1, 2), int), [0], tokens=5)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"panel": rows_seen(tokens=6)}, "alphabet-mismatch"),
        ({"panel": SETS}, "wrong-kind-of-rows"),
    ],
)
def test_what_does_not_fit_the_rows_is_refused(arguments, code):
    with refuses(code):
        TypeAware(TINY_API, **arguments).fit(View.of(rows_seen()))


@pytest.mark.parametrize(("topics", "size"), [(6, 2), (5, 3)])
def test_interests_that_do_not_fit_the_release_of_the_view_are_refused(topics, size):
    attack = TypeAware(interests=Interests(topics=topics, size=size))
    with refuses("length-mismatch"):
        attack.fit(View.of(rows_seen(), release=TINY_API))


def test_rows_that_do_not_fit_are_refused():
    with refuses("alphabet-mismatch"):
        TypeAware(TINY_API, TINY).fit(View.of(rows_seen(tokens=6)))
    with refuses("wrong-kind-of-rows"):
        TypeAware(TINY_API, TINY).fit(View.of(SETS))
    with refuses("too-many-types", TooLarge):
        TypeAware(TopicsApi(topics=5_000)).fit(View.of(rows_seen(tokens=5_000)))


@needs_data
@pytest.mark.parametrize(
    ("absent", "least"),
    [("drop", 0.0), pytest.param("pad", 0.04, marks=pytest.mark.slow)],
)
def test_households_are_found_more_often_than_by_hamming(absent, least):
    """Few households and 302 categories: the number of types must be chosen."""
    people = read_profiles(
        DATA / "completejourney_household_week_category.csv.gz",
        columns={"user": "household_id", "epoch": "week", "token": "cat_id", "weight": "items"},
        epochs=range(5, 13),
        absent=absent,
    )
    api = TopicsApi(topics=people.tokens)
    seen = api.observe(people, seed=1)
    plain, learned = (
        ReferenceEngine().credit(seen, score).mean()
        for score in (
            TokenWeights(np.ones(people.tokens)),
            TypeAware(api, types=(1, 2, 4, 8)).fit(View.of(seen)),
        )
    )
    assert learned > plain + least
