"""Commands on a cluster: begun there, stopped, gone on with under spark-submit, the same bytes."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.cli.tools import SCRIPT, TINY, run
from tests.packaging.test_documents import CLUSTER, ROOT, run_blocks
from tests.spark.conftest import SETTINGS
from tests.spark.standalone import SECONDS, home

pytestmark = pytest.mark.spark

STUDY = TINY.partition("models")[0] + '[people]\nkind = "synthetic"\nusers = "40k"\nepochs = 4\n'
HERE = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable}  # fmt: skip


def test_a_run_goes_on_from_a_cluster_to_spark_submit_and_ends_with_the_same_bytes(
    cluster, tmp_path
):
    (tmp_path / "study.toml").write_text(STUDY)
    words = ("study", tmp_path / "study.toml", "-o")
    local = run(*words, tmp_path / "local")
    assert local.returncode == 0, local.stderr

    begun, log = tmp_path / "run", tmp_path / "run" / "log.txt"
    options = ["--engine", "spark", "--master", cluster.address]
    for name, value in SETTINGS.items():
        options += ["--spark-setting", f"{name}={value}"]
    command = subprocess.Popen(
        [SCRIPT, *words, begun, *options],
        env=os.environ | HERE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with command:
        end = time.monotonic() + 2 * SECONDS
        while not (log.exists() and "step 2 of" in log.read_text()) and time.monotonic() < end:
            assert command.poll() is None, command.stderr.read()
            time.sleep(0.05)
        command.send_signal(signal.SIGINT)
        told = command.stderr.read()
    assert command.returncode == 130
    assert told.startswith(f"stopped; what is done is kept in {begun}. To go on: reidrisk study ")
    assert f"--engine spark --master {cluster.address}" in told
    assert told.count("\n") == 1
    assert (begun / "spark.log").stat().st_mode & 0o777 == 0o600

    settings = [word for one in SETTINGS.items() for word in ("--conf", "=".join(one))]
    submitted = subprocess.run(
        [home() / "bin" / "spark-submit", "--master", cluster.address, *settings,
         "--conf", "spark.log.level=ERROR", ROOT / "docs" / "how-to" / "submit.py",
         *words, begun, "--engine", "spark"],
        env=os.environ | HERE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert submitted.returncode == 0, submitted.stderr
    assert submitted.stdout == local.stdout.replace(str(tmp_path / "local"), str(begun))
    for name in ("result.json", "run.json", "study.toml"):
        assert (begun / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert "step 1 of" in log.read_text().rpartition("app-")[0]
    assert "risk: found" in log.read_text()


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("page", CLUSTER, ids=str)
def test_the_page_about_clusters_runs(page, capsys):
    run_blocks(page, capsys)
