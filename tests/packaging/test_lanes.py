"""Tests that the plain run leaves out are run by CI, and each lane is told to who contributes."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
OPTIONS = SETTINGS["tool"]["pytest"]["ini_options"]
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


def targets(file):
    """The make targets that a script or a workflow calls; a matrix stands for all its lanes."""
    if not (ROOT / file).exists():
        pytest.skip("there is no CI where only a release was unpacked")
    text = re.sub(r"#.*| --jobs 2| --\S+", "", (ROOT / file).read_text())
    called = re.findall(r"\bmake((?: [a-z]+)+)|lane: \[(.*)\]", text)
    return {word for groups in called for word in re.findall("[a-z]+", " ".join(groups))}


def test_the_workflow_and_the_script_run_the_same_lanes():
    """The script also prepares its one machine; a job of the workflow has one of its own."""
    prepared = {"environments", "chromium"}
    assert targets(".github/workflows/ci.yml") == targets(".ci/run") - prepared


def test_the_workflow_tests_every_python_that_we_name():
    if not (ROOT / ".github").exists():
        pytest.skip("there is no CI where only a release was unpacked")
    (told,) = re.findall(r"^PYTHONS := (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert f"python: [{', '.join(repr(one) for one in told.split())}]".replace("'", '"') in workflow


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
@pytest.mark.parametrize(
    ("lane", "command"),
    [
        ("torch", "OMP_NUM_THREADS=1 {python} -m pytest -n auto --dist worksteal -m torch"),
        ("spark", "{python} -m pytest -n 2 --dist loadfile -m spark"),
    ],
)
def test_only_its_own_lane_installs_a_heavy_guest(lane, command):
    def told(target):
        words = ["make", "--dry-run", "--always-make", "VENV=nowhere", target]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert f"nowhere-{lane}/bin/python -m pip install" in told(lane)
    assert f"--editable '.[test,{lane}]'" in told(lane)
    assert command.format(python=f"nowhere-{lane}/bin/python") in told(lane).splitlines()
    assert f"nowhere-{lane} " in told("clean")
    others = {"test", "slow", "demo", "torch", "spark"} - {lane}
    assert not any(f"nowhere-{lane}" in told(other) for other in others)


def test_the_oldest_libraries_are_the_lower_bounds_that_we_name():
    project = SETTINGS["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["plots"]]
    lines = (ROOT / "tests/packaging/oldest.txt").read_text().splitlines()
    found = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert found == {name: f"{bound}.*" for name, bound in (one.split(">=") for one in named)}


def test_the_oldest_libraries_meet_tests_of_every_border():
    """The terminal, files, records, pages, matrices and compiled loops."""
    makefile = (ROOT / "Makefile").read_text()
    (told,) = re.findall(r"^OLDEST := ((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    places = [ROOT / word for word in told.split() if word != "\\"]
    assert all(place.exists() for place in places)
    rooms = {place.relative_to(ROOT / "tests").parts[0] for place in places}
    assert rooms >= {"cli", "engines", "io", "packaging", "report", "study", "theory"}


DEVELOPERS = {"docutils", "furo", "jupyter_client", "mypy", "myst_nb", "myst_parser", "nbclient",
              "nbformat", "playwright", "ruff", "sphinx", "twine"}  # fmt: skip
"""Modules of the extra `dev`; lanes with guests install `test` alone, and collect all tests."""


def test_lanes_with_guests_do_without_what_only_developers_have():
    for file in (ROOT / "tests").rglob("*.py"):
        text, asked = file.read_text(encoding="utf-8"), set()
        for line in ast.parse(text).body:
            if isinstance(line, ast.Import):
                asked |= {one.name.partition(".")[0] for one in line.names}
            elif isinstance(line, ast.ImportFrom):
                asked.add((line.module or "").partition(".")[0])
        for name in asked & DEVELOPERS:
            assert f'importorskip("{name}' in text, f"{file.name} needs {name}"


def stub(place, name, script):
    place.mkdir(exist_ok=True)
    (place / name).write_text(f"#!/bin/sh\n{script}\n")
    (place / name).chmod(0o755)
    return place


def says(version):
    return f"""echo 'openjdk version "{version}" 2025-04-15' >&2"""


def look_for_java(**environment):
    """What `make spark` does before its tests: the code, and what it said."""
    words = [sys.executable, "-m", "tests.spark.java"]
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_the_lane_of_spark_takes_the_java_that_is_there(tmp_path, version):
    here = stub(tmp_path / "bin", "java", says(version))
    assert look_for_java(PATH=str(here)) == (0, "")
    assert look_for_java(PATH="", JAVA_HOME=str(tmp_path)) == (0, "")


@pytest.mark.parametrize(
    ("script", "what"),
    [(None, "there is no Java"), ("exit 1", "there is no Java"),
     (says("1.8.0_402"), "Java 8 is too old"), (says("11.0.2"), "Java 11 is too old")],
)  # fmt: skip
def test_the_lane_of_spark_says_what_is_missing_in_one_line(tmp_path, script, what):
    if script:
        stub(tmp_path / "bin", "java", script)
    todo = "apt-get install openjdk-17-jre-headless as root, or unpack one and set JAVA_HOME"
    for environment, where in [
        ({"PATH": str(tmp_path / "bin")}, " on PATH"),
        ({"PATH": "", "JAVA_HOME": str(tmp_path)}, f" in JAVA_HOME, {tmp_path}"),
    ]:
        code, said = look_for_java(**environment)
        assert (code, said.count("\n")) == (2, 1)
        assert said.startswith(f"spark: {what}{where}; Spark needs 17 or newer: {todo}")


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
@pytest.mark.parametrize(("inner", "code"), [("exit 0", 0), ("exit 1", 2)])
def test_the_tests_run_on_each_python_that_is_here_and_it_is_said_which(tmp_path, inner, code):
    """One that is there and does not start, as shims of pyenv do, is not here."""
    here = stub(tmp_path, "python3.12", "exit 0")
    stub(tmp_path, "python3.13", "exit 127")
    make = stub(tmp_path, "inner", f'echo "$@" >> {tmp_path}/ran\n{inner}') / "inner"
    words = [shutil.which("make"), "pythons", "VENV=there", f"MAKE={make}"]
    done = subprocess.run(
        words, cwd=ROOT, env={"PATH": str(here)}, capture_output=True, text=True, check=False
    )
    assert (tmp_path / "ran").read_text() == "test PYTHON=python3.12 VENV=there-3.12\n"
    assert done.returncode == code
    said = "pythons: passed on 3.12; not here: 3.11 3.13\n"
    assert done.stdout == ("" if code else said)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
@pytest.mark.parametrize("package", ["openjdk-17-jre-headless", "openjdk-21-jre-headless"])
def test_the_lane_of_spark_installs_java_where_it_may(tmp_path, package):
    """From the one of the packages that this system has."""
    ready = stub(tmp_path / "ready", "java", says("17.0.15")) / "java"
    here = stub(
        tmp_path / "bin",
        "apt-get",
        f'[ "$1" = update ] || {{ [ "$5" = {package} ] && /bin/mv {ready} {tmp_path}/bin/java; }}',
    )
    assert look_for_java(PATH=str(here)) == (0, "")
    assert (here / "java").exists()
