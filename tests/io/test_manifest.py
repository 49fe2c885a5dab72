"""A released folder whose files know each other: damaged or mixed, it is refused."""

import os
import re
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from tests.cli.tools import call
from tests.snapshots import refuses

from reidrisk import InvalidInput
from reidrisk.core.observations import Observations
from reidrisk.data import read_linked, read_taxonomy, write_observations
from reidrisk.errors import Unverified
from reidrisk.io.manifest import read_manifest
from reidrisk.io.parquet_rows import ParquetRows

FILES = ("known.parquet", "anonymous.parquet", "labels.parquet", "release.json")
BEFORE = Path(__file__).parent / "data" / "released-before"


def seen(seed=1, tokens=40):
    rng = np.random.default_rng(seed)
    known, anonymous = rng.integers(-1, tokens, (300, 3)), rng.integers(-1, tokens, (90, 3))
    return Observations(known, anonymous, rng.permutation(300)[:90], tokens=tokens)


def release(folder, *, seed=1, noise=0.05):
    labels = [f"topic {number:02}" for number in range(40)]
    write_observations(
        seen(seed), folder, labels=labels, note={"release": "topics", "noise": noise}
    )
    return folder


def figures(folder):
    """All that attacks use."""
    linked = read_linked(folder / "known.parquet", folder / "anonymous.parquet")
    rows = (linked.known.block(0, linked.users), linked.anonymous, linked.truth)
    return [
        *(part.tolist() for part in (*rows, linked.ids, linked.labels)),
        read_manifest(folder).note,
    ]


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_changes_no_figure_or_is_refused(tmp_path, name):
    """Of 240 such flips 54 changed figures silently before there were checksums."""
    folder = release(tmp_path / "seen")
    good, whole, refused = figures(folder), (folder / name).read_bytes(), []
    for bit in np.random.default_rng(7).integers(0, 8 * len(whole), 60):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << (bit % 8)
        (folder / name).write_bytes(damaged)
        try:
            found = figures(folder)
        except InvalidInput as wrong:
            refused.append(str(wrong))
        else:
            assert found == good, bit
    # Blanks between the words of a note say nothing.
    assert len(refused) == 60 or (name == "release.json" and len(refused) > 45)
    assert all(re.search(r"(parquet|json)\b.*(damaged|checksum)", said) for said in refused)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("size", [0, 0.5, 0.99])
def test_a_file_that_is_cut_is_refused(tmp_path, name, size):
    folder = release(tmp_path / "seen")
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: int(size * len(whole))])
    with pytest.raises(InvalidInput, match=r"parquet|release\.json"):
        figures(folder)


@pytest.mark.parametrize("moved", range(5))
def test_a_folder_that_was_killed_while_it_was_replaced_is_old_new_or_refused(
    tmp_path, monkeypatch, moved
):
    """Before, rows of one release lay beside the note of another."""
    states = [figures(release(tmp_path / "old")), None]
    states[1] = figures(release(tmp_path / "new", seed=2, noise=0.6))
    replace, done = os.replace, []

    def killed(*how):
        if len(done) == moved:
            raise KeyboardInterrupt
        done.append(how)
        replace(*how)

    monkeypatch.setattr(os, "replace", killed)
    try:
        release(tmp_path / "old", seed=2, noise=0.6)
    except KeyboardInterrupt:
        assert moved < 4
    if moved in (0, 4):
        assert figures(tmp_path / "old") == states[moved == 4]
    else:
        with refuses("checksum-mismatch"):
            figures(tmp_path / "old")


def test_every_file_of_another_release_is_refused(tmp_path):
    one, other = release(tmp_path / "one"), release(tmp_path / "other", seed=2, noise=0.6)
    for name in FILES:
        mixed = tmp_path / "mixed" / name
        shutil.copytree(one, mixed)
        shutil.copy(other / name, mixed / name)
        with refuses("checksum-mismatch"):
            figures(mixed)


@pytest.mark.parametrize("gone", [*FILES, "parquet"])
def test_a_folder_of_which_a_file_is_gone_is_refused(tmp_path, gone):
    folder = release(tmp_path / "seen")
    for file in folder.glob(f"*{gone}"):
        file.unlink()
    with pytest.raises(InvalidInput, match=r"no such file|release\.json with them is missing"):
        figures(folder)


def test_a_file_with_another_name_is_compared_too(tmp_path):
    folder = release(tmp_path / "seen")
    good = figures(folder)
    (folder / "k.parquet").write_bytes((folder / "known.parquet").read_bytes())
    linked = read_linked(folder / "k.parquet", folder / "anonymous.parquet")
    assert linked.known.block(0, 300).tolist() == good[0]
    table = parquet.read_table(folder / "known.parquet")
    parquet.write_table(table.slice(10), folder / "k.parquet")
    with refuses("checksum-mismatch"):
        read_linked(folder / "k.parquet", folder / "anonymous.parquet")


def test_rows_on_disk_are_compared_too(tmp_path):
    write_observations(seen(), tmp_path)
    path = tmp_path / "known.parquet"
    rows = ParquetRows(path, tokens=40)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    with refuses("checksum-mismatch"):
        ParquetRows(path, tokens=40)
    with refuses("file-changed"):
        rows.block(0, 10)


def test_pages_of_people_have_checksums(tmp_path):
    from reidrisk.data import read_profiles, synthetic_topics, write_top_sets

    path = tmp_path / "people.parquet"
    write_top_sets(synthetic_topics(500, epochs=2), path, top=5, seed=1)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 1
    path.write_bytes(whole)
    with refuses("damaged-file"):
        read_profiles(path)


def test_the_same_is_written_as_the_same_bytes(tmp_path):
    one, other = release(tmp_path / "one"), release(tmp_path / "other")
    assert all((one / name).read_bytes() == (other / name).read_bytes() for name in FILES)


def test_only_the_owner_may_read_files_with_users(tmp_path):
    folder = release(tmp_path / "seen")
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_folders_of_before_are_read_with_a_word():
    with pytest.warns(Unverified, match="before released folders had checksums"):
        linked = read_linked(BEFORE / "known.parquet", BEFORE / "anonymous.parquet")
    assert (linked.users, linked.tokens, linked.slots) == (6, 11, 2)
    done = call("attack", BEFORE, "--attack", "weighted-hamming")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"reidrisk: .*had checksums.*\n", done.stderr)


def test_somebody_elses_release_json_harms_nobody(tmp_path):
    for name in ("known.parquet", "anonymous.parquet"):
        table = parquet.read_table(BEFORE / name).replace_schema_metadata()
        parquet.write_table(table, tmp_path / name)
    for text in ("[1]", "{", '{"files": ["a.js"]}', '{"files": {"sha256": 5}}'):
        (tmp_path / "release.json").write_text(text)
        linked = read_linked(tmp_path / "known.parquet", tmp_path / "anonymous.parquet")
        assert linked.users == 6


def test_an_alphabet_of_any_size_comes_back(tmp_path):
    """In the footer of a file, 100 MB of names could be written and not be read."""
    labels = np.array([f"{number:06}{'x' * 600}" for number in range(200_000)], object)
    known = np.array([[0], [199_999]])
    shown = Observations(known, known, [0, 1], tokens=len(labels))
    write_observations(shown, tmp_path, labels=labels)
    linked = read_linked(tmp_path / "known.parquet", tmp_path / "anonymous.parquet")
    assert (linked.labels == labels).all()
    assert linked.known.block(0, 2).tolist() == known.tolist()
    assert (read_taxonomy(tmp_path / "labels.parquet") == labels).all()


def test_what_cannot_be_read_back_is_not_put_in_place(tmp_path, monkeypatch):
    release(tmp_path)
    good = figures(tmp_path)
    write_table = parquet.ParquetWriter.close

    def cut(writer):
        write_table(writer)
        if writer.is_open is False and Path(str(writer.where)).exists():
            whole = Path(str(writer.where)).read_bytes()
            Path(str(writer.where)).write_bytes(whole[:-20])

    monkeypatch.setattr(parquet.ParquetWriter, "close", cut)
    with refuses("damaged-file"):
        release(tmp_path, seed=2)
    monkeypatch.undo()
    assert figures(tmp_path) == good
