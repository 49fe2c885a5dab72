"""Matches: credit, winners, and the laws of merging."""

import operator
from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.matches import (
    ABSENT,
    NOBODY,
    UNCOUNTED,
    Matches,
    Wanted,
    merge_all,
    no_matches,
    up_to_rank,
)

TARGETS, TOP, RANKS = 3, 2, 3
FIELDS = [field.name for field in fields(Matches)]


def matches(
    best, ties, truth, rows=None, scores=None, *, above=None, level=None, ranks=RANKS, second=None
):
    columns, none = np.empty((len(best), 0), np.int64), np.zeros(len(best), np.int64)
    return Matches(
        *(np.array(values, np.int64) for values in (best, ties, truth)),
        columns if rows is None else np.array(rows, np.int64),
        columns if scores is None else np.array(scores, np.int64),
        none if above is None else np.array(above, np.int64),
        none if level is None else np.array(level, np.int64),
        ranks,
        None if second is None else np.array(second, np.int64),
    )


@st.composite
def shards(draw):
    """Searches of disjoint shards of a few rows, from their scores; some without the truth."""
    found, row = [], 0
    for _ in range(3):
        rows = np.arange(row, row + draw(st.integers(1, 4)))
        row += 10
        scores = [draw(st.lists(st.integers(-2, 2), min_size=len(rows), max_size=len(rows))) for _ in range(TARGETS)]  # fmt: skip  # noqa: E501
        best = [max(each) for each in scores]
        order = [
            sorted(zip(each, rows, strict=True), key=lambda p: (-p[0], p[1])) for each in scores
        ]
        order = [(each + [(ABSENT, NOBODY)] * TOP)[:TOP] for each in order]
        truth = [draw(st.sampled_from([ABSENT, 0])) for _ in scores]
        above, level = (
            [
                UNCOUNTED if true == ABSENT else sum(compare(score, true) for score in each)
                for each, true in zip(scores, truth, strict=True)
            ]
            for compare in (operator.gt, operator.eq)
        )
        above, level = up_to_rank(np.array(above), np.array(level), RANKS)
        found.append(
            matches(
                best,
                [each.count(max(each)) for each in scores],
                truth,
                [[place for _, place in each] for each in order],
                [[score for score, _ in each] for each in order],
                above=above,
                level=level,
                second=[each[1][0] for each in order],
            )
        )
    return found


def same(one, two):
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in FIELDS)


@given(shards())
def test_merge_is_commutative_and_associative(found):
    a, b, c = found
    assert same(a.merge(b), b.merge(a))
    assert same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert same(merge_all(found), merge_all(found[::-1]))


@given(shards())
def test_merged_tops_are_sorted_and_start_with_the_winners(found):
    merged = merge_all(found)
    assert (np.diff(np.maximum(merged.best_scores, -10), axis=1) <= 0).all()
    np.testing.assert_array_equal(merged.best_scores[:, 0], merged.best)
    np.testing.assert_array_equal(merged.best_scores[:, 1], merged.second)
    for winners, ties in zip(merged.winners, merged.ties, strict=True):
        assert len(winners) == min(ties, TOP)
        assert sorted(winners) == list(winners)


def test_credit_is_shared_among_winners():
    found = matches([5, 5, 7], [1, 4, 1], [5, 5, 6])
    assert found.credit.tolist() == [1.0, 0.25, 0.0]
    assert len(found) == 3


def test_credit_needs_every_true_row():
    found = matches([5, 5], [1, 1], [5, ABSENT])
    with refuses("incomplete-matches"):
        _ = found.credit
    assert found.merge(matches([5, 5], [1, 1], [ABSENT, 5])).credit.tolist() == [0.5, 0.5]


def test_only_like_merges_with_like():
    with refuses("matches-differ"):
        matches([1], [1], [1]).merge(matches([1, 1], [1, 1], [1, 1]))
    with refuses("matches-differ"):
        matches([1], [1], [1]).merge(matches([1], [1], [1], second=[0]))


@given(shards())
def test_no_matches_change_nothing(found):
    nothing = no_matches(TARGETS, Wanted(TOP, RANKS, second=True))
    for each in found:
        assert same(each.merge(nothing), each)
        assert same(nothing.merge(each), each)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1), st.data())
def test_counts_of_shards_add_up_to_a_rank(counts, data):
    """The whole is counted at once; its parts are counted up to a rank, and merged."""
    whole = [sum(column) for column in zip(*counts, strict=True)]
    above, level = up_to_rank(np.array(whole[:1]), np.array(whole[1:]), RANKS)
    parts = []
    for each in counts:
        some = up_to_rank(np.array(each[:1]), np.array(each[1:]), RANKS)
        parts.append(matches([1], [1], [0], above=some[0], level=some[1]))
    merged = merge_all(data.draw(st.permutations(parts)))
    assert merged.above == above
    assert merged.level == level
