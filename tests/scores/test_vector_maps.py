"""Maps of vectors: what they compute, in whole numbers that nothing but the rows decides."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reidrisk.core.digest import sha256
from reidrisk.scores.vector_maps import DistanceMap, VectorMap


@st.composite
def worlds(draw):
    """Rows with gaps, and a map of them."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    type_ = draw(st.sampled_from([np.int8, np.int16]))
    users, slots, dimensions = random.integers(1, 9), random.integers(1, 4), random.integers(1, 6)
    rows = random.integers(-100, 100, (users, slots, dimensions)).astype(type_)
    rows[random.random((users, slots)) < 0.3] = np.iinfo(type_).min
    rows[random.random(users) < 0.1] = 0
    mean = random.normal(size=dimensions) if draw(st.booleans()) else None
    matrix = random.normal(size=(dimensions, random.integers(1, 7)))
    return rows, VectorMap(
        draw(st.sampled_from([1.0, 4080.0])), draw(st.booleans()), mean,
        matrix if draw(st.booleans()) else None, draw(st.booleans()),
    )  # fmt: skip


def unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def slowly(row, how):
    """One row, step by step, before it is rounded."""
    there = [slot.astype(float) for slot in row if (slot != np.iinfo(row.dtype).min).any()]
    if not there:
        return np.zeros(row.shape[1] if how.matrix is None else how.matrix.shape[1])
    vector = np.mean(there, axis=0) * len(row)
    vector = unit(vector) if how.unit_first else vector
    vector = vector if how.mean is None else vector - how.mean
    vector = vector if how.matrix is None else vector @ how.matrix
    return how.steps * (unit(vector) if how.unit_last else vector)


@settings(deadline=None, max_examples=100)
@given(worlds())
def test_a_map_is_what_it_says_rounded_once(world):
    rows, how = world
    found = how(rows).dense
    expected = np.stack([slowly(row, how) for row in rows])
    # Rounded to a neighbour only where the sum is as good as halfway between two.
    assert (np.abs(found - expected) <= 0.5 + 1e-6 * (1 + np.abs(expected))).all()
    np.testing.assert_array_equal(found, np.rint(found))


@settings(deadline=None, max_examples=20)
@given(worlds())
def test_the_rows_beside_a_row_and_pickling_change_nothing(world):
    rows, how = world
    again = pickle.loads(pickle.dumps(how))  # noqa: S301  our own
    one_by_one = np.concatenate([again(rows[at : at + 1]).dense for at in range(len(rows))])
    np.testing.assert_array_equal(how(rows).dense, one_by_one)
    assert again.digest == how.digest


def test_a_digest_is_of_what_was_fitted_and_the_same_everywhere():
    mean, matrix = np.arange(3) / 8, np.eye(3) / 4
    maps = [
        VectorMap(), VectorMap(2.0), VectorMap(unit_first=True), VectorMap(unit_last=True),
        VectorMap(mean=mean), VectorMap(matrix=matrix), VectorMap(mean=mean, matrix=matrix),
        VectorMap(mean=mean, matrix=2 * matrix),
    ]  # fmt: skip
    assert len({one.digest for one in maps}) == len(maps)
    assert maps[6].digest == "5a96c02b2385e2ea1a045a359d12aa9b1c465e6845f813823cde646ad448101d"


def test_additions_come_in_one_order_on_every_machine():
    """So many steps that the last bit of each sum is seen."""
    random = np.random.default_rng(5)
    rows = random.integers(-120, 120, (200, 1, 64)).astype(np.int8)
    how = VectorMap(
        2.0**46, unit_first=True, mean=random.normal(size=64), matrix=random.normal(size=(64, 32))
    )
    found = how(rows).dense.astype(np.int64)
    expected = "ce117b087414c40b4709749f5d6cfecf0c73269c078a80dbff519978c8046fc2"
    assert sha256(found.tobytes()) == expected


def test_a_gap_takes_no_part_and_a_row_of_gaps_is_zero():
    gap = np.iinfo(np.int8).min
    rows = np.array([[[2, 4], [gap, gap]], [[gap, gap], [gap, gap]], [[1, 1], [3, 7]]], np.int8)
    found = VectorMap(mean=np.ones(2))(rows).dense
    np.testing.assert_array_equal(found, [[3, 7], [0, 0], [3, 7]])


@pytest.mark.parametrize("seed", range(5))
def test_products_of_distance_maps_are_squared_distances(seed):
    random = np.random.default_rng(seed)
    rows = random.integers(-99, 99, (2, 20, 1, 5)).astype(np.int8)
    mean = random.normal(size=5)
    of, far = VectorMap(16.0, mean=mean), 2048.0
    known, shown = (
        DistanceMap(of, far, known=one)(side) for one, side in zip((True, False), rows, strict=True)
    )
    vectors = [of(side).dense for side in rows]
    expected = -((vectors[0] - vectors[1]) ** 2).sum(axis=1) / 2
    assert np.abs(known.dots(shown) - expected).max() <= far  # half of it on each side
