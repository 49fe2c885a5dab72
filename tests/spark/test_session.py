"""What is missing for a session is said before Java starts."""

import importlib.metadata
import json
import socket
import threading
from types import SimpleNamespace

import pytest
from tests.snapshots import refuses, says

pytest.importorskip("pyspark")

from reidrisk.engines.spark import session
from reidrisk.errors import MissingExtra

pytestmark = pytest.mark.spark


@pytest.fixture
def java(tmp_path, monkeypatch):
    """A Java that says of itself what it is told to."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()

    def says(line):
        program.write_text(f"#!/bin/sh\necho '{line}' >&2\n")
        program.chmod(0o700)

    return says


@pytest.mark.parametrize("line", ['openjdk version "17.0.15"', 'java version "21" 2023-09-19'])
def test_a_java_that_serves(java, line):
    java(line)
    session.check_java_and_python()


@pytest.mark.parametrize("line", ['java version "1.8.0_402"', "hello", '"11"'])
def test_a_java_that_does_not(java, line):
    java(line)
    with refuses("java-missing"):
        session.check_java_and_python()


def test_no_java(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with refuses("java-missing"):
        session.check_java_and_python()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with refuses("java-missing"):
        session.check_java_and_python()


def test_a_pandas_that_is_too_new(java, monkeypatch):
    java('version "17"')
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "3.0.1")
    with refuses("wrong-version", MissingExtra):
        session.check_java_and_python()


@pytest.mark.parametrize(
    ("master", "code"),
    [
        ("there", "invalid-spark-master"),
        ("spark://there", "invalid-spark-master"),
        ("spark://there:port", "invalid-spark-master"),
        ("spark://there:70000", "invalid-spark-master"),
        ("spark://nobody.invalid:7077", "spark-unreachable"),
    ],
)
def test_addresses_at_which_there_is_nobody(master, code):
    with refuses(code) as wrong:
        session.check_master(master)
    assert master in str(wrong.value)


@pytest.mark.parametrize("master", ["local", "local[2]", "yarn", "k8s://https://there:6443"])
def test_addresses_that_only_spark_can_ask(master):
    session.check_master(master)


@pytest.fixture
def port():
    """One that somebody listens at, who accepts nobody."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_port_at_which_nobody_listens(port):
    address = port.getsockname()[1]
    port.close()
    master = f"spark://127.0.0.1:{address}"
    with refuses("spark-unreachable", snapshot=False) as wrong:
        session.check_master(master)
    says(str(wrong.value).replace(master, "MASTER"))


def test_a_port_at_which_somebody_else_answers(port, monkeypatch):
    monkeypatch.setattr(session, "_LISTEN", 5.0)

    def hang_up():
        port.accept()[0].close()

    thread = threading.Thread(target=hang_up)
    thread.start()
    master = f"spark://127.0.0.1:{port.getsockname()[1]}"
    with refuses("spark-unreachable", snapshot=False) as wrong:
        session.check_master(master)
    thread.join()
    says(str(wrong.value).replace(master, "MASTER"))


def test_one_of_several_masters_is_enough(port, monkeypatch):
    monkeypatch.setattr(session, "_LISTEN", 0.1)
    address = port.getsockname()[1]
    session.check_master(f"spark://nobody.invalid:7077,127.0.0.1:{address}")


@pytest.mark.parametrize(
    ("there", "named"), [({"numba": ""}, "no numba"), ({"numpy": "1.0"}, "numpy 1.0"), ({}, None)]
)
def test_what_executors_lack(monkeypatch, there, named):
    look = json.loads(next(session.looking(session.COMPARED)(iter(()))))
    said = json.dumps({**look, "versions": {**look["versions"], **there}})
    monkeypatch.setattr(session, "in_group", lambda *_, **__: [said, said])
    spark = SimpleNamespace(sparkContext=FakeContext())
    if named is None:
        session.check_executors(spark)
    else:
        with refuses("executor-differs", snapshot=False) as wrong:  # it names the versions here
            session.check_executors(spark)
        assert named in str(wrong.value)


def test_a_master_without_executors(monkeypatch):
    context = FakeContext()

    def wait(*_, **__):
        context.cancelled.wait(30)
        raise RuntimeError("Job 0 cancelled")

    monkeypatch.setattr(session, "in_group", wait)
    with refuses("no-executors"):
        session.check_executors(SimpleNamespace(sparkContext=context), within=0.1)


class FakeContext:
    """A context that looks at nobody."""

    master, defaultParallelism = "spark://there:7077", 2  # noqa: N815  Spark's own names

    def __init__(self):
        self.cancelled = threading.Event()

    def getConf(self):  # noqa: N802
        return {}

    def parallelize(self, *_):
        return self

    def mapPartitions(self, _):  # noqa: N802
        return self

    def collect(self):
        raise AssertionError

    def cancelJobGroup(self, _):  # noqa: N802
        self.cancelled.set()
