"""Tables of pairs: looked up by what rows hold, the same on every engine."""

import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.baskets import awkward
from tests.snapshots import refuses

from reidrisk import LocalEngine, Observations, ReferenceEngine
from reidrisk.core.matches import Matches
from reidrisk.scores import PairTable, contents
from reidrisk.scores.pair_table import UNLISTED
from reidrisk.testing import check_score


@st.composite
def tables(draw):
    """Bags and a table of some of their pairs; some rows it does not know."""
    seen = awkward(draw(st.integers(0, 2**32)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sides = [
        {one: number for number, one in enumerate(sorted(set(contents(rows, seen.tokens))))}
        for rows in (seen.known, seen.anonymous.part(0, max(len(seen.anonymous) - 1, 1)))
    ]
    listed = random.random((len(sides[1]), len(sides[0]))) < draw(st.sampled_from([0.0, 0.2, 1.0]))
    targets, rows = np.nonzero(listed)
    starts = np.searchsorted(targets, np.arange(len(sides[1]) + 1))
    scores = random.integers(-2, 3, len(rows))
    return seen, PairTable(sides[0], sides[1], starts, rows, scores, seen.tokens)


@settings(deadline=None, max_examples=25)
@given(tables(), st.sampled_from([0, 1, 4, 99]), st.sampled_from([1, 3, None]), st.booleans())
def test_a_search_equals_the_reference(world, listed, ranks, strangers):
    seen, score = world
    seen = seen.of_strangers() if strangers else seen
    asked = {"list_best": listed, "ranks": ranks, "second": True}
    slow = ReferenceEngine().search(seen, score, **asked)
    fast = LocalEngine(threads=3, rows=7).search(seen, score, **asked)
    for field in dataclasses.fields(Matches):
        one, other = getattr(fast, field.name), getattr(slow, field.name)
        np.testing.assert_array_equal(one, other, field.name)
    if not strangers:
        np.testing.assert_array_equal(LocalEngine().credit(seen, score), slow.credit)


@settings(deadline=None, max_examples=10)
@given(tables())
def test_it_keeps_the_promises_of_scores(world):
    seen, score = world
    check_score(score, seen)


def test_pairs_that_are_not_listed_tie_below_all_others():
    rows = np.array([[0], [1], [2]])
    known, shown = (
        {one: number for number, one in enumerate(contents(side, 3))} for side in (rows, rows[:2])
    )
    table = PairTable(known, shown, np.array([0, 1, 1]), np.array([2]), np.array([-9]), 3)
    assert table.of(rows, rows[0]).tolist() == [UNLISTED, UNLISTED, -9]
    assert table.of(rows, rows[1]).tolist() == [UNLISTED] * 3
    assert table.of(rows, rows[2]).tolist() == [UNLISTED] * 3  # a row that it does not know
    seen = Observations(rows, rows, np.arange(3), tokens=3)
    assert LocalEngine().search(seen, table).ties.tolist() == [1, 3, 3]


def test_rows_with_the_same_in_other_slots_are_the_same():
    one, other, third = contents(np.array([[2, 0, -1], [-1, 2, 0], [2, 0, 0]]), tokens=3)
    assert one == other != third


def test_rows_of_columns_are_told_apart_by_slots_and_gaps():
    rows = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
    known, shown = (
        {one: number for number, one in enumerate(contents(side, 2, ordered=True))}
        for side in (rows, rows.astype(np.int8))
    )
    assert known == shown
    scores = np.arange(8)
    table = PairTable(known, shown, 2 * np.arange(5), np.tile([0, 1], 4), scores, 2, ordered=True)
    assert table.of(rows, rows[1]).tolist() == [2, 3, UNLISTED, UNLISTED]
    assert table.of(rows[:1], rows[:1].astype(np.int8)).tolist() == [0]
    seen = Observations(rows, rows, np.arange(4), tokens=2)
    fast, slow = (one.search(seen, table, ranks=None) for one in (LocalEngine(), ReferenceEngine()))
    np.testing.assert_array_equal(fast.best, slow.best)
    assert fast.credit.tolist() == slow.credit.tolist() == [0, 1, 0, 0]


def test_shards_and_other_alphabets_are_refused():
    seen = awkward(5)
    table = PairTable({}, {}, np.array([0]), np.zeros(0, int), np.zeros(0, int), seen.tokens)
    with refuses("incomplete-shard", snapshot=False):
        table.check(seen.shard(0, 1))
    with refuses("score-mismatch"):
        table.check(Observations([[0], [1]], [[0]], [0], tokens=99))
    table.check(seen)
