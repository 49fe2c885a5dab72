"""A run on a cluster that is killed goes on, there or here, and ends with the same bytes."""

import subprocess
import time

import pytest
from tests.cli.tools import SCRIPT, call, run
from tests.spark.drivers import SECONDS
from tests.spark.standalone import SETTINGS

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

STUDY = """
title = "killed"
slots = [2, 16]
targets = 100
seed = 3
attacks = ["hamming", "weighted-hamming"]
sizes = ["10k"]

[people]
kind = "synthetic"
users = "140k"
epochs = 16
"""


def test_a_command_killed_on_a_cluster_goes_on_there_and_ends_with_the_same_bytes(
    cluster, tmp_path
):
    """Killed without a word, as by a power cut, once a step is kept and the next one runs."""
    (tmp_path / "study.toml").write_text(STUDY)
    words = ["study", tmp_path / "study.toml", "-o"]
    place = ["--engine", "spark", "--master", cluster.address]
    for name, value in SETTINGS.items():
        place += ["--spark-setting", f"{name}={value}"]
    steps = tmp_path / "run" / "steps"
    with subprocess.Popen(
        [SCRIPT, *words, tmp_path / "run", *place], stderr=subprocess.PIPE, text=True
    ) as command:
        end = time.monotonic() + SECONDS
        while not list(steps.glob("[!.]*.json")) and time.monotonic() < end:
            assert command.poll() is None, command.stderr.read()
            time.sleep(0.01)
        command.kill()
    assert command.returncode == -9
    assert not (tmp_path / "run" / "result.json").exists()

    done = run(*words, tmp_path / "run", *place)
    assert done.returncode == 0, done.stderr
    assert ": found" in (tmp_path / "run" / "log.txt").read_text()
    assert call(*words, tmp_path / "here").returncode == 0
    for name in ("result.json", "run.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
