"""A released folder in many files: the same rows, whole or not at all, gone on with."""

import os
import shutil
import stat
import threading
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk import InvalidInput
from reidrisk.core.locks import locked
from reidrisk.core.mapreduce import unit
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows, SetRows
from reidrisk.data import read_linked, write_observations
from reidrisk.io import manifest
from reidrisk.io import shards as shards_module
from reidrisk.io.manifest import known_rows, read_manifest
from reidrisk.io.shards import cut

USERS, TOKENS = 301, 40
LABELS = [f"topic {number:02}" for number in range(TOKENS)]
NAMES = np.array([f"user {number:04}" for number in range(USERS)], object)


def seen(seed=1):
    rng = np.random.default_rng(seed)
    known, anonymous = rng.integers(-1, TOKENS, (USERS, 3)), rng.integers(-1, TOKENS, (90, 3))
    return Observations(known, anonymous, rng.permutation(USERS)[:90], tokens=TOKENS)


def release(folder, shards=4, *, seed=1, noise=0.05, origin="here", **more):
    write_observations(
        seen(seed), folder, ids=NAMES, labels=LABELS, note={"release": "topics", "noise": noise},
        shards=shards, origin=None if origin is None else [origin, seed], **more,
    )  # fmt: skip
    return folder


def shards_of(folder):
    return sorted((folder / "known").iterdir())


def rows(folder):
    """Users and tokens of all shards, in their order."""
    tables = [parquet.read_table(file) for file in shards_of(folder)]
    users = [name for table in tables for name in table["user"].to_pylist()]
    slots = [np.column_stack([table[f"slot_{slot}"].fill_null(-1) for slot in (1, 2, 3)])
             for table in tables]  # fmt: skip
    return users, np.concatenate(slots)


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*")) if file.is_file()}  # fmt: skip


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 64, USERS])
def test_any_number_of_shards_holds_the_same_rows(tmp_path, shards):
    folder = release(tmp_path / "seen", shards)
    users, tokens = rows(folder)
    assert users == NAMES.tolist()
    assert (tokens == np.asarray(seen().known)).all()
    assert len(shards_of(folder)) == shards
    written = read_manifest(folder)
    assert written.note == {"release": "topics", "noise": 0.05}
    others = {"anonymous.parquet", "labels.parquet"}
    assert set(written.files) == {f"known/part-{k:05}.parquet" for k in range(shards)} | others
    assert set(contents(folder)) == {*written.files, "release.json"}
    assert known_rows(folder) == folder / "known"


def test_the_other_files_are_those_of_a_folder_without_shards(tmp_path):
    one, many = release(tmp_path / "one", None, origin=None), release(tmp_path / "many", 5)
    for name in ("anonymous.parquet", "labels.parquet"):
        tables = [parquet.read_table(folder / name) for folder in (one, many)]
        assert tables[0].to_pydict() == tables[1].to_pydict()
    assert known_rows(one) == one / "known.parquet"


@pytest.mark.parametrize("shards", [None, 3])
def test_targets_keep_their_users(tmp_path, shards):
    folder = release(tmp_path / "seen", shards, origin=None)
    users = parquet.read_table(folder / "anonymous.parquet")["user"].to_pylist()
    assert users == NAMES[seen().truth].tolist()


def test_shards_are_much_alike_and_cut_between_units():
    for users, shards in ((1, 1), (7, 7), (100, 7), (10**6, 64), (10**8, 64), (10**9, 1000)):
        cuts = cut(users, shards)
        assert cuts[0][0] == 0
        assert cuts[-1][1] == users
        assert all(one[1] == other[0] for one, other in pairwise(cuts))
        sizes = [stop - start for start, stop in cuts]
        assert min(sizes) >= 1
        assert max(sizes) <= -(-users // shards) * 5 // 4 + 1
    assert all(start % unit(10**9) == 0 for start, _ in cut(10**9, 400))


@pytest.mark.parametrize("shards", [0, -1, USERS + 1, 10**6])
def test_numbers_of_shards_that_cannot_be_are_refused(tmp_path, shards):
    with pytest.raises(InvalidInput, match="shards"):
        release(tmp_path / "seen", shards)
    assert not (tmp_path / "seen").exists()


def test_only_the_owner_reads_them(tmp_path):
    folder = release(tmp_path / "seen")
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.rglob("*.*")} == {0o600}
    assert stat.S_IMODE((folder / "known").stat().st_mode) == 0o700


class Stopped(BaseException):
    """As a process that is killed: whatever was to come does not."""


def stop_at(monkeypatch, place):
    """Let the file operation of this number, and all after it, not happen; counts them."""
    counted, lock = [], threading.Lock()
    for name in ("replace", "unlink", "open"):
        real = getattr(os, name)

        def happens(*how, real=real, name=name, **more):
            wants = name != "open" or how[1] & os.O_CREAT
            with lock:
                counted.extend([name] * bool(wants))
                if len(counted) > place and wants:
                    raise Stopped
            return real(*how, **more)

        monkeypatch.setattr(os, name, happens)
    return counted


def operations(monkeypatch, write):
    with monkeypatch.context() as patch:
        counted = stop_at(patch, 10**9)
        write()
    return len(counted)


def test_killed_at_any_operation_it_is_refused_and_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    whole = contents(release(tmp_path / "whole"))
    many = operations(monkeypatch, lambda: release(tmp_path / "counted"))
    assert many > 15
    for place in range(many):
        folder = tmp_path / f"killed-{place}"
        with monkeypatch.context() as patch:
            stop_at(patch, place)
            with pytest.raises(Stopped):
                release(folder)
        if (folder / "release.json").exists():  # the last of them, and all others were there
            assert {**contents(folder), **whole} == contents(folder)
        elif (folder / manifest.UNFINISHED).exists():
            with refuses("unfinished-folder", snapshot=False):
                known_rows(folder)
        release(folder)
        assert contents(folder) == whole, place


def test_killed_while_it_replaces_another_it_is_refused(tmp_path, monkeypatch):
    old, new = release(tmp_path / "old", seed=2), contents(release(tmp_path / "new"))
    shutil.copytree(old, tmp_path / "counted")
    many = operations(monkeypatch, lambda: release(tmp_path / "counted"))
    before = contents(old)
    for place in range(many):
        folder = tmp_path / f"killed-{place}"
        shutil.copytree(old, folder)
        with monkeypatch.context() as patch:
            stop_at(patch, place)
            with pytest.raises(Stopped):
                release(folder)
        there = {name: data for name, data in contents(folder).items() if not is_note(name)}
        if there not in (before, new):
            with refuses("checksum-mismatch", snapshot=False):
                check_all(folder)
        release(folder)
        assert contents(folder) == new, place


def is_note(name):
    return name.rpartition("/")[2].startswith(".")


def check_all(folder):
    """As readers do: all shards that the manifest names, and all that are there."""
    known_rows(folder)
    for file in folder.rglob("*.parquet"):
        if not is_note(str(file)):
            manifest.check_file(file)
            manifest.check_origin(file, parquet.read_schema(file).metadata)


def made_shards(monkeypatch):
    made, real = [], shards_module.written_whole

    def watched(*paths, **how):
        made.extend(path.name for path in paths)
        return real(*paths, **how)

    monkeypatch.setattr(shards_module, "written_whole", watched)
    return lambda: sorted(name for name in made if name.startswith("part-"))


def stopped_after(folder, shards, done, **how):
    """A folder of which some shards are done."""

    def progress(users, total):
        del total
        if users > done * USERS / shards:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(folder, shards, progress=progress, **how)
    return len(read_manifest(folder, manifest.UNFINISHED).files)


def test_shards_that_are_done_are_not_made_again(tmp_path, monkeypatch):
    folder = tmp_path / "seen"
    done = stopped_after(folder, 20, 12)
    assert done >= 8
    made = made_shards(monkeypatch)
    told = []
    release(folder, 20, progress=lambda users, total: told.append((users, total)))
    assert len(made()) == 20 - done
    assert told[0][0] > 0
    assert told[-1] == (USERS, USERS)
    assert contents(folder) == contents(release(tmp_path / "whole", 20))


def test_a_finished_folder_of_the_same_origin_is_left_as_it_is(tmp_path, monkeypatch):
    folder = release(tmp_path / "seen")
    made = made_shards(monkeypatch)
    release(folder)
    assert made() == []


def test_a_shard_that_was_damaged_or_is_gone_is_made_again(tmp_path, monkeypatch):
    folder = release(tmp_path / "seen")
    whole = contents(folder)
    one, other, *_ = shards_of(folder)
    one.unlink()
    data = bytearray(other.read_bytes())
    data[len(data) // 2] ^= 1
    other.write_bytes(data)
    made = made_shards(monkeypatch)
    release(folder)
    assert made() == [one.name, other.name]
    assert contents(folder) == whole


def test_rows_of_unknown_origin_are_made_again(tmp_path, monkeypatch):
    """Nothing tells that the known rows of those who are no targets are what they were."""
    folder = release(tmp_path / "seen", origin=None)
    made = made_shards(monkeypatch)
    release(folder, origin=None)
    assert len(made()) == 4


@pytest.mark.parametrize("other", [{"seed": 2}, {"noise": 0.5}, {"origin": "there"}, {"shards": 7}])
def test_what_another_release_began_is_not_thrown_away(tmp_path, other):
    folder = tmp_path / "seen"
    stopped_after(folder, 20, 12)
    before = contents(folder)
    with refuses("another-run"):
        release(folder, **{"shards": 20, **other})
    assert contents(folder) == before


@pytest.mark.parametrize("shards", [2, 9])
def test_a_finished_folder_is_replaced_by_another_release(tmp_path, shards):
    folder = release(tmp_path / "seen", 4)
    release(folder, shards, seed=2)
    assert contents(folder) == contents(release(tmp_path / "new", shards, seed=2))


def test_shards_and_one_file_take_each_others_place(tmp_path):
    one, many = release(tmp_path / "one", None, origin=None), release(tmp_path / "many")
    release(release(tmp_path / "seen"), None, origin=None)
    assert contents(tmp_path / "seen") == contents(one)
    assert not (tmp_path / "seen" / "known").exists()
    release(tmp_path / "seen")
    assert contents(tmp_path / "seen") == contents(many)


@pytest.mark.parametrize("name", ["part-00001.parquet", "part-00099.parquet", "notes.txt", "sub/x"])
def test_files_of_others_are_left_alone(tmp_path, name):
    file = tmp_path / "seen" / "known" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with refuses("file-not-ours"):
        release(tmp_path / "seen")
    assert contents(tmp_path / "seen") == {f"known/{name}": b"mine"}


def test_links_and_files_in_place_of_the_folder_are_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for name in ("link", "file"):
        (tmp_path / name).mkdir()
    (tmp_path / "link" / "known").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file" / "known").write_text("mine")
    for name in ("link", "file"):
        with refuses("path-is-file"):
            release(tmp_path / name)
    assert not any((tmp_path / "elsewhere").iterdir())


def test_somebody_else_who_writes_there_is_named(tmp_path):
    (tmp_path / "seen").mkdir()
    with locked(tmp_path / "seen"), refuses("folder-in-use"):
        release(tmp_path / "seen")


def test_a_disk_that_is_too_small_is_seen_first(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with refuses("out-of-disk"):
        release(tmp_path / "seen")
    assert contents(tmp_path / "seen") == {}


@pytest.mark.parametrize("name", ["known/part-00001.parquet", "anonymous.parquet",
                                  "labels.parquet", "release.json"])  # fmt: skip
def test_a_flipped_bit_is_refused(tmp_path, name):
    folder = release(tmp_path / "seen")
    whole = (folder / name).read_bytes()
    for bit in np.random.default_rng(3).integers(0, 8 * len(whole), 40):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << (bit % 8)
        (folder / name).write_bytes(damaged)
        try:
            known_rows(folder)
            manifest.check_file(folder / name)
        except InvalidInput as wrong:
            assert "damaged" in str(wrong) or "checksum" in str(wrong)  # noqa: PT017
        else:
            assert name == "release.json"
            assert read_manifest(folder).note == {"release": "topics", "noise": 0.05}


def test_a_shard_that_is_missing_is_named(tmp_path):
    folder = release(tmp_path / "seen")
    (folder / "known/part-00002.parquet").unlink()
    with refuses("file-not-found"):
        known_rows(folder)


@pytest.mark.parametrize(("known", "code"), [
    (BagRows([[1, 2], [3], []], tokens=4), "wrong-kind-of-rows"),
    (SetRows([[[1, 2]], [[3, -1]], [[0, 1]]], tokens=4), "wrong-kind-of-rows"),
])  # fmt: skip
def test_what_shards_cannot_hold_is_refused(tmp_path, known, code):
    anonymous = BagRows([[1]], tokens=4) if isinstance(known, BagRows) else [[1]]
    rows = Observations(known, anonymous, [0], tokens=4)
    with refuses(code):
        write_observations(rows, tmp_path / "seen", shards=2)
    assert not (tmp_path / "seen").exists()


def test_whoever_stops_is_heard_after_the_blocks_in_hand(tmp_path, monkeypatch):
    monkeypatch.setattr(shards_module, "BLOCK", 10)
    told = []

    def progress(users, total):
        told.append((users, total))
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(tmp_path / "seen", 1, progress=progress)
    assert len(told) == 3
    assert contents(tmp_path / "seen") == {}


def test_other_rows_than_arrays_may_name_their_users(tmp_path):
    linked = read_linked_whole(tmp_path)
    write_observations(linked, tmp_path / "again", shards=3)
    users, tokens = rows(tmp_path / "again")
    assert users == NAMES.tolist()
    assert (tokens == np.asarray(seen().known)).all()


def read_linked_whole(tmp_path):
    one = release(tmp_path / "one", None, origin=None)
    return read_linked(one / "known.parquet", one / "anonymous.parquet")
