"""Joins on sets of slots: patterns, evidence and searches equal to the reference."""

import math
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import only
from tests.engines.test_local import assert_same

from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ReferenceEngine, plan, subset_joins
from reidrisk.engines.cost_model import Question, Search
from reidrisk.engines.strategies import joins, weighted_joins
from reidrisk.engines.subset_joins import SlotNumbers
from reidrisk.scores import TokenWeights

# What a match gains beyond a mismatch: nothing, little, alike, beyond all sums of floats.
MORE = [[0.0, 0.5], [1.0], [1e-9, 3.0], [0.1, 0.2, 0.3], [2.0, 1e4]]
GAINS = [[0.0], [-1.0, 0.5], [-1e4, 0.0, 2.0], [-3.0]]


@st.composite
def columns(draw, most_slots=5):
    """Rows as of a table of people: columns with few and with many values, equal rows, gaps."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    users, targets = draw(st.integers(1, 80)), draw(st.integers(1, 60))
    slots = draw(st.integers(1, most_slots))
    sizes = random.choice([1, 2, 3, 40, 3000], slots)
    first, tokens = np.cumsum([0, *sizes[:-1]]), int(sizes.sum())
    skew = draw(st.sampled_from([1, 4]))
    known, shown = (
        (first + sizes * random.random((count, slots)) ** skew).astype(int)
        for count in (users, targets)
    )
    truth = random.integers(0, users, targets)
    shown = np.where(random.random(shown.shape) < 0.6, known[truth], shown)
    known[users // 2 :] = (
        known[: users - users // 2] if draw(st.booleans()) else known[users // 2 :]
    )
    for rows in (known, shown):
        rows[random.random(rows.shape) < draw(st.sampled_from([0.0, 0.1, 0.6]))] = -1
    seen = Observations(known, shown, truth, tokens=tokens)
    return seen.changed(strangers=seen.anonymous).of_strangers() if draw(st.booleans()) else seen


@st.composite
def rising(draw, seen):
    """Normalised weights under which no match gains less than a mismatch."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.sampled_from([(seen.tokens,), (seen.slots, seen.tokens)]))
    mismatch = random.choice(draw(st.sampled_from(GAINS)), shape)
    match = mismatch + random.choice(draw(st.sampled_from(MORE)), shape)
    gaps = {}
    if draw(st.booleans()):
        of_gaps = draw(st.sampled_from(GAINS))
        gaps = {
            "known_gap": random.choice(of_gaps, shape),
            "shown_gap": random.choice(of_gaps, seen.slots),
            "both_gaps": random.choice(of_gaps, seen.slots),
        }
    return TokenWeights(match, mismatch, **gaps).normalised()


def engines():
    return LocalEngine(threads=1), LocalEngine(threads=3, rows=13)


@settings(deadline=None)
@given(st.data())
def test_evidence_and_search_under_normalised_weights_equal_the_reference(data):
    seen = data.draw(columns())
    score = data.draw(rising(seen))
    slow, sums = ReferenceEngine().search(seen, score), ReferenceEngine().evidence(seen, score)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.plan.cheapest", only(weighted_joins))
        # Every table by hashing, or every one with a place for each group and token.
        patch.setattr(subset_joins, "_PLACES", data.draw(st.sampled_from([0, 8, 1 << 20])))
        for engine in engines():
            assert_same(engine.search(seen, score), slow)
            np.testing.assert_allclose(engine.evidence(seen, score), sums, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=50)
@given(st.data(), st.integers(2, 4))
def test_shards_add_up_under_normalised_weights(data, parts):
    seen = data.draw(columns())
    score = data.draw(rising(seen))
    cuts = np.unique(np.linspace(0, seen.known.users, parts + 1).astype(int))
    shards = [seen.shard(*cut) for cut in pairwise(cuts)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.plan.cheapest", only(weighted_joins))
        found = reduce(Matches.merge, [LocalEngine().search(shard, score) for shard in shards])
        sums = reduce(np.logaddexp, [LocalEngine().evidence(shard, score) for shard in shards])
    slow = ReferenceEngine().search(seen, score)
    for name in ("best", "ties", "true_score"):
        np.testing.assert_array_equal(getattr(found, name), getattr(slow, name), name)
    expected = ReferenceEngine().evidence(seen, score)
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=50)
@given(st.data(), st.sampled_from([0, 8, 1 << 20]))
def test_patterns_equal_the_reference(data, places):
    seen = data.draw(columns())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.plan.cheapest", only(joins))
        patch.setattr(subset_joins, "_PLACES", places)
        found = [engine.histogram(seen) for engine in engines()]
    slow = ReferenceEngine().histogram(seen)
    for fast in found:
        np.testing.assert_array_equal(fast.missing, slow.missing)
        np.testing.assert_array_equal(fast.counts, slow.counts)


def test_blocks_and_threads_change_no_bit_of_evidence():
    seen = census(20_000, 300)
    score = TokenWeights(np.linspace(1, 5, seen.tokens)).normalised()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.plan.cheapest", only(weighted_joins))
        expected = LocalEngine(threads=1).evidence(seen, score)
        for engine in (LocalEngine(threads=2), LocalEngine(threads=3, rows=100)):
            np.testing.assert_array_equal(engine.evidence(seen, score), expected)
    some = seen.only(np.arange(20))
    np.testing.assert_allclose(ReferenceEngine().evidence(some, score), expected[:20], rtol=1e-12)


def census(users, targets, slots=6, seed=1):
    """A table of people: columns of 90, 5,000, 2, 16, 50 and 12 values."""
    random = np.random.default_rng(seed)
    sizes = np.resize([90, 5000, 2, 16, 50, 12], slots)
    first = np.cumsum([0, *sizes[:-1]])
    known, shown = (
        (first + sizes * random.random((count, slots)) ** 2).astype(np.int32)
        for count in (users, targets)
    )
    truth = random.integers(0, users, targets)
    shown = np.where(random.random(shown.shape) < 0.8, known[truth], shown)
    return Observations(known, shown, truth, tokens=int(sizes.sum()))


def test_tables_of_a_hundred_thousand_people_are_joined():
    """By the plan, and within seconds: by pairs of rows it would take minutes."""
    seen = census(100_000, 100_000)
    plain = TokenWeights(np.ones(seen.tokens))
    score = TokenWeights(np.linspace(1, 5, seen.tokens)).normalised()
    engine, some = LocalEngine(), np.arange(5)
    few, slow = seen.only(some), ReferenceEngine()
    for each in (plain, score):
        found, expected = engine.search(seen, each), slow.search(few, each)
        for name in ("best", "ties", "true_score", "above", "level"):
            found_of_few = getattr(found, name)[some]
            np.testing.assert_array_equal(found_of_few, getattr(expected, name), name)
    np.testing.assert_allclose(
        engine.evidence(seen, score)[some], slow.evidence(few, score), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("wanted", "slots"),
    [(Wanted(list_best=1), 6), (Wanted(second=True), 6), (Wanted(ranks=2), 6), (Wanted(), 13)],
)
def test_what_joins_cannot_answer_is_left_to_others(wanted, slots):
    seen = census(30, 10, slots)
    score = TokenWeights(np.ones(seen.tokens)).normalised()
    assert weighted_joins.search_cost(Question(seen, wanted, score=score)) == math.inf
    asked = {"list_best": wanted.list_best, "second": wanted.second, "ranks": wanted.ranks}
    fast = LocalEngine().search(seen, score, **asked)
    assert_same(fast, ReferenceEngine().search(seen, score, **asked))


def test_a_match_that_gains_less_than_a_mismatch_is_left_to_others():
    seen = census(30, 10)
    gains = np.ones(seen.tokens)
    gains[7] = -1
    score = TokenWeights(gains).normalised()
    assert weighted_joins.cost(Question(seen, score=score)) == math.inf
    rows = np.zeros((3, 2, 2), int)
    sets = Observations(rows, rows[:, :, 0], np.arange(3), tokens=1)
    assert joins.cost(Question(sets)) == math.inf
    score = TokenWeights([1.0]).normalised()
    assert weighted_joins.cost(Question(sets, score=score)) == math.inf


def test_sets_of_slots_in_which_nobody_is_equal_are_left_out():
    known, shown = np.array([[0, 5], [1, 5]]), np.array([[0, 4], [1, 5]])
    numbers = SlotNumbers.of(shown, 6)
    found = list(subset_joins.joins(numbers.known(known), numbers.targets, numbers.sizes))
    assert {one.pattern: (one.known.tolist(), one.targets.tolist()) for one in found} == {
        0b00: ([0, 1], [0, 1]),
        0b01: ([0, 1], [0, 1]),
        0b10: ([0, 1], [1]),
        0b11: ([1], [1]),
    }


def test_scores_that_only_see_gaps_are_not_scanned():
    """Nearly all rows tie under them, and a scan would offer each of these to each target."""
    seen = census(100_000, 20_000)
    known = np.asarray(seen.known.block(0, 100_000)).copy()
    known[np.random.default_rng(2).random(known.shape) < 0.05] = -1
    seen = Observations(known, np.asarray(seen.anonymous), seen.truth, tokens=seen.tokens)
    score = TokenWeights(np.zeros(seen.tokens), known_gap=-1, shown_gap=-1, both_gaps=1)
    question = Question(seen, searches=3, gaps=True)
    best = plan.cheapest(question, [*plan.counts(), *plan.entries(Search, score)])
    assert best.run is joins.count
