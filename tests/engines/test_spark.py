"""What the engine for a cluster says where there is none, nor pyspark."""

import io
import json
import threading
from types import SimpleNamespace

import pytest

import reidrisk as rr

pytest.importorskip("pyarrow")

from tests.snapshots import refuses

from reidrisk.engines.spark import session


def test_a_session_of_spark_connect_is_refused():
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with refuses("spark-connect") as told:
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
    # The words hold the host, the interpreter and versions of this machine.
    with refuses("executor-differs", snapshot=False) as told:
        session.check_executors(SimpleNamespace(sparkContext=context))
    assert f"has no {named}, " in str(told.value)


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


@pytest.fixture
def context(monkeypatch):
    """Spark's, whose Java can be ended, at once."""
    ended = threading.Event()
    java = SimpleNamespace(kill=ended.set, wait=ended.wait, stdin=io.BytesIO())
    made = SimpleNamespace(
        _gateway=SimpleNamespace(proc=java), _jvm="one", _active_spark_context=None, ended=ended
    )
    monkeypatch.setattr(session, "guest", lambda *_: SimpleNamespace(SparkContext=made))
    monkeypatch.setattr("importlib.metadata.version", lambda _: "4")
    monkeypatch.setattr(session, "MASTER_WITHIN", 0.05)
    return made


def test_java_is_ended_if_a_master_says_nothing(context):
    def start():
        assert context.ended.wait(30)
        raise RuntimeError("Answer from Java side is empty")

    with refuses("spark-unreachable"):
        session.answered("spark://there:7077", start)
    assert (vars(context)["_gateway"], vars(context)["_jvm"]) == (None, None)


def test_java_goes_on_if_a_master_answers_and_the_rest_takes_long(context):
    def start():
        vars(context)["_active_spark_context"] = SimpleNamespace(_jsc="there")
        assert not context.ended.wait(0.3)
        return "session"

    assert session.answered("spark://there:7077", start) == "session"
    assert vars(context)["_jvm"] == "one"


def test_what_else_is_wrong_with_a_session_is_not_the_masters(context):
    def start():
        raise RuntimeError("of another kind")

    with pytest.raises(RuntimeError, match="of another kind"):
        session.answered("spark://there:7077", start)
    assert vars(context)["_jvm"] == "one"
