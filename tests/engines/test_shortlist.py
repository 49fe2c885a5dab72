"""A shortlist is what its definition says, on every engine, whatever is asked."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import chains, observations, tables, typed_people, weights
from tests.snapshots import refuses

from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.scores import (
    Shortlisted,
    ShortlistedChances,
    TokenPairWeights,
    TokenWeights,
    TypeChain,
)
from reidrisk.scores.shortlisted import is_listed
from reidrisk.testing import check_score

RANKS = st.sampled_from([1, 2, 5, None])
ENGINES = [LocalEngine(threads=1), LocalEngine(threads=3, rows=7), LocalEngine(max_memory=1 << 24)]


def assert_same(fast, slow):
    for field in dataclasses.fields(Matches):
        one, other = getattr(fast, field.name), getattr(slow, field.name)
        np.testing.assert_array_equal(one, other, field.name)


@st.composite
def shortlists(draw):
    """Observations with many ties, and a shortlist of any length."""
    seen = draw(observations(4))
    score = draw(chains(seen) if seen.tokens <= 300 else weights(seen))
    first = draw(tables(seen) if seen.tokens <= 8 and draw(st.booleans()) else weights(seen))
    return seen, Shortlisted(score, first, draw(st.sampled_from([1, 2, 7, 40, 1000])))


@settings(deadline=None, max_examples=100)
@given(shortlists(), st.sampled_from([0, 0, 1, 3, 100]), RANKS, st.booleans(), st.data())
def test_a_search_equals_the_reference(search, top, ranks, second, data):
    seen, score = search
    asked = {"list_best": top, "ranks": ranks, "second": second}
    slow = ReferenceEngine().search(seen, score, **asked)
    engine = data.draw(st.sampled_from(ENGINES))
    assert_same(engine.search(seen, score, **asked), slow)
    np.testing.assert_array_equal(engine.credit(seen, score), slow.credit)


@settings(deadline=None, max_examples=30)
@given(shortlists(), RANKS, st.data())
def test_curves_and_strangers_equal_the_reference(search, ranks, data):
    seen, score = search
    engine = data.draw(st.sampled_from(ENGINES))
    lengths = sorted({1, seen.slots})
    ours, theirs = (
        each.curves(seen, [score], lengths, ranks=ranks)[0] for each in (engine, ReferenceEngine())
    )
    for length in lengths:
        assert_same(ours[length], theirs[length])
    met = Observations(
        seen.known, seen.anonymous, seen.truth, tokens=seen.tokens, strangers=seen.anonymous
    ).of_strangers()
    assert_same(
        engine.search(met, score, second=True), ReferenceEngine().search(met, score, second=True)
    )


def by_hand(seen, score, target):
    """The definition once more, in words of Python."""
    known, shown = np.asarray(seen.known), np.asarray(seen.anonymous)[target]
    first = score.first.of(known, shown).tolist()
    order = sorted(first, reverse=True)
    limit = order[score.keep_best] if len(order) > score.keep_best else None
    inner = score.score.of(known, shown).tolist()
    rated = [(1, inner[row]) if limit is None or one > limit else (0, one)
             for row, one in enumerate(first)]  # fmt: skip
    return max(rated), rated.count(max(rated)), rated[seen.truth[target]]


@settings(deadline=None, max_examples=40)
@given(shortlists())
def test_listed_rows_come_first_by_the_score_and_others_after_them(search):
    seen, score = search
    found = LocalEngine().search(seen, score, ranks=None)
    for target in range(len(seen.anonymous)):
        best, ties, true = by_hand(seen, score, target)
        assert found.ties[target] == ties
        assert bool(is_listed(found.best[target])) == bool(best[0])
        assert bool(is_listed(found.true_score[target])) == bool(true[0])
        assert (found.true_score[target] == found.best[target]) == (true == best)


def chain(seed, tokens):
    random = np.random.default_rng(seed)
    of_tokens = random.dirichlet(np.ones(tokens + 1), (2, 3))
    copy = random.random((3, tokens + 1))
    return TypeChain(np.full(3, 1 / 3), np.full(3, 0.9), of_tokens[0], copy, of_tokens[1])


def test_it_keeps_the_promises_of_a_score():
    hamming = TokenWeights(np.ones(4))
    check_score(Shortlisted(TokenPairWeights(np.eye(4)), hamming, 5))
    check_score(ShortlistedChances(chain(1, 4), hamming, 5))


def test_rows_that_are_level_are_never_parted_by_their_number():
    """Three rows agree in one slot and one may be listed: so none is, and all three tie."""
    seen = Observations([[0, 1], [0, 2], [0, 3], [4, 4]], [[0, 0]], [1], tokens=5)
    score = Shortlisted(TokenWeights(np.arange(5.0)), TokenWeights(np.ones(5)), 1)
    found = LocalEngine().search(seen, score)
    assert (found.ties[0], found.credit[0]) == (3, pytest.approx(1 / 3))
    assert not is_listed(found.best[0])


def test_a_list_of_everyone_is_the_score_itself():
    seen, mixture = typed_people(400, 60)
    score = Shortlisted(mixture, TokenWeights(np.ones(60)), 400)
    assert_same(
        LocalEngine().search(seen, score, list_best=3, ranks=None),
        LocalEngine().search(seen, mixture, list_best=3, ranks=None),
    )


def test_the_order_of_users_changes_nothing():
    seen, mixture = typed_people(2_000, 80)
    score = Shortlisted(mixture, TokenWeights(np.ones(60)), 30)
    order = np.random.default_rng(1).permutation(2_000)
    place = np.argsort(order)
    moved = Observations(
        np.asarray(seen.known)[order], seen.anonymous, place[seen.truth], tokens=60
    )
    one, other = (LocalEngine().search(some, score, ranks=None) for some in (seen, moved))
    for name in ("best", "ties", "true_score", "above", "level"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_longer_list_holds_more_of_the_true_rows():
    seen, mixture = typed_people(5_000, 300)
    recall = [
        is_listed(
            LocalEngine()
            .search(seen, Shortlisted(mixture, TokenWeights(np.ones(60)), best))
            .true_score
        ).mean()
        for best in (10, 100, 1000, 5000)
    ]
    assert recall == sorted(recall)
    assert recall[0] < recall[-1] == 1


def test_how_sure_the_attacker_is_counts_everyone():
    """A list of few makes nobody surer."""
    seen, _ = typed_people(300, 40)
    score = ShortlistedChances(chain(2, 60), TokenWeights(np.ones(60)), 5)
    for engine in (LocalEngine(), ReferenceEngine()):
        np.testing.assert_allclose(
            engine.evidence(seen, score), ReferenceEngine().evidence(seen, score.score), atol=1e-6
        )


def test_shards_bags_and_lists_of_nobody_are_refused():
    seen, mixture = typed_people(300, 40)
    score = Shortlisted(mixture, TokenWeights(np.ones(60)))
    for engine in (LocalEngine(), ReferenceEngine()):
        with refuses("incomplete-shard"):
            engine.search(seen.shard(0, 100), score)
    bags = BagRows([[0], [1]], tokens=60)
    with refuses("wrong-kind-of-rows"):
        score.check(Observations(bags, bags, [0, 1], tokens=60))
    with refuses("not-a-whole-number"):
        Shortlisted(mixture, TokenWeights(np.ones(60)), 0)


@pytest.mark.parametrize("engine", [LocalEngine(), ReferenceEngine()])
def test_scores_that_would_not_keep_apart_are_refused(engine):
    seen, mixture = typed_people(300, 4)
    huge = TokenWeights(np.full(60, 3e5), 3e5)
    with refuses("gain-too-large"):
        engine.search(seen, Shortlisted(mixture, huge, 5))
    low = TokenWeights(np.full(60, -3e5), -3e5)
    with refuses("gain-too-large"):
        engine.search(seen, Shortlisted(low, TokenWeights(np.arange(60.0)), 5))
