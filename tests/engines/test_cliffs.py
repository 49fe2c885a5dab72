"""Where one way to search ends and another begins, answers stay those of the reference."""

import sys
import tracemalloc
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import AWKWARD, GAPS, observations, only, weights
from tests.engines.test_evidence import assert_close
from tests.engines.test_local import assert_same

from reidrisk.core.matches import Wanted
from reidrisk.core.observations import MISSING, Observations
from reidrisk.engines import LocalEngine, ReferenceEngine, plan, pruning
from reidrisk.engines.bitmaps import matches_needed
from reidrisk.engines.cost_model import Question, Search
from reidrisk.engines.encode import codes_of
from reidrisk.engines.histogram import MOST_SLOTS
from reidrisk.engines.strategies import bit_scan, distinct, lanes, sift, tally
from reidrisk.scores import TokenPairWeights, TokenWeights

ONE_BY_ONE = [bit_scan, tally]


@st.composite
def gappy(draw, most_slots=100):
    """Long rows with gaps on either side or both, with whole rows and columns missing."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    users, targets = draw(st.integers(1, 300)), draw(st.integers(1, 40))
    slots, tokens = draw(st.integers(1, most_slots)), draw(st.sampled_from([1, 2, 5, 40]))
    sets = draw(st.sampled_from([(), (), (1,), (3,)]))
    known = random.integers(0, tokens, (users, slots, *sets))
    shown = random.integers(0, tokens, (targets, slots))
    truth = random.integers(0, users, targets)
    same = random.random(shown.shape) < 0.4
    shown[same] = known.reshape(users, slots, -1)[truth, :, 0][same]
    for rows, share in (
        (known, draw(st.sampled_from([0.0, 0.2, 0.9, 1.0]))),
        (shown, draw(st.sampled_from([0.0, 0.2, 0.9, 1.0]))),
    ):
        rows[random.random(rows.shape[:2]) < share] = MISSING
        rows[random.random(len(rows)) < 0.1] = MISSING
    seen = Observations(known, shown, truth, tokens=tokens)
    of_gaps = draw(st.sampled_from(GAPS))
    gains = random.choice(draw(st.sampled_from([[1.0], AWKWARD, [0.5, 4.0]])), (2, tokens))
    gaps = {
        "known_gap": random.choice(of_gaps, tokens),
        "shown_gap": random.choice(of_gaps, slots),
        "both_gaps": random.choice(of_gaps, slots),
    }
    return seen, TokenWeights(*gains, **draw(st.sampled_from([gaps, gaps, {}])))


@pytest.mark.parametrize("way", ONE_BY_ONE)
@settings(deadline=None, max_examples=60)
@given(
    gappy(),
    st.sampled_from([0, 0, 2, 400]),
    st.sampled_from([1, 7, None]),
    st.booleans(),
    st.sampled_from([0, 1 / 16, 1]),
)
def test_rows_with_gaps_equal_the_reference(way, world, top, ranks, second, most_scored):
    """However soon a scan gives up, and however the targets are parted."""
    seen, score = world
    asked = {"list_best": top, "ranks": ranks, "second": second}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "cheapest", only(way))
        patch.setattr(bit_scan, "_MOST_SCORED", most_scored)
        patch.setattr(bit_scan, "_ENOUGH_ROWS", 1)
        patch.setattr(pruning, "_TARGET_SLOTS", 7 * seen.slots)
        fast = LocalEngine(threads=2, rows=90).search(seen, score, **asked)
    assert_same(fast, ReferenceEngine().search(seen, score, **asked))


@settings(deadline=None, max_examples=60)
@given(gappy())
def test_no_row_scores_more_than_its_bound(world):
    """By definition, pair by pair: matches and gaps are counted here once more."""
    seen, score = world
    codes = codes_of(seen)
    targets = bit_scan.weighed(seen, score, codes)
    known = codes.of(seen.known.block(0, seen.known.users)).reshape(
        seen.known.users, seen.slots, -1
    )
    gaps = (known[:, :, 0] == targets.absent).sum(axis=1)
    for target, shown in enumerate(seen.anonymous):
        matches = (known == targets.codes[target][:, None]).any(axis=2).sum(axis=1)
        counted = gaps if targets.lift.shape[1] > 1 else 0 * gaps
        bound = targets.reach[target, matches] + targets.lift[target, counted]
        scores = score.of(seen.known.block(0, seen.known.users), shown)
        assert (scores <= 8 * bound).all()
        for row in range(min(5, len(scores))):
            limit = (scores[row] >> 3) - targets.lift[target, counted[row]]
            assert matches_needed(targets.reach, target, limit) <= matches[row]


@settings(deadline=None, max_examples=40)
@given(gappy(), st.integers(1, 4))
def test_evidence_of_rows_with_gaps(world, parts):
    seen, score = world
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "cheapest", only(tally))
        patch.setattr(tally, "ROWS_PER_TALLY", 16)  # so that a better row comes later
        found = LocalEngine().evidence(seen, score)
        assert_close(found, ReferenceEngine().evidence(seen, score), share=1e-9)
        cuts = np.unique(np.linspace(0, seen.known.users, parts + 1).astype(int))
        shards = [LocalEngine().evidence(seen.shard(*cut), score) for cut in pairwise(cuts)]
    assert_close(np.logaddexp.reduce(shards), found, share=1e-9)


def long_rows(slots=20, users=40_000, targets=30, tokens=30, gaps=0.2):
    random = np.random.default_rng(1)
    known = (tokens * random.random((users, slots)) ** 2).astype(int)
    truth = random.integers(0, users, targets)
    shown = np.where(random.random((targets, slots)) < 0.3, known[truth], known[:targets])
    known[random.random(known.shape) < gaps] = MISSING
    shown[random.random(shown.shape) < gaps] = MISSING
    return Observations(known, shown, truth, tokens=tokens)


UNEQUAL = TokenWeights(np.linspace(0.5, 3, 30), -0.2, known_gap=0.1, shown_gap=0.2, both_gaps=0.7)


def test_evidence_of_long_rows_is_the_same_bytes_for_every_cut():
    seen = long_rows()
    expected = LocalEngine(threads=1).evidence(seen, UNEQUAL)
    assert_close(expected, ReferenceEngine().evidence(seen, UNEQUAL), share=1e-9)
    size = partial(tally.bytes_needed, seen, LocalEngine().room, Wanted())
    for engine in (
        LocalEngine(threads=2),
        LocalEngine(threads=3, rows=100),
        LocalEngine(threads=1, max_memory=size(7)),
    ):
        np.testing.assert_array_equal(engine.evidence(seen, UNEQUAL), expected)


@pytest.mark.parametrize("tokens", [21_843, 21_844, 65_534, 65_535, 65_536, 65_537])
@pytest.mark.parametrize("way", [lanes, distinct, bit_scan, tally])
def test_codes_may_end_anywhere(tokens, way):
    """Where 16 bits end, of one token and of all codes of a row."""
    random = np.random.default_rng(1)
    known = random.choice([0, 1, tokens - 2, tokens - 1], (300, 3))
    known[random.random(known.shape) < 0.1] = MISSING
    shown, truth = known[:40].copy(), np.arange(40)
    shown[random.random(shown.shape) < 0.2] = tokens - 1
    shown[20:, 0] = np.arange(20) + tokens - 20
    seen = Observations(known, shown, truth, tokens=tokens)
    score = TokenWeights(random.choice(AWKWARD, tokens), -0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "cheapest", only(way))
        assert_same(LocalEngine().search(seen, score), ReferenceEngine().search(seen, score))


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_curves_go_on_where_patterns_end(data):
    seen = data.draw(observations(most_slots=20))
    scores = [data.draw(weights(seen)), data.draw(weights(seen))]
    slots = data.draw(st.permutations(range(1, seen.slots + 1)))
    fast = LocalEngine().curves(seen, scores, slots, ranks=None)
    slow = ReferenceEngine().curves(seen, scores, slots, ranks=None)
    for ours, theirs in zip(fast, slow, strict=True):
        assert list(ours) == list(theirs) == list(slots)
        for count in slots:
            assert_same(ours[count], theirs[count])


def test_evidence_of_scores_that_differ_enormously():
    rows = np.array([[0, 0], [0, 1], [1, 1]] * 9000)
    seen = Observations(rows, [[0, 0], [1, 0]], [0, 1], tokens=2)
    for gain in (1e-6, 1.0, 150.0, 250.0, 1e5):
        score = TokenWeights([gain, 0.0], -gain)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plan, "cheapest", only(tally))
            found = LocalEngine().evidence(seen, score)
        assert_close(found, ReferenceEngine().evidence(seen, score), share=1e-9)


def chosen(seen, score, **asked):
    """The way that the plan chooses."""
    gaps = not seen.complete and score.sees_gaps
    question = Question(seen, Wanted(**asked), gaps=gaps)
    patterns = plan.counts() if seen.slots <= MOST_SLOTS else ()
    entry = plan.cheapest(question, [*patterns, *plan.entries(Search, score)])
    return sys.modules[entry.run.__module__]


def test_many_groups_of_gaps_are_not_counted_by_patterns():
    seen = long_rows(slots=8, targets=1000)
    assert chosen(seen, UNEQUAL, ranks=None) is tally
    assert chosen(seen, TokenWeights(np.ones(30)), ranks=None) is lanes
    assert chosen(seen.prefix(2), UNEQUAL, ranks=None) is lanes


def test_many_ranks_are_never_scanned_for():
    seen = long_rows(tokens=2, gaps=0)
    score = TokenWeights([1.0, 1.0])
    assert chosen(seen, score) is bit_scan
    assert chosen(seen, score, ranks=None) is tally


def check_memory_is_foreseen(by, seen, score, wanted):
    engine = LocalEngine(threads=1)
    with engine.begin(1) as crew:
        by.search(seen.only(slice(9)), score, wanted, crew)
        tracemalloc.start()
        by.search(seen, score, wanted, crew)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    foreseen = by.bytes_needed(seen, engine.room, wanted, len(seen.anonymous))
    assert foreseen / 1.5 < peak < 1.5 * foreseen


@pytest.mark.parametrize("by", [bit_scan, tally])
@pytest.mark.parametrize(
    ("slots", "targets", "top"), [(64, 2000, 0), (13, 20_000, 0), (13, 5000, 50)]
)
def test_memory_is_foreseen(by, slots, targets, top):
    seen, wanted = long_rows(slots=slots, users=20_000, targets=targets), Wanted(top)
    check_memory_is_foreseen(by, seen, UNEQUAL, wanted)


@pytest.mark.parametrize(
    ("slots", "users", "targets", "top"),
    [(8, 200_000, 4000, 0), (64, 100_000, 100, 0), (40, 20_000, 4000, 0), (8, 50_000, 4000, 50)],
)
def test_memory_of_a_sift_is_foreseen(slots, users, targets, top):
    seen, wanted = long_rows(slots, users, targets, gaps=0), Wanted(top)
    score = TokenPairWeights(np.random.default_rng(1).normal(3 * np.eye(30), 1))
    check_memory_is_foreseen(sift, seen, score, wanted)
