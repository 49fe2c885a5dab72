"""Every step is kept, nothing else is touched, and whatever happens, the same bytes come out."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reproduction.small import TINY, chapter
from tests.snapshots import refuses

from reidrisk.core.locks import locked
from reidrisk.errors import InvalidInput
from reidrisk.reproduction import Reproduction, run, scaled
from reidrisk.reproduction.chapters import networks, songs


@pytest.fixture
def runs():
    return []


@pytest.fixture
def both(runs):
    return [chapter("one", runs), chapter("two", runs)]


def test_a_finished_reproduction_is_found_and_read_back(tmp_path, runs, both):
    first = run(tmp_path / "new", TINY, only=both)
    assert len(runs) == len(first.rows) == 6
    before = (tmp_path / "new" / "reproduction.json").stat().st_mtime_ns
    seen = []
    again = run(tmp_path / "new", TINY, only=both, watch=lambda *_, found: seen.append(found))
    assert again == first == Reproduction.read(tmp_path / "new")
    assert len(runs) == 6
    assert seen == [True] * 6
    assert (tmp_path / "new" / "reproduction.json").stat().st_mtime_ns == before
    body = json.loads((tmp_path / "new" / "reproduction.json").read_text())
    assert body["schema"] == "reidrisk-reproduction/1"
    assert (body["users"], body["seed"], body["scale"]) == (400, 1, "laptop")
    assert {"reidrisk", "numpy"} <= body["versions"].keys()


@pytest.mark.parametrize("stops_at", range(6))
def test_who_is_stopped_in_a_step_loses_that_step_only(tmp_path, runs, both, stops_at):
    whole = run(tmp_path / "whole", TINY, only=both)
    runs.clear()

    def stop(_step, place, _steps, *, found):
        if place == stops_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "part", TINY, only=both, watch=stop)
    assert len(runs) == stops_at
    assert run(tmp_path / "part", TINY, only=both) == whole
    assert len(runs) == 6
    for name in (
        "reproduction.json",
        *(f"steps/{file.name}" for file in _steps(tmp_path / "part")),
    ):
        assert (tmp_path / "part" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


KILLED = """
import os, signal, sys
from tests.reproduction.small import TINY, chapter
from reidrisk.reproduction import run

def kill(step, place, steps, *, found):
    if place == int(sys.argv[2]) and not found:
        os.kill(os.getpid(), signal.SIGKILL)

run(sys.argv[1], TINY, only=[chapter("one", []), chapter("two", [])], watch=kill)
"""


def test_a_process_killed_at_each_step_in_turn_ends_with_the_same_bytes(tmp_path, both):
    run(tmp_path / "whole", TINY, only=both)
    for place in range(1, 6, 2):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, tmp_path / "killed", str(place)],
            env={**os.environ, "PYTHONPATH": str(Path.cwd())}, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL
        assert len(_steps(tmp_path / "killed")) == place
    run(tmp_path / "killed", TINY, only=both)
    whole, killed = (tmp_path / name / "reproduction.json" for name in ("whole", "killed"))
    assert whole.read_bytes() == killed.read_bytes()


def test_a_damaged_step_is_run_again(tmp_path, runs, both):
    whole = run(tmp_path, TINY, only=both)
    first, second, *_ = _steps(tmp_path)
    first.write_text(first.read_text().replace("by hand", "by foot", 1))
    second.write_text("{")
    assert run(tmp_path, TINY, only=both) == whole
    assert len(runs) == 8


@pytest.mark.parametrize("change", [{"users": 500}, {"seed": 2}, {"seconds": 5}, {"name": "full"}])
def test_another_scale_in_the_same_folder_is_refused_unless_fresh(tmp_path, runs, both, change):
    run(tmp_path, TINY, only=both)
    other = replace(TINY, **change)
    with refuses("another-run"):
        run(tmp_path, other, only=both)
    assert len(runs) == 6
    assert run(tmp_path, other, fresh=True, only=both).users == other.users
    assert len(runs) == 12


def test_what_is_somebody_elses_is_left_alone(tmp_path, both):
    for name, content in (
        ("reproduction.json", '{"mine": 1}'),
        ("reproduction.html", "<p>mine"),
        ("run.json", "{}"),
    ):
        place = tmp_path / name.replace(".", "-")
        place.mkdir()
        (place / name).write_text(content)
        for fresh in (False, True):
            with pytest.raises(InvalidInput, match="use another folder"):
                run(place, TINY, fresh=fresh, only=both)
        assert (place / name).read_text() == content


def test_a_page_that_could_not_be_written_is_refused_before_anything_runs(tmp_path, runs, both):
    (tmp_path / "page").write_text("<p>mine")
    (tmp_path / "reproduction.html").symlink_to(tmp_path / "page")
    with refuses("path-is-link"):
        run(tmp_path, TINY, only=both)
    assert not runs
    (tmp_path / "reproduction.html").unlink()
    (tmp_path / "reproduction.html").touch()  # nobody's, and nothing is lost
    run(tmp_path, TINY, only=both)


def test_fresh_removes_steps_and_nothing_else(tmp_path, both):
    run(tmp_path, TINY, only=both)
    (tmp_path / "steps" / "mine.json").write_text("{}")
    run(tmp_path, replace(TINY, seed=3), fresh=True, only=both[:1])
    assert (tmp_path / "steps" / "mine.json").read_text() == "{}"
    assert len(_steps(tmp_path)) == 3


def test_two_processes_do_not_work_in_one_folder(tmp_path, both):
    with locked(tmp_path), refuses("folder-in-use"):
        run(tmp_path, TINY, only=both)


def test_a_folder_that_goes_away_is_noticed(tmp_path, both):
    def move(_step, place, _steps, *, found):
        if place == 2:
            (tmp_path / "here").rename(tmp_path / "there")

    with refuses("folder-removed"):
        run(tmp_path / "here", TINY, only=both, watch=move)


def test_a_record_that_was_changed_is_refused(tmp_path, both):
    run(tmp_path, TINY, only=both)
    file = tmp_path / "reproduction.json"
    good = file.read_text()
    for bad, said in (
        (good.replace('"differs"', '"x"').replace("by hand", "by foot"), "was changed"),
        (good.replace("reidrisk-reproduction/1", "reidrisk-reproduction/9"), "has schema"),
        ("{", "not JSON"),
    ):
        file.write_text(bad)
        with pytest.raises(InvalidInput, match=said):
            Reproduction.read(tmp_path)
    with refuses("file-not-found"):
        Reproduction.read(tmp_path / "absent.json")


def test_a_row_that_does_not_say_why_is_a_fault(tmp_path, both):
    step = next(both[0].steps(TINY))
    silent = replace(step, run=lambda: (replace(step.run()[0], why=""),))
    both[0].steps = lambda _scale: iter([silent])
    with pytest.raises(ValueError, match="says not what, where, why"):
        run(tmp_path, TINY, only=both)


def test_scales_are_known_by_name_and_files_must_be_there(tmp_path):
    assert scaled().users == 100_000
    assert (scaled("full").users, scaled("full").targets, scaled("full").seconds) == (
        10_000_000, 10_000, 300,
    )  # fmt: skip
    assert scaled("full", seconds=7).seconds == 7
    with refuses("unknown-choice"):
        scaled("huge")
    with refuses("not-a-number"):
        scaled(seconds=-1)
    with refuses("file-not-found"):
        scaled(files={"plays": tmp_path / "absent"})


def test_a_table_that_is_none_of_plays_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "plays.csv").write_text("a,b,c,d,e\n1,2,3,4,5\n")
    seen = []
    size = scaled(files={"plays": tmp_path / "plays.csv"})
    with refuses("unclear-column"):
        run(tmp_path / "new", size, only=[networks, songs], watch=lambda *_, **__: seen.append(1))
    assert not seen


def test_an_input_is_not_overwritten(tmp_path):
    (tmp_path / "reproduction.json").write_text("user,item\na,b\n")
    size = scaled(files={"plays": tmp_path / "reproduction.json"})
    with refuses("overwrites-input"):
        run(tmp_path, size, only=[songs])


def _steps(folder):
    return sorted(
        file for file in (folder / "steps").glob("*.json") if file.name.startswith(("one", "two"))
    )
