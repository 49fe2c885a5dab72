"""Files that are damaged, huge, or something else than they seem: one sentence each."""

import gzip
import io
import os
import zipfile
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.tools import call
from tests.snapshots import refuses

from reidrisk import InvalidInput
from reidrisk.data import read_plays, read_profiles
from reidrisk.errors import TooLarge
from reidrisk.io import inspect, plays, table_files, tables
from reidrisk.io import unpacking as streams
from reidrisk.io.inspect import inspect_file

HEAD = b"user,epoch,token,weight\n"
READERS = [read_profiles, read_plays, inspect_file]


def saved(path, content):
    path.write_bytes(content)
    return path


def zipped(content, name="t.csv", **how):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def damaged_zip(content):
    """The bytes of the member are changed, so that its checksum is wrong."""
    packed = bytearray(zipped(content))
    packed[45] ^= 0xFF
    return bytes(packed)


WIDE = b",".join([b"user", b"epoch", b"token", *(b"column%06d" % n for n in range(20_000))])
FILES = {
    "UTF-16 without a mark": ("t.csv", "user,item\n1,2\n".encode("utf-16-le"), "UTF-16"),
    "bytes of zero": ("t.csv", HEAD + b"1,1,1,1\n" * 9 + b"\0\0", "not text"),
    "another encoding": ("t.csv", "usér,item\n".encode("latin-1"), "header.*not UTF-8"),
    "truncated gzip": ("t.csv.gz", gzip.compress(HEAD + os.urandom(999).hex().encode())[:-9],
                       "cannot be read to its end; copy it again"),
    "damaged gzip": ("t.csv.gz", gzip.compress(HEAD)[:12] + b"x" * 40, "cannot be read"),
    "no gzip": ("t.csv.gz", HEAD, "not a gz file"),
    "no zip": ("t.zip", HEAD, "not a zip file"),
    "truncated zip": ("t.zip", zipped(HEAD)[:-30], "cannot be read"),
    "damaged zip": ("t.zip", damaged_zip(HEAD + b"1,1,1,1\n"), "cannot be read"),
    "empty zip": ("t.zip", zipped(b"", "folder/") , "there must be one file inside.*nothing"),
    "Parquet in gzip": ("t.parquet.gz.csv.gz", gzip.compress(b"PAR1"), "inside of gzip; unpack"),
    "blank lines": ("t.csv", b"\n\r\n  \n", "no lines with anything"),
    "header twice": ("t.csv", b"user,user,epoch,item,token\n1,1,1,1,1\n",
                     "two columns 'user'|columns 1 and 2 have the same name"),
    "an open quote": ("t.csv", HEAD + b'1,1,1,1\n1,"1,1\n,1,1\n',
                      "line 3: a quote is not closed"),
    "no sheet": ("t.xlsx", b"PK", "not a workbook"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("read", READERS)
def test_bad_files_are_refused_in_one_sentence(tmp_path, case, read):
    name, content, message = FILES[case]
    path = saved(tmp_path / name, content)
    with pytest.raises(InvalidInput, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", FILES)
def test_on_the_command_line_they_are_one_line_and_exit_code_2(tmp_path, case):
    name, content, _ = FILES[case]
    path = saved(tmp_path / name, content)
    done = call("inspect", path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_header_may_be_longer_than_128_kibibytes(tmp_path):
    path = saved(tmp_path / "t.csv", WIDE + b"\n" + b",".join([b"1"] * 20_003) + b"\n")
    assert len(WIDE) > 1 << 17
    assert read_profiles(path).users == 1
    quoted = WIDE.replace(b"column000000", b'"' + b"x" * 140_000 + b'"')
    saved(path, quoted + b"\n" + b",".join([b"1"] * 20_003) + b"\n")
    assert read_profiles(path).users == 1


@pytest.mark.parametrize("read", READERS)
def test_a_line_that_never_ends_is_named(tmp_path, monkeypatch, read):
    monkeypatch.setattr(table_files, "LONGEST", 1 << 20)
    long = b"x" * (5 << 20)
    for content in (long, HEAD + b"1,1,1,1\n" + long + b",1,1,1\n"):
        path = saved(tmp_path / "t.csv", content)
        with refuses("line-too-long"):
            read(path)


@pytest.mark.parametrize("read", READERS)
def test_text_that_is_no_text_is_named_by_its_row(tmp_path, read):
    no_text = pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 3, 4], np.int32)), pa.py_buffer(b"ann\xff")
    )
    for name in ("user", "token"):
        columns = {"user": ["a", "b"], "epoch": [1, 1], "token": ["x", "y"], name: no_text}
        parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
        with refuses("not-utf8"):
            read(tmp_path / "t.parquet")


@pytest.mark.parametrize("pack", [gzip.compress, zipped])
@pytest.mark.parametrize("read", READERS)
def test_what_expands_without_measure_is_stopped(tmp_path, monkeypatch, pack, read):
    monkeypatch.setattr(streams, "ANY_TIMES_UNTIL", 1 << 20)
    monkeypatch.setattr(streams, "PORTION", 1 << 16)
    content = HEAD + b"1,1,1,1\n" * (1 << 18)
    path = saved(tmp_path / "t.zip", pack(content)).rename(
        tmp_path / ("t.zip" if pack is zipped else "t.csv.gz")
    )
    with refuses("suspicious-expansion", TooLarge):
        read(path)
    monkeypatch.setenv("REIDRISK_MOST_EXPANSION", "5000")
    if read is read_plays:
        assert read(path).users == 1
    monkeypatch.setenv("REIDRISK_MOST_EXPANSION", "much")
    with refuses("not-a-whole-number"):
        read(path)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, read, name):
    path = tmp_path / name
    table = pa.table({"user": [1], "epoch": [1], "token": [1]})
    if name == "t.csv":
        saved(path, b"user,epoch,token\n1,1,1\n")
    else:
        parquet.write_table(table, path)
    opened = tables.open_tables

    @contextmanager
    def changing(*arguments):
        with opened(*arguments) as found:
            with path.open("ab") as file:
                file.write(b"2,2,2\n")
            yield found

    for module in (plays, inspect):
        monkeypatch.setattr(module, "open_tables", changing)
    with refuses("file-changed"):
        read(path)


def test_a_zip_file_with_a_password_is_refused(tmp_path):
    packed = bytearray(zipped(HEAD))
    for place in (packed.find(b"PK\x03\x04") + 6, packed.find(b"PK\x01\x02") + 8):
        packed[place] |= 1
    path = saved(tmp_path / "t.zip", bytes(packed))
    with refuses("encrypted-file"):
        read_plays(path)


def test_mixed_types_are_named_and_no_entry_is_quoted(tmp_path):
    saved(tmp_path / "t.csv", HEAD + b"1,1,1,1\n1,1,2,much\n")
    with refuses("malformed-line"):
        read_profiles(tmp_path / "t.csv")
    parquet.write_table(pa.table({"user": [1.5], "item": [1]}), tmp_path / "t.parquet")
    with refuses("wrong-column-type"):
        read_plays(tmp_path / "t.parquet")
