"""Runs that are killed, runs that are stopped, runs that somebody watches."""

import os
import pty
import random
import signal
import subprocess
import time

import pytest
from tests.cli.tools import SCRIPT, TINY, run

LONGER = TINY.replace("targets = 200", "targets = 1000").replace('"2k"', '"20k"')
LONG = TINY.replace("targets = 200", "targets = 20000").replace('"2k"', '"400k"')


def start(place, **how):
    return subprocess.Popen(
        [SCRIPT, "study", "study.toml", "-o", "run"],
        cwd=place, stdout=subprocess.DEVNULL, **how,
    )  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The result of a run that nobody disturbs, and how long it takes."""
    place = tmp_path_factory.mktemp("undisturbed")
    (place / "study.toml").write_text(LONGER)
    began = time.monotonic()
    assert run("study", place / "study.toml", "-o", place / "run").returncode == 0
    return (place / "run" / "result.json").read_bytes(), time.monotonic() - began


def kill_and_finish(place, kills, longest):
    """Kill a run at random moments, then let it finish; how many of the kills hit it."""
    (place / "study.toml").write_text(LONGER)
    moments, hits = random.Random(7), 0  # noqa: S311  not for secrets
    for _ in range(kills):
        process = start(place, stderr=subprocess.DEVNULL)
        try:
            process.wait(moments.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            hits += 1
    done = run("study", place / "study.toml", "-o", place / "run")
    assert done.returncode == 0, done.stderr
    return hits


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path, undisturbed):
    expected, took = undisturbed
    assert kill_and_finish(tmp_path, 4, took)
    assert (tmp_path / "run" / "result.json").read_bytes() == expected


@pytest.mark.slow
def test_runs_that_are_killed_many_times_end_with_the_same_bytes(tmp_path_factory, undisturbed):
    """Twenty kills, some in one run after the other and some in runs of their own."""
    expected, took = undisturbed
    hits = 0
    for kills in (1, 1, 2, 3, 5, 8):
        place = tmp_path_factory.mktemp("killed")
        hits += kill_and_finish(place, kills, took)
        assert (place / "run" / "result.json").read_bytes() == expected
    assert hits >= 10


def test_a_run_killed_after_each_step_finds_all_steps_before(tmp_path, undisturbed):
    expected, _ = undisturbed
    (tmp_path / "study.toml").write_text(LONGER)
    steps = tmp_path / "run" / "steps"
    for number in (1, 3):
        process = start(tmp_path, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list(steps.glob("[!.]*.json"))) < number:
            time.sleep(0.01)
        process.kill()
        process.wait()
    assert run("study", tmp_path / "study.toml", "-o", tmp_path / "run").returncode == 0
    assert (tmp_path / "run" / "result.json").read_bytes() == expected
    last = (tmp_path / "run" / "log.txt").read_text().splitlines()[-8:]
    assert "found" in last[0]


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
    terminal, process, shown = watched(tmp_path, b"pairs/s")
    assert b"step 1 of 7" in shown
    assert b"-:--:--" in shown or b"0:00:0" in shown
    _rest(terminal)
    assert process.wait() == 0


def test_quiet_shows_no_bar(tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    terminal, inside = pty.openpty()
    done = subprocess.run(
        [SCRIPT, "study", "study.toml", "-o", "run", "--quiet"],
        cwd=tmp_path, stdout=inside, stderr=inside, check=False,
    )  # fmt: skip
    os.close(inside)
    assert (done.returncode, _rest(terminal)) == (0, b"")


def test_an_interrupt_leaves_a_run_that_goes_on_and_says_how(tmp_path):
    (tmp_path / "study.toml").write_text(LONG)
    terminal, process, _ = watched(tmp_path, b"step 1 of 7")
    process.send_signal(signal.SIGINT)
    said = _rest(terminal)
    assert process.wait(60) == 130
    assert b"Traceback" not in said
    assert said.count(b"stopped") == 1
    assert b"what is done is kept in run. To go on: reidrisk study study.toml -o run" in said
    assert (tmp_path / "run" / "run.json").exists()
    assert not (tmp_path / "run" / "result.json").exists()
