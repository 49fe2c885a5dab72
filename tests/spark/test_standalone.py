"""The cluster that the other tests stand on: it is real, and it ends."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.spark.drivers import driver
from tests.spark.standalone import MARK, SECONDS, marked, standalone, stop

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark


BOTH_AT_ONCE = """
    place = Path(os.environ["PLACE"])

    def who(part):
        (place / str(*part)).touch()
        while len(list(place.iterdir())) < 2:
            time.sleep(0.05)
        above = [os.getpid()]
        while above[-1] > 1:
            state = Path(f"/proc/{above[-1]}/stat").read_text()
            above.append(int(state.rpartition(")")[2].split()[1]))
        yield os.environ[MARK], above

    told = spark.sparkContext.parallelize(range(2), 2).mapPartitions(who).collect()
    print(json.dumps(told), flush=True)
"""


def test_jobs_run_in_processes_of_both_workers(tmp_path):
    """On a cluster that no other test changes: one task waits for the other to begin."""
    place = tmp_path / "begun"
    place.mkdir()
    main = BOTH_AT_ONCE.replace("MARK", repr(MARK))
    with standalone(tmp_path) as cluster:
        program = driver(cluster.address, main, environment={"PLACE": str(place)})
        ((mark, above), (other_mark, other_above)) = json.loads(*program.lines())
        workers = {cluster.started[name].pid for name in ("worker-1", "worker-2")}
        assert len(cluster.workers()) == 2
    assert mark == other_mark == cluster.mark
    assert (workers & {*above}) | (workers & {*other_above}) == workers
    assert len(workers & {*above}) == 1


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
