"""A study gives the same bytes here and on a cluster, however its rows are cut and kept."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import reidrisk as rr
from reidrisk import data
from reidrisk.attacks import Gaps, Hamming, LearnedPairs, Overlap, TypeAware, WeightedHamming
from reidrisk.data import read_linked, write_observations
from reidrisk.inputs.linked import Linked
from reidrisk.inputs.seals import known_rows
from reidrisk.releases import TopicsApi, observe
from reidrisk.study import Study

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

API = TopicsApi(topics=40, absence=0.1)
PEOPLE = data.synthetic_topics(40_000, topics=40, epochs=8, seed=1)
EVERYTHING = Study(
    release=API,
    attacks=(Hamming(), WeightedHamming(API), TypeAware(API), Gaps()),
    models=(WeightedHamming(API),),
    full_information=True,
    slots=(1, 2, 4, 8),
    targets=100,
    sizes=(20_000,),
    beyond=(1_000_000,),
    guesses=(5,),
    strangers=0.2,
    information=("counts",),
    seed=7,
)
TABLES = Study(
    attacks=(Hamming(), Overlap(), LearnedPairs(), Gaps()),
    slots=(1, 2, 4, 8),
    targets=100,
    sizes=(20_000,),
    guesses=(5,),
    seed=7,
)
PARTITIONS = (1, 2, 7, 64)


@pytest.fixture(autouse=True)
def all_rows_go(monkeypatch):
    """However few they are."""
    monkeypatch.setattr("reidrisk.engines.spark.engine.SMALL", 0)


@pytest.fixture(scope="module")
def of_people():
    """The text of `result.json` of a run on this machine."""
    result = EVERYTHING.run(PEOPLE)
    assert all([result.sizes, result.claims, result.strangers, result.guesses, result.reckoned])
    return result.to_json()


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_people_who_are_generated(spark, of_people, partitions):
    engine = rr.SparkEngine(spark, partitions=partitions)
    assert EVERYTHING.run(PEOPLE, engine=engine).to_json() == of_people


@pytest.fixture(scope="module")
def seen():
    return observe(API, PEOPLE, targets=300, seed=7)


@pytest.mark.parametrize("partitions", [1, 7])
def test_shards_of_parquet(spark, seen, tmp_path, partitions):
    labels = [f"topic {token:02}" for token in range(40)]
    write_observations(seen, tmp_path, ids=PEOPLE.ids, labels=labels, shards=5)
    linked = read_linked(known_rows(tmp_path), tmp_path / "anonymous.parquet")
    there = TABLES.run(linked, engine=rr.SparkEngine(spark, partitions=partitions))
    assert there.to_json() == TABLES.run(linked).to_json()


def linked_to(known, seen):
    labels = np.array([f"topic {token:02}" for token in range(40)], object)
    return Linked(known, seen.anonymous, seen.truth, ids=np.asarray(PEOPLE.ids), labels=labels)


@pytest.fixture(scope="module")
def of_tables(seen):
    return figures(TABLES.run(linked_to(seen.known, seen)))


def figures(result):
    """All but how the source is described: a table in memory is none on a cluster."""
    return replace(result, study={}).to_json()


@pytest.mark.parametrize(("cut", "partitions"), [(1, 7), (64, 2)])
def test_data_frames_that_are_shuffled(spark, seen, of_tables, cut, partitions):
    """The number of a row is the place of its user, wherever the row was."""
    rows = np.asarray(seen.known)
    columns = {f"slot_{slot}": pa.array(rows[:, slot], mask=rows[:, slot] < 0) for slot in range(8)}
    order = np.random.default_rng(cut).permutation(len(rows))
    table = pa.table({"user": np.asarray(PEOPLE.ids), **columns}).take(order)
    frame = spark.createDataFrame(table).repartition(cut)
    engine = rr.SparkEngine(spark, partitions=partitions)
    known = engine.rows_of(frame, tokens=40)
    assert (known.numbers_of(np.asarray(PEOPLE.ids)[seen.truth]) == seen.truth).all()
    assert figures(TABLES.run(linked_to(known, seen), engine=engine)) == of_tables
