"""Tests that the plain run leaves out are run by CI, and each lane is told to who contributes."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
LANES = [one.split(":")[0] for one in OPTIONS["markers"]]


@pytest.mark.parametrize("lane", LANES)
def test_every_lane_has_a_target_and_is_told(lane):
    assert re.search(rf"^{lane}: .*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert f"`make {lane}`" in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize("lane", LANES)
def test_every_lane_runs_in_ci_and_not_in_the_plain_run(lane):
    assert f"not {lane}" in OPTIONS["addopts"][-1]
    if not (ROOT / ".ci/run").exists():
        pytest.skip("there is no CI where only a release was unpacked")
    lines = (ROOT / ".ci/run").read_text().splitlines()
    (here,) = [
        number for number, line in enumerate(lines) if line.split("#")[0].strip() == f"make {lane}"
    ]
    assert lines[-1].startswith("make test")
    assert here < len(lines) - 1


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_only_the_lane_of_torch_installs_torch():
    def told(lane):
        words = ["make", "--dry-run", "--always-make", "VENV=nowhere", lane]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert "--editable '.[dev,torch]'" in told("torch")
    assert "OMP_NUM_THREADS=1 nowhere-torch/bin/python -m pytest -n auto -m torch" in told("torch")
    assert not any("torch" in told(lane) for lane in ("test", "slow", "demo"))
