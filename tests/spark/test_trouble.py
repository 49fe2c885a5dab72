"""What goes wrong on a cluster: it is survived, or said in one line that tells what to do."""

import socket
import subprocess
import sys
import threading
import time

import pytest
from tests.snapshots import refuses, says
from tests.spark.drivers import driver
from tests.spark.standalone import SECONDS, standalone

import reidrisk as rr
from reidrisk import data
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.releases import TopicsApi
from reidrisk.study import Study

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

API = TopicsApi(topics=40)
PEOPLE = data.synthetic_topics(40_000, topics=40, epochs=4, seed=1)
STUDY = Study(release=API, attacks=(Hamming(), WeightedHamming(API)), targets=50, seed=7)


def soon(happened):
    """Wait for something; whether it happened."""
    end = time.monotonic() + SECONDS
    while not (found := happened()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    cluster, spark, tmp_path, monkeypatch
):
    """All first tasks wait, on both workers, until one of these is gone."""
    from reidrisk.engines.spark import rows

    monkeypatch.setattr("reidrisk.engines.spark.engine.SMALL", 0)
    run, gone = rows.run, tmp_path / "gone"

    def waiting(parts, task, merge, **how):
        work, place = task.work, str(tmp_path)

        def begin_and_wait(blocks):
            from pathlib import Path

            from pyspark import TaskContext

            at = TaskContext.get()
            name = f"stage {at.stageId()} part {at.partitionId()} try {at.attemptNumber()}"
            Path(place, name).touch()
            while not Path(place, "gone").exists():
                time.sleep(0.05)
            return work(blocks)

        return run(parts, rows.Task(task.open, task.cut, begin_and_wait), merge, **how)

    monkeypatch.setattr(rows, "run", waiting)
    results = []
    engine = rr.SparkEngine(spark, partitions=7)
    study = threading.Thread(target=lambda: results.append(STUDY.run(PEOPLE, engine=engine)))
    study.start()
    try:
        assert soon(lambda: len(list(tmp_path.glob("* try 0"))) == 2)
        cluster.kill(next(name for name in cluster.started if name.startswith("worker")))
    finally:
        gone.touch()
        study.join()
        cluster.start_workers(1)
    assert results[0].to_json() == STUDY.run(PEOPLE).to_json()
    assert len(list(tmp_path.glob("* try 1"))) == 1


TAKE_TOO_MUCH = """
    rows = SparkEngine(spark, partitions=2)
    from reidrisk.engines.spark import engine
    from reidrisk.core.rows import TokenRows
    engine.SMALL = 0
    known = TokenRows(np.zeros((20_000, 2), np.int8), tokens=2)

    def python(blocks):
        return len(np.ones(1 << 28))

    def killed(blocks):
        os.kill(os.getpid(), signal.SIGKILL)

    def java(blocks):
        return b"." * (400 << 20)

    def fine(blocks):
        return sum(len(rows) for _, rows in blocks)

    for work in (python, killed, java, fine):
        told = tell(lambda: rows.reduce(known, work, lambda one, other: one + other))
        print("then", told, flush=True)
"""


def test_executors_that_run_out_of_memory_name_the_settings_to_raise(cluster):
    lines = driver(
        cluster.address,
        TAKE_TOO_MUCH,
        settings={"spark.executor.pyspark.memory": "1g", "spark.task.maxFailures": "1"},
    ).lines()
    python, _, killed, _, java, _, fine = lines
    assert lines[1::2] == ["then None"] * 3
    says(f"{python}\n{killed}")
    for line in (python, killed, java):
        assert line.startswith("out-of-memory: ")
        assert "spark.executor.memory (" in line
        assert "spark.executor.pyspark.memory (" in line
    assert fine == "then 20000"


NOWHERE_TO_KEEP_KERNELS = """
    from reidrisk import LocalEngine, Observations, measure
    from reidrisk.attacks import Hamming
    from reidrisk.engines.spark import engine
    from reidrisk.core.cache_dir import cache_folder

    engine.SMALL = 0
    places = spark.sparkContext.parallelize([0], 1).map(lambda _: str(cache_folder())).collect()
    known = np.random.default_rng(1).integers(0, 9, (20_000, 3))
    seen = Observations(known, known[:50], np.arange(50), tokens=9)
    engines = SparkEngine(spark), LocalEngine()
    there, here = (measure(seen, Hamming(), engine=one) for one in engines)
    print(*places, str(there[3]) == str(here[3]), flush=True)
"""


def test_executors_that_can_keep_no_kernels_give_the_same_answer(cluster):
    """No folder can be made below a file, not even by root."""
    names = "HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"
    settings = {f"spark.executorEnv.{name}": "/dev/null/none" for name in names}
    assert driver(cluster.address, NOWHERE_TO_KEEP_KERNELS, settings=settings).lines() == [
        "None True"
    ]


def test_a_package_that_executors_lack_is_named_with_what_to_do(cluster, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    bare = tmp_path / "bin" / "python"
    (line,) = driver(cluster.address, environment={"PYSPARK_PYTHON": str(bare)}).lines()
    assert line.startswith("executor-differs: ")
    assert f"({bare})" in line


IMPATIENT = """
from reidrisk.engines.spark import session as limits
limits.ANSWER_WITHIN, limits.MASTER_WITHIN = 2.0, 3.5
"""

EAGER = """
from reidrisk.engines.spark import session as limits
limits.check_executors.__defaults__ = (3.0,)
"""


@pytest.fixture
def deaf():
    """An address where nobody takes up a connection: one that waits fills the queue."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)  # noqa: FBT003
            one.connect_ex(server.getsockname())
        yield f"spark://127.0.0.1:{server.getsockname()[1]}"
        for one in waiting:
            one.close()


@pytest.fixture
def silent():
    """An address where somebody listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"spark://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed():
    """An address where nobody is."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"spark://127.0.0.1:{port}"


@pytest.mark.parametrize("master", ["closed", "deaf", "silent"])
def test_a_master_that_is_not_there_is_told_within_a_minute(cluster, request, master):
    """Here, patience is a tenth of what it is elsewhere."""
    from reidrisk.engines.spark.session import ANSWER_WITHIN, MASTER_WITHIN

    assert ANSWER_WITHIN + MASTER_WITHIN < 60
    address = request.getfixturevalue(master)
    (line,) = driver(address, before=IMPATIENT).lines()
    assert address in line
    says(line.replace(address, "MASTER"))


def test_a_setting_that_java_refuses_is_told():
    (line,) = driver("local[1]", settings={"spark.driver.memory": "1x"}).lines()
    says(line)


def test_a_master_without_workers_is_told(tmp_path):
    with standalone(tmp_path, workers=0) as empty:
        (line,) = driver(empty.address, before=EAGER).lines()
    assert line.startswith(f"no-executors: {empty.address} ")
    assert "spark.executor.memory" in line


@pytest.mark.parametrize("home", [False, True])
@pytest.mark.parametrize("old", [False, True])
def test_java_that_is_missing_or_old_is_told(tmp_path, monkeypatch, old, home):
    from reidrisk.engines.spark.session import session

    (tmp_path / "bin").mkdir()
    if old:
        script = "#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n"
        (tmp_path / "bin" / "java").write_text(script)
        (tmp_path / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("PATH", "" if home else str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with refuses("java-missing"):
        session("spark://127.0.0.1:7077")
