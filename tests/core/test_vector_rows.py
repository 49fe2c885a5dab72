"""Rows of vectors: shapes, gaps, storage, and what is refused."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import InvalidInput, Observations, VectorRows
from reidrisk.core.rows import Kind

VALUES = np.random.default_rng(1).integers(-127, 128, (9, 2, 3)).astype(np.int8)
VALUES[4, 1] = -128
ROWS = VectorRows(VALUES)


def test_rows_are_what_they_were_made_of():
    assert (ROWS.kind, ROWS.users, ROWS.slots, ROWS.dtype) == (Kind.VECTORS, 9, 2, np.int8)
    np.testing.assert_array_equal(ROWS.block(0, 9), VALUES)
    np.testing.assert_array_equal(ROWS.take(np.array([3, 1])), VALUES[[3, 1]])
    np.testing.assert_array_equal(ROWS.prefix(1).block(0, 9), VALUES[:, :1])
    np.testing.assert_array_equal(np.asarray(ROWS.part(2, 5)), VALUES[2:5])


def test_one_slot_may_be_left_out():
    assert VectorRows(VALUES[:, 0]).block(0, 9).shape == (9, 1, 3)


def test_a_slot_of_nothing_but_the_lowest_number_is_a_gap():
    expected = np.ones((9, 2), bool)
    expected[4, 1] = False
    np.testing.assert_array_equal(ROWS.present(), expected)
    one = VALUES.copy()
    one[4, 1, 0] = 5
    assert VectorRows(one).present().all()
    assert not ROWS.complete
    assert VectorRows(VALUES[:4]).complete


def test_rows_come_back_from_their_bytes():
    codec = ROWS.codec
    np.testing.assert_array_equal(codec.unpack(codec.pack(ROWS)), VALUES)
    joined = codec.join([ROWS.part(0, 4), ROWS.part(4, 9)])
    np.testing.assert_array_equal(joined, VALUES)
    mask = np.array([True, False, True])
    spread = ROWS.part(0, 2).spread(mask)
    assert spread.present().tolist() == [[True, True], [False, False], [True, True]]


def test_rows_are_sorted_by_what_they_hold():
    there = np.random.default_rng(2).permutation(9)
    np.testing.assert_array_equal(ROWS.in_order(), VectorRows(VALUES[there]).in_order())


def test_observations_take_arrays_of_vectors():
    seen = Observations(ROWS, VALUES[:3], [0, 1, 2])
    np.testing.assert_array_equal(seen.true_rows, VALUES[:3])
    with pytest.raises(InvalidInput, match="needs tokens"):
        _ = seen.tokens


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (VALUES.astype(float), "not-whole-vectors"),
        (VALUES.astype(np.int64), "not-whole-vectors"),
        (VALUES[0, 0], "wrong-shape"),
        (VALUES[:0], "wrong-shape"),
    ],
    ids=["floats", "int64", "one vector", "nobody"],
)
def test_other_arrays_are_refused(values, code):
    with refuses(code):
        VectorRows(values)


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        (VALUES[:, :, :2], "kind-mismatch"),
        (VALUES.astype(np.int16), "kind-mismatch"),
        (VALUES[:, :1], "slot-mismatch"),
        (VALUES * 0.5, "not-whole-vectors"),
    ],
    ids=["fewer numbers", "another type", "fewer slots", "floats"],
)
def test_anonymous_vectors_must_be_alike(shown, code):
    with refuses(code):
        Observations(ROWS, shown, np.arange(9))
