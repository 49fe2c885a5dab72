"""Rows of vectors in Parquet files: any layout, gaps, several files and slots, and bad ones."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.engines.test_local import assert_same
from tests.snapshots import refuses

from reidrisk import Grid, LocalEngine, Observations, ParquetVectors, VectorRows
from reidrisk.data import write_vector_rows
from reidrisk.scores import InnerProduct

RANDOM = np.random.default_rng(4)
FLOATS = RANDOM.standard_normal((90, 5))
ROWS = VectorRows.rounded(FLOATS, bits=16)


def table(values, kind, **others):
    """One column of vectors, a null for each None."""
    return pa.table({"vector": pa.array(values, kind), **others})


def lists(rows):
    return rows.block(0, rows.users)[:, 0].tolist()


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("slots", [1, 3])
def test_what_was_written_is_read_again(tmp_path, bits, slots):
    values = np.random.default_rng(bits).integers(-100, 100, (70, slots, 4))
    values = values.astype(np.int8 if bits == 8 else np.int16)
    values[::7, slots - 1] = np.iinfo(values.dtype).min
    values[3, 0, 1] = np.iinfo(values.dtype).min  # a number like any other, beside others
    rows = VectorRows(values, scale=12.5)
    write_vector_rows(rows, tmp_path / "some.parquet", users=np.arange(70) * 3)
    again = ParquetVectors(tmp_path / "some.parquet")
    assert (again.shape, again.grid, again.complete) == (values.shape, rows.grid, False)
    np.testing.assert_array_equal(again.block(0, 70), values)
    np.testing.assert_array_equal(again.block(10, 20), values[10:20])
    np.testing.assert_array_equal(again.take(np.array([9, 2, 9])), values[[9, 2, 9]])
    np.testing.assert_array_equal(again.part(5, 40).block(1, 9), values[6:14])
    np.testing.assert_array_equal(again.select(np.array([7, 0])).values, values[[7, 0]])
    np.testing.assert_array_equal(again.present(), rows.present())
    np.testing.assert_array_equal(again.ids(2, 5), [6, 9, 12])
    first = again.prefix(1)
    np.testing.assert_array_equal(first.block(0, 70), values[:, :1])
    assert first.codec == rows.prefix(1).codec


LAYOUTS = {
    "lists of one size": pa.list_(pa.int16(), 5),
    "lists": pa.list_(pa.int16()),
    "large lists": pa.large_list(pa.int16()),
}


@pytest.mark.parametrize("kind", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("gaps", [False, True])
def test_every_layout_holds_the_same(tmp_path, kind, gaps):
    values = lists(ROWS)
    if gaps:
        values[4] = values[60] = None
    for number, (start, stop) in enumerate(((0, 30), (30, 30), (30, 90))):
        some = table(values[start:stop], kind)
        try:
            parquet.write_table(some, tmp_path / f"{number}.parquet", row_group_size=13)
        except pa.ArrowNotImplementedError as wrong:
            pytest.skip(f"this pyarrow writes no such file: {wrong}")
    rows = ParquetVectors(tmp_path)
    expected = np.array(ROWS.values)
    if gaps:
        expected[[4, 60]] = np.iinfo(np.int16).min
    np.testing.assert_array_equal(rows.block(0, 90), expected)
    assert rows.complete is not gaps
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rows)).block(25, 35), expected[25:35])  # noqa: S301  our own


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_floats_are_rounded_to_a_grid(tmp_path, kind):
    floats = FLOATS.astype(kind.to_pandas_dtype())
    parquet.write_table(table(list(floats), pa.list_(kind)), tmp_path / "some.parquet")
    rows = ParquetVectors(tmp_path / "some.parquet", grid=Grid.of(floats, bits=8))
    expected = VectorRows.rounded(floats, bits=8)
    np.testing.assert_array_equal(rows.block(0, 90), expected.values)
    assert rows.codec == expected.codec
    with refuses("grid-unknown", snapshot=False):
        ParquetVectors(tmp_path / "some.parquet")
    with refuses("beyond-the-grid", snapshot=False):
        ParquetVectors(tmp_path / "some.parquet", grid=Grid(30_000.0))


@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from([1, 7, 1000]))
def test_a_search_on_disk_is_that_in_memory(tmp_path, targets, first, rows):
    file = tmp_path / "some.parquet"
    if not file.exists():
        parquet.write_table(table(lists(ROWS), LAYOUTS["lists"]), file, row_group_size=11)
    shown = ROWS.values[first : first + targets] // 2
    truth = np.arange(first, first + len(shown))
    stored = ParquetVectors(file)
    engine, score = LocalEngine(threads=2, rows=rows), InnerProduct.of_vectors()
    there, here = (
        engine.search(Observations(known, shown, truth), score, list_best=2, ranks=None)
        for known in (stored, VectorRows(ROWS.values))
    )
    assert_same(there, here)


def test_the_fingerprint_is_that_of_rows_and_grid(tmp_path):
    write_vector_rows(ROWS, tmp_path / "one.parquet")
    one, same = (ParquetVectors(tmp_path / "one.parquet") for _ in range(2))
    assert one.fingerprint() == same.fingerprint() != one.part(1, 90).fingerprint()
    write_vector_rows(VectorRows(ROWS.values, scale=2.0), tmp_path / "other.parquet")
    assert ParquetVectors(tmp_path / "other.parquet").fingerprint() != one.fingerprint()


def test_a_file_that_changed_is_refused(tmp_path):
    write_vector_rows(ROWS, tmp_path / "some.parquet")
    rows = ParquetVectors(tmp_path / "some.parquet")
    write_vector_rows(VectorRows(-ROWS.values), tmp_path / "some.parquet")
    with refuses("file-changed", snapshot=False):
        rows.block(0, 3)


WRONG = {
    "other lengths": (table([[1.0, 2.0], [1.0]], pa.list_(pa.float64())), "unequal-lists"),
    "lengths that add up": (
        table([[1.0, 2.0], [1.0], [1.0, 2.0, 3.0]], pa.list_(pa.float64())), "unequal-lists",
    ),
    "no numbers": (table([[], []], pa.list_(pa.float64())), "empty-lists"),
    "a null inside": (table([[1.0, None]], pa.list_(pa.float64())), "missing-number"),
    "nulls only": (table([None, None], pa.list_(pa.float64())), "empty-table"),
    "no rows": (table([], pa.list_(pa.float64())), "empty-table"),
    "NaN": (table([[1.0, float("nan")]], pa.list_(pa.float64())), "not-finite"),
    "wide numbers": (table([[1, 2]], pa.list_(pa.int64())), "wrong-column-type"),
    "no lists": (table([1, 2], pa.int8()), "wrong-column-type"),
    "another grid": (table([[1, 2]], pa.list_(pa.int8())), "grid-mismatch"),
    "no column": (pa.table({"user": [1]}), "column-not-found"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_table_of_vectors_is_refused(tmp_path, monkeypatch, wrong):
    monkeypatch.chdir(tmp_path)
    some, code = WRONG[wrong]
    parquet.write_table(some, "some.parquet")
    with refuses(code):
        ParquetVectors("some.parquet", grid=Grid(4.0))


def test_columns_and_files_that_differ_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_vector_rows(ROWS, "one.parquet")
    write_vector_rows(VectorRows(ROWS.values, scale=3.0), "two.parquet")
    with refuses("columns-differ"):
        ParquetVectors(["one.parquet", "two.parquet"])
    both = {"a": pa.array([[1]], pa.list_(pa.int8())), "b": pa.array([[1]], pa.list_(pa.int16()))}
    parquet.write_table(pa.table(both), "three.parquet")
    with refuses("columns-differ"):
        ParquetVectors("three.parquet")
    with refuses("column-not-found"):
        ParquetVectors("three.parquet", "c")
    with refuses("wrong-shape"):
        write_vector_rows(ROWS, "four.parquet", users=[1])
