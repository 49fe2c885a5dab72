"""Files that are read: their names, their hashes, and whether they stayed as they were."""

import os
import time
from hashlib import file_digest
from pathlib import Path

import pytest
from tests.cli.tools import call
from tests.snapshots import refuses

from reidrisk import data, releases
from reidrisk.core import digest
from reidrisk.study import run_store
from reidrisk.study.run_store import hashed_inputs
from reidrisk.study.toml import read_study

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def written(file, content=b"abc", *, age=60.0):
    """A file that was written some time ago."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    moment = time.time() - age
    os.utime(file, (moment, moment))
    return file


def hashes_of(paths):
    with hashed_inputs(paths) as found:
        return found


def test_hash_of_a_file(tmp_path):
    file, other = written(tmp_path / "file"), written(tmp_path / "other" / "file", b"")
    assert hashes_of([file]) == hashes_of([file, file]) == {"file": ABC}
    assert list(hashes_of([file, other])) == [f"{tmp_path.name}/file", "other/file"]


def test_files_whose_folders_have_one_name_too_are_told_apart(tmp_path):
    """One of them was not hashed at all: the names were one key."""
    one, two = written(tmp_path / "a/logs/k.csv"), written(tmp_path / "b/logs/k.csv", b"x")
    found = hashes_of([one, two])
    assert list(found) == ["a/logs/k.csv", "b/logs/k.csv"]
    assert found["a/logs/k.csv"] == ABC != found["b/logs/k.csv"]


def test_every_file_of_a_folder_is_hashed(tmp_path):
    for name in ("part-0.csv", "part-1.csv", "_SUCCESS", ".part-0.csv.crc", "inner/part-2.csv"):
        written(tmp_path / "people" / name)
    assert hashes_of([tmp_path / "people"]) == {"part-0.csv": ABC, "part-1.csv": ABC}


@pytest.mark.parametrize("age", [60.0, 0.0])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, age):
    file = written(tmp_path / "file", age=age)
    with (
        refuses("file-changed"),
        hashed_inputs([file]),
    ):
        file.write_bytes(b"abd")


def test_a_change_within_a_tick_of_the_clock_is_seen(tmp_path, monkeypatch):
    """The times of a file are only so fine."""
    file = written(tmp_path / "file", age=0.0)
    state = file.stat()

    def change():
        file.write_bytes(b"abd")
        monkeypatch.setattr(Path, "stat", lambda *_, **__: state)

    with (
        refuses("file-changed"),
        hashed_inputs([file]),
    ):
        change()


def test_a_file_that_comes_to_a_folder_or_leaves_it_is_seen(tmp_path):
    folder = written(tmp_path / "people" / "part-0.csv").parent
    for change in (lambda: written(folder / "part-1.csv"), (folder / "part-0.csv").unlink):
        with (
            refuses("file-changed"),
            hashed_inputs([folder]),
        ):
            change()


def test_a_study_knows_the_files_that_it_read(tmp_path, monkeypatch):
    """What is hashed is what is read: they were hashed after they had been read."""
    rows = [f"u{user},{epoch},{user * epoch % 7}" for user in range(40) for epoch in (1, 2)]
    for name, part in (("part-0.csv", rows[:40]), ("part-1.csv", rows[40:])):
        written(tmp_path / "people" / name, "\n".join(["user,epoch,token", *part]).encode())
    study = written(
        tmp_path / "study.toml",
        b'[people]\nkind = "table"\npath = "people"\n[release]\ntop = 1\n',
    )
    read = read_study(study)
    assert read.source.users == 40
    assert read.inputs == hashes_of([tmp_path / "people"])
    from reidrisk import data

    reads = data.read_profiles

    def then_changes(path, **how):
        people = reads(path, **how)
        written(tmp_path / "people" / "part-1.csv", b"user,epoch,token\nu0,1,6\n")
        return people

    monkeypatch.setattr(data, "read_profiles", then_changes)
    with refuses("file-changed"):
        read_study(study)


def test_a_released_folder_is_hashed_once(tmp_path, monkeypatch):
    """Each file is read once, for its hash and for the comparison with the manifest."""
    seen = releases.TopicsApi().observe(data.synthetic_topics(50, epochs=3), targets=20, seed=1)
    data.write_observations(seen, tmp_path / "seen")
    monkeypatch.setattr(run_store, "_SECOND", -3_600 * 10**9)  # as if they were an hour old
    digest._of_files.clear()  # noqa: SLF001  what was written was hashed
    read = []

    def counted(content, method):
        read.append(Path(content.name).name)
        return file_digest(content, method)

    monkeypatch.setattr(digest.hashlib, "file_digest", counted)
    assert call("attack", tmp_path / "seen", "--attack", "hamming").returncode == 0
    assert sorted(read) == ["anonymous.parquet", "known.parquet", "labels.parquet"]
