"""CSV and Parquet: every form of the same rows gives the same people."""

import gzip
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from reidrisk.data import Layout, read_profiles, read_taxonomy

ROWS = pa.table(
    {
        "user": [12, 3, 3, 12],
        "epoch": [1, 1, 2, 2],
        "token": [5, 5, 629, 7],
        "weight": [1.5, 2.0, 4.0, 8.0],
    }
)


def write(path, table):
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".gz":
        with gzip.open(path, "wb") as stream:
            csv.write_csv(table, stream)
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        csv.write_csv(table, path, csv.WriteOptions(delimiter=separator))
    return path


def same_people(one, other):
    for name in ("ids", "labels", "epoch_labels", "starts", "members", "weights", "present"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz", "p.parquet", "P.CSV"])
def test_every_file_type_gives_the_same_people(tmp_path, name):
    people = read_profiles(write(tmp_path / name, ROWS))
    assert people.ids.tolist() == [3, 12]
    assert people.labels.tolist() == [5, 7, 629]
    assert people.members.tolist() == [0, 2, 0, 1]
    assert people.weights.tolist() == [2.0, 4.0, 1.5, 8.0]
    assert people.counts.rows == 4


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint64(), pa.string(), pa.large_string(), pa.binary()]
)
def test_numbers_are_numbers_in_every_type_of_column(tmp_path, kind):
    users = pa.array(["12", "3", "3", "12"]) if "int" not in str(kind) else ROWS["user"]
    table = ROWS.set_column(0, "user", users.cast(kind))
    same_people(
        read_profiles(write(tmp_path / "p.parquet", table)),
        read_profiles(write(tmp_path / "q.parquet", ROWS)),
    )


def test_other_columns_and_names_do_not_matter(tmp_path):
    table = ROWS.rename_columns(["household", "week", "token", "weight"])
    table = table.append_column("note", pa.array(["a", "b,c", "d", "e"]))
    for name in ("p.csv", "p.parquet"):
        path = write(tmp_path / name, table)
        people = read_profiles(path, columns={"user": "household", "epoch": "week"})
        assert people.ids.tolist() == [3, 12]


def test_a_layout_names_columns_and_says_how_the_file_is_cut(tmp_path):
    path = tmp_path / "p.txt"
    rows = zip(*ROWS.to_pydict().values(), strict=True)
    path.write_text("".join(f"{t};{u};{w};{e}\n" for u, e, t, w in rows))
    layout = Layout(user="2", epoch="4", item="1", count="3", separator=";", header=False)
    whole = read_profiles(write(tmp_path / "whole.csv", ROWS))
    same_people(read_profiles(path, layout=layout), whole)
    same_people(read_profiles(path, columns={"user": "2", "epoch": "4"}, layout=replace(
        layout, user=None, epoch="9")), whole)  # fmt: skip


def test_without_weights_every_row_weighs_one(tmp_path):
    people = read_profiles(write(tmp_path / "p.csv", ROWS.drop_columns("weight")))
    assert people.weights.tolist() == [1.0] * 4


def test_duplicates_can_be_added(tmp_path):
    twice = pa.concat_tables([ROWS, ROWS])
    people = read_profiles(write(tmp_path / "p.csv", twice), duplicates="add")
    assert people.weights.tolist() == [4.0, 8.0, 3.0, 16.0]
    assert people.counts.added == 4


def test_a_folder_is_read_as_one_table(tmp_path):
    write(tmp_path / "part-0.parquet", ROWS.slice(0, 2))
    write(tmp_path / "part-1.parquet", ROWS.slice(2))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-0.parquet.crc").write_bytes(b"x")
    whole = read_profiles(write(tmp_path / "whole.csv", ROWS))
    (tmp_path / "whole.csv").unlink()
    same_people(read_profiles(tmp_path), whole)


def test_many_blocks_of_a_large_csv(tmp_path):
    rng = np.random.default_rng(1)
    users = rng.permutation(300_000)
    table = pa.table(
        {"user": users, "epoch": users % 3, "token": users % 300, "weight": users % 9 + 1}
    )
    one = read_profiles(write(tmp_path / "p.csv", table))
    other = read_profiles(write(tmp_path / "p.parquet", table))
    same_people(one, other)
    assert one.users == 300_000


def test_a_byte_order_mark_and_windows_lines_are_fine(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(b"\xef\xbb\xbfuser,epoch,token\r\n1,1,2\r\n")
    assert read_profiles(path).ids.tolist() == [1]


def test_a_taxonomy_is_a_column_and_by_default_the_first(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("ID\tTopic\n350\t/Arts & Entertainment\n1\t/Autos\n")
    assert read_taxonomy(path).tolist() == [1, 350]
    assert read_taxonomy(path, column="Topic").tolist() == ["/Arts & Entertainment", "/Autos"]
    people = read_profiles(write(tmp_path / "p.csv", ROWS), taxonomy=range(1, 700))
    assert people.tokens == 699
