"""Any table or frame opens as the same rows, on a connection that can read nothing else."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.snapshots import refuses
from tests.workbooks import write_workbook

from reidrisk.data import Layout, read_linked, read_plays, read_profiles
from reidrisk.io.table_files import TEXT, sql_text
from reidrisk.io.tables import connect, open_tables, read_table

USERS, ITEMS, COUNTS = ["ann", "bob", "ann", "007"], ["rye", "tea", "öl", "rye"], [1, 2, 3, 4]
COLUMNS = {"user": USERS, "item": ITEMS, "count": COUNTS}
LINES = [f"{u},{i},{n}" for u, i, n in zip(USERS, ITEMS, COUNTS, strict=True)]
WORDS = "user,item,count\n" + "\n".join(LINES) + "\n"


def saved(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, **layout):
    types = {"user": TEXT, "item": TEXT, "count": pa.float64()}
    return read_table(path, types, layout=Layout(**layout))[0].to_pydict()


def zipped(content, how=zipfile.ZIP_LZMA):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", how) as archive:
        archive.writestr("t.csv", content)
    return packed.getvalue()


PACKINGS = {
    "gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped,
    "stored zip": lambda data: zipped(data, zipfile.ZIP_STORED),
}  # fmt: skip


@pytest.mark.parametrize("kind", PACKINGS)
@pytest.mark.parametrize("name", ["t.csv", "u.user"])
def test_packed_files_are_known_by_their_content(tmp_path, kind, name):
    path = saved(tmp_path / name, PACKINGS[kind](WORDS.encode()))
    assert read(path, separator=",", header=True) == COLUMNS
    damaged = bytearray(PACKINGS[kind](WORDS.encode()))
    saved(path, bytes(damaged[: len(damaged) * 2 // 3]))
    with refuses("damaged-file"):
        read(path)


def test_zstandard_is_unpacked(tmp_path):
    raw = pa.BufferOutputStream()
    with pa.CompressedOutputStream(raw, "zstd") as stream:
        stream.write(WORDS.encode())
    assert read(saved(tmp_path / "t.csv.zst", raw.getvalue().to_pybytes())) == COLUMNS


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("utf-16", None), ("utf-16-le", "utf-16-le"), ("latin-1", "latin-1"), ("cp1252", "cp1252")],
)
def test_other_encodings_are_recoded(tmp_path, encoding, said):
    path = saved(tmp_path / "t.csv", WORDS.encode(encoding))
    assert read(path, encoding=said) == COLUMNS


def test_an_encoding_that_must_be_guessed_is_asked_for(tmp_path):
    path = saved(tmp_path / "t.csv", WORDS.replace("user", "usér").encode("latin-1"))
    with refuses("not-utf8"):
        read(path)
    with refuses("not-utf8"):
        read(saved(path, WORDS.encode("utf-16-le")))
    with refuses("not-utf8"):
        read(saved(path, WORDS.encode()), encoding="ascii")
    with refuses("unknown-choice"):
        Layout(encoding="morse")


def frames():
    table = pa.table(COLUMNS)
    yield "dictionary", COLUMNS
    yield "arrow", table
    yield "batch", table.to_batches()[0]
    yield "pandas", pd.DataFrame(COLUMNS)
    yield "polars", pl.DataFrame(COLUMNS)
    yield "relation", duckdb.from_arrow(table)


@pytest.mark.parametrize(("kind", "frame"), list(frames()), ids=lambda one: str(type(one))[-20:])
def test_frames_are_read_as_files_are(tmp_path, kind, frame):
    people = read_plays(saved(tmp_path / "t.csv", WORDS))
    same = read_plays(frame)
    assert same.ids.tolist() == people.ids.tolist() == ["007", "ann", "bob"]
    assert same.labels.tolist() == people.labels.tolist()
    assert same.members.tolist() == people.members.tolist()
    assert same.weights.tolist() == people.weights.tolist()


def test_frames_of_people_and_of_sites_are_read():
    rows = {"user": [1, 2], "epoch": [1, 1], "token": ["x", "y"]}
    assert read_profiles(pd.DataFrame(rows)).users == 2
    table = pl.DataFrame({"user": [1, 2, 3], "item": ["x", "y", "z"]})
    assert read_linked(table, table).truth.tolist() == [0, 1, 2]


def test_json_lines_keep_spellings_and_lists(tmp_path):
    rows = [{"user": u, "item": i, "count": n} for u, i, n in zip(*COLUMNS.values(), strict=True)]
    path = saved(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
    people = read_plays(path)
    assert people.ids.tolist() == ["007", "ann", "bob"]
    assert people.weights.tolist() == read_plays(COLUMNS).weights.tolist()
    lists = [{"user": "ann", "items": ["x", "y"]}, {"user": "bob", "items": ["y"]}]
    people = read_plays(saved(path, "\n".join(map(json.dumps, lists))))
    assert (people.users, people.labels.tolist()) == (2, ["x", "y"])
    with refuses("malformed-line"):
        read_plays(saved(path, '{"user": 1, "item": 2}\n{"user": 1, "item"'))


def test_keys_of_objects_within_objects_are_columns(tmp_path):
    """As tweets and events of analytics are written."""
    odd = "a/b ~ 'c' \"d\""
    rows = [
        {"user": {"id": f"00{row % 3}", odd: row, "geo": {"lat": 1.5}, "tags": ["x", "y"]},
         "page": f"p{row % 4}", "more": None if row else {"deep": [1, 2]}}
        for row in range(12)
    ]  # fmt: skip
    path = saved(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
    with open_tables(path) as opened:
        (file,) = opened.files
        found = opened.arrow(
            f"select {', '.join(map(file.column, file.names))} from {file.relation}"
        )
    assert file.names == (
        "user.id", f"user.{odd}", "user.geo", "user.tags", "page", "more.deep",
    )  # fmt: skip
    assert file.lists == ("user.tags", "more.deep")
    columns = [column.to_pylist() for column in found.columns]
    assert columns[0] == [row["user"]["id"] for row in rows]
    assert columns[1] == [str(row["user"][odd]) for row in rows]
    assert [json.loads(one) for one in columns[2]] == [row["user"]["geo"] for row in rows]
    assert columns[3] == [row["user"]["tags"] for row in rows]
    assert columns[5] == [["1", "2"]] + [None] * 11
    layout = Layout(user="user.id", item="page")
    plain = saved(tmp_path / "t.csv", "user,item\n" + "".join(
        f"{row['user']['id']},{row['page']}\n" for row in rows))  # fmt: skip
    people, wanted = read_plays(path, layout=layout), read_plays(plain)
    assert people.ids.tolist() == wanted.ids.tolist() == ["000", "001", "002"]
    assert people.members.tolist() == wanted.members.tolist()


def test_sheets_are_read(tmp_path):
    rows = [("user", "item", "count"), *zip(USERS, ITEMS, COUNTS, strict=True)]
    write_workbook(tmp_path / "t.xlsx", rows)
    assert read(tmp_path / "t.xlsx") == COLUMNS


@pytest.mark.parametrize("name", ["a[1].csv", "what?.csv", "it's {x}*.csv", "ü.csv", "a b.csv"])
def test_names_of_files_are_no_patterns(tmp_path, name):
    saved(tmp_path / "a1.csv", "user,item,count\nzoe,x,1\n")
    assert read(saved(tmp_path / name, WORDS)) == COLUMNS


def test_wildcards_are_folders(tmp_path):
    for part, users in (("a", ["ann"]), ("b", ["bob"])):
        parquet.write_table(pa.table({"user": users, "item": ["x"]}), tmp_path / f"{part}.parquet")
    assert read_plays(tmp_path / "*.parquet").ids.tolist() == ["ann", "bob"]


def test_a_connection_reads_nothing_else(tmp_path):
    """Whatever a query says, other files, the network and extensions are out of reach."""
    mine, other = saved(tmp_path / "mine.csv", WORDS), saved(tmp_path / "other.csv", WORDS)
    with open_tables(mine) as opened:
        run = opened.connection.execute
        assert run(f"select count(*) from {opened.files[0].relation}").fetchall() == [(4,)]
        for query in (
            f"select * from read_csv({sql_text(other)})",
            f"select * from read_text({sql_text(other)})",
            f"select * from {sql_text(other)}",
            f"select * from glob({sql_text(tmp_path / '*')})",
            f"copy (select 1) to {sql_text(tmp_path / 'out.csv')}",
            f"attach {sql_text(tmp_path / 'x.db')}",
            "select * from read_csv('https://example.org/t.csv')",
            "install httpfs",
            "load httpfs",
            "set enable_external_access = true",
            "set allowed_paths = ['/']",
            "set threads = 9",
            "reset lock_configuration",
        ):
            with pytest.raises(duckdb.Error):
                run(query).fetchall()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.csv", "other.csv"]


def test_frames_of_the_caller_are_not_looked_for(tmp_path):
    secret = pa.table({"a": [1]})
    connection = connect((), tmp_path)
    with pytest.raises(duckdb.Error):
        connection.execute("select * from secret")
    connection.close()
    del secret


def test_private_copies_are_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = saved(tmp_path / "t.csv.gz", gzip.compress(WORDS.encode()))
    with open_tables(path) as opened:
        (folder,) = (one for one in tmp_path.iterdir() if one.is_dir())
        assert folder.stat().st_mode & 0o077 == 0
        assert opened.files[0].text.parent == folder
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_last_line_without_a_carriage_return_is_a_line(tmp_path, pack):
    """Far below the lines that are looked at first."""
    lines = b"user,item,count\r\n" + b"ann,rye,1\r\n" * 40_000
    path = saved(tmp_path / "t.csv", pack(lines + b"bob,tea,2\n"))
    found = read(path)
    assert len(found["user"]) == 40_001
    assert (found["user"][-1], found["item"][-1], found["count"][-1]) == ("bob", "tea", 2)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["0,5", "1", "1.299,00"], [0.5, 1.0, 1299.0]),
        (["1.234.567", "2,5", "-3,25"], [1234567.0, 2.5, -3.25]),
        (["0,125", "1,250"], [0.125, 1.25]),
        (["1.299", "2.5"], [1.299, 2.5]),
    ],
)
def test_decimals_may_come_after_a_comma(tmp_path, entries, expected):
    lines = [f"u{n};x;{entry}" for n, entry in enumerate(entries)]
    path = saved(tmp_path / "t.csv", "user;item;count\n" + "\n".join(lines) + "\n")
    assert read(path)["count"] == expected


@pytest.mark.parametrize("entries", [["1,234", "2,345"], ["1,5", "2.5"], ["1,5", "12.34,5"]])
def test_a_comma_that_may_part_thousands_is_refused(tmp_path, entries):
    lines = [f"u{n};x;{entry}" for n, entry in enumerate(entries)]
    path = saved(tmp_path / "t.csv", "user;item;count\n" + "\n".join(lines) + "\n")
    with refuses("malformed-line"):
        read(path)
