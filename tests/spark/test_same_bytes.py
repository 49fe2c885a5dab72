"""A study gives the same bytes here and on a cluster, however its rows are cut and kept."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import reidrisk as rr
from reidrisk import data
from reidrisk.attacks import Gaps, Hamming, LearnedPairs, Overlap, TypeAware, WeightedHamming
from reidrisk.data import read_linked, write_observations
from reidrisk.io.linked import Linked
from reidrisk.io.manifest import known_rows
from reidrisk.releases import TopicsApi, observe
from reidrisk.study import Study
from reidrisk.study.describe import describe

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


def shuffled(spark, rows, cut):
    """Rows as a DataFrame in some order, cut into so many parts."""
    columns = {f"slot_{slot}": pa.array(rows[:, slot], mask=rows[:, slot] < 0) for slot in range(8)}
    order = np.random.default_rng(cut).permutation(len(rows))
    table = pa.table({"user": np.asarray(PEOPLE.ids), **columns}).take(order)
    return spark.createDataFrame(table).repartition(cut)


def test_data_frames_that_are_shuffled(spark, seen, of_tables):
    """The number of a row is the place of its user, wherever the row was."""
    results = []
    for cut, partitions in [(1, 7), (64, 2)]:
        engine = rr.SparkEngine(spark, partitions=partitions)
        known = engine.rows_of(shuffled(spark, np.asarray(seen.known), cut), tokens=40)
        assert (known.numbers_of(np.asarray(PEOPLE.ids)[seen.truth]) == seen.truth).all()
        results.append(TABLES.run(linked_to(known, seen), engine=engine))
        assert figures(results[-1]) == of_tables
    assert results[0].to_json() == results[1].to_json()


def test_data_frames_are_described_by_users_and_rows(spark, seen):
    rows, others = np.asarray(seen.known), np.array(seen.known)
    others[30_000, 3] = (others[30_000, 3] + 1) % 40

    def described(rows, cut, partitions, part=slice(0, 40_000), user="user"):
        frame = shuffled(spark, rows, cut).selectExpr(f"{user} as user", "* except (user)")
        known = rr.SparkEngine(spark, partitions=partitions).rows_of(frame, tokens=40)
        return describe(linked_to(known.part(part.start, part.stop), seen))["known"]

    one = described(rows, 1, 7)
    assert list(one) == ["kind", "sha256"]
    assert described(rows, 5, 2) == one
    assert described(others, 5, 2) != one
    assert described(rows, 5, 2, user="user + 1") != one
    some = slice(5_000, 25_000)
    assert described(rows, 1, 7, some) == described(others, 5, 2, some) != one


def test_observations_of_a_data_frame_are_a_source(spark, seen):
    """Without tables, the users of a study are the numbers of rows."""
    engine, study = rr.SparkEngine(spark, partitions=3), Study(attacks=(Hamming(),), targets=40)
    rows = np.asarray(seen.known)
    known = engine.rows_of(shuffled(spark, rows, 5), tokens=40)
    there = rr.Observations(known, seen.anonymous, seen.truth, tokens=40)
    here = rr.Observations(rows, seen.anonymous, seen.truth, tokens=40)
    found = study.run(there, engine=engine)
    assert figures(found) == figures(study.run(here))
    assert found.study["people"]["rows"][0] == {"kind": "FrameRows", "sha256": known.fingerprint()}
