"""Runs that are killed, runs that are stopped, runs that somebody watches."""

import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.cli.tools import SCRIPT, TINY, call, run

LONGER = TINY.replace("targets = 200", "targets = 500").replace('"2k"', '"10k"')
LONG = TINY.replace("targets = 200", "targets = 20000").replace('"2k"', '"400k"')


def start(place, **how):
    return subprocess.Popen(
        [SCRIPT, "study", "study.toml", "-o", "run"],
        cwd=place, stdout=subprocess.DEVNULL, **how,
    )  # fmt: skip


def finish(place):
    """Let a run come to its end, in this process; what the result then is."""
    done = call("study", place / "study.toml", "-o", place / "run")
    assert done.returncode == 0, done.stderr
    return (place / "run" / "result.json").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The result of a run that nobody disturbs."""
    place = tmp_path_factory.mktemp("undisturbed")
    (place / "study.toml").write_text(LONGER)
    return finish(place)


@pytest.mark.slow
def test_runs_that_are_killed_many_times_end_with_the_same_bytes(tmp_path_factory, undisturbed):
    """Ten kills, some in one run after the other and some in runs of their own."""
    began = time.monotonic()
    place = tmp_path_factory.mktemp("timed")
    (place / "study.toml").write_text(LONGER)
    assert run("study", place / "study.toml", "-o", place / "run").returncode == 0
    took, moments, hits = time.monotonic() - began, np.random.default_rng(7), 0
    for kills in (1, 1, 3, 5):
        place = tmp_path_factory.mktemp("killed")
        (place / "study.toml").write_text(LONGER)
        # A machine that is less busy than it was, or a run that finds steps done, ends sooner.
        for moment in moments.uniform(0, 0.6 * took, kills):
            process = start(place, stderr=subprocess.DEVNULL)
            try:
                process.wait(moment)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                hits += 1
        assert finish(place) == undisturbed
    assert hits >= 5


def test_a_run_killed_after_some_steps_finds_them_and_ends_with_the_same_bytes(
    tmp_path, undisturbed
):
    (tmp_path / "study.toml").write_text(LONGER)
    steps = tmp_path / "run" / "steps"
    for number in (1, 3):
        process = start(tmp_path, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list(steps.glob("[!.]*.json"))) < number:
            time.sleep(0.01)
        process.kill()
        process.wait()
    assert len(list(steps.glob("[!.]*.json"))) >= 3
    assert finish(tmp_path) == undisturbed
    ran = (tmp_path / "run" / "log.txt").read_text().split("step 1 of ")[-1]
    assert ran.count(": found") >= 3
    assert "done" in ran


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_terminated_leaves_no_temporary_file_and_goes_on(tmp_path, number):
    """As after Ctrl-C; the code is that of the signal."""
    (tmp_path / "study.toml").write_text(LONG)
    terminal, process, _ = watched(tmp_path, b"step 1 of ")
    process.send_signal(number)
    said = _rest(terminal)
    assert process.wait(60) == 128 + number
    assert b"Traceback" not in said
    assert b"what is done is kept in run. To go on: reidrisk study study.toml -o run" in said
    assert not list((tmp_path / "run").rglob(".*"))


def test_a_write_that_is_terminated_leaves_no_temporary_file(tmp_path):
    process = subprocess.Popen(
        [SCRIPT, "synth", "topics", "--users", "3M", "-o", "people.csv"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    while process.poll() is None and not list(tmp_path.glob(".people.csv.*")):
        time.sleep(0.01)
    assert list(tmp_path.iterdir()), process.communicate()
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (143, b"stopped")
    assert not list(tmp_path.iterdir())


def test_who_asked_to_ignore_a_closed_terminal_is_obeyed(tmp_path):
    """As nohup does."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"trap '' HUP; exec {SCRIPT} synth topics --users 60k -o people.csv"],
        cwd=tmp_path, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    while process.poll() is None and not list(tmp_path.glob(".people.csv.*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


HOOK = """
import os, signal, sys

class Stop:
    def find_spec(self, name, *_):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Stop())
"""


LOADED = (
    "reidrisk.cli.app", "click", "reidrisk.core.settings_syntax", "reidrisk.cli.link", "numpy",
    "numpy._core._multiarray_umath", "numpy.random", "pyarrow", "pyarrow.lib", "pyarrow.compute",
    "numba", "llvmlite", "scipy", "reidrisk.attacks", "reidrisk.data", "reidrisk.study",
)  # fmt: skip


@pytest.mark.parametrize(
    ("start", "module"),
    [
        *(([SCRIPT], module) for module in LOADED),
        # Where the command itself is loaded, both ways have become one.
        *(([sys.executable, "-m", "reidrisk"], module) for module in LOADED[:4]),
    ],
    ids=[*(f"script-{module}" for module in LOADED), *(f"-m-{module}" for module in LOADED[:4])],
)
def test_an_interrupt_while_parts_are_loaded_is_no_traceback(tmp_path, start, module):
    (tmp_path / "sitecustomize.py").write_text(HOOK.format(module=module))
    for name in "ka":
        (tmp_path / f"{name}.csv").write_text("user,tokens\na,x;y\nb,y;z\n")
    done = subprocess.run(
        [*start, "link", "k.csv", "a.csv"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    # Python may end itself by the signal if it came within an exec; shells call that 130 as well.
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stderr.strip() == "stopped"
    # The tables may have been read before the part was loaded; there is no figure in any case.
    assert "%" not in done.stdout


def watched(place, until):
    """Start a run in a terminal; what it shows until that text, and the process."""
    terminal, inside = pty.openpty()
    process = start(place, stderr=inside, stdin=inside)
    os.close(inside)
    shown = b""
    while until not in shown and (more := _read(terminal)):
        shown += more
    return terminal, process, shown


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed
        return b""


def _rest(terminal):
    rest = b""
    while more := _read(terminal):
        rest += more
    os.close(terminal)
    return rest


def test_a_terminal_shows_steps_rate_and_time_left(tmp_path):
    (tmp_path / "study.toml").write_text(LONGER)
    done = call("study", tmp_path / "study.toml", "-o", tmp_path / "run", screen=True)
    assert done.returncode == 0, done.stderr
    assert "step 1 of " in done.stderr
    assert "pairs/s" in done.stderr
    assert "-:--:--" in done.stderr or "0:00:0" in done.stderr


def test_quiet_shows_no_bar(tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    words = ("study", tmp_path / "study.toml", "-o", tmp_path / "run", "--quiet")
    done = call(*words, screen=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_interrupt_leaves_a_run_that_goes_on_and_says_how(tmp_path):
    (tmp_path / "study.toml").write_text(LONG)
    terminal, process, _ = watched(tmp_path, b"step 1 of ")
    process.send_signal(signal.SIGINT)
    said = _rest(terminal)
    assert process.wait(60) == 130
    assert b"Traceback" not in said
    assert said.count(b"stopped") == 1
    assert b"what is done is kept in run. To go on: reidrisk study study.toml -o run" in said
    assert (tmp_path / "run" / "run.json").exists()
    assert not (tmp_path / "run" / "result.json").exists()
