"""Folders in which one process works at a time."""

import errno
import fcntl
import json
import os
import platform
import re
import subprocess
import sys

import pytest
from tests.snapshots import refuses

from reidrisk.core.locks import NOTE, locked

HOLDS = """
import sys
from pathlib import Path
from reidrisk.core.locks import locked
with locked(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that holds the folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, tmp_path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "mine\n"
        yield process
        process.kill()


@pytest.fixture(params=["the system's", "the note"])
def way(request, monkeypatch):
    """With the system's lock, and where it has none."""
    if request.param == "the note":
        monkeypatch.setattr(fcntl, "flock", _refused)


def _refused(*_):
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.usefixtures("way")
def test_a_folder_is_locked_until_it_is_left(tmp_path):
    with locked(tmp_path) as lock:
        assert lock.holds
        with refuses("folder-in-use", snapshot=False), locked(tmp_path):
            pass
        assert lock.holds
    assert not list(tmp_path.iterdir())
    with locked(tmp_path):
        pass


@pytest.mark.usefixtures("way")
def test_who_comes_second_is_told_who_holds_it(tmp_path, other):
    with refuses("folder-in-use", snapshot=False) as wrong, locked(tmp_path):
        pass
    who = f"process {other.pid} on {platform.node()}, since 2[-0-9]+ [:0-9]+ UTC"
    assert re.search(who, str(wrong.value))
    other.stdin.close()
    other.wait()
    with locked(tmp_path):
        pass


@pytest.mark.usefixtures("way")
def test_a_process_that_was_killed_blocks_nobody(tmp_path, other):
    other.kill()
    other.wait()
    assert (tmp_path / NOTE).exists()
    with locked(tmp_path) as lock:
        assert lock.holds


def test_without_a_system_lock_the_note_of_another_machine_counts(tmp_path, monkeypatch):
    said = {"process": 1, "machine": "elsewhere", "since": "2026-01-01 00:00:00"}
    (tmp_path / NOTE).write_text(json.dumps(said))
    with locked(tmp_path):  # the system knows better
        pass
    (tmp_path / NOTE).write_text(json.dumps(said))
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (
        refuses("folder-in-use"),
        locked(tmp_path),
    ):
        pass
    assert (tmp_path / NOTE).exists()


def test_a_folder_that_went_elsewhere_is_not_held(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with locked(folder) as lock:
        folder.rename(tmp_path / "other")
        assert not lock.holds
        folder.mkdir()
        assert not lock.holds
    assert not list(folder.iterdir())


def test_a_note_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / NOTE).symlink_to(tmp_path / "mine.txt")
    with locked(tmp_path):
        assert not os.path.islink(tmp_path / NOTE)  # noqa: PTH114
    assert (tmp_path / "mine.txt").read_text() == "mine"
