"""Known rows in shards, anonymous rows in a file: the same as if all were in memory."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk import Hamming, InvalidInput, ParquetRows, RarityOverlap, Study
from reidrisk.core.observations import Observations
from reidrisk.data import read_linked, write_observations
from reidrisk.errors import TooLarge
from reidrisk.io.shards import NUMBERS
from reidrisk.study.write_matches import write_users

USERS, TARGETS, SLOTS, TOKENS = 900, 120, 4, 30


def seen(seed=1):
    rng = np.random.default_rng(seed)
    known = rng.integers(0, TOKENS, (USERS, SLOTS))
    truth = rng.permutation(USERS)[:TARGETS]
    anonymous = np.where(rng.random((TARGETS, SLOTS)) < 0.4, known[truth],
                         rng.integers(0, TOKENS, (TARGETS, SLOTS)))  # fmt: skip
    for rows in (known, anonymous):
        rows[rng.random(rows.shape) < 0.1] = -1
    return Observations(known, anonymous, truth, tokens=TOKENS)


SEEN = seen()
NAMES = {
    "numbers": {},
    "texts": {
        "ids": [f"user {n:04}" for n in range(USERS)],
        "labels": [f"token {n:02}" for n in range(TOKENS)],
    },
    "any order": {
        "ids": [f"user {n:04}" for n in np.random.default_rng(4).permutation(USERS)],
        "labels": [f"token {n:02}" for n in np.random.default_rng(5).permutation(TOKENS)],
    },
}


@pytest.fixture(params=NAMES)
def folders(request, tmp_path):
    """The same as one file and as shards."""
    whole, shards = tmp_path / "whole", tmp_path / "shards"
    write_observations(SEEN, whole, **NAMES[request.param])
    write_observations(SEEN, shards, shards=3, **NAMES[request.param])
    return whole, shards


def read(folder, **options):
    name = "known" if (folder / "known").is_dir() else "known.parquet"
    return read_linked(folder / name, folder / "anonymous.parquet", **options)


def shown(labels, rows):
    return np.append(labels, None)[np.asarray(rows)].tolist()


def test_shards_are_what_one_file_is(folders):
    memory, disk = map(read, folders)
    assert isinstance(disk.known, ParquetRows)
    assert disk.ids is None
    for name in ("users", "slots", "tokens", "strangers", "known_only", "bags", "warnings"):
        assert getattr(disk, name) == getattr(memory, name), name
    assert disk.target_ids.tolist() == memory.target_ids.tolist()
    assert sorted(disk.labels.tolist()) == memory.labels.tolist()
    assert shown(disk.labels, disk.anonymous) == shown(memory.labels, memory.anonymous)
    everyone = disk.ids_of(np.arange(USERS))
    order = np.argsort(everyone)
    assert everyone[order].tolist() == memory.ids.tolist()
    known = disk.known.block(0, USERS)[order]
    assert shown(disk.labels, known) == shown(memory.labels, memory.known)
    assert shown(disk.labels, disk.observations.true_rows) == shown(
        memory.labels, memory.observations.true_rows
    )


def test_strangers_are_those_whose_user_is_in_no_shard(tmp_path):
    write_observations(SEEN, tmp_path / "seen", shards=3)
    here = tmp_path / "seen/known"
    table = pa.table({"user": [5, 10_000, 899, -3], "tokens": [[1, 2, 3, None]] * 4})
    parquet.write_table(table, tmp_path / "a.parquet")
    linked = read_linked(here, tmp_path / "a.parquet")
    assert linked.truth.tolist() == [5, 899]
    assert linked.stranger_ids.tolist() == [-3, 10_000]
    assert linked.stranger_rows.tolist() == [[1, 2, 3, -1]] * 2
    with refuses("unexpected-strangers"):  # fmt: skip
        read_linked(here, tmp_path / "a.parquet", strangers="refuse")
    parquet.write_table(table.slice(1, 1), tmp_path / "a.parquet")
    with refuses("tables-do-not-meet") as wrong:
        read_linked(here, tmp_path / "a.parquet")
    assert "10000" not in str(wrong.value)


def test_other_tables_are_refused(tmp_path):
    write_observations(SEEN, tmp_path / "seen", shards=3)
    for held, message in (
        ({"user": [5], "tokens": [[1, 2, 3]]}, "has 4 slots and .*a.parquet has 3; give both"),
        ({"user": [5, 6], "tokens": [[1, 2, 3, 4], [1]]}, "has 4 slots and .* has no; give both"),
        ({"user": [5], "tokens": [[1, 2, 3, 99]]}, "row 1: a token is not one of the 30 of"),
        ({"user": [5, 5], "tokens": [[1, 2, 3, 4]] * 2}, "row 2: the same user as in"),
        ({"user": [5], "epoch": [1], "token": [2]}, "has 4 slots and .*in lists of tokens"),
    ):
        parquet.write_table(pa.table(held), tmp_path / "a.parquet")
        with pytest.raises(InvalidInput, match=message):
            read_linked(tmp_path / "seen/known", tmp_path / "a.parquet")
    with refuses("conflicting-arguments"):
        read(tmp_path / "seen", taxonomy=range(30))


@pytest.mark.parametrize("hurt", ["known/part-00001.parquet", "labels.parquet"])
def test_what_the_seal_does_not_know_is_refused(tmp_path, hurt):
    write_observations(SEEN, tmp_path, shards=3)
    whole = bytearray((tmp_path / hurt).read_bytes())
    whole[len(whole) // 2] ^= 1
    (tmp_path / hurt).write_bytes(whole)
    with refuses("checksum-mismatch"):
        read(tmp_path)
    (tmp_path / hurt).unlink()
    with refuses("file-not-found"):
        read(tmp_path)


def test_a_shard_of_another_release_is_refused(tmp_path):
    for name, seed in (("one", 1), ("other", 2)):
        write_observations(seen(seed), tmp_path / name, shards=3)
    shutil.copy(tmp_path / "other/known/part-00001.parquet", tmp_path / "one/known/more.parquet")
    with refuses("checksum-mismatch"):
        read(tmp_path / "one")


def test_twins_in_shards_are_refused(tmp_path):
    ids = np.arange(USERS)
    ids[800] = 3
    write_observations(SEEN, tmp_path, shards=3, ids=ids)
    with refuses("duplicate-user"):
        read(tmp_path)


def test_rows_of_others_stay_on_disk_if_their_tokens_are_numbers(tmp_path, monkeypatch):
    cells = [[None if token < 0 else int(token) for token in row] for row in SEEN.known.values]
    for number, some in enumerate(np.array_split(np.arange(USERS), 4)):
        held = {"user": some, "tokens": [cells[row] for row in some]}
        (tmp_path / "known").mkdir(exist_ok=True)
        parquet.write_table(pa.table(held), tmp_path / f"known/{number}.parquet")
    write_observations(SEEN, tmp_path / "whole")
    there = tmp_path / "whole/anonymous.parquet"
    memory = read_linked(tmp_path / "known", there, taxonomy=range(TOKENS))
    disk = read_linked(ParquetRows(tmp_path / "known", tokens=TOKENS), there)
    np.testing.assert_array_equal(disk.truth, memory.truth)
    np.testing.assert_array_equal(disk.anonymous, memory.anonymous)
    assert disk.labels.tolist() == memory.labels.tolist()
    with refuses("length-mismatch"):
        read_linked(ParquetRows(tmp_path / "known", tokens=TOKENS), there, taxonomy=range(29))

    def too_large(parts, what):
        raise TooLarge(f"{what}: this needs more memory")

    monkeypatch.setattr("reidrisk.io.tables.within_memory", too_large)
    with refuses("too-large", TooLarge):
        read_linked(tmp_path / "known", there)


def test_a_damaged_note_is_refused(tmp_path):
    table = pa.table({"user": [1], "slot_1": [2]}).replace_schema_metadata({NUMBERS: b"{"})
    parquet.write_table(table, tmp_path / "k.parquet")
    with refuses("damaged-file"):
        read_linked(tmp_path / "k.parquet", tmp_path / "k.parquet")


def result_of(attacks, *paths):
    """The bytes of a result."""
    return Study(attacks=attacks, targets=60).run(read_linked(*paths)).to_json()


ATTACKS = {"lists": (Hamming(), RarityOverlap()), "items": (RarityOverlap(),)}


@pytest.mark.parametrize("form", ATTACKS)
def test_shuffled_tables_give_the_same_result(tmp_path, form):
    rng = np.random.default_rng(7)
    write_observations(SEEN, tmp_path / "whole", ids=rng.permutation(10 * USERS)[:USERS])
    told = []
    for turn in range(2):
        paths = []
        for name in ("known", "anonymous"):
            table = parquet.read_table(tmp_path / f"whole/{name}.parquet").replace_schema_metadata()
            if form == "items":
                flat = table["tokens"].combine_chunks()
                owner = np.repeat(np.arange(len(flat)), SLOTS)
                table = pa.table({"user": table["user"].take(owner), "item": flat.flatten()})
                table = table.filter(table["item"].is_valid())
            if turn:
                table = table.take(rng.permutation(table.num_rows))
            paths.append(tmp_path / f"{name}-{turn}.parquet")
            parquet.write_table(table, paths[-1])
        told.append(result_of(ATTACKS[form], *paths))
    assert told[0] == told[1]


def test_a_study_over_shards_gives_the_bytes_of_one_file(tmp_path):
    """Figures and bounds; ids of people are in no result."""
    write_observations(SEEN, tmp_path / "whole")
    write_observations(SEEN, tmp_path / "shards", shards=3)
    study = Study(attacks=(Hamming(), RarityOverlap()), targets=60, slots=(1, 4), guesses=(1, 3))
    told = [json.loads(study.run(read(tmp_path / name)).to_json()) for name in ("whole", "shards")]
    for one in told:  # what it was of, which is told by array or by file
        del one["checksum"], one["study"]["people"]["known"], one["study"]["people"]["ids"]
    assert told[0] == told[1]
    assert study.describe(read(tmp_path / "shards")) == study.describe(read(tmp_path / "shards"))
    write_observations(seen(2), tmp_path / "shards", shards=3)
    others = study.describe(read(tmp_path / "shards"))
    assert others["people"]["known"] != study.describe(read(tmp_path / "whole"))["people"]["known"]


def test_who_was_found_in_shards_is_who_was_found_in_one_file(folders, tmp_path):
    study, tables = Study(attacks=(Hamming(),), targets=50), []
    for number, folder in enumerate(folders):
        write_users(study, read(folder), tmp_path / f"{number}.parquet")
        table = parquet.read_table(tmp_path / f"{number}.parquet").to_pylist()
        tables.append([{**one, "best": None} for one in table])
    assert tables[0] == tables[1]
