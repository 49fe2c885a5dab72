"""Pattern histograms: counted right, and enough for every search under token weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from tests.engines.strategies import observations, only, weights
from tests.snapshots import refuses

from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.encode import codes_of, encode_sets, encode_tokens
from reidrisk.engines.strategies import distinct, joins, lanes
from reidrisk.errors import TooLarge
from reidrisk.scores import GRID, TokenWeights


def raw(score):
    """A histogram knows the weights themselves."""
    return score if isinstance(score, TokenWeights) else score.weights


@pytest.mark.parametrize("way", [lanes, distinct, joins])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_histogram_equals_the_reference(way, data):
    sets = data.draw(st.booleans())
    seen = data.draw(observations(most_slots=2 if sets else 4, sets=sets))
    if way is distinct and (min(seen.tokens, 70) + 2) ** (seen.slots * seen.set_size) > 10**5:
        way = lanes
    if way is joins and sets:  # only rows of single tokens are joined
        way = lanes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reidrisk.engines.plan.cheapest", only(way))
        fast = LocalEngine(threads=2, rows=13).histogram(seen)
    slow = ReferenceEngine().histogram(seen)
    np.testing.assert_array_equal(fast.missing, slow.missing)
    np.testing.assert_array_equal(fast.counts, slow.counts)
    assert (fast.counts.sum(axis=(0, 2)) == len(seen.known)).all()


@settings(deadline=None)
@given(st.data())
def test_one_histogram_answers_every_search_and_prefix(data):
    seen = data.draw(observations())
    histogram = LocalEngine().histogram(seen)
    for _ in range(2):
        score = raw(data.draw(weights(seen)))
        slots = data.draw(st.integers(1, seen.slots))
        fast = histogram.search(score, slots=slots)
        slow = ReferenceEngine().search(seen.prefix(slots), score)
        for name in ("best", "ties", "true_score"):
            np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))


@settings(deadline=None)
@given(st.data())
def test_evidence_is_the_sum_over_all_users(data):
    sets = data.draw(st.booleans())
    seen = data.draw(observations(sets=sets))
    score = raw(data.draw(weights(seen)))
    expected = [logsumexp(score.of(seen.known, shown) / GRID) for shown in seen.anonymous]
    np.testing.assert_allclose(LocalEngine().histogram(seen).evidence(score), expected, rtol=1e-9)


def test_rows_of_twelve_slots_still_have_a_histogram():
    rows = np.random.default_rng(1).integers(0, 5, (200, 12))
    seen = Observations(rows, rows[:3], np.arange(3), tokens=5)
    histogram = LocalEngine().histogram(seen)
    np.testing.assert_array_equal(histogram.counts, ReferenceEngine().histogram(seen).counts)


@pytest.mark.parametrize("shape", [(300, 5), (300, 5, 2)])
def test_more_targets_than_a_word_share_a_token(shape, monkeypatch):
    monkeypatch.setattr("reidrisk.engines.plan.cheapest", only(lanes))
    random = np.random.default_rng(2)
    known, anonymous = random.integers(0, 2, shape), random.integers(0, 2, (400, 5))
    seen = Observations(known, anonymous, random.integers(0, 300, 400), tokens=2)
    slow = ReferenceEngine().histogram(seen)
    np.testing.assert_array_equal(LocalEngine().histogram(seen).counts, slow.counts)


@pytest.mark.parametrize(("encode", "shape"), [(encode_tokens, (9, 3)), (encode_sets, (9, 3, 2))])
def test_rows_are_encoded_by_one_compiled_kernel(encode, shape):
    """Rows that may be written, as a group of others is, and rows that may not."""
    rows = np.random.default_rng(3).integers(0, 5, shape, np.int16)
    codes = codes_of(Observations(rows, rows.reshape(9, 3, -1)[:, :, 0], np.arange(9), tokens=5))
    fixed = rows.copy()
    fixed.flags.writeable = False
    np.testing.assert_array_equal(codes.of(rows), codes.of(fixed))
    assert not any(types[0].mutable for types in encode.compiled.signatures)
    assert rows.flags.writeable


@pytest.mark.parametrize("engine", [LocalEngine(), ReferenceEngine()])
def test_too_many_slots_are_refused_with_a_way_out(engine):
    rows = np.zeros((2, 13), int)
    with refuses("too-many-slots", TooLarge):
        engine.histogram(Observations(rows, rows, [0, 1], tokens=1))


def test_a_histogram_too_large_for_memory_is_refused():
    rows = np.zeros((2, 12), int)
    with refuses("out-of-memory", TooLarge):
        LocalEngine(max_memory=10_000).histogram(Observations(rows, rows, [0, 1], tokens=1))
