"""Files of known rows as we write them."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk.errors import InvalidInput
from reidrisk.io.parquet_files import read_back
from reidrisk.io.shards import NUMBERS, Numbers, ShardWriter, numbers_of

RANDOM = np.random.default_rng(5)
VALUES = RANDOM.integers(-1, 300, (50, 4))


def write(path, pieces, *, values=VALUES, users=None, kind=None, **options):
    users = np.arange(len(values)) if users is None else users
    kind = pa.array(users[:1]).type if kind is None else kind
    with ShardWriter(path, slots=values.shape[1], tokens=300, ids=kind, **options) as writer:
        for start, stop in pieces:
            writer.write(users[start:stop], values[start:stop])
    return path


@pytest.mark.parametrize("pieces", [[(0, 50)], [(0, 3), (3, 3), (3, 30), (30, 31), (31, 50)]])
def test_any_tool_reads_what_was_written_in_groups_of_one_size(tmp_path, pieces):
    path = write(tmp_path / "a.parquet", pieces, group=8, notes={b"more": b"said"})
    table = parquet.read_table(path)
    assert table.column_names == ["user", "slot_1", "slot_2", "slot_3", "slot_4"]
    assert table["user"].to_pylist() == list(range(50))
    for slot in range(4):
        held = table[f"slot_{slot + 1}"]
        assert (held.type, held.null_count) == (pa.int16(), (VALUES[:, slot] < 0).sum())
        assert [-1 if one is None else one for one in held.to_pylist()] == VALUES[:, slot].tolist()
    notes = parquet.read_metadata(path)
    assert [notes.row_group(i).num_rows for i in range(notes.num_row_groups)] == [8] * 6 + [2]
    assert table.schema.metadata[b"more"] == b"said"
    assert numbers_of(path, table.schema.metadata) == Numbers(slots=4, tokens=300)


def test_pieces_do_not_change_a_byte(tmp_path):
    one = write(tmp_path / "a.parquet", [(0, 50)], group=8)
    other = write(tmp_path / "b.parquet", [(at, at + 1) for at in range(50)], group=8)
    assert one.read_bytes() == other.read_bytes()


def test_users_are_text_too_and_a_file_may_hold_nobody(tmp_path):
    names = np.array([f"u{n:02}" for n in range(50)], object)
    path = write(tmp_path / "a.parquet", [(0, 50)], users=names)
    assert parquet.read_table(path)["user"].to_pylist() == names.tolist()
    path = write(tmp_path / "b.parquet", [])
    assert parquet.read_metadata(path).num_rows == 0


def test_other_rows_are_refused(tmp_path):
    for wrong, message in (
        (VALUES[:, :3], r"50 users with 4 slots each have rows of shape \(50, 4\), got \(50, 3\)"),
        (VALUES + 200, r"a\.parquet\[\d+, \d\] is \d+: tokens are whole numbers from 0 to 299"),
    ):
        with (
            pytest.raises(InvalidInput, match=message),
            ShardWriter(tmp_path / "a.parquet", slots=4, tokens=300, ids=pa.int64()) as writer,
        ):
            writer.write(np.arange(50), wrong)


@pytest.mark.parametrize("note", [b"{", b"[]", b'{"slots": 4}', b'{"slots": 0, "tokens": 9}',
                                  b'{"slots": 4, "tokens": true}'])  # fmt: skip
def test_a_damaged_note_is_refused(tmp_path, note):
    with refuses("damaged-file"):
        numbers_of(tmp_path / "a.parquet", {NUMBERS: note})
    assert numbers_of(tmp_path / "a.parquet", None) is None


def test_a_file_of_other_types_is_not_what_was_written(tmp_path):
    file, rows = tmp_path / "rows.parquet", pa.table({"user": pa.array([1, 2], pa.int32())})
    parquet.write_table(rows, file)
    read_back(file, rows.schema, 2)
    wider = pa.schema([("user", pa.int64())])
    read_back(file, wider, 2, types=False)
    with refuses("damaged-file"):
        read_back(file, wider, 2)
