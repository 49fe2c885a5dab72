"""Evidence: the sum over everyone, fast as slow."""

import tracemalloc
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from tests.engines.strategies import mixtures, observations, searches, tables, typed_people
from tests.snapshots import refuses
from tests.threads import all_ending, interrupt_main, listen_for_ever

from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.strategies import sums
from reidrisk.engines.strategies.sums import who_counts
from reidrisk.errors import TooLarge
from reidrisk.scores import (
    GRID,
    IMPOSSIBLE,
    OverlapWeights,
    TokenPairWeights,
    TokenWeights,
    TypeMixture,
)


def assert_close(fast, slow, share=1e-6):
    """Equal up to this share of the sum, on top of what rounding does to large logarithms."""
    np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=share)


@settings(deadline=None)
@given(searches())
def test_evidence_equals_the_reference(search):
    seen, score = search
    assert_close(LocalEngine().evidence(seen, score), ReferenceEngine().evidence(seen, score))


@settings(deadline=None, max_examples=30)
@given(searches())
def test_the_reference_is_the_sum_by_definition(search):
    seen, score = search
    expected = [
        logsumexp(score.of(seen.known.block(0, len(seen.known)), shown) / GRID)
        for shown in seen.anonymous
    ]
    np.testing.assert_allclose(ReferenceEngine().evidence(seen, score), expected, rtol=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_long_rows_have_evidence(data):
    seen = data.draw(observations(most_slots=140))
    seen = Observations(seen.known % 8, seen.anonymous % 8, seen.truth, tokens=8)
    score = data.draw(st.one_of(tables(seen), mixtures(seen)))
    assert_close(LocalEngine().evidence(seen, score), ReferenceEngine().evidence(seen, score))


def test_targets_whom_nobody_comes_near_are_summed_as_well():
    gain = np.array([[500.0, -400.0], [0.0, 1.0]])
    seen = Observations(np.ones((7, 3), int), [[0, 0, 0], [1, 1, 1]], [0, 0], tokens=2)
    expected = [-1200 + np.log(7), 3 + np.log(7)]
    assert_close(LocalEngine().evidence(seen, TokenPairWeights(gain)), expected)


def test_when_nobody_is_possible_evidence_says_so():
    never = TypeMixture([1.0], [[1.0, 0.0]], [[[1.0, 0.0], [0.0, 0.0]]])
    seen = Observations(np.zeros((3, 2), int), [[1, 1]], [0], tokens=2)
    for engine in (LocalEngine(), ReferenceEngine()):
        assert_close(engine.evidence(seen, never), [IMPOSSIBLE + np.log(3)])


@settings(deadline=None)
@given(searches(), st.integers(1, 4))
def test_evidence_of_shards_adds_up(search, parts):
    seen, score = search
    cuts = np.unique(np.linspace(0, len(seen.known), parts + 1).astype(int))
    found = [LocalEngine().evidence(seen.shard(*cut), score) for cut in pairwise(cuts)]
    assert_close(reduce(np.logaddexp, found), ReferenceEngine().evidence(seen, score))


@pytest.mark.parametrize("slots", [2, 8])
@pytest.mark.parametrize("kind", ["table", "mixture"])
def test_threads_and_blocks_change_no_bit(slots, kind):
    seen, score = typed_people(20_000, 150, slots=slots)
    if kind == "table":
        score = TokenPairWeights(np.random.default_rng(1).normal(size=(60, 60)))
    expected = LocalEngine(threads=1).evidence(seen, score)
    for engine in (LocalEngine(threads=2), LocalEngine(threads=3, rows=100)):
        np.testing.assert_array_equal(engine.evidence(seen, score), expected)
    some = seen.only(np.arange(5))
    assert_close(expected[:5], ReferenceEngine().evidence(some, score))


@pytest.mark.parametrize("slots", [1, 2, 4, 8])
def test_what_is_left_out_is_little(slots):
    # In expectation 1e-4 of the sum at most, decision 4; here each target is held to 1e-3.
    seen, score = typed_people(20_000, 200, slots=slots)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.strategies.sums._FEW", 0)
        fast = LocalEngine().evidence(seen, score)
    off = np.abs(np.expm1(fast - ReferenceEngine().evidence(seen, score)))
    assert off.max() < 1e-3
    assert off.mean() < 1e-4


def test_something_is_left_out():
    seen, score = typed_people(5_000, 100)
    whole = LocalEngine().evidence(seen, score)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.strategies.sums._FEW", 0)
        fast = LocalEngine().evidence(seen, score)
    assert (fast < whole).any()


@pytest.mark.parametrize("score", [TokenWeights([1.0, 2.0], -1), OverlapWeights([1.0, 2.0])])
def test_weights_of_long_rows_have_evidence(score):
    rows = np.random.default_rng(1).integers(-1, 2, (50, 13))
    seen = Observations(rows, rows[:5], np.arange(5), tokens=2)
    assert_close(LocalEngine().evidence(seen, score), ReferenceEngine().evidence(seen, score))


def test_too_little_memory_is_said_before_it_is_taken():
    seen, score = typed_people(100, 10)
    for rated in (score, TokenPairWeights(np.eye(60))):
        with refuses("out-of-memory", TooLarge):
            LocalEngine(max_memory=1000).evidence(seen, rated)


@pytest.mark.parametrize(("users", "targets", "slots"), [(20_000, 3000, 8), (300_000, 100, 8)])
@pytest.mark.parametrize("by", ["types", "table"])
def test_memory_is_foreseen(by, users, targets, slots):
    seen, score = typed_people(users, targets, slots=slots)
    if by == "table":
        score = TokenPairWeights(np.eye(60))
    engine, rows_count = LocalEngine(threads=1), [1.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "_FEW", 0)
        patch.setattr(sums, "who_counts", lambda *asked: noted(rows_count, who_counts(*asked)))
        engine.evidence(seen, score)  # kernels compiled and loaded: they take memory too
        tracemalloc.start()
        engine.evidence(seen, score)
        _, taken = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    foreseen = sums.bytes_needed(seen, score, engine.room, rows_count[-1])
    assert foreseen / 1.5 < taken < 1.5 * foreseen


def noted(rows_count, bars):
    """The same, for how many types a row counts noted."""
    rows_count.append(bars.per_row)
    return bars


def test_a_score_of_somebody_else_has_evidence():
    class Novel:
        def check(self, observations):
            pass

        def of(self, known, shown):
            return (known == shown).sum(axis=1) * (known[:, 0] + 1) * GRID

    seen, _ = typed_people(30_000, 10)
    slow = ReferenceEngine().evidence(seen, Novel())
    assert_close(LocalEngine().evidence(seen, Novel()), slow)


@pytest.mark.parametrize("slots", [1, 8])
def test_progress_ends_with_everything_done(slots):
    (seen, score), calls = typed_people(10_000, 70, slots=slots), []
    engine = LocalEngine(progress=lambda done, pairs: calls.append((done, pairs)))
    for rated in (score, TokenPairWeights(np.eye(60)), TokenWeights(np.ones(60))):
        calls.clear()
        engine.evidence(seen, rated)
        assert calls[-1] == (700_000, 700_000)


def test_an_interrupt_is_heard():
    def interrupt_once(_done, _pairs):
        interrupt_main()
        listen_for_ever()

    seen, score = typed_people(60_000, 300)
    LocalEngine().evidence(seen.shard(0, 100), score)  # so that nobody is interrupted in compiling
    with all_ending(), pytest.raises(KeyboardInterrupt):
        LocalEngine(threads=2, progress=interrupt_once).evidence(seen, score)
