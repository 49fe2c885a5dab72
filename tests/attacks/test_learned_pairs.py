"""Columns weighed by what EM finds: against a slow EM over all pairs, and worlds that are known."""

from math import log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.apart import ApartRows
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk import BagRows, Observations, SetRows, TooLarge
from reidrisk.attacks import Coarsened, Equal, Hamming, LearnedPairs, View, Within
from reidrisk.attacks.learned_pairs import attack as attack_module
from reidrisk.attacks.learned_pairs import learning, pairs
from reidrisk.attacks.learned_pairs.columns import ColumnModel, drawn_chances
from reidrisk.core.rows import MISSING, rows_of
from reidrisk.data import Linked
from reidrisk.scores import GRID, TokenPairWeights, TokenWeights
from reidrisk.testing import check_attack, check_score


def world(users, targets, copied, *, tokens=20, seed=1, gaps=0.0, close=0.0, width=5):
    """Slots copied with chances of their own, else drawn; users are away from both sites.

    With chance `close` a token is drawn among the `width` of its group.
    """
    random, shape = np.random.default_rng(seed), (users, len(copied))
    popular = 1 / np.arange(1, tokens + 1)
    popular /= popular.sum()
    known = random.choice(tokens, shape, p=popular)
    truth = random.permutation(users)[:targets]
    coin, rows = random.random((targets, len(copied))), known[truth]
    drawn = random.choice(tokens, rows.shape, p=popular)
    if close:
        chances = popular.reshape(-1, width)
        chances = (chances / chances.sum(axis=1, keepdims=True)).cumsum(axis=1)
        place = (random.random(rows.shape)[..., None] > chances[rows // width]).sum(axis=2)
        drawn = np.where(coin < np.add(copied, close), rows // width * width + place, drawn)
    shown = np.where(coin < copied, rows, drawn)
    away = random.random(shape) < gaps
    known, shown = np.where(away, MISSING, known), np.where(away[truth], MISSING, shown)
    return Observations(known, shown, truth, tokens=tokens)


def chances_of(seen, attack=None, **besides):
    """What is learned, as the fit has it."""
    attack = LearnedPairs() if attack is None else attack
    return attack.learn(View.of(seen, **besides))


# A slow EM: chances from their definition, loops over all pairs.


def chance(column, slot, pair, chances):
    """Pr(shown given known) of one slot, and the part of each cause in it."""
    known, shown = pair
    copied, close, token_gap, gap_gap = (part[slot] for part in chances)
    gap = gap_gap if known == MISSING else token_gap
    if shown == MISSING:
        return gap, {}
    drawn = column.drawn
    if known == MISSING:
        return (1 - gap) * drawn[shown], {}
    tokens = range(len(drawn))
    near = [column.comparison.near(np.array([known]), np.array([o]))[0] for o in tokens]
    reach = sum(drawn[o] for o in tokens if near[o])
    parts = {
        "copied": copied * (known == shown),
        "close": close * near[shown] * drawn[shown] / reach,
        "drawn": (1 - copied - close) * drawn[shown],
    }
    return (1 - gap) * sum(parts.values()), parts


def slow_step(columns, known, shown, chances, alike):
    """Beliefs over all known rows, counts with these beliefs, shares of the counts."""
    names = ("copied", "close", "drawn", "token gap", "token", "gap gap", "gap")
    counts = {(name, group): 0.0 for name in names for group in set(alike)}
    total = 0.0
    for target in shown:
        found = [
            [chance(column, slot, (row[slot], target[slot]), chances)
             for slot, column in enumerate(columns)]
            for row in known
        ]  # fmt: skip
        weights = [prod(each for each, _ in row) for row in found]
        alone = prod(c.drawn[o] for c, o in zip(columns, target, strict=True) if o != MISSING)
        total += log(sum(weights) / alone)
        for row, parts, weight in zip(known, found, weights, strict=True):
            belief = weight / sum(weights)
            for slot, (_, causes) in enumerate(parts):
                group, known_as = alike[slot], "gap" if row[slot] == MISSING else "token"
                empty = " gap" if target[slot] == MISSING else ""
                counts[known_as + empty, group] += belief
                for name, part in causes.items():
                    counts[name, group] += belief * part / sum(causes.values())
    new = []
    for slot, group in enumerate(alike):
        seen = {name: counts[name, group] + 0.5 for name in names}
        if isinstance(columns[slot].comparison, Equal):
            seen["close"] = 0.0
        whole = seen["copied"] + seen["close"] + seen["drawn"]
        gaps = (
            seen[f"{side} gap"] / (seen[f"{side} gap"] + seen[side]) for side in ("token", "gap")
        )
        new.append((seen["copied"] / whole, seen["close"] / whole, *gaps))
    return list(zip(*new, strict=True)), total


def slow_climb(columns, known, shown, chances, alike):
    new, total = slow_step(columns, known, shown, chances, alike)
    for _ in range(learning.STEPS):
        chances, before = new, total
        new, total = slow_step(columns, known, shown, chances, alike)
        if abs(total - before) < learning.TOLERANCE:
            break
    return chances, total


def slow_learned(columns, known, shown):
    equal = [isinstance(column.comparison, Equal) for column in columns]
    own = list(range(len(columns)))
    alike = [equal.index(True) if equal[slot] else slot for slot in own]
    half = [0.5] * len(columns)
    start = [half, [0.0 if same else 0.25 for same in equal], half, half]
    simple, reached = slow_climb(columns, known, shown, start, alike)
    more = sum(one != other for one, other in zip(own, alike, strict=True))
    more *= 3 if (np.asarray(shown) == MISSING).any() else 1
    if not more:
        return simple
    free, further = slow_climb(columns, known, shown, simple, own)
    return free if further - reached > more * log(len(shown)) / 2 else simple


def as_arrays(chances):
    return [getattr(chances, name) for name in learning.SlotChances.__slots__]


COMPARISONS = [Equal(), Coarsened(["a", "a", None, "b"]), Within(1.5, [0, 1, 2.5, np.nan])]


@given(
    known=st.lists(st.lists(st.integers(-1, 3), min_size=2, max_size=2), min_size=1, max_size=4),
    shown=st.lists(st.lists(st.integers(-1, 3), min_size=2, max_size=2), min_size=1, max_size=3),
    which=st.lists(st.sampled_from(range(3)), min_size=2, max_size=2),
)
@settings(max_examples=25, deadline=None)
def test_the_fit_is_an_em_over_all_pairs(known, shown, which):
    rows = rows_of(np.array(known), tokens=4)
    drawn = drawn_chances(rows, np.array(shown))
    columns = [ColumnModel.of(one, COMPARISONS[c]) for one, c in zip(drawn, which, strict=True)]
    some = pairs.all_pairs(columns, rows, np.array(shown))
    found = learning.learned(some, np.array([column.compares for column in columns]))
    slow = slow_learned(columns, known, shown)
    np.testing.assert_allclose(as_arrays(found), slow, atol=1e-9)


def test_slots_that_differ_get_chances_of_their_own():
    """As in the slow EM, which here takes the other turn."""
    random = np.random.default_rng(1)
    known = np.column_stack([np.arange(30), random.integers(0, 30, (30, 2))])
    shown = np.column_stack([known[:, :2], random.integers(0, 30, 30)])
    rows = rows_of(known, tokens=30)
    columns = [ColumnModel.of(one, Equal()) for one in drawn_chances(rows, shown)]
    some = pairs.all_pairs(columns, rows, shown)
    found = learning.learned(some, np.zeros(3, bool))
    assert found.copied[:2].min() > 0.8
    assert found.copied[2] < 0.2
    slow = slow_learned(columns, known.tolist(), shown.tolist())
    np.testing.assert_allclose(as_arrays(found), slow, atol=1e-9)


def test_every_step_makes_what_is_shown_likelier():
    seen = world(300, 200, (0.8, 0.3, 0.1), gaps=0.2)
    _, some = LearnedPairs().pairs(View.of(seen))
    own, chances, history = np.arange(3), learning.started(np.zeros(3, bool)), []
    for _ in range(30):
        expected, reached = learning.counted(some, chances)
        parts = np.array([chances.copied, chances.gap_given_token, chances.gap_given_gap])
        history.append(reached + learning.PSEUDO * np.log(parts * (1 - parts)).sum())
        chances = learning.best(some, chances, expected, own)
    assert (np.diff(history) > -1e-8).all()
    assert history[-1] > history[0] + 1


# What it finds.


COPIED = (0.95, 0.6, 0.3, 0.1, 0.8)


def test_chances_are_recovered_without_labels():
    """Five standard deviations, taken over worlds, are 0.1 to 0.28; here all are within 0.08."""
    found = chances_of(world(10_000, 2_000, COPIED, tokens=50))
    np.testing.assert_allclose(found.copied, COPIED, atol=0.08)


def test_chances_are_recovered_from_a_panel():
    """Standard errors of shares of 2,000 pairs, and a little for chance agreement: 0.014."""
    seen, panel = (world(2_000, 2_000, COPIED, tokens=50, seed=seed) for seed in (1, 2))
    given, in_view = chances_of(seen, LearnedPairs(panel)), chances_of(seen, panel=panel)
    np.testing.assert_allclose(given.copied, COPIED, atol=0.05)
    np.testing.assert_array_equal(given.copied, in_view.copied)


def test_labelled_pairs_solve_the_likelihood_equation():
    """The slope of the log-posterior of a column's chance to be copied is zero."""
    seen, panel = world(500, 10, (0.7, 0.2)), world(500, 400, (0.7, 0.2), seed=2)
    found = chances_of(seen, LearnedPairs(panel))
    drawn = drawn_chances(seen.known, panel.anonymous)
    for slot, copied in enumerate(found.copied):
        shown = panel.anonymous[:, slot]
        agree = shown == panel.true_rows[:, slot]
        q = drawn[slot, shown[agree]]
        terms = (1 - q) / (copied + (1 - copied) * q)
        against = (~agree).sum() / (1 - copied)
        prior = 0.5 / copied - 0.5 / (1 - copied)
        assert terms.sum() - against + prior == pytest.approx(0, abs=1e-3 * against)


def test_alike_slots_share_their_chances():
    found = chances_of(world(5_000, 1_000, (0.4,) * 4))
    assert len(set(found.copied)) == 1
    assert found.copied[0] == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_claims_are_kept_and_hamming_is_beaten(gaps):
    seen = world(5_000, 1_000, COPIED, gaps=gaps)
    belief = rr.posterior(seen, LearnedPairs())
    assert belief.claims.fits
    plain = rr.measure(seen, Hamming())[5].value
    assert belief.risk.value > 1.5 * plain > 0.1
    assert belief.selective


def test_gaps_of_both_sides_are_learned():
    found = chances_of(world(3_000, 1_000, COPIED, gaps=0.3))
    assert found.gap_given_gap.min() > 0.95
    assert found.gap_given_token.max() < 0.03


def test_a_slot_that_only_one_side_leaves_empty():
    """Gaps are worth nothing where they have nothing to do with each other."""
    seen, random = world(2_000, 1_000, COPIED), np.random.default_rng(3)
    known, shown = (
        np.where(random.random(rows.shape) < 0.2, MISSING, rows)
        for rows in (np.array(seen.known), seen.anonymous)
    )
    found = chances_of(Observations(known, shown, seen.truth, tokens=seen.tokens))
    np.testing.assert_allclose(found.gap_given_token, 0.2, atol=0.05)
    np.testing.assert_allclose(found.gap_given_gap, 0.2, atol=0.12)


GROUPS = np.arange(20) // 5


@pytest.mark.parametrize(
    "comparison",
    [Coarsened((np.arange(100) // 5).tolist()), Within(0.5, np.arange(100) // 5)],
    ids=["coarsened", "within"],
)
def test_close_tokens_count(comparison):
    """A column that is often wrong, but seldom by far, is worth more if that is looked at."""
    seen = world(4_000, 1_000, (0.2,) * 4, close=0.6, tokens=100)
    attack = LearnedPairs(comparisons=dict.fromkeys(range(4), comparison))
    found = chances_of(seen, attack)
    np.testing.assert_allclose(found.copied, 0.2, atol=0.1)
    np.testing.assert_allclose(found.close, 0.6, atol=0.1)
    blind, sees = (rr.posterior(seen, one) for one in (LearnedPairs(), attack))
    assert sees.mean_claim.value > 1.2 * blind.mean_claim.value
    assert sees.claims.fits


@pytest.mark.parametrize("panel", [None, world(100, 100, (0.7, 0.2, 0.5), seed=5, gaps=0.1)])
@pytest.mark.parametrize("chosen", [{}, {1: Coarsened(GROUPS.tolist()), 2: Within(2, range(20))}])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_the_score_is_the_chance_it_says(panel, chosen, gaps):
    """A product over slots of chances from their definition; and every promise is kept."""
    seen = world(60, 30, (0.7, 0.2, 0.5), gaps=gaps)
    attack = LearnedPairs(panel, comparisons=chosen)
    view = View.of(seen)
    score, (columns, _) = attack.fit(view), attack.pairs(view)
    assert type(score) is (TokenPairWeights if chosen else TokenWeights)
    chances = as_arrays(chances_of(seen, attack))
    if not score.gaps:
        chances[2:] = np.zeros((2, 3))
    for row, shown in zip(seen.true_rows, seen.anonymous, strict=True):
        slots = zip(columns, row, shown, strict=True)
        factors = [chance(c, s, (w, o), chances)[0] for s, (c, w, o) in enumerate(slots)]
        assert np.exp(score.of(row[None], shown)[0] / GRID) == pytest.approx(
            prod(factors), rel=1e-9
        )
    check_attack(attack, seen)
    check_score(score, seen)


# How pairs are counted.


def brute_classes(columns, known, shown):
    return [
        np.stack(
            [c.classes_of(known[:, s], np.array(target[s])) for s, c in enumerate(columns)], axis=1
        )
        for target in shown
    ]


@pytest.mark.parametrize("slots", [2, 5, 45])
@pytest.mark.parametrize("held", [lambda rows: rows, ApartRows], ids=["here", "elsewhere"])
def test_groups_are_all_pairs(slots, held):
    """Whether codes are counted in a table, sorted, or of two words; in one block or several."""
    random = np.random.default_rng(slots)
    known, shown = (random.integers(-1, 4, (size, slots)) for size in (40, 5))
    rows = held(rows_of(known, tokens=4))
    columns = [
        ColumnModel.of(drawn, COMPARISONS[slot % 3])
        for slot, drawn in enumerate(drawn_chances(rows, shown))
    ]
    some = pairs.all_pairs(columns, rows, shown)
    assert (pairs.PairCodes.of(columns).word[-1] > 0) == (slots == 45)
    firsts = np.searchsorted(some.cells.slot, np.arange(slots))
    for target, classes in enumerate(brute_classes(columns, known, shown)):
        mine = slice(some.starts[target], some.starts[target + 1])
        symbol = [np.unique(shown[:, s]).searchsorted(shown[target, s]) for s in range(slots)]
        first = firsts + np.array(symbol) * [column.classes for column in columns]
        different, times = np.unique(classes, axis=0, return_counts=True)
        found = dict(zip(map(tuple, some.places[mine] - first), some.counts[mine], strict=True))
        assert found == dict(zip(map(tuple, different), times, strict=True))


@pytest.mark.parametrize(
    ("module", "name", "most", "used"),
    [
        (attack_module, "MOST_TARGETS", 120, 120),
        (attack_module, "MOST_PAIRS", 500 * 130, 130),
        (attack_module, "MOST_PAIRS", 500, 100),
        (pairs, "ENOUGH_ENTRIES", 1, 50),
    ],
)
def test_the_targets_to_learn_from_are_few(module, name, most, used, monkeypatch):
    monkeypatch.setattr(module, name, most)
    seen = world(500, 400, COPIED)
    _, some = LearnedPairs().pairs(View.of(seen))
    assert some.starts.size - 1 == used


def test_too_many_ways_to_agree_are_refused(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_ENTRIES", 1_000)
    with refuses("too-many-pairs", TooLarge):
        LearnedPairs().fit(View.of(world(500, 400, COPIED)))


# Chances of tokens that are drawn.


def test_drawn_tokens_are_as_known_ones_unless_sides_differ():
    random = np.random.default_rng(1)
    popular = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    known = rows_of(random.choice(5, (5_000, 1), p=popular), tokens=5)
    for shares, within in ((popular, 0.01), (popular[::-1], 0.03)):
        drawn = drawn_chances(known, random.choice(5, (1_000, 1), p=shares))
        np.testing.assert_allclose(drawn[0], shares, atol=within)
        assert drawn.min() > 0
        assert drawn.sum() == pytest.approx(1)


def test_a_rare_token_is_not_frequent_because_a_target_shows_it():
    """Each of a hundred targets shows a token that one in ten thousand has.

    Neither where sides are alike nor where they differ, since many more show another one.
    """
    known, rare = rows_of(np.arange(10_000)[:, None], tokens=10_000), np.arange(0, 10_000, 100)
    np.testing.assert_allclose(drawn_chances(known, rare[:, None]), 1e-4, rtol=1e-3)
    drawn = drawn_chances(known, np.concatenate([np.full(900, 1), rare])[:, None])[0]
    assert drawn[1] == pytest.approx(0.9, abs=0.01)
    assert drawn[rare].max() < 1e-4


# Where it can be used, and where not.


def test_two_tables_have_claims():
    seen = world(400, 300, COPIED)
    table = Linked(
        np.array(seen.known, np.int32), np.array(seen.anonymous, np.int32), seen.truth,
        ids=np.arange(400), labels=np.arange(20),
    )  # fmt: skip
    result = rr.Study(attacks=(LearnedPairs(), Hamming()), models=(LearnedPairs(),)).run(table)
    assert {risk.attack for risk in result.risks} == {"learned-pairs", "hamming"}
    assert {claim.attack for claim in result.claims} == {"learned-pairs"}


SMALL = world(30, 10, (0.5, 0.5))
BAGS = Observations(BagRows([[0, 1], [2]], tokens=3), [[0]], [0], tokens=3)
SETS = Observations(SetRows([[[0, 1]], [[2, -1]]], tokens=3), [[0]], [0], tokens=3)
EMPTY = Observations(np.array([[0, 1]]), np.full((1, 2), MISSING), [0], tokens=2)


@pytest.mark.parametrize(
    ("seen", "attack", "code"),
    [
        (BAGS, LearnedPairs(), "wrong-kind-of-rows"),
        (SETS, LearnedPairs(), "wrong-kind-of-rows"),
        (EMPTY, LearnedPairs(), "nothing-shown"),
        (SMALL, LearnedPairs(SETS), "panel-mismatch"),
        (SMALL, LearnedPairs(SMALL.prefix(1)), "panel-mismatch"),
        (SMALL, LearnedPairs(SMALL.shard(0, 9)), "incomplete-panel"),
        (SMALL, LearnedPairs(comparisons={2: Equal()}), "slot-out-of-range"),
        (SMALL, LearnedPairs(comparisons={0: Within(1, [1])}), "length-mismatch"),
        (SMALL, LearnedPairs(comparisons={1: Coarsened("ab")}), "length-mismatch"),
    ],
)
def test_what_makes_no_sense_is_refused(seen, attack, code):
    with refuses(code):
        attack.fit(View.of(seen))


def test_a_table_that_is_too_large_is_refused():
    tokens = 20_000
    seen = Observations(np.array([[0]]), np.array([[1]]), [0], tokens=tokens)
    attack = LearnedPairs(comparisons={0: Within(1, np.arange(tokens))})
    with refuses("too-many-tokens", TooLarge):
        attack.fit(View.of(seen))
    assert LearnedPairs(comparisons={0: Equal()}).fit(View.of(seen)).tokens == tokens


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: LearnedPairs(comparisons={0: "equal"}), "not-a-comparison"),
        (lambda: LearnedPairs(comparisons={-1: Equal()}), "not-a-whole-number"),
        (lambda: Within(-1, [0]), "not-a-number"),
        (lambda: Within(1, [[0]]), "not-finite"),
        (lambda: Within(1, [np.inf]), "not-finite"),
    ],
)
def test_wrong_arguments_are_refused(make, code):
    with refuses(code):
        make()


def test_the_view_must_hold_the_anonymous_rows_or_a_panel():
    view = View(SMALL.known)
    with refuses("missing-knowledge"):
        LearnedPairs().fit(view)
    assert LearnedPairs(SMALL).fit(view).tokens == 20


def test_two_sides_that_are_the_very_same_are_drawn_as_known():
    rows = np.zeros((50, 2), int)
    with np.errstate(all="raise"):
        assert drawn_chances(rows_of(rows, tokens=1), rows).tolist() == [[1.0], [1.0]]
