"""Matches: credit, winners, and the laws of merging."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.errors import InvalidInput
from reidrisk.matches import ABSENT, NOBODY, Matches, merge_all, no_matches

TARGETS, TOP = 3, 2


def matches(best, ties, truth, rows=None, scores=None):
    columns = np.empty((len(best), 0), np.int64)
    return Matches(
        *(np.array(values, np.int64) for values in (best, ties, truth)),
        columns if rows is None else np.array(rows, np.int64),
        columns if scores is None else np.array(scores, np.int64),
    )


@st.composite
def shards(draw):
    """Searches of disjoint shards of a few rows, from their scores."""
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
        found.append(
            matches(
                best,
                [each.count(max(each)) for each in scores],
                [draw(st.sampled_from([ABSENT, each[0]])) for each in scores],
                [[place for _, place in each] for each in order],
                [[score for score, _ in each] for each in order],
            )
        )
    return found


def same(one, two):
    return all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("best", "ties", "true_score", "best_rows", "best_scores")
    )


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
    for winners, ties in zip(merged.winners, merged.ties, strict=True):
        assert len(winners) == min(ties, TOP)
        assert sorted(winners) == list(winners)


def test_credit_is_shared_among_winners():
    found = matches([5, 5, 7], [1, 4, 1], [5, 5, 6])
    assert found.credit.tolist() == [1.0, 0.25, 0.0]
    assert len(found) == 3


def test_credit_needs_every_true_row():
    found = matches([5, 5], [1, 1], [5, ABSENT])
    with pytest.raises(InvalidInput, match="true row of target 1 was not searched; merge"):
        _ = found.credit
    assert found.merge(matches([5, 5], [1, 1], [ABSENT, 5])).credit.tolist() == [0.5, 0.5]


def test_only_like_merges_with_like():
    with pytest.raises(
        InvalidInput, match="1 targets with 0 best rows do not merge with 2 targets"
    ):
        matches([1], [1], [1]).merge(matches([1, 1], [1, 1], [1, 1]))


@given(shards())
def test_no_matches_change_nothing(found):
    nothing = no_matches(TARGETS, TOP)
    for each in found:
        assert same(each.merge(nothing), each)
        assert same(nothing.merge(each), each)
