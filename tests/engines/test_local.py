"""The fast engine equals the slow one, field by field."""

import dataclasses
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import (
    AWKWARD,
    mixtures,
    observations,
    only,
    profiles,
    searches,
    typed_people,
    weights,
)
from tests.snapshots import refuses
from tests.threads import all_ending, interrupt_main, listen_for_ever

from reidrisk.core.matches import ABSENT, UNCOUNTED, Matches, merge_all
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.protocol import Room
from reidrisk.engines.strategies import bit_scan, distinct, joins, lanes, tally
from reidrisk.engines.strategies.overlap import as_sets
from reidrisk.errors import TooLarge
from reidrisk.scores import OverlapWeights, RepeatedTokens, TokenPairWeights, TokenWeights

FIELDS = [field.name for field in dataclasses.fields(Matches)]
RANKS = st.sampled_from([1, 2, 5, None])


def assert_same(fast, slow):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), name)


def population(users=3000, targets=400, slots=8, tokens=50, seed=1):
    random = np.random.default_rng(seed)
    popular = lambda *shape: (tokens * random.random(shape) ** 2).astype(int)  # noqa: E731
    known, anonymous = popular(users, slots), popular(targets, slots)
    truth = random.integers(0, users, targets)
    shared = random.random(anonymous.shape) < 0.2
    anonymous[shared] = known[truth][shared]
    return Observations(known, anonymous, truth, tokens=tokens)


HAMMING = TokenWeights(np.ones(50))
UNEQUAL = TokenWeights(np.linspace(0.5, 3, 50), np.linspace(-0.5, -0.1, 50))


@settings(deadline=None)
@given(searches(), st.sampled_from([0, 0, 1, 3, 100]), RANKS, st.booleans())
def test_a_search_equals_the_reference(search, top, ranks, second):
    seen, score = search
    asked = {"list_best": top, "ranks": ranks, "second": second}
    fast = LocalEngine().search(seen, score, **asked)
    assert_same(fast, ReferenceEngine().search(seen, score, **asked))


@settings(deadline=None)
@given(searches(), st.sampled_from([0, 3]), RANKS)
def test_strangers_have_no_true_row_whatever_the_way(search, top, ranks):
    seen, score = search
    met = seen.changed(strangers=seen.anonymous).of_strangers()
    asked = {"list_best": top, "ranks": ranks, "second": True}
    fast, slow = (each.search(met, score, **asked) for each in (LocalEngine(), ReferenceEngine()))
    assert_same(fast, slow)
    assert (fast.true_score == ABSENT).all()
    assert (fast.above == UNCOUNTED).all()
    assert (fast.level == UNCOUNTED).all()
    # Who is met changes nothing about who fits best.
    known = LocalEngine().search(seen, score, **asked)
    for name in ("best", "ties", "second", "best_rows", "best_scores"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(known, name), name)
    sums, expected = (LocalEngine().evidence(each, score) for each in (met, seen))
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize("way", [lanes, distinct, joins, bit_scan, tally])
@settings(deadline=None, max_examples=50)
@given(data=st.data(), ranks=RANKS)
def test_every_way_equals_the_reference(way, data, ranks):
    sets = data.draw(st.booleans())
    seen = data.draw(observations(most_slots=4, sets=sets))
    score = data.draw(weights(seen))
    if way is distinct and (min(seen.tokens, 70) + 2) ** (seen.slots * seen.set_size) > 10**5:
        way = lanes
    if way is joins and sets:  # only rows of single tokens are joined
        way = lanes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.plan.cheapest", only(way))
        fast = LocalEngine(threads=2, rows=17).search(seen, score, ranks=ranks, second=True)
    assert_same(fast, ReferenceEngine().search(seen, score, ranks=ranks, second=True))


@settings(deadline=None)
@given(st.data(), st.sampled_from([0, 3]), RANKS)
def test_normalised_weights_equal_the_reference(data, list_best, ranks):
    """Whether or not another score has the same numbers."""
    sets = data.draw(st.booleans())
    seen = data.draw(observations(most_slots=4, sets=sets))
    score = data.draw(weights(seen)).normalised()
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):
            patch.setattr("reidrisk.engines.strategies.bit_scan.as_fast", lambda *_: None)
        engine = LocalEngine(threads=2, rows=17)
        asked = {"list_best": list_best, "ranks": ranks, "second": True}
        fast = engine.search(seen, score, **asked)
        sums = engine.evidence(seen, score)
    slow = ReferenceEngine().search(seen, score, **asked)
    assert_same(fast, slow)
    expected = ReferenceEngine().evidence(seen, score)
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-6)


@settings(deadline=None, max_examples=20)
@given(searches(most_slots=140), RANKS)
def test_rows_may_be_long(search, ranks):
    seen, score = search
    fast = LocalEngine().search(seen, score, ranks=ranks)
    assert_same(fast, ReferenceEngine().search(seen, score, ranks=ranks))


@settings(deadline=None)
@given(searches())
def test_credit_is_that_of_a_full_search(search):
    seen, score = search
    expected = ReferenceEngine().credit(seen, score)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.search._FIRST_ROWS", 3)
        np.testing.assert_array_equal(LocalEngine().credit(seen, score), expected)


@settings(deadline=None, max_examples=30)
@given(st.data(), RANKS)
def test_curves_are_searches_of_prefixes(data, ranks):
    seen = data.draw(observations())
    scores = [data.draw(weights(seen)), data.draw(profiles(seen)), data.draw(weights(seen))]
    if seen.tokens <= 300:
        scores.insert(1, TokenPairWeights(np.eye(seen.tokens)))
        scores.insert(2, data.draw(mixtures(seen)))
    slots = sorted({1, (1 + seen.slots) // 2, seen.slots})
    fast = LocalEngine().curves(seen, scores, slots, ranks=ranks)
    slow = ReferenceEngine().curves(seen, scores, slots, ranks=ranks)
    for ours, theirs in zip(fast, slow, strict=True):
        assert list(ours) == list(theirs) == slots
        for count in slots:
            assert_same(ours[count], theirs[count])


@settings(deadline=None)
@given(searches(), st.integers(1, 4), st.integers(0, 3))
def test_shards_merge_to_the_whole(search, parts, top):
    seen, score = search
    cuts = np.unique(np.linspace(0, len(seen.known), parts + 1).astype(int))
    shards = [seen.shard(*cut) for cut in pairwise(cuts)]
    found = [LocalEngine().search(shard, score, list_best=top, second=True) for shard in shards]
    whole = ReferenceEngine().search(seen, score, list_best=top, second=True)
    if len(shards) > 1:  # nobody is compared with a truth that is in another shard
        uncounted = np.full(len(whole), UNCOUNTED)
        whole = dataclasses.replace(whole, above=uncounted, level=uncounted)
    assert_same(merge_all(found[::-1]), whole)


@pytest.mark.parametrize("score", [HAMMING, UNEQUAL])
@pytest.mark.parametrize("top", [0, 5])
def test_threads_and_blocks_change_nothing(score, top):
    seen = population()
    expected = LocalEngine(threads=1).search(seen, score, list_best=top)
    for engine in (LocalEngine(threads=2), LocalEngine(threads=3, rows=100), LocalEngine(rows=1)):
        assert_same(engine.search(seen, score, list_best=top), expected)


def test_the_order_of_users_changes_nothing():
    seen = population()
    order = np.random.default_rng(2).permutation(len(seen.known))
    shuffled = Observations(
        seen.known[order], seen.anonymous, np.argsort(order)[seen.truth], tokens=seen.tokens
    )
    expected = LocalEngine().search(seen, UNEQUAL, list_best=1)
    found = LocalEngine().search(shuffled, UNEQUAL, list_best=1)
    for name in ("best", "ties", "true_score", "best_scores"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_renaming_tokens_changes_nothing():
    seen, new = population(), np.random.default_rng(2).permutation(50)
    gains = np.linspace(0.5, 3, 50)
    renamed = Observations(new[seen.known], new[seen.anonymous], seen.truth, tokens=50)
    expected = LocalEngine().search(seen, TokenWeights(gains))
    assert_same(LocalEngine().search(renamed, TokenWeights(gains[np.argsort(new)])), expected)


@pytest.mark.parametrize("slots", [1, 8, 9, 13, 100])
def test_levels_of_a_token_table_bound_every_gain(slots):
    """Rows of any length, more slots than have levels, more targets than one chunk.

    Behind the second slot all known tokens gain the most: a bound has nothing to spare there.
    """
    random = np.random.default_rng(slots)
    table = random.gamma(1, 2, (20, 20)) * random.choice([-1, 1], (20, 20)) + 4 * np.eye(20)
    known, shown = random.integers(0, 20, (300, slots)), random.integers(0, 20, (600, slots))
    known[:, 2:], shown[:, 2:] = table[0].argmax(), 0
    seen = Observations(known, shown, random.integers(0, 300, 600), tokens=20)
    for asked in ({"ranks": None}, {"list_best": 2}):
        fast = LocalEngine(threads=2, rows=70).search(seen, TokenPairWeights(table), **asked)
        assert_same(fast, ReferenceEngine().search(seen, TokenPairWeights(table), **asked))


def test_when_all_rows_are_equal_everybody_ties():
    rows = np.full((70_000, 8), 3)
    seen = Observations(rows, rows[:5], np.arange(5), tokens=300)
    for score in (TokenWeights(np.ones(300)), TokenPairWeights(np.eye(300))):
        found = LocalEngine(rows=1000).search(seen, score)
        assert (found.ties == 70_000).all()
        np.testing.assert_array_equal(found.credit, 1 / 70_000)


def test_a_row_may_win_by_what_it_misses():
    known = np.full((100, 2), 0)
    known[3], known[90] = [-1, 1], [-1, -1]
    seen = Observations(known, [[1, 1]], [3], tokens=2)
    found = LocalEngine().search(seen, TokenWeights([-0.9, -0.9], -1.0), list_best=1)
    assert found.best_rows.tolist() == [[90]]
    assert found.ties.tolist() == [1]


def test_many_targets_with_many_tokens_are_searched_in_blocks():
    random = np.random.default_rng(3)
    known = random.integers(0, 10**6, (500, 40))
    truth = random.integers(0, 500, 1000)
    anonymous = np.where(random.random((1000, 40)) < 0.1, known[truth], 10**6 - 1)
    anonymous[:, 0] = random.integers(0, 10**6, 1000)
    seen = Observations(known, anonymous, truth, tokens=10**6)
    score = TokenWeights(random.choice(AWKWARD, 10**6))
    assert_same(LocalEngine().search(seen, score), ReferenceEngine().search(seen, score))


def test_little_memory_means_small_blocks_of_targets():
    seen = population(targets=2000)
    expected = LocalEngine().search(seen, UNEQUAL)
    frugal = LocalEngine(threads=1, rows=64, max_memory=13_000_000)
    assert_same(frugal.search(seen, UNEQUAL), expected)


def test_too_little_memory_is_said_before_it_is_taken():
    with refuses("out-of-memory", TooLarge):
        LocalEngine(max_memory=1000).search(population(), UNEQUAL)
    with refuses("out-of-memory", TooLarge):
        LocalEngine(max_memory=1000).search(population(), TokenPairWeights(np.eye(50)))


def test_rows_too_long_for_codes_are_refused():
    """Whatever memory there is: no estimate comes first."""
    rows = np.zeros((2, 30_000), np.int8)
    with refuses("too-many-slots", TooLarge):
        LocalEngine(max_memory=1000).search(
            Observations(rows, rows, [0, 1], tokens=1), TokenWeights([1.0])
        )


def test_progress_ends_with_everything_done():
    seen, calls = population(), []
    engine = LocalEngine(rows=1000, progress=lambda done, pairs: calls.append((done, pairs)))
    engine.search(seen, UNEQUAL)
    assert calls[-1] == (3000 * 400, 3000 * 400)
    assert len(calls) == 3
    engine.curves(seen, [HAMMING, UNEQUAL], [2, 8])
    assert calls[-1] == (4 * 3000 * 400,) * 2
    engine.credit(seen, HAMMING)
    assert calls[-1] == (3000 * 400,) * 2


def test_an_interrupt_is_heard_and_leaves_nothing_running():
    told = []

    def interrupt_once(done, _pairs):
        told.append(done)
        interrupt_main()
        listen_for_ever()

    seen = population(users=400_000, targets=3000, tokens=50)
    engine = LocalEngine(threads=2, rows=1000, progress=interrupt_once)
    with all_ending(), pytest.raises(KeyboardInterrupt):
        engine.search(seen, HAMMING, list_best=1)
    assert len(told) <= engine.threads  # each of them was stopped in its first block


def test_an_error_in_the_progress_callback_is_not_swallowed():
    def fail(_done, _pairs):
        raise RuntimeError("no more paper")

    with pytest.raises(RuntimeError, match="no more paper"):
        LocalEngine(progress=fail).search(population(), HAMMING)


def test_a_shard_without_true_users_has_no_credit():
    seen = population()
    shard = seen.only(np.flatnonzero(seen.truth >= 100)).shard(0, 100)
    assert (LocalEngine().search(shard, HAMMING).true_score == ABSENT).all()
    with refuses("incomplete-shard"):
        LocalEngine().credit(shard, HAMMING)


def test_memory_maps_are_read_from_disk(tmp_path):
    seen = population()
    np.save(tmp_path / "known.npy", np.asfortranarray(seen.known, dtype=np.int64))
    known = np.load(tmp_path / "known.npy", mmap_mode="r")
    mapped = Observations(known, seen.anonymous, seen.truth, tokens=50)
    assert isinstance(mapped.known.values, np.memmap)
    assert_same(LocalEngine().search(mapped, UNEQUAL), LocalEngine().search(seen, UNEQUAL))


@pytest.mark.parametrize("engine", [LocalEngine(), ReferenceEngine()])
def test_a_list_of_fewer_than_no_rows_is_refused(engine):
    with refuses("not-a-whole-number"):
        engine.search(population(), HAMMING, list_best=-1)


@pytest.mark.parametrize("setting", ["threads", "max_memory", "rows"])
def test_settings_are_at_least_one(setting):
    with refuses("not-a-whole-number"):
        LocalEngine(**{setting: 0})


class Novel:
    """A score of somebody else: agreement counts, but only if the first slots agree."""

    def check(self, observations):
        pass

    def of(self, known, shown):
        agrees = known == shown
        return np.where(agrees[:, 0], agrees.sum(axis=1), 0)


@pytest.mark.parametrize("top", [0, 5])
def test_a_score_of_somebody_else_is_slow_not_refused(top):
    seen = population(targets=30)
    slow = ReferenceEngine().search(seen, Novel(), list_best=top)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.strategies.definition._ROWS_AT_A_TIME", 700)
        assert_same(LocalEngine(threads=2, rows=900).search(seen, Novel(), list_best=top), slow)
    assert_same(LocalEngine().search(seen, Novel(), list_best=top), slow)


PLAIN_PYTHON = """
import numba, numpy as np
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.core.observations import Observations
from reidrisk.scores import OverlapWeights, TokenPairWeights, TokenWeights, TypeMixture

assert numba.config.DISABLE_JIT
random = np.random.default_rng(5)
sets = random.integers(-1, 4, (40, 4, 2))
tokens = random.integers(-1, 4, (9, 4))
truth = random.integers(0, 40, 9)
quarters = np.full((2, 4, 4), 1 / 4)
for known, score in (
    (sets, TokenWeights(np.arange(4), -0.5)),
    (sets[:, :, 0], TokenWeights(np.arange(4), -0.5)),
    (sets[:, :, 0], TokenPairWeights(random.random((4, 4)))),
    (sets, OverlapWeights(np.arange(4))),
    (sets[:, :, 0], TypeMixture([0.5, 0.5], quarters[0, :2], quarters / 4)),
):
    seen = Observations(known, tokens, truth, tokens=4)
    for top in (0, 2):
        fast = LocalEngine(threads=1).search(seen, score, list_best=top)
        slow = ReferenceEngine().search(seen, score, list_best=top)
        for name in ("best", "ties", "true_score", "best_rows", "best_scores"):
            np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))
    fast, slow = LocalEngine().evidence(seen, score), ReferenceEngine().evidence(seen, score)
    np.testing.assert_allclose(fast, slow)
histogram = LocalEngine(threads=1).histogram(Observations(sets, tokens, truth, tokens=4))
assert histogram.counts.sum() == 40 * 9
"""


def test_kernels_run_without_the_compiler():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN_PYTHON],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("top", [0, 3])
@pytest.mark.parametrize("slots", [1, 8])
def test_a_search_by_types_equals_the_reference(slots, top):
    seen, score = typed_people(20_000, 60, slots=slots)
    slow = ReferenceEngine().search(seen, score, list_best=top)
    assert_same(LocalEngine(threads=1).search(seen, score, list_best=top), slow)
    assert_same(LocalEngine(threads=3, rows=500).search(seen, score, list_best=top), slow)
    frugal = LocalEngine(threads=1, max_memory={1: 2_900_000, 8: 3_450_000}[slots])
    assert_same(frugal.search(seen, score, list_best=top), slow)  # thirty targets at a time


def test_whoever_knows_the_types_names_more_people():
    seen, score = typed_people(20_000, 300)
    popular = np.bincount(seen.known.ravel(), minlength=seen.tokens) + 1.0
    weighted = TokenWeights(-np.log(popular / popular.sum()))
    engine = LocalEngine()
    assert engine.credit(seen, score).mean() > 1.2 * engine.credit(seen, weighted).mean()


def test_progress_and_memory_hold_for_the_newer_scores():
    (seen, score), calls = typed_people(3000, 70), []
    engine = LocalEngine(rows=1000, progress=lambda done, pairs: calls.append((done, pairs)))
    forgetful = OverlapWeights(np.ones(60)), RepeatedTokens(np.full(60, 0.1), 0.2, 0.01)
    for rated in (score, *forgetful):
        engine.search(seen, rated)
        assert calls[-1] == (210_000, 210_000)
        with refuses("out-of-memory", TooLarge):
            LocalEngine(max_memory=1000).search(seen, rated)


def test_sets_of_profiles_are_a_view():
    rows = np.random.default_rng(1).integers(0, 50, (1000, 8)).astype(np.int8)
    seen = Observations(rows, rows[:5], np.arange(5), tokens=50)
    sets, _ = as_sets(seen.prefix(6), OverlapWeights(np.ones(50)))
    assert np.shares_memory(sets.known.rows.values, rows)
    assert sets.known.block(3, 10).shape == (7, 6, 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "score", [HAMMING, UNEQUAL, TokenPairWeights(np.eye(50) - 0.1), OverlapWeights(np.arange(50.0))]
)
def test_millions_of_pairs_equal_the_reference(score):
    seen = population(users=200_000, targets=100)
    slow = ReferenceEngine().search(seen, score, list_best=4)
    assert_same(LocalEngine().search(seen, score, list_best=4), slow)
    np.testing.assert_array_equal(LocalEngine().search(seen, score).ties, slow.ties)


def test_a_million_targets_are_not_searched_together():
    room = Room(threads=2, rows=1 << 20, memory=1 << 30)
    assert room.targets_together(1_000_000, lambda targets: 8 * targets) == 1 << 15
    assert room.targets_together(1_000_000, lambda targets: (1 << 20) * targets) == 1 << 10
    assert room.targets_together(5, lambda _: 1) == 5
