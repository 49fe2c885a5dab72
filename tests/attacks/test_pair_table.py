"""The full theorem against all outcomes of tiny worlds."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from tests.snapshots import refuses

from reidrisk import Observations, TooLarge, TopicsApi
from reidrisk.attacks import View
from reidrisk.attacks.token_table import PairChances, TokenTable, from_sets, from_shown
from reidrisk.attacks.weighted_hamming import WeightedHamming
from reidrisk.data import Interests, synthetic_topics
from reidrisk.releases import popularity
from reidrisk.scores import GRID
from reidrisk.scores.protocol import IMPOSSIBLE_GAIN

# Sets of two of four tokens that are far from independent: 0 goes with 1, 2 with 3.
WORLD = {(0, 1): 8, (2, 3): 5, (0, 2): 1, (1, 3): 1, (0, 3): 1}
TOKENS, TOP = 4, 2
ROUNDING = 2**-38  # a few steps of the grid


def chances_of(world):
    total = sum(world.values())
    return {chosen: Fraction(weight, total) for chosen, weight in world.items()}


def pairs_of(world):
    """Exact chance that two tokens are in the set; popularity on the diagonal."""
    pairs = [[Fraction(0)] * TOKENS for _ in range(TOKENS)]
    for chosen, chance in chances_of(world).items():
        for one, other in itertools.product(chosen, repeat=2):
            pairs[one][other] += chance
    return pairs


def joint_of(world, noise):
    """Exact chance that two sites show o and w, through every set."""
    joint = [[Fraction(0)] * TOKENS for _ in range(TOKENS)]
    for chosen, chance in chances_of(world).items():
        shows = [
            noise / TOKENS + (1 - noise) * Fraction(token in chosen, TOP) for token in range(TOKENS)
        ]
        for shown, known in itertools.product(range(TOKENS), repeat=2):
            joint[shown][known] += chance * shows[shown] * shows[known]
    return joint


def table(rows):
    return np.array([[float(value) for value in row] for row in rows])


def world_rows(users=6, slots=2, tokens=TOKENS):
    rows = np.arange(users * slots).reshape(users, slots) % tokens
    return Observations(rows, rows[:3], np.arange(3), tokens=tokens)


def gains(attack, seen=None):
    return attack.fit(View.of(seen or world_rows())).gain / GRID


@pytest.mark.parametrize("noise", [Fraction(1, 20), Fraction(1, 2), Fraction(0)])
def test_the_corrected_table_is_the_chance_over_all_sets(noise):
    api = TopicsApi(topics=TOKENS, top=TOP, noise=float(noise))
    joint = joint_of(WORLD, noise)
    alone = [sum(joint[shown][known] for shown in range(TOKENS)) for known in range(TOKENS)]
    expected = [
        [
            math.log(joint[shown][known] / alone[known]) if joint[shown][known] else IMPOSSIBLE_GAIN
            for known in range(TOKENS)
        ]
        for shown in range(TOKENS)
    ]
    found = gains(TokenTable(api, table(pairs_of(WORLD))))
    np.testing.assert_allclose(found[0], expected, atol=ROUNDING, rtol=0)
    assert (found == IMPOSSIBLE_GAIN).any() == (noise == 0)


def test_the_uncorrected_table_is_the_text():
    """It conditions on the known token being in the set, but for equal tokens."""
    noise = Fraction(1, 5)
    api = TopicsApi(topics=TOKENS, top=TOP, noise=float(noise))
    pairs, out = pairs_of(WORLD), noise / TOKENS
    rise = (1 - noise) / TOP
    found = gains(TokenTable(api, table(pairs), corrected=False))[0]
    for shown, known in itertools.product(range(TOKENS), repeat=2):
        p = pairs[known][known]
        given_known = pairs[shown][known] / p
        if shown == known:
            given_known = (out + rise) * p / (out + rise * p)
        assert found[shown, known] == pytest.approx(math.log(out + rise * given_known), abs=1e-11)


def test_one_parameter_and_uncorrected_is_weighted_hamming():
    api = TopicsApi(topics=30, top=4, noise=0.1)
    seen = api.observe(synthetic_topics(500, topics=30, epochs=3, types=4, size=4), seed=2)
    simple = WeightedHamming(api).fit(View.of(seen))
    found = TokenTable(api, corrected=False).fit(View.of(seen)).gain[0]
    expected = np.repeat(simple.mismatch[0][:, None], 30, axis=1)
    np.fill_diagonal(expected, simple.match[0])
    np.testing.assert_allclose(found, expected, atol=4, rtol=0)
    match = np.diagonal(TokenTable(api).fit(View.of(seen)).gain[0])
    np.testing.assert_allclose(match, simple.match[0], atol=4, rtol=0)


@given(st.lists(st.integers(1, 50), min_size=3, max_size=8), st.integers(1, 3))
def test_pairs_of_one_parameter_sum_to_the_other_places_of_the_set(weights, top):
    """Appendix: the sum over w != o of a(o) p[w] is (k - 1) p[o], if popularity sums to k."""
    popularity = np.array(weights) / sum(weights) * top
    if popularity.max() > 1:
        popularity = np.full(len(weights), top / len(weights))
    pairs = PairChances.one_parameter(TopicsApi(len(weights), top), popularity).pairs
    np.testing.assert_allclose(pairs.sum(axis=1) - popularity, (top - 1) * popularity, atol=1e-12)


def accuracy(gain, joint, users):
    """Exact chance of naming a random one of some independent users by one slot, ties at random."""
    tokens, total = range(len(joint)), Fraction(0)
    alone = [sum(row[known] for row in joint) for known in tokens]
    for known in itertools.product(tokens, repeat=users):
        chance = math.prod(alone[token] for token in known)
        for shown in tokens:
            best = max(gain[shown, token] for token in known)
            winners = [token for token in known if gain[shown, token] == best]
            right = sum(joint[shown][token] / alone[token] for token in winners)
            total += chance * right / len(winners) / users
    return total


def optimum(joint, users):
    """Exact best of any attacker who knows what one site showed of each."""
    tokens = range(len(joint))
    alone = [sum(row[known] for row in joint) for known in tokens]
    return (
        sum(
            math.prod(alone[token] for token in known)
            * sum(max(joint[shown][token] / alone[token] for token in known) for shown in tokens)
            for known in itertools.product(tokens, repeat=users)
        )
        / users
    )


def test_exact_pairs_reach_the_optimum_and_simple_weights_do_not():
    noise = Fraction(1, 5)
    api = TopicsApi(topics=TOKENS, top=TOP, noise=float(noise))
    joint, pairs = joint_of(WORLD, noise), table(pairs_of(WORLD))
    exact = TokenTable(api, pairs).fit(View.of(world_rows())).gain[0]
    simple = np.rint(
        np.log(PairChances.one_parameter(api, np.diagonal(pairs)).uncorrected()) * GRID
    )
    assert accuracy(exact, joint, users=3) == optimum(joint, users=3)
    assert accuracy(simple, joint, users=3) < optimum(joint, users=3)


def test_correction_matters_for_a_known_token_that_is_mostly_noise():
    """Token 3 is rare, so a site that shows it has hardly told anything."""
    world, noise = {(0, 1): 60, (1, 2): 39, (2, 3): 1}, Fraction(3, 5)
    api = TopicsApi(topics=TOKENS, top=TOP, noise=float(noise))
    joint, pairs = joint_of(world, noise), table(pairs_of(world))
    tables = (TokenTable(api, pairs, corrected=corrected) for corrected in (True, False))
    one, other = (accuracy(table.fit(View.of(world_rows())).gain[0], joint, 2) for table in tables)
    assert one == optimum(joint, 2) > other


PEOPLE = synthetic_topics(60_000, topics=12, epochs=4, types=3, size=3, sigma=1.5, seed=4)
API = TopicsApi(topics=12, top=3, noise=0.1)


@cache
def everyone():
    """What two sites were shown, and the top sets."""
    seen = API.observe(PEOPLE, seed=5)
    shown = seen.anonymous[np.argsort(seen.truth)]
    return {"shown": seen.known, "sets": PEOPLE.top_sets(0, PEOPLE.users, top=3, seed=0)}, shown


def panel_of(users, kind, start=0):
    known, shown = everyone()
    rows = slice(start, start + users)
    return Observations(known[kind][rows], shown[rows], np.arange(users), tokens=12)


@pytest.mark.parametrize(("kind", "least"), [("shown", 0.05), ("sets", 0.02)])
@pytest.mark.parametrize("corrected", [True, False])
def test_a_panel_converges_to_the_exact_table(kind, least, corrected):
    seen = panel_of(500, "shown")
    exact = gains(TokenTable(API, PEOPLE.interests.pairs, corrected=corrected), seen)
    alone = PEOPLE.interests.popularity
    errors = []
    for users in (200, 4_000, 60_000):
        attack = TokenTable(API, panel=panel_of(users, kind), corrected=corrected)
        wrong = np.abs(gains(attack, seen) - exact)[0]
        errors.append((wrong * np.outer(alone, alone)).sum() / alone.sum() ** 2)
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < least


def leave_one_out(lists, base):
    """The weight of the assumption, counting anew without each user."""
    predictions = []
    for user, own in enumerate(lists):
        others = [cell for other, cells in enumerate(lists) if other != user for cell in cells]
        predictions += [(others.count(cell) / len(others), base[cell]) for cell in own]

    def loss(weight):
        return -sum(math.log((1 - weight) * left + weight * far) for left, far in predictions)

    return optimize.minimize_scalar(loss, bounds=(0, 1), options={"xatol": 1e-12}).x


def test_the_weight_of_the_assumption_is_by_leaving_out_each_user():
    """Users with sets of their own, seen unequally often."""
    random = np.random.default_rng(3)
    rows = np.repeat(random.integers(0, 12, (9, 1)), 6, axis=1)
    rows = np.stack([rows, (rows + random.integers(0, 3, rows.shape)) % 12])
    rows[0, 5:, 3:] = -1
    known, shown = rows
    popular = popularity(known, API, pooled=True).in_use[0]
    assumed = PairChances.one_parameter(API, popular).shown()
    cells = list(itertools.combinations_with_replacement(range(12), 2))
    base = {(a, b): assumed[a, b] + (a != b) * assumed[b, a] for a, b in cells}
    total = sum(base.values())
    base = {cell: chance / total for cell, chance in base.items()}
    lists = [
        [tuple(sorted(pair)) for pair in zip(one, other, strict=True) if min(pair) >= 0]
        for one, other in zip(known.tolist(), shown.tolist(), strict=True)
    ]
    weight = leave_one_out(lists, base)
    assert 0.1 < weight < 0.9
    joint = from_shown(API, popular, np.arange(9), (known, shown)).shown()
    found = [cell for own in lists for cell in own]
    for a, b in cells:
        expected = (1 - weight) * found.count((a, b)) / len(found) + weight * base[a, b]
        assert joint[a, b] + (a != b) * joint[b, a] == pytest.approx(expected, abs=1e-6)


def test_a_panel_is_linked_by_its_truth():
    seen, panel = panel_of(50, "shown"), panel_of(300, "shown", start=100)
    order = np.random.default_rng(1).permutation(300)
    other = Observations(panel.known, panel.anonymous[order], panel.truth[order], tokens=12)
    one, two = (gains(TokenTable(API, panel=which), seen) for which in (panel, other))
    np.testing.assert_allclose(one, two, atol=ROUNDING)


@given(st.integers(1, 30), st.sampled_from(["shown", "sets"]), st.integers(0, 200))
def test_a_panel_gives_chances_however_small_it_is(users, kind, start):
    attack = TokenTable(API, panel=panel_of(users, kind, start))
    chances = np.exp(gains(attack, panel_of(50, "shown"))[0])
    np.testing.assert_allclose(chances.sum(axis=0), 1, atol=1e-9)
    assert chances.min() >= API.q_out * (1 - 1e-9)


def test_sets_of_one_token_hold_no_pairs():
    api = TopicsApi(topics=3, top=1, noise=0.3)
    found = from_sets(api, np.array([[[0]], [[0]], [[2]]]))
    np.testing.assert_allclose(found.pairs, np.diag([2 / 3, 0.5 / 3, 1 / 3]))


@pytest.mark.parametrize("kind", ["shown", "sets", None])
def test_tables_of_each_slot_are_those_of_slots_alone(kind):
    seen, panel = panel_of(300, "shown"), kind and panel_of(300, kind, start=1000)
    found = gains(TokenTable(API, panel=panel, pooled=False), seen)
    assert found.shape == (4, 12, 12)
    for slot in range(4):
        only = [
            Observations(
                one.known[:, slot, None], one.anonymous[:, slot, None], one.truth, tokens=12
            )
            for one in (seen, panel or seen)
        ]
        alone = TokenTable(API, panel=only[1] if kind else None)
        np.testing.assert_array_equal(found[slot], gains(alone, only[0])[0])


def test_pairs_of_each_slot():
    pairs = np.stack([table(pairs_of(WORLD)), np.full((4, 4), 0.5)])
    api = TopicsApi(topics=TOKENS, top=TOP)
    found = gains(TokenTable(api, pairs, pooled=False))
    for slot in range(2):
        np.testing.assert_array_equal(found[slot], gains(TokenTable(api, pairs[slot]))[0])


@pytest.mark.parametrize("corrected", [True, False])
def test_gains_are_finite_without_noise_and_for_tokens_never_shown(corrected):
    api = TopicsApi(topics=TOKENS, top=TOP, noise=0)
    pairs = np.zeros((4, 4))
    pairs[:2, :2] = 1
    found = gains(TokenTable(api, pairs, corrected=corrected))[0]
    assert found[0, 1] == pytest.approx(math.log(0.5))
    assert found[2, 0] == found[2, 2] == IMPOSSIBLE_GAIN
    assert np.isfinite(found).all()


@pytest.mark.parametrize("kind", ["shown", "sets", None])
def test_the_truth_of_what_is_seen_is_not_used(kind):
    seen, panel = panel_of(50, "shown"), kind and panel_of(50, kind, start=500)
    other = Observations(seen.known, seen.anonymous, seen.truth[::-1], tokens=12)
    attack = TokenTable(API, panel=panel)
    one, two = (attack.fit(View.of(which)).gain for which in (seen, other))
    np.testing.assert_array_equal(one, two)


def test_the_order_of_sites_and_users_of_a_panel_does_not_matter():
    seen, panel = panel_of(50, "shown"), panel_of(200, "shown", start=100)
    swapped = Observations(panel.anonymous[::-1], panel.known[::-1], np.arange(200), tokens=12)
    one, other = (gains(TokenTable(API, panel=which), seen) for which in (panel, swapped))
    np.testing.assert_allclose(one, other, atol=ROUNDING)


PAIRS = table(pairs_of(WORLD))
SMALL = TopicsApi(topics=TOKENS, top=TOP)


@pytest.mark.parametrize("kind", ["shown", "sets"])
@pytest.mark.parametrize("pooled", [True, False])
def test_the_view_tells_what_was_not_given(kind, pooled):
    seen, panel = panel_of(300, "shown"), panel_of(300, kind, start=1000)
    bare, learned = (
        TokenTable(API, panel=given, pooled=pooled).fit(View.of(seen)).gain
        for given in (None, panel)
    )
    known = np.stack([PEOPLE.interests.pairs] * 4) if not pooled else PEOPLE.interests.pairs
    exact = TokenTable(API, known, pooled=pooled).fit(View.of(seen)).gain
    attack = TokenTable(pooled=pooled)
    for view, expected in (
        (View.of(seen, release=API), bare),
        (View.of(seen, release=API, panel=panel), learned),
        (View.of(seen, release=API, panel=panel, population=PEOPLE.interests), exact),
        (View.of(seen, release=API, panel=panel, population=Interests(12, size=4)), learned),
    ):
        np.testing.assert_array_equal(attack.fit(view).gain, expected)


@pytest.mark.parametrize("pooled", [True, False])
def test_an_attack_is_made_again_with_another_release(pooled):
    pairs = PAIRS if pooled else np.stack([PAIRS] * 2)
    again = replace(TokenTable(SMALL, pairs, pooled=pooled), release=TopicsApi(4, 2, 0.5))
    expected = gains(TokenTable(TopicsApi(4, 2, 0.5), pairs, pooled=pooled))
    np.testing.assert_array_equal(gains(again), expected)


def test_what_was_given_wins_over_the_view():
    seen, panel, other = (panel_of(300, "shown", start) for start in (0, 1000, 2000))
    given = TokenTable(API, panel=panel)
    full = View.of(seen, release=TopicsApi(12, 2), panel=other, population=PEOPLE.interests)
    np.testing.assert_array_equal(given.fit(full).gain, given.fit(View.of(seen)).gain)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"pairs": PAIRS, "panel": world_rows()}, "conflicting-arguments"),
        ({"pairs": PAIRS[:3]}, "wrong-shape"),
        ({"pairs": PAIRS, "pooled": False}, "wrong-shape"),
        ({"pairs": PAIRS * 3}, "not-a-probability"),
        ({"pairs": PAIRS - np.eye(4) * 0.4}, "not-a-probability"),
        ({"pairs": PAIRS + np.triu(np.full((4, 4), 1e-3), 1)}, "not-a-probability"),
        ({"pairs": PAIRS * np.nan}, "not-a-probability"),
    ],
)
def test_what_is_wrong_in_itself_is_refused_at_once(arguments, code):
    with refuses(code):
        TokenTable(SMALL, **arguments)


def sets_of(size):
    return Observations(np.zeros((3, 2, size), int), np.zeros((1, 2), int), [0], tokens=4)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"pairs": PAIRS[:3, :3]}, "alphabet-mismatch"),
        ({"panel": world_rows(tokens=5)}, "alphabet-mismatch"),
        ({"panel": world_rows().shard(2, 4)}, "incomplete-panel"),
        ({"panel": sets_of(3)}, "panel-mismatch"),
        ({"panel": sets_of(2)}, "panel-mismatch"),
        ({"pairs": PAIRS[None], "pooled": False}, "slot-mismatch"),
        ({"panel": world_rows().prefix(1), "pooled": False}, "slot-mismatch"),
    ],
)
def test_what_does_not_fit_the_rows_is_refused(arguments, code):
    with refuses(code):
        TokenTable(SMALL, **arguments).fit(View.of(world_rows()))


def test_rows_that_do_not_fit_are_refused():
    with refuses("nothing-to-learn"):
        gains(TokenTable(TopicsApi(topics=4, top=2, noise=1)))
    with refuses("alphabet-mismatch"):
        gains(TokenTable(SMALL), world_rows(tokens=5))
    with refuses("wrong-kind-of-rows"):
        gains(TokenTable(SMALL), sets_of(2))
    with refuses("too-many-tokens", TooLarge):
        gains(TokenTable(TopicsApi(topics=20_000)), world_rows(tokens=20_000))
