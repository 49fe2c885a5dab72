"""A search under a type mixture equals the reference, whoever has which type."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import mixtures, observations, typed_people
from tests.snapshots import refuses

from reidrisk.core.matches import Matches, Wanted
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.strategies import mixture
from reidrisk.engines.strategies.mixture import ROOM
from reidrisk.errors import TooLarge
from reidrisk.scores import TypeMixture

FIELDS = [field.name for field in dataclasses.fields(Matches)]


def assert_same(fast, slow):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), name)


def many_types(users, targets, *, types, slots, seed=1):
    """Users of many types, a few tokens each, some of which other types never show."""
    random, tokens = np.random.default_rng(seed), 12
    tastes = random.dirichlet(np.full(tokens, 0.2), types)
    tastes[tastes < 0.01] = 0.0
    tastes /= tastes.sum(axis=1, keepdims=True)
    joint = 0.7 * tastes[:, :, None] * tastes[:, None, :]
    joint[:, range(tokens), range(tokens)] += 0.3 * tastes
    shares = random.dirichlet(np.ones(types))
    kinds = random.choice(types, users, p=shares)
    known = np.array([random.choice(tokens, slots, p=tastes[kind]) for kind in kinds])
    truth = random.integers(0, users, targets)
    other = np.array([random.choice(tokens, slots, p=tastes[kind]) for kind in kinds[truth]])
    anonymous = np.where(random.random(other.shape) < 0.3, known[truth], other)
    return known, anonymous, truth, TypeMixture(shares, tastes, joint)


@pytest.fixture
def in_small_pieces(monkeypatch):
    """Few rows at a time, few of them in order, and room for few pairs."""
    monkeypatch.setattr(mixture, "_ROWS_AT_A_TIME", 32)
    monkeypatch.setattr(mixture, "_MOST_ROWS", 200)
    monkeypatch.setattr(mixture, "_PAIRS_AT_A_TIME", 40)
    monkeypatch.setattr(mixture, "_TARGETS_AT_A_TIME", 7)


@pytest.mark.usefixtures("in_small_pieces")
@pytest.mark.parametrize("types", [1, 3, 4, 5, 64, 65, 150])
@pytest.mark.parametrize(("slots", "gaps"), [(1, 0.1), (5, 0.0), (5, 0.2)])
def test_any_number_of_types_equals_the_reference(types, slots, gaps):
    known, anonymous, truth, score = many_types(2000, 30, types=types, slots=slots)
    random = np.random.default_rng(2)
    for rows in (known, anonymous):
        rows[random.random(rows.shape) < gaps] = -1
    seen = Observations(known, anonymous, truth, tokens=12)
    for asked in ({}, {"list_best": 3, "second": True}, {"ranks": 7}, {"ranks": None}):
        slow = ReferenceEngine().search(seen, score, **asked)
        for engine in (LocalEngine(threads=1), LocalEngine(threads=3, rows=333)):
            assert_same(engine.search(seen, score, **asked), slow)


@settings(deadline=None, max_examples=60)
@given(
    st.data(), st.sampled_from([0, 3]), st.sampled_from([1, 5, None]), st.sampled_from([1, 9, 64])
)
def test_blocks_of_any_size_equal_the_reference(data, top, ranks, size):
    seen = data.draw(observations().filter(lambda one: one.tokens <= 300))
    score = data.draw(mixtures(seen))
    if data.draw(st.booleans()):
        seen = seen.changed(strangers=seen.anonymous).of_strangers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture, "_ROWS_AT_A_TIME", size)
        patch.setattr(mixture, "_PAIRS_AT_A_TIME", size + 3)
        patch.setattr(mixture, "_MOST_ROWS", 3 * size)
        patch.setattr("reidrisk.engines.protocol.FEWEST_ROWS", size)
        asked = {"list_best": top, "ranks": ranks, "second": True}
        fast = LocalEngine(threads=2, rows=size).search(seen, score, **asked)
    assert_same(fast, ReferenceEngine().search(seen, score, **asked))


@pytest.mark.usefixtures("in_small_pieces")
def test_rows_that_are_all_equal_all_win():
    _, _, _, score = many_types(10, 2, types=9, slots=5)
    row = np.argmax(score.chances.single[:-1].min(axis=1)) * np.ones((500, 5), np.int64)
    seen = Observations(row, row[:3], np.arange(3), tokens=12)
    found = LocalEngine().search(seen, score, list_best=2, ranks=None)
    assert_same(found, ReferenceEngine().search(seen, score, list_best=2, ranks=None))
    assert (found.ties == 500).all()


@pytest.mark.usefixtures("in_small_pieces")
@pytest.mark.parametrize("slots", [3, 60])
def test_chances_may_be_nothing_or_nearly(slots):
    """Types that rule out rows, and types that seem ruled out until the others are."""
    random, tokens, types = np.random.default_rng(3), 6, 5
    single = random.choice([0.0, 1e-90, 1e-9, 1.0], (types, tokens))
    single[:, 0] += 1e-3
    single /= single.sum(axis=1, keepdims=True)
    given_known = random.choice([0.0, 1e-90, 1e-9, 1.0], (types, tokens, tokens))
    given_known[:, 1] += 1e-3
    given_known /= given_known.sum(axis=1, keepdims=True)
    score = TypeMixture(np.full(types, 0.2), single, given_known * single[:, None, :])
    known, anonymous = random.integers(-1, tokens, (700, slots)), random.integers(0, 3, (30, slots))
    anonymous[:10] = np.maximum(known[:10], 0)
    seen = Observations(known, anonymous, np.arange(30), tokens=tokens)
    for ranks in (1, None):
        slow = ReferenceEngine().search(seen, score, list_best=2, ranks=ranks)
        assert_same(LocalEngine().search(seen, score, list_best=2, ranks=ranks), slow)


def bounds_of(seen, score):
    """The bound of every pair, in nats, by all types and by few, and the scores."""
    codes = mixture.codes_of(seen)
    shown = seen.anonymous.astype(np.int32)
    targets = mixture.mixed(score.chances, shown, codes, complete=seen.complete)
    types, matches = (
        score.types_of(seen.known[:]),
        codes.of(seen.known[:]) == codes.targets[:, None],
    )
    for target, matched in enumerate(matches):
        lifts = np.where(matched[:, :, None], targets.lift[shown[target]], 1.0).prod(axis=1)
        by_all = (types * targets.base[target] * lifts).sum(axis=1)
        count, kinds = matched.sum(axis=1), targets.kinds[target]
        few = (types * lifts)[:, kinds] * targets.gains[target, 0, :-1]
        by_few = few.sum(axis=1) + targets.gains[target, count, -1]
        together = targets.gains[target, count] @ np.append(types.max(axis=0)[kinds], 1.0)
        scores = score.of(seen.known[:], seen.anonymous[target]) / 2**40
        yield scores - targets.scale[target], by_all, by_few, together


def test_each_bound_is_above_the_next():
    seen, score = typed_people(2000, 50)
    for scores, by_all, by_few, together in bounds_of(seen, score):
        assert (np.exp(scores - ROOM) <= by_all).all()
        assert (by_all <= by_few * (1 + ROOM)).all()
        assert (by_few <= together * (1 + ROOM)).all()


def test_few_rows_are_scored():
    """What the search is for: nearly all pairs are passed over."""
    seen, score = typed_people(50_000, 200)
    scored = 0
    with pytest.MonkeyPatch.context() as patch:
        count = mixture.score_pairs

        def counted(*arrays):
            nonlocal scored
            scored += len(arrays[-1])
            count(*arrays)

        patch.setattr(mixture, "score_pairs", counted)
        LocalEngine(threads=1).search(seen, score)
    assert scored < 1e-3 * len(seen.known) * len(seen.anonymous)


@pytest.mark.parametrize("types", [16, 64])
@pytest.mark.parametrize(("users", "targets", "slots"), [(300_000, 100, 8), (30_000, 2000, 40)])
def test_memory_is_foreseen(users, targets, slots, types):
    seen, score = typed_people(users, targets, types=types, slots=slots)
    engine = LocalEngine(threads=1)
    engine.search(seen.only(np.arange(5)), score)  # compiled, read, and known
    foreseen = mixture.bytes_needed(seen, engine.room, score, Wanted(), targets)
    tracemalloc.start()
    engine.search(seen, score)
    _, taken = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert foreseen / 1.5 < taken < 1.5 * foreseen


def test_rows_that_are_too_long_are_refused_before_memory_is_counted():
    single = np.full((1, 2), 0.5)
    score = TypeMixture([1.0], single, np.full((1, 2, 2), 0.25))
    rows = np.zeros((2, 22_000), np.int8)
    seen = Observations(rows, rows[:1], [0], tokens=2)
    with refuses("too-many-slots", TooLarge):
        LocalEngine(max_memory=1 << 20).search(seen, score)
