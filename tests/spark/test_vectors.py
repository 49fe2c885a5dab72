"""Vectors on a cluster: the bytes of the engine here, wherever rows come from and are cut."""

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.test_local import assert_same
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.data import write_vector_rows
from reidrisk.scores import InnerProduct
from reidrisk.scores.inner_product import SquaredLength

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

USERS, TARGETS, DIMENSIONS = 20_000, 40, 24
RANDOM = np.random.default_rng(5)
FLOATS = RANDOM.standard_normal((USERS, 2, DIMENSIONS))
GRID = rr.Grid.of(FLOATS, bits=16)
KNOWN = GRID.round(FLOATS)
KNOWN[::9, 1] = np.iinfo(np.int16).min
KNOWN[5_000:5_050] = KNOWN[4_000:4_050]
TRUTH = RANDOM.choice(USERS, TARGETS, replace=False)
SHOWN = KNOWN[TRUTH] // 2
SHOWN[KNOWN[TRUTH] == np.iinfo(np.int16).min] = np.iinfo(np.int16).min
SCORES = (InnerProduct.of_vectors(), InnerProduct.of_vectors(penalty=SquaredLength()))
ASKED = {"list_best": 3, "ranks": None, "second": True}


@pytest.fixture(autouse=True)
def all_rows_go(monkeypatch):
    """However few they are."""
    monkeypatch.setattr("reidrisk.engines.spark.engine.SMALL", 0)


def answers(engine, known, slots=2):
    shown = rr.VectorRows(SHOWN, scale=GRID.scale)
    seen = rr.Observations(known, shown, TRUTH).prefix(slots)
    return [engine.search(seen, score, **ASKED) for score in SCORES]


def in_memory(_spark, _folder):
    return rr.VectorRows(KNOWN, scale=GRID.scale)


def mapped(_spark, folder):
    np.save(folder / "known.npy", KNOWN)
    return rr.VectorRows(np.load(folder / "known.npy", mmap_mode="r"), scale=GRID.scale)


def stored(_spark, folder):
    write_vector_rows(rr.VectorRows(KNOWN, scale=GRID.scale), folder / "known.parquet")
    return rr.ParquetVectors(folder / "known.parquet")


def table_of(values, kind):
    gap = (values == np.iinfo(np.int16).min).all(axis=2)
    columns = {
        f"v{slot}": pa.array(
            [None if no else row for no, row in zip(gap[:, slot], values[:, slot], strict=True)],
            pa.list_(kind),
        )
        for slot in range(2)
    }
    return pa.table({"user": np.arange(len(values)), **columns})


def in_frame(spark, _folder):
    frame = spark.createDataFrame(table_of(KNOWN, pa.int16())).orderBy("v0")
    return rr.SparkEngine(spark).vectors_of(frame, grid=GRID, columns=["v0", "v1"])


@pytest.mark.parametrize("rows", [in_memory, mapped, stored, in_frame])
def test_vectors_give_the_same_on_a_cluster(spark, tmp_path, rows):
    for partitions, slots in ((1, 1), (7, 2)):
        expected = answers(rr.LocalEngine(), in_memory(spark, tmp_path), slots)
        engine = rr.SparkEngine(spark, partitions=partitions)
        for found, one in zip(answers(engine, rows(spark, tmp_path), slots), expected, strict=True):
            assert_same(found, one)


def test_floats_of_a_frame_are_rounded_to_the_grid(spark):
    values = FLOATS[:500]
    frame = spark.createDataFrame(table_of(values, pa.float64()))
    engine = rr.SparkEngine(spark)
    rows = engine.vectors_of(frame, grid=GRID, columns="v1")
    np.testing.assert_array_equal(rows.block(0, 500), GRID.round(values[:, 1:]))
    assert rows.codec == rr.VectorRows.rounded(values[:, 1:], GRID).codec
    assert rows.fingerprint() != engine.vectors_of(frame, grid=GRID, columns="v0").fingerprint()


WRONG = {
    "other lengths": ([[1.0, 2.0], [1.0]], pa.float64(), "unequal-lists"),
    "a null inside": ([[1.0, None], [1.0, 2.0]], pa.float64(), "missing-number"),
    "no numbers": ([[], []], pa.float64(), "empty-lists"),
    "beyond": ([[1e9], [1.0]], pa.float64(), "beyond-the-grid"),
    "wide numbers": ([[1], [2]], pa.int64(), "wrong-column-type"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_vectors_that_cannot_be_read_are_refused(spark, wrong):
    values, kind, code = WRONG[wrong]
    table = pa.table({"user": [1, 2], "vector": pa.array(values, pa.list_(kind))})
    with refuses(code, snapshot=False):
        rr.SparkEngine(spark).vectors_of(spark.createDataFrame(table), grid=GRID)


def test_a_column_of_vectors_that_is_not_there(spark):
    table = pa.table({"user": [1, 2], "other": [[1.0], [2.0]]})
    with refuses("column-not-found"):
        rr.SparkEngine(spark).vectors_of(spark.createDataFrame(table), grid=GRID)
