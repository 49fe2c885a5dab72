"""The cluster that the other tests stand on: it is real, and it ends."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.spark.standalone import MARK, SECONDS, marked, standalone, stop

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark


def test_jobs_run_in_processes_of_both_workers(cluster, spark):
    def who(_):
        time.sleep(0.5)
        yield os.getpid(), os.environ[MARK]

    found = spark.sparkContext.parallelize(range(4), 4).mapPartitions(who).collect()
    assert {mark for _, mark in found} == {cluster.mark}
    pythons = {process for process, _ in found}
    assert len(pythons) == 2
    assert pythons <= marked(cluster.mark)
    assert [len(cluster.executors(name)) for name in ("worker-1", "worker-2")] == [1, 1]
    assert len(cluster.workers()) == 2


def test_a_cluster_ends_with_its_block_whatever_happens(cluster, tmp_path):
    with pytest.raises(ZeroDivisionError), standalone(tmp_path, workers=0) as other:
        _fail(other)
    assert other.address != cluster.address
    assert not marked(other.mark)
    assert len(marked(cluster.mark)) >= 3


def _fail(cluster):
    assert marked(cluster.mark) == {cluster.started["master"].pid}
    assert not cluster.told()["workers"]
    raise ZeroDivisionError


def test_a_cluster_ends_with_who_started_it_even_if_killed(cluster, tmp_path):
    code = """
        import sys, time
        from pathlib import Path
        from tests.spark.standalone import standalone
        with standalone(Path(sys.argv[1]), workers=0) as cluster:
            print(cluster.mark, flush=True)
            time.sleep(600)
    """
    lines = "\n".join(line[8:] for line in code.splitlines())
    owner = subprocess.Popen(
        [sys.executable, "-c", lines, tmp_path],
        cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with owner:
        mark = owner.stdout.readline().strip()
        assert len(marked(mark)) == 1
        owner.kill()
    end = time.monotonic() + SECONDS
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert not marked(mark)


DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(); time.sleep(600)"
)


def test_who_does_not_go_when_asked_is_killed_and_nobody_else():
    ours, others = (
        subprocess.Popen(
            [sys.executable, "-c", DEAF], env=os.environ | {MARK: mark}, stdout=subprocess.PIPE
        )
        for mark in ("ours", "ours-too")
    )
    with ours, others:
        for process in (ours, others):
            assert process.stdout.readline() == b"\n"
        assert marked("ours") == {ours.pid}
        stop("ours")
        assert ours.wait(SECONDS) == -9
        assert others.poll() is None
        others.kill()


def test_a_cluster_that_does_not_start_says_what_its_log_says(tmp_path, monkeypatch):
    stub = tmp_path / "java"
    stub.write_text("#!/bin/sh\necho no such luck\nexit 3\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with (
        pytest.raises(RuntimeError, match=r"(?s)master ended.*no such luck"),
        standalone(tmp_path),
    ):
        pass
