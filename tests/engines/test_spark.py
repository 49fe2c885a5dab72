"""What the engine for a cluster says where there is none, nor pyspark."""

import json
from types import SimpleNamespace

import pytest

import reidrisk as rr
from reidrisk.errors import InvalidInput

pytest.importorskip("pyarrow")

from reidrisk.engines.spark import session


def test_a_session_of_spark_connect_is_refused():
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(InvalidInput, match=r"a session of Spark Connect.*; use a classic") as told:
        rr.SparkEngine(remote)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("lacks", "named"),
    [
        (("numba", "numpy", "pyarrow", "reidrisk"), "reidrisk"),
        (("numba", "reidrisk", "Python"), "Python"),
        (("numba", "pyarrow", "numpy"), "numpy"),
    ],
)
def test_what_brings_the_rest_is_named_first(monkeypatch, lacks, named):
    look = json.loads(next(session.looking(session.COMPARED)(iter(()))))
    there = {**look, "versions": {**look["versions"], **dict.fromkeys(lacks, "")}}
    monkeypatch.setattr(session, "in_group", lambda *_, **__: [json.dumps(there, sort_keys=True)])
    rdd = SimpleNamespace(mapPartitions=lambda _: SimpleNamespace(collect=None))
    context = SimpleNamespace(defaultParallelism=2, parallelize=lambda *_: rdd)
    with pytest.raises(InvalidInput, match=f"has no {named}, and here is "):
        session.check_executors(SimpleNamespace(sparkContext=context))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Invalid maximum heap size: -Xmx1x\nError: no\n", "Invalid maximum heap size: -Xmx1x"),
        ("WARNING: Using incubator modules\n\n  Error: wrong \n", "Error: wrong"),
        ("", "it does not say why"),
    ],
)
def test_why_java_did_not_start(said, why):
    told = f"Java did not start: {why}; look at the settings of Spark"
    assert session.not_started(said) == told
