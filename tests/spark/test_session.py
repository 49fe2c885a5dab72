"""What is missing for a session is said before Java starts."""

import importlib.metadata
import json
import socket
import threading
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")

from reidrisk.engines.spark import session
from reidrisk.errors import InvalidInput, MissingExtra

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


@pytest.mark.parametrize(
    ("line", "told"),
    [('java version "1.8.0_402"', "is Java 8"), ("hello", "is no Java"), ('"11"', "is no Java")],
)
def test_a_java_that_does_not(java, tmp_path, line, told):
    java(line)
    with pytest.raises(InvalidInput, match=rf"Java 17 or newer, and {tmp_path}/bin/java {told}"):
        session.check_java_and_python()


def test_no_java(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InvalidInput, match=rf"JAVA_HOME is {tmp_path}, which has no bin/java"):
        session.check_java_and_python()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="none is on the PATH; install it"):
        session.check_java_and_python()


def test_a_pandas_that_is_too_new(java, monkeypatch):
    java('version "17"')
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "3.0.1")
    with pytest.raises(MissingExtra, match=r"pandas 3\.0\.1 is installed, and pyspark needs one"):
        session.check_java_and_python()


@pytest.mark.parametrize(
    ("master", "told"),
    [
        ("there", "there is not a Spark master; write spark://host:7077"),
        ("spark://there", "names no host and port"),
        ("spark://there:port", "names no host and port"),
        ("spark://there:70000", "names no host and port"),
        ("spark://nobody.invalid:7077", "the host nobody.invalid is unknown"),
    ],
)
def test_addresses_at_which_there_is_nobody(master, told):
    with pytest.raises(InvalidInput, match=told) as wrong:
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
    with pytest.raises(InvalidInput, match=f"be reached at {master}: .*refused"):
        session.check_master(master)


def test_a_port_at_which_somebody_else_answers(port, monkeypatch):
    monkeypatch.setattr(session, "_LISTEN", 5.0)

    def hang_up():
        port.accept()[0].close()

    thread = threading.Thread(target=hang_up)
    thread.start()
    with pytest.raises(InvalidInput, match="hangs up at once"):
        session.check_master(f"spark://127.0.0.1:{port.getsockname()[1]}")
    thread.join()


def test_one_of_several_masters_is_enough(port, monkeypatch):
    monkeypatch.setattr(session, "_LISTEN", 0.1)
    address = port.getsockname()[1]
    session.check_master(f"spark://nobody.invalid:7077,127.0.0.1:{address}")


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ({"numba": ""}, "has no numba, and here is .*; install it on all nodes"),
        ({"numpy": "1.0"}, r"has numpy 1\.0, and here is .*pip install numpy=="),
        ({}, None),
    ],
)
def test_what_executors_lack(monkeypatch, there, told):
    look = json.loads(next(session.looking(session.COMPARED)(iter(()))))
    said = json.dumps({**look, "versions": {**look["versions"], **there}})
    monkeypatch.setattr(session, "in_group", lambda *_, **__: [said, said])
    spark = SimpleNamespace(sparkContext=FakeContext())
    if told is None:
        session.check_executors(spark)
    else:
        with pytest.raises(InvalidInput, match=told):
            session.check_executors(spark)


def test_a_master_without_executors(monkeypatch):
    context = FakeContext()

    def wait(*_, **__):
        context.cancelled.wait(30)
        raise RuntimeError("Job 0 cancelled")

    monkeypatch.setattr(session, "in_group", wait)
    with pytest.raises(InvalidInput, match="gave no executors within 0 s; look at its page"):
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
