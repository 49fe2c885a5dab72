"""A study gives the same bytes here and on a cluster, however its rows are cut and kept."""

import pytest

from reidrisk import SparkEngine, data
from reidrisk.attacks import Gaps, Hamming, TypeAware, WeightedHamming
from reidrisk.releases import TopicsApi
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
    sizes=(1000, 20_000),
    beyond=(1_000_000,),
    guesses=(5,),
    strangers=0.2,
    information=("counts",),
    seed=7,
)
PARTITIONS = (1, 2, 7, 64)


@pytest.fixture(scope="module")
def expected():
    """The text of `result.json` of a run on this machine."""
    result = EVERYTHING.run(PEOPLE)
    assert result.sizes
    assert result.claims
    assert result.strangers
    assert result.guesses
    return result.to_json()


@pytest.fixture(autouse=True)
def all_rows_go(monkeypatch):
    """However few they are."""
    monkeypatch.setattr("reidrisk.engines.spark.engine.SMALL", 0)


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_people(spark, expected, partitions):
    engine = SparkEngine(spark, partitions=partitions)
    assert EVERYTHING.run(PEOPLE, engine=engine).to_json() == expected
