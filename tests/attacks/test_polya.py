"""Pólya: chances against exact fractions, every engine alike, and where it is worth it."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import bags, observations
from tests.shared_data import DATA, needs_data
from tests.snapshots import refuses

from reidrisk import (
    BagRows,
    ItemSamples,
    LocalEngine,
    Observations,
    ReferenceEngine,
    data,
    measure,
    posterior,
)
from reidrisk.attacks import Overlap, Polya, Repetition, View
from reidrisk.core.rows import counts_in, tokens_in
from reidrisk.releases import observe
from reidrisk.scores import GRID, PolyaChances
from reidrisk.scores.polya import MOST_TIMES
from reidrisk.testing import check_attack, check_score

RANDOM = np.random.default_rng(4)
SEEN = Observations(
    RANDOM.integers(-1, 6, (60, 5)), RANDOM.integers(-1, 6, (9, 5)), np.arange(9), tokens=6
)
SETS = Observations(
    RANDOM.integers(-1, 6, (60, 5, 2)), RANDOM.integers(-1, 6, (9, 5)), np.arange(9), tokens=6
)
PRIOR = [Fraction(1, 4), Fraction(3, 2), Fraction(1, 8), Fraction(2), Fraction(1, 4), Fraction(1)]
GAP = (Fraction(1, 2), Fraction(5, 2))


def chance(known, shown, prior, fade, gap=None, slots=0, empty=(0, 0)):
    """The chance of shown tokens, draw by draw, in exact fractions."""
    balls = [start + Fraction(known.count(token), fade) for token, start in enumerate(prior)]
    found = Fraction(1)
    for token in shown:
        found *= balls[token] / sum(balls)
        balls[token] += 1
    if gap is not None:
        urn = [gap[0] + empty[0], gap[1] + slots - empty[0]]
        for slot in range(slots):
            came = int(slot >= empty[1])
            found *= urn[came] / sum(urn)
            urn[came] += 1
    return found


def held(row):
    """The tokens of a row, each as often as it came."""
    row = np.asarray(row).ravel()
    return np.repeat(tokens_in(row), np.where(tokens_in(row) < 0, 0, counts_in(row))).tolist()


@pytest.mark.parametrize("fade", [1, 2, 3])
@pytest.mark.parametrize("gap", [None, GAP])
@pytest.mark.parametrize("seen", [SEEN, SETS], ids=["tokens", "sets"])
def test_a_score_is_the_chance_in_exact_fractions(seen, gap, fade):
    score = PolyaChances([float(one) for one in PRIOR], fade, gap and tuple(map(float, gap)))
    score.check(seen)
    for known, shown in zip(np.asarray(seen.true_rows), np.asarray(seen.anonymous), strict=True):
        empty = [int((np.reshape(side, (5, -1)) < 0).all(axis=1).sum()) for side in (known, shown)]
        expected = chance(held(known), held(shown), PRIOR, fade, gap, 5, empty)
        assert np.exp(score.of(known[None], shown)[0] / GRID) == pytest.approx(float(expected))


def test_bags_count_how_often_tokens_came():
    known = BagRows.of([1, 3, 0], [0, 2, 3], tokens=6, counts=[2, 1, 7])
    shown = BagRows.of([3, 1], [0, 2], tokens=6, counts=[1, 3])
    seen = Observations(known, shown, [0], tokens=6)
    score = PolyaChances([float(one) for one in PRIOR], 2)
    found = score.of(seen.known.block(0, 2), seen.anonymous[0]) / GRID
    expected = [chance(one, [3, 1, 1, 1], PRIOR, 2) for one in ([1, 1, 3], [0] * 7)]
    np.testing.assert_allclose(np.exp(found), np.array(expected, float))


def test_chances_of_all_rows_of_a_length_sum_to_one():
    score = PolyaChances([0.5, 1.5, 0.25], 2, (0.5, 1.5))
    known = np.array([[0, 2, -1]])
    rows = np.array(list(itertools.product([-1, 0, 1, 2], repeat=3)))
    chances = np.exp(score.of(np.repeat(known, len(rows), axis=0), rows) / GRID)
    assert chances.sum() == pytest.approx(1, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_every_engine_gives_the_answer_of_the_reference(drawn):
    kind = drawn.draw(st.sampled_from(["tokens", "sets", "bags"]))
    seen = drawn.draw(bags() if kind == "bags" else observations(sets=kind == "sets"))
    random = np.random.default_rng(drawn.draw(st.integers(0, 2**32)))
    prior = random.choice(drawn.draw(st.sampled_from([[1.0], [0.01, 0.5, 7.0]])), seen.tokens)
    gap = drawn.draw(st.sampled_from([None, (0.3, 2.0)])) if kind != "bags" else None
    score = PolyaChances(prior, drawn.draw(st.integers(1, 4)), gap)
    ask = {"list_best": 3, "ranks": None, "second": True}
    slow = ReferenceEngine().search(seen, score, **ask)
    fast = LocalEngine(rows=7).search(seen, score, **ask)
    for name in ("best", "ties", "true_score", "above", "level", "best_rows", "best_scores",
                 "second"):  # fmt: skip
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), name)
    both = [engine.evidence(seen, score) for engine in (LocalEngine(), ReferenceEngine())]
    np.testing.assert_allclose(*both, rtol=1e-12, atol=1e-9)


def test_counts_beyond_the_most_count_alike():
    often = BagRows.of([0, 1], [0, 2], tokens=3, counts=[MOST_TIMES, 5])
    counts = [MOST_TIMES, 5, 90_000, 5, 1]
    known = BagRows.of([0, 1, 0, 1, 2], [0, 2, 4, 5], tokens=3, counts=counts)
    seen = Observations(known, often, [0], tokens=3)
    score = PolyaChances([0.5, 0.5, 0.5], 3)
    score.check(seen)
    slow, fast = (one.search(seen, score) for one in (ReferenceEngine(), LocalEngine()))
    assert (slow.ties.tolist(), fast.ties.tolist()) == ([2], [2])
    assert slow.best == fast.best


@pytest.mark.parametrize("seen", [SEEN, SETS], ids=["tokens", "sets"])
def test_every_promise_is_kept(seen):
    check_attack(Polya(), seen)
    check_score(Polya().fit(View.of(seen)), seen)
    check_score(PolyaChances(np.ones(6), 3), seen)


def test_bags_keep_every_promise_too():
    random = np.random.default_rng(1)
    counts = random.poisson(0.6, (2, 60, 6))
    sides = [
        BagRows.of(
            np.nonzero(side)[1], np.append(0, np.cumsum((side > 0).sum(axis=1))), tokens=6,
            counts=side[side > 0],
        )
        for side in counts
    ]  # fmt: skip
    seen = Observations(sides[0], sides[1].part(0, 9), np.arange(9), tokens=6)
    check_attack(Polya(), seen)
    check_score(Polya().fit(View.of(seen)), seen)


def drawn(users, draws, *, seed, change=0.0):
    """Draws of both sides from tastes that are spread as a Dirichlet distribution says."""
    random = np.random.default_rng(seed)
    popular = 1 / np.arange(1, 301)
    prior = 30 * popular / popular.sum()
    tastes = random.dirichlet(prior, users)
    later = random.dirichlet(prior, users)
    moved = np.where(random.random((users, 300)) < change, later, tastes)
    return Observations(
        np.array([random.choice(300, draws, p=one) for one in tastes]),
        np.array([random.choice(300, draws, p=one / one.sum()) for one in moved]),
        np.arange(users), tokens=300,
    )  # fmt: skip


def test_what_it_draws_from_is_learned_and_it_knows_how_sure_it_is():
    seen = drawn(1_500, 12, seed=1)
    score = Polya().fit(View.of(seen))
    assert score.total == pytest.approx(30, rel=0.15)
    assert (score.fade, score.gap) == (1, None)
    belief = posterior(seen, Polya())
    assert belief.claims.fits
    others = measure(seen, [Overlap(), Repetition()], slots=12)
    assert belief.risk.value > max(one[12].value for one in others)


def test_changing_tastes_make_what_is_known_fade():
    steady, moving = (Polya().fit(View.of(drawn(600, 30, seed=1, change=one))) for one in (0, 0.5))
    assert moving.fade > steady.fade


def test_gaps_are_learned_from_both_sides():
    random = np.random.default_rng(1)
    away = np.where(random.random((400, 1)) < 0.5, 0.9, 0.1)
    sides = [np.where(random.random((400, 8)) < away, -1, random.integers(0, 9, (400, 8)))
             for _ in range(2)]  # fmt: skip
    empty, there = Polya().fit(View.of(Observations(*sides, np.arange(400), tokens=9))).gap
    assert empty / (empty + there) == pytest.approx(0.5, abs=0.06)
    assert empty + there < 3
    full = [np.where(random.random((400, 8)) < 0.5, -1, random.integers(0, 9, (400, 8)))
            for _ in range(2)]  # fmt: skip
    assert sum(Polya().fit(View.of(Observations(*full, np.arange(400), tokens=9))).gap) > 50


def test_with_the_truth_permuted_it_guesses():
    seen = drawn(1_000, 8, seed=2)
    other = seen.changed(truth=np.random.default_rng(1).permutation(1_000))
    other = Observations(seen.known, seen.anonymous, other.truth, tokens=300)
    assert measure(other, Polya())[8].value < 0.006


@needs_data
def test_item_samples_by_count():
    """Issue 27: at least 43 % of the people of Last.fm at 8 items, where repetition has 39 %."""
    user, item, count = np.loadtxt(DATA / "lastfm2k_user_artists.dat", int, skiprows=1).T
    people = data.make_profiles(user, np.ones_like(user), item, weight=count)
    seen = observe(ItemSamples(samples=16), people, seed=0)
    found = measure(seen, Polya(), slots=(4, 8, 16))
    assert all(found[slots].value > least for slots, least in ((4, 0.18), (8, 0.42), (16, 0.79)))
    short = seen.prefix(8)
    assert LocalEngine().credit(short, Polya().fit(View.of(short))).mean() >= 0.43
    uniform = observe(ItemSamples(samples=8, by_count=False), people, seed=0)
    curves = measure(uniform, [Polya(), Repetition()], slots=8)
    assert curves[0][8].value > curves[1][8].value


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: PolyaChances([0.0, 0.1]), "invalid-weights"),
        (lambda: PolyaChances([[0.1]]), "invalid-weights"),
        (lambda: PolyaChances([0.1], gap=(0.0, 1.0)), "invalid-weights"),
        (lambda: PolyaChances([0.1], 0), "not-a-whole-number"),
        (lambda: PolyaChances([0.1]).check(SEEN), "score-mismatch"),
    ],
)
def test_impossible_urns_are_refused(make, code):
    with refuses(code):
        make()
