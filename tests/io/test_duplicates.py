"""Users who are there twice, in files that do not fit into memory."""

import tempfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk import ParquetRows
from reidrisk.core.machine import limited
from reidrisk.io.duplicates import ascend, first_duplicate
from reidrisk.io.find_users import rows_of_users

USERS = 300


def write(folder, users, *, files=3, group=20):
    for number, some in enumerate(np.array_split(np.arange(len(users)), files)):
        table = pa.table({"user": pa.array(users).take(some), "tokens": [[1, 2]] * len(some)})
        parquet.write_table(table, folder / f"{number}.parquet", row_group_size=group)
    return ParquetRows(folder, tokens=9)


def names(kind, order):
    return [f"person {user:03}" if kind == "text" else int(user) * 7919 - 400_009 for user in order]


@pytest.fixture
def room(monkeypatch, tmp_path_factory):
    """Where users are gathered, of which nothing is left."""
    place = tmp_path_factory.mktemp("room")
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert not list(place.iterdir())


@pytest.mark.parametrize("kind", ["text", "number"])
@pytest.mark.parametrize("order", [np.arange(USERS), np.random.default_rng(1).permutation(USERS)])
def test_rows_of_users_are_found_wherever_they_are(tmp_path, kind, order, room):
    users = names(kind, order)
    rows = write(tmp_path, users)
    wanted = [users[5], users[299], "nobody" if kind == "text" else 10**9, users[100]]
    found = rows_of_users(rows, np.array(wanted, object if kind == "text" else None))
    assert found.tolist() == [5, 299, -1, 100]
    part = rows.part(90, 200)
    assert rows_of_users(part, np.array(wanted[3:], found.dtype if kind != "text" else object)
                         ).tolist() == [10]  # fmt: skip


@pytest.mark.parametrize("kind", ["text", "number"])
@pytest.mark.parametrize("places", [(3, 4), (19, 20), (99, 100), (7, 290)])
@pytest.mark.parametrize("shuffled", [False, True])
def test_twins_are_refused_by_file_and_row_and_without_their_name(
    tmp_path, kind, places, shuffled, room
):
    order = np.random.default_rng(2).permutation(USERS) if shuffled else np.arange(USERS)
    one, other = places
    order[other] = order[one]
    users = names(kind, order)
    rows = write(tmp_path, users)
    with refuses("duplicate-user") as wrong:
        rows_of_users(rows, np.array(users[:1], object if kind == "text" else None))
    assert str(users[one]) not in str(wrong.value).replace(str(tmp_path), "")


def test_users_that_ascend_need_no_room(tmp_path, monkeypatch):
    monkeypatch.setattr("reidrisk.io.find_users.first_duplicate", None)
    rows = write(tmp_path, names("number", range(USERS)))
    assert rows_of_users(rows, np.array(names("number", [200]))).tolist() == [200]


@settings(max_examples=30)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(1, 9))
def test_the_first_duplicate_is_that_of_a_dictionary(users, size):
    seen, wanted = {}, None
    for row, user in enumerate(users):
        if (first := seen.setdefault(user, row)) != row:
            wanted = (first, row)
            break

    def over_users(work):
        for start in range(0, len(users), size):
            work(start, pa.array(users[start : start + size]))

    assert first_duplicate(over_users, pa.int64()) == wanted


def test_more_users_than_fit_into_memory_go_to_disk(room):
    def over_users(work):
        for start in range(0, 8 << 20, 1 << 20):
            work(start, pa.array(np.arange(start, start + (1 << 20)) * 7919 % (8 << 20)))

    with limited(1 << 20):
        assert first_duplicate(over_users, pa.int64()) is None


def test_texts_and_numbers_meet_where_they_are_the_same(tmp_path):
    """A number in one file may be text in another; 007 is not 7."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    whole = write(one, [-5, 0, 7, 2**62])
    texts = ["-5", "0", "007", "7", "-0", "x", str(2**62), str(2**64), ""]
    found = rows_of_users(whole, np.array(texts, object))
    assert found.tolist() == [0, 1, -1, 2, -1, -1, 3, -1, -1]
    text = write(two, ["007", "7", "x"])
    assert rows_of_users(text, np.array([7, 8])).tolist() == [1, -1]


def test_ascending_is_strict():
    for users in ([1, 2, 3], [1], ["a", "b"], ["z", "é"]):
        assert ascend(pa.array(users))
    for users in ([1, 1], [2, 1], ["b", "a"], ["é", "z"]):
        assert not ascend(pa.array(users))
