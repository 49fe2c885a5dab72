"""The largest assignment, against all assignments there are and against scipy."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from reidrisk.core.assignments import largest_assignment
from reidrisk.core.matches import NOBODY


def total(rows, gains, got):
    """What an assignment is worth; refuses rows that are not listed, or given twice."""
    given_out = got[got != NOBODY]
    assert len(set(given_out)) == len(given_out)
    return sum(
        int(gains[target][list(rows[target]).index(row)])
        for target, row in enumerate(got)
        if row != NOBODY
    )


@st.composite
def lists(draw):
    targets, users = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    listed = draw(st.integers(1, users))
    rows = [draw(st.permutations(range(users)))[:listed] for _ in range(targets)]
    most = draw(st.sampled_from([1, 3, 2**60]))
    gains = [[draw(st.integers(-1, most)) for _ in range(listed)] for _ in range(targets)]
    return np.array(rows), np.array(gains), np.array(draw(st.permutations(range(targets))))


def largest(rows, gains):
    """The largest sum, by trying everything."""
    choices = [
        [(NOBODY, 0), *zip(mine, map(int, worth), strict=True)]
        for mine, worth in zip(rows.tolist(), gains, strict=True)
    ]
    named = [[row for row, _ in one if row != NOBODY] for one in product(*choices)]
    return max(
        sum(worth for _, worth in one)
        for one, rows_ in zip(product(*choices), named, strict=True)
        if len(set(rows_)) == len(rows_)
    )


@given(lists())
def test_no_assignment_is_worth_more(world):
    rows, gains, order = world
    got = largest_assignment(rows, gains, order)
    assert total(rows, gains, got) == largest(rows, gains)
    place = [list(mine).index(row) if row >= 0 else 0 for mine, row in zip(rows, got, strict=True)]
    assert (np.where(got == NOBODY, 0, gains[np.arange(len(rows)), place]) >= 0).all()


def scipy_total(rows, gains, users):
    """The same by a dense solver, with a place for each target that goes without."""
    targets = np.arange(len(rows))
    table = np.full((len(rows), users + len(rows)), -1e15)
    table[targets[:, None], rows] = gains
    table[targets, users + targets] = 0
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


@pytest.mark.parametrize("most", [1, 5, 10**9])
@pytest.mark.parametrize(
    ("targets", "users", "listed"), [(300, 300, 300), (300, 80, 9), (90, 400, 20)]
)
def test_sums_equal_those_of_scipy(targets, users, listed, most):
    """With all rows listed or few, more targets than rows or fewer, many ties or none."""
    random = np.random.default_rng(most + listed)
    near = random.normal(size=(users, 3)), random.normal(size=(targets, 3))
    scores = -((near[1][:, None] - near[0][None]) ** 2).sum(axis=2)
    rows = np.argsort(-scores, axis=1)[:, :listed]
    gains = np.rint(np.take_along_axis(scores - scores.min(), rows, 1) * most).astype(np.int64)
    got = largest_assignment(rows, gains, random.permutation(targets))
    assert total(rows, gains, got) == scipy_total(rows, gains, users)


def test_lists_may_end_early():
    rows, gains = np.array([[4, NOBODY], [4, 9]]), np.array([[5, -1], [3, 1]])
    assert largest_assignment(rows, gains, np.arange(2)).tolist() == [4, 9]


def test_a_row_worth_less_than_none_is_not_given():
    assert largest_assignment(np.array([[7]]), np.array([[-1]]), np.arange(1)).tolist() == [NOBODY]


def test_where_all_tie_orders_favour_nobody():
    """Over many orders each target gets each row equally often."""
    rows, gains = np.tile(np.arange(4), (4, 1)), np.zeros((4, 4), np.int64)
    counts, random = np.zeros((4, 4)), np.random.default_rng(1)
    for _ in range(4_000):
        got = largest_assignment(rows, gains, random.permutation(4))
        counts[np.arange(4), got] += 1
    assert np.abs(counts / 4_000 - 1 / 4).max() < 0.03
