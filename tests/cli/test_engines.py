"""Where commands run is said by options, and is no part of what they find."""

import json
import logging
import os
import shlex
import shutil
import signal
import sys
import threading
import time
import warnings
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import pytest
from tests.cli.tools import TINY, call
from tests.snapshots import says

from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput

CLUSTER = ("--engine", "spark", "--master", "spark://host:7077")


@dataclass
class Cluster:
    """Stands in for Spark: notes who begins a session, and who leaves it."""

    asked: list = field(default_factory=list)
    left: int = 0
    wrong: BaseException | None = None
    slow: bool = False
    version: str = "4.0"
    sparkContext: SimpleNamespace = field(  # noqa: N815  as Spark names it
        default_factory=lambda: SimpleNamespace(applicationId="app-7")
    )

    def session(self, master, *, settings, log):
        self.asked.append((master, dict(settings), log))
        logging.getLogger().error("as Spark says it")
        if self.slow:
            time.sleep(60)
        return self

    def stop(self):
        self.left += 1
        warnings.warn("as Spark says it where Java was interrupted", RuntimeWarning, stacklevel=2)

    def engine(self, spark, *, progress):
        assert spark is self
        if self.wrong is not None:
            raise self.wrong
        return LocalEngine(progress=progress)


@pytest.fixture
def cluster(monkeypatch):
    """A cluster that is this machine."""
    one = Cluster()
    package, session = ModuleType("spark"), ModuleType("session")
    package.SparkEngine, session.session = one.engine, one.session
    monkeypatch.setitem(sys.modules, "reidrisk.engines.spark", package)
    monkeypatch.setitem(sys.modules, "reidrisk.engines.spark.session", session)
    monkeypatch.setattr("reidrisk.core.optional.check_guest", lambda *_: None)
    for name in ("SPARK_MASTER", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    return one


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(TINY)
    return file


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The run of this study on this machine."""
    place = tmp_path_factory.mktemp("local")
    (place / "study.toml").write_text(TINY)
    done = call("study", place / "study.toml", "-o", place / "run", "--with-users")
    assert done.returncode == 0, done.stderr
    return place / "run"


def test_a_run_on_a_cluster_is_the_same_run(cluster, study, local, tmp_path):
    run = tmp_path / "run"
    done = call("study", study, "-o", run, "--with-users", *CLUSTER,
                "--spark-setting", "spark.executor.memory=1g",
                "--spark-setting", "spark.executor.memory=2g")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    for name in ("result.json", "run.json", "study.toml", "users.parquet"):
        assert (run / name).read_bytes() == (local / name).read_bytes()
    settings = {"spark.executor.memory": "2g"}
    assert cluster.asked == [("spark://host:7077", settings, run / "spark.log")]
    assert cluster.left == 1
    assert (run / "spark.log").stat().st_mode & 0o777 == 0o600
    assert "as Spark says it" in (run / "spark.log").read_text()
    assert "Spark 4.0, app-7" in (run / "log.txt").read_text()


def test_what_is_found_or_refused_bothers_no_cluster(cluster, study, local):
    before = sorted(local.rglob("*"))
    done = call("study", local / "study.toml", "-o", local, *CLUSTER)
    assert "Nothing had to be run" in done.stdout
    assert sorted(local.rglob("*")) == before
    study.write_text(TINY.replace("[2, 4]", "[2, 400]"))
    done = call("study", study, "-o", study.parent / "run", *CLUSTER)
    assert done.returncode == 2
    assert not (study.parent / "run").exists()
    assert not cluster.asked


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        (InvalidInput("a row is odd; mend it"), 2, "reidrisk: a row is odd; mend it\n"),
        (
            KeyboardInterrupt(),
            130,
            "stopped; what is done is kept in {run}. To go on: reidrisk study {file} -o {run} "
            + shlex.join((*CLUSTER, "--spark-setting", "spark.x=1 2"))
            + "\n",
        ),
    ],
)
def test_a_cluster_is_left_however_it_ends(cluster, study, tmp_path, wrong, code, said):
    cluster.wrong, run = wrong, tmp_path / "run"
    done = call("study", study, "-o", run, *CLUSTER, "--spark-setting", "spark.x=1 2")
    assert done.returncode == code
    assert done.stderr == said.format(run=run, file=study)
    assert (len(cluster.asked), cluster.left) == (1, 1)


def test_who_stops_a_run_with_users_is_told_to_ask_for_them_again(cluster, study, tmp_path):
    cluster.wrong = KeyboardInterrupt()
    done = call("study", study, "-o", tmp_path / "run", "--with-users", *CLUSTER)
    assert done.returncode == 130
    assert f"-o {tmp_path / 'run'} --with-users" in done.stderr


def test_who_waits_for_a_cluster_can_stop(cluster, study, tmp_path):
    cluster.slow, began = True, time.monotonic()

    def stop():
        while not cluster.asked:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop).start()
    done = call("study", study, "-o", tmp_path / "run", *CLUSTER)
    assert done.returncode == 130
    assert done.stderr.startswith("stopped; what is done is kept in ")
    assert time.monotonic() - began < 30


def test_a_sweep_runs_on_a_cluster_and_says_the_same(cluster, study, tmp_path):
    words = ("sweep", study, "--vary", "noise=20%,50%", "-o", tmp_path / "run")
    here = call(*words)
    held = {file: file.read_bytes() for file in (tmp_path / "run").glob("*.*")}
    assert not cluster.asked
    there = call(*words, "--fresh", "-q", *CLUSTER)
    assert (here.returncode, there.returncode) == (0, 0)
    assert cluster.left == 1
    for file, content in held.items():
        assert file.name == "log.txt" or file.read_bytes() == content


@pytest.mark.parametrize("output", ["run", "result.json", None])
def test_attack_and_link_run_on_a_cluster_and_say_the_same(cluster, seen, tmp_path, output):
    known, anonymous = seen / "known.parquet", seen / "anonymous.parquet"
    to = () if output is None else ("-o", tmp_path / output)
    here = call("link", known, anonymous, "--attack", "hamming", "--json")
    for words in (("link", known, anonymous), ("attack", seen)):
        done = call(*words, "--attack", "hamming", *to, "--json", *CLUSTER)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["risks"] == json.loads(here.stdout)["risks"]
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
    log = tmp_path / "run" / "spark.log" if output == "run" else None
    assert [asked[2] for asked in cluster.asked] == [log, log]
    assert cluster.left == 2


@pytest.mark.parametrize(
    ("environment", "options", "master"),
    [
        ({}, (), "local[*]"),
        ({"SPARK_MASTER": "spark://other:7077"}, (), "spark://other:7077"),
        ({"SPARK_MASTER": "spark://other:7077"}, ("--master", "local[2]"), "local[2]"),
        ({"PYSPARK_GATEWAY_PORT": "7", "SPARK_MASTER": "spark://other:7077"}, (), None),
        ({"PYSPARK_GATEWAY_PORT": "7"}, ("--master", "local[2]"), "local[2]"),
    ],
)
def test_who_is_the_master(cluster, study, monkeypatch, environment, options, master):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    cluster.wrong = InvalidInput("that is enough")
    call("study", study, "-o", study.parent / "run", "-q", "--engine", "spark", *options)
    assert cluster.asked[0][0] == master


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--master", "spark://host:7077"), "--master is for a cluster"),
        (("--spark-setting", "spark.x=1"), "--spark-setting is for a cluster"),
        (("--engine", "spark", "--spark-setting", "spark.x"), "not a Spark setting"),
        (("--engine", "spark", "--spark-setting", "memory=4g"), "not a Spark setting"),
        (("--engine", "cloud"), "'cloud' is not one of 'local', 'spark'"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_a_cluster_is_asked(
    cluster, study, options, said
):
    done = call("study", study, "-o", study.parent / "run", *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert not cluster.asked


def test_a_cluster_without_its_library_is_refused_before_anything_is_written(
    study, tmp_path, monkeypatch
):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    done = call("study", study, "-o", tmp_path / "run", *CLUSTER)
    assert done.returncode == 2
    assert done.stderr == (
        "reidrisk: pyspark is needed for --engine spark and is not installed: pip install "
        "'reidrisk[spark]'\n"
    )
    assert not (tmp_path / "run").exists()


def test_a_log_of_others_is_left_alone(cluster, study, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "spark.log").write_text("mine")
    done = call("study", study, "-o", tmp_path / "run", *CLUSTER)
    assert done.returncode == 2
    says(done.stderr)
    assert not cluster.asked


def test_a_bar_tells_that_a_cluster_is_waited_for(cluster, study, tmp_path):
    done = call("study", study, "-o", tmp_path / "run", *CLUSTER, screen=True)
    assert "starting Spark at spark://host:7077" in done.stderr
