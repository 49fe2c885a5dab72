"""Files that appear whole or not at all, and replace nothing but files."""

import os
import stat
import sys
import threading

import pytest
from tests.snapshots import refuses

from reidrisk.core.files import ONLY_ME, PART, left_over, made_folder, written_whole


def write(path, text="new", **how):
    with written_whole(path, **how) as (part,):
        part.write_text(text)


def test_files_and_their_folder_are_on_disk_before_and_after_they_are_moved(tmp_path, monkeypatch):
    done = []
    flush, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda one: done.append(_kind(one)) or flush(one))
    monkeypatch.setattr(os, "replace", lambda *how: done.append("moved") or replace(*how))
    with written_whole(tmp_path / "a", tmp_path / "b") as (one, other):
        one.write_text("1")
        other.write_text("2")
    assert done == ["file", "file", "moved", "moved", "folder"]


def _kind(handle):
    return "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"


def test_temporary_files_can_be_told_from_those_of_others(tmp_path):
    (tmp_path / ".a.backup").write_text("mine")
    with written_whole(tmp_path / "a") as (part,):
        assert part.name.startswith(".a.")
        assert part.name.endswith(PART)
        assert stat.S_IMODE(part.stat().st_mode) == ONLY_ME
        assert list(left_over(tmp_path / "a")) == [part]
    assert sorted(file.name for file in tmp_path.iterdir()) == [".a.backup", "a"]


def test_who_is_stopped_while_temporary_files_are_made_leaves_none(tmp_path, monkeypatch):
    made = os.open

    def stopped(path, *how):
        made(path, *how)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", stopped)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_pipe_stays_a_pipe_and_gets_the_content(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write(pipe, "through")
    reader.join()
    assert got == ["through"]
    assert pipe.is_fifo()
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_device_stays_a_device(tmp_path):
    device = tmp_path / "null"  # one of our own: a failure would cost the machine its /dev/null
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root may make devices, and not everywhere")
    write(device)
    assert device.is_char_device()


def test_standard_output_is_written_to_also_where_it_is_a_file(capfd):
    sys.stdout.write("before\n")
    write("/dev/stdout", "content\n")
    sys.stdout.write("after\n")
    assert capfd.readouterr().out == "before\ncontent\nafter\n"


def test_a_link_is_refused_and_what_it_points_to_stays(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    for name in ("link", "dangling"):
        with refuses("path-is-link"):
            write(tmp_path / name)
        assert (tmp_path / name).is_symlink()
    assert (tmp_path / "file").read_text() == "old"
    assert not (tmp_path / "absent").exists()


def test_a_folder_that_is_a_link_can_be_written_into(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    write(tmp_path / "link" / "a")
    assert (tmp_path / "folder" / "a").read_text() == "new"


def test_a_folder_has_a_name_in_utf_8(tmp_path):
    with refuses("name-not-utf-8"):
        made_folder("no\udcffname")
    assert made_folder(tmp_path / "ö").is_dir()


def test_a_folder_is_no_file(tmp_path):
    with refuses("path-is-folder"):
        write(tmp_path)
