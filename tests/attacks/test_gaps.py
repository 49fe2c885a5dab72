"""A gap is an observation: against every whole row of small worlds, and people who are away."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import LocalEngine, Observations, TopicsApi, data
from reidrisk.attacks import (
    FullInformation,
    Gaps,
    TokenTable,
    TypeAware,
    View,
    WeightedHamming,
)
from reidrisk.attacks.gap_chances import gap_chances, share_of_gaps
from reidrisk.releases import GapChances, OneOfTop, RandomisedResponse, observe, reveal
from reidrisk.scores import GRID, IMPOSSIBLE, TokenWeights

TOKENS, TOP = 4, 2
ROUNDING = 2**-36  # a few steps of the grid
NEVER = -1_000  # nats, far below everything that can happen


def away_people(users, weeks, away, *, topics=TOKENS, size=TOP, seed=1, **interests):
    """Synthetic people of whom some user-weeks are removed, and their interests."""
    people = data.synthetic_topics(
        users=users, topics=topics, epochs=weeks, size=size, seed=seed, **interests
    )
    sets = people.top_sets(0, users, top=size, seed=0)
    there = np.random.default_rng(seed).random((users, weeks)) >= away
    user, week = (np.repeat(one, size) for one in np.nonzero(there))
    profiles = data.make_profiles(
        user, week, sets[there].ravel(), taxonomy=np.arange(topics), epochs=np.arange(weeks)
    )
    return profiles, people.interests


RELEASES = [
    TopicsApi(topics=TOKENS, top=TOP, noise=0.2, absence=0.3),
    TopicsApi(topics=TOKENS, top=TOP, noise=0.2),
    TopicsApi(topics=TOKENS, top=TOP, noise=0.0, absence=0.5),
    RandomisedResponse(epsilon=1.0),
]


@pytest.mark.parametrize("away", [0.0, 0.4])
@pytest.mark.parametrize("release", RELEASES)
def test_full_information_is_the_chance_of_every_whole_row(release, away):
    people, _ = away_people(8, 3, away, types=2)
    exact = release.rows(people, site=2, seed=3)
    seen = reveal(release, people, seed=3)
    score = FullInformation().fit(View.of(seen, release=release))
    for user, chances in enumerate(exact.chances.toarray()):
        known = np.repeat(seen.known[user : user + 1], len(exact.outcomes), axis=0)
        found = score.of(known, exact.outcomes) / GRID
        possible = chances > 0
        assert (possible.sum() > 1) or (people.present[user] == 0).all()
        np.testing.assert_allclose(found[possible], np.log(chances[possible]), atol=ROUNDING)
        assert (found[~possible] < NEVER).all()


@dataclass(frozen=True)
class Sites:
    """A release whose sites miss users unequally often, by chance."""

    name: ClassVar[str] = "sites"
    noise: float
    known: float
    other: float

    def one_of_top(self, tokens):
        return TopicsApi(topics=tokens, top=TOP, noise=self.noise).one_of_top(tokens)

    def gaps(self, share):
        same = self.known * self.other
        return GapChances.of(share, one=self.known, other=self.other, same=same)


@dataclass(frozen=True)
class Cause:
    """Why slots are empty: users are away from both sites, or one of the sites misses them."""

    shared: Fraction = Fraction(0)
    known: Fraction = Fraction(0)
    other: Fraction = Fraction(0)

    def release(self, noise):
        if self.known == self.other:
            return TopicsApi(topics=TOKENS, top=TOP, noise=float(noise), absence=float(self.known))
        return Sites(float(noise), float(self.known), float(self.other))

    def view(self):
        """Known rows with every token equally often, and gaps as often as they should be."""
        share = 1 - (1 - self.shared) * (1 - self.known)
        rows = TOKENS * share.denominator
        empty = int(rows * share)
        column = np.concatenate([np.full(empty, -1), np.arange(rows - empty) % TOKENS])
        known = np.column_stack([column, np.roll(column, 3)])
        return View.of(Observations(known, known[:1], [0], tokens=TOKENS))

    def sites(self, world, noise):
        """Exact chance of [shown][known], the gap last: through every set."""
        total = sum(world.values())
        joint = [[Fraction(0)] * (TOKENS + 1) for _ in range(TOKENS + 1)]
        for chosen, weight in world.items():
            shows = [
                noise / TOKENS + (1 - noise) * Fraction(t in chosen, TOP) for t in range(TOKENS)
            ]
            shown, known = (
                [*((1 - gap) * chance for chance in shows), gap] for gap in (self.other, self.known)
            )
            there = (1 - self.shared) * Fraction(weight) / total
            for one, other in itertools.product(range(TOKENS + 1), repeat=2):
                joint[one][other] += there * shown[one] * known[other]
        joint[NOTHING][NOTHING] += self.shared
        return joint


AWAY, MISSED, OFTEN = Fraction(1, 4), Fraction(1, 5), Fraction(1, 2)
CAUSES = [
    Cause(shared=AWAY),
    Cause(known=MISSED, other=MISSED),
    Cause(shared=AWAY, known=MISSED, other=MISSED),
    Cause(shared=AWAY, known=MISSED, other=OFTEN),
    Cause(known=MISSED),
    Cause(other=OFTEN),
]
WORLD = {(0, 1): 8, (2, 3): 5, (0, 2): 1, (1, 3): 1, (0, 3): 1}
UNIFORM = dict.fromkeys(itertools.combinations(range(TOKENS), TOP), 1)
NOTHING = TOKENS


def given_known(joint):
    """Exact chance of what is shown given what is known, [shown][known]; None if it never is."""
    alone = [sum(row[known] for row in joint) for known in range(TOKENS + 1)]
    return [
        [row[known] / alone[known] if alone[known] else None for known in range(TOKENS + 1)]
        for row in joint
    ]


def assert_is_log(found, chances):
    for shown, known in itertools.product(range(TOKENS + 1), repeat=2):
        chance = chances[shown][known]
        if chance:
            assert found[shown, known] == pytest.approx(math.log(chance), abs=ROUNDING)
        elif chance is not None:
            assert found[shown, known] < NEVER


def pairs_of(world):
    total, pairs = sum(world.values()), np.zeros((TOKENS, TOKENS))
    for chosen, weight in world.items():
        pairs[np.ix_(chosen, chosen)] += weight / total
    return pairs


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("pooled", [True, False])
def test_a_table_is_bayes_rule_with_gaps(cause, pooled):
    noise, pairs = Fraction(1, 5), pairs_of(WORLD)
    pairs = pairs if pooled else np.stack([pairs, pairs])
    score = TokenTable(cause.release(noise), pairs, pooled=pooled).fit(cause.view())
    assert len(score.gain) == (1 if pooled else 2)
    for table in score.gain / GRID:
        assert_is_log(table, given_known(cause.sites(WORLD, noise)))


@pytest.mark.parametrize("cause", CAUSES)
def test_simple_weights_are_bayes_rule_with_gaps_where_their_assumption_holds(cause):
    """All sets are equally likely and there is no noise."""
    score = WeightedHamming(cause.release(0)).fit(cause.view())
    symbols = np.array([0, 1, 2, 3, -1])
    table = np.array([score.of(symbols[:, None], symbols[[shown]]) for shown in range(5)]) / GRID
    assert_is_log(table, given_known(cause.sites(UNIFORM, Fraction(0))))


@pytest.mark.parametrize("cause", CAUSES)
def test_types_are_bayes_rule_with_gaps(cause):
    """Two slots, all pairs of rows: over types, sets and all reasons for gaps."""
    noise = Fraction(1, 5)
    interests = data.Interests(topics=TOKENS, types=3, size=TOP, sigma=1.5)
    score = TypeAware(cause.release(noise), interests).fit(cause.view())
    types = [
        cause.sites({chosen: Fraction(math.prod(row[list(chosen)])) for chosen in UNIFORM}, noise)
        for row in interests.weights
    ]
    rows = list(itertools.product(range(TOKENS + 1), repeat=2))
    tokens = np.array(rows)
    tokens[tokens == NOTHING] = -1
    for known, row in zip(rows, tokens, strict=True):
        alone = sum(math.prod(sum(line[w] for line in joint) for w in known) for joint in types)
        if not alone:
            continue
        found = score.of(np.repeat(row[None], len(rows), axis=0), tokens) / GRID
        for shown, value in zip(rows, found, strict=True):
            both = sum(
                math.prod(joint[o][w] for o, w in zip(shown, known, strict=True)) for joint in types
            )
            if both:
                assert value == pytest.approx(math.log(both / alone), abs=1e-9)
            else:
                assert value <= IMPOSSIBLE


@pytest.mark.parametrize("name", ["weighted", "table", "types"])
def test_chances_of_all_rows_sum_to_one(name):
    api = TopicsApi(topics=TOKENS, top=TOP, noise=0.3, absence=0.2)
    view, interests = CAUSES[2].view(), data.Interests(topics=TOKENS, types=3, size=TOP)
    attack = {
        "weighted": WeightedHamming(api),
        "table": TokenTable(api, interests.pairs),
        "types": TypeAware(api, interests),
    }[name]
    score = attack.fit(view).normalised()
    symbols = np.array(list(itertools.product([0, 1, 2, 3, -1], repeat=2)))
    for known in symbols:
        total = np.exp(score.of(np.repeat(known[None], 25, axis=0), symbols) / GRID).sum()
        assert total == pytest.approx(1)


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
def test_empty_slots_are_counted(users, slots, seed, sets):
    random = np.random.default_rng(seed)
    shape = (users, slots, 2) if sets else (users, slots)
    known = random.integers(-1, 2, shape)
    seen = Observations(known, np.zeros((1, slots), int), [0], tokens=2)
    expected = [
        sum(np.all(known[user, slot] == -1) for user in range(users)) / users
        for slot in range(slots)
    ]
    np.testing.assert_allclose(share_of_gaps(View.of(seen)), expected)


def test_without_gaps_nothing_changes():
    """Complete rows and a release that leaves no slot empty: the paper's gains, and no others."""
    rows = np.arange(40).reshape(20, 2) % TOKENS
    seen = Observations(rows, rows[:3], [0, 1, 2], tokens=TOKENS)
    api = TopicsApi(topics=TOKENS, top=TOP, noise=0.2)
    for attack in (WeightedHamming(api), TokenTable(api), TypeAware(api, types=1)):
        assert not attack.fit(View.of(seen)).gaps


@dataclass(frozen=True)
class Simple:
    """A release that says how it shows, and nothing of gaps."""

    name: ClassVar[str] = "simple"

    def one_of_top(self, tokens):
        return OneOfTop(tokens, 1, 0.5, 0.5 / (tokens - 1))


def test_a_release_that_says_nothing_of_gaps_is_asked_only_if_there_are_any():
    rows = np.arange(40).reshape(20, 2) % TOKENS
    seen = Observations(rows, rows[:3], [0, 1, 2], tokens=TOKENS)
    assert not WeightedHamming(Simple()).fit(View.of(seen)).gaps
    holes = rows.copy()
    holes[3, 1] = -1
    view = View.of(Observations(holes, rows[:3], [0, 1, 2], tokens=TOKENS), release=Simple())
    with refuses("unsupported-release"):
        WeightedHamming().fit(view)


def test_gaps_count_slots_in_which_both_or_neither_came():
    known = np.array([[0, -1, 2], [1, 1, -1], [-1, -1, -1]])
    seen = Observations(known, [[3, -1, -1]], [0], tokens=TOKENS)
    score = Gaps().fit(View.of(seen))
    assert (score.of(known, seen.anonymous[0]) // GRID).tolist() == [2, 2, 2]
    assert (score.of(known, np.array([3, -1, 1])) // GRID).tolist() == [3, 1, 1]


def credit(seen, score):
    return LocalEngine().search(seen, score).credit.mean()


@cache
def people_away(weeks):
    return away_people(5_000, weeks, 0.25, topics=349, size=5)


def test_full_information_knows_who_was_away():
    """5,000 users, 4 weeks, away in a quarter, noise 30 %: 43 % when gaps are not compared."""
    api = TopicsApi(noise=0.3)
    seen = reveal(api, people_away(4)[0], targets=1_000, seed=7)
    # As if nothing were known of an empty slot, and an empty user the last to be named.
    blind = TokenWeights(np.full(349, math.log(api.q_in) + 100), math.log(api.q_out) + 100)
    before, after = credit(seen, blind), credit(seen, FullInformation(api).fit(View.of(seen)))
    assert before == pytest.approx(0.43, abs=0.04)
    assert after == pytest.approx(0.56, abs=0.04)


def test_gaps_tell_users_apart_that_tokens_do_not():
    """8 weeks, and what is shown is nearly all noise: the weeks alone find users."""
    people, _ = people_away(8)
    seen = observe(TopicsApi(noise=0.99), people, targets=1_000, seed=7)
    view = View.of(seen, release=TopicsApi(noise=0.99))
    gaps, blind = credit(seen, Gaps().fit(view)), 1 / people.users
    assert gaps > 20 * blind
    assert credit(seen, WeightedHamming().fit(view)) >= gaps


def test_types_find_far_more_by_the_weeks_in_which_nothing_came():
    """8 weeks: 11 % if gaps are taken for chance, as a release with so many missed visits says."""
    people, interests = people_away(8)
    seen = observe(TopicsApi(noise=0.3), people, targets=1_000, seed=7)
    chance, shared = (
        credit(seen, TypeAware(api, interests).fit(View.of(seen)))
        for api in (TopicsApi(noise=0.3, absence=0.25), TopicsApi(noise=0.3))
    )
    assert chance == pytest.approx(0.11, abs=0.03)
    assert shared == pytest.approx(0.52, abs=0.04)


def test_slots_that_differ_are_averaged_for_one_table():
    """Nobody is away in the first slot, half in the second: a quarter of all."""
    rows = np.array([[0, 1], [1, 2], [2, -1], [3, -1]])
    view = View.of(Observations(rows, rows[:1], [0], tokens=TOKENS))
    api = TopicsApi(topics=TOKENS, top=TOP, noise=0.2, absence=0.0)
    each, all_alike = (gap_chances(view, api, "test", pooled=pooled) for pooled in (False, True))
    np.testing.assert_allclose(each.known, [0, 0.5])
    np.testing.assert_allclose(all_alike.both, [0.25])
