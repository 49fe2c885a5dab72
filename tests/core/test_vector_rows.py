"""Rows of vectors: shapes, gaps, storage, and what is refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.snapshots import refuses

from reidrisk import Grid, InvalidInput, Observations, VectorRows
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


FLOATS = st.floats(-1e6, 1e6, width=32)


@given(arrays(np.float64, (5, 3), elements=FLOATS), st.sampled_from([8, 16]))
def test_rounding_moves_no_number_by_more_than_half_a_step(vectors, bits):
    rows = VectorRows.rounded(vectors, bits=bits)
    back = rows.block(0, 5)[:, 0] / rows.grid.scale
    np.testing.assert_allclose(back, vectors, rtol=0, atol=0.5000001 / rows.grid.scale)
    assert rows.complete  # the number of a gap is never used
    off, lengths = (np.linalg.norm(one, axis=1) for one in (back - vectors, vectors))
    there = lengths > 0
    expected = (off[there] / lengths[there]).max(initial=0.0)
    np.testing.assert_allclose(rows.grid.moved(vectors), expected, rtol=1e-6, atol=1e-12)


def test_one_grid_holds_several_tables():
    grid = Grid.of([[0.5]], [[-2.0]], [[1.0]], bits=8)
    assert grid.scale == 63.5
    assert Grid.of([[0.0]]).scale == 1.0


@pytest.mark.parametrize("grid", [Grid(10.0, 8), Grid(10.0)], ids=["8 bits", "16 bits"])
def test_a_grid_refuses_what_it_does_not_hold(grid):
    assert grid.round([[grid.most / 10]]) == grid.most
    with refuses("beyond-the-grid"):
        grid.round([[0.0], [-(grid.most + 1) / 10]])
    with refuses("not-finite"):
        grid.round([[0.0], [np.nan]], "anonymous")


@pytest.mark.parametrize(
    ("scale", "bits", "code"),
    [
        (0.0, 8, "number-out-of-range"),
        (np.inf, 8, "number-out-of-range"),
        (1.0, 12, "unknown-choice"),
    ],
    ids=["nothing", "infinite", "12 bits"],
)
def test_there_are_no_other_grids(scale, bits, code):
    with refuses(code):
        Grid(scale, bits)


def test_rows_of_different_grids_are_not_compared():
    known, shown = (VectorRows.rounded([[1.0, most]]) for most in (1.0, 2.0))
    with refuses("grid-mismatch"):
        Observations(known, shown, [0])
    again = VectorRows.rounded([[0.5, 0.5]], known.grid)
    assert Observations(known, again, [0]).users == 1


def test_memory_maps_stay_on_disk(tmp_path):
    file = tmp_path / "vectors.bin"
    VALUES.tofile(file)
    rows = VectorRows(np.memmap(file, np.int8, "r", shape=VALUES.shape), scale=2.0)
    assert isinstance(rows.part(2, 9).values, np.memmap)
    again = pickle.loads(pickle.dumps(rows.part(2, 9)))  # noqa: S301  our own bytes
    np.testing.assert_array_equal(again, VALUES[2:])
    assert (again.grid, len(pickle.dumps(rows)) < 2000) == (rows.grid, True)
