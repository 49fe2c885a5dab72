"""What commands write: never over what they read, nor over what is no file."""

import os
import stat
import threading
from pathlib import Path

import pytest
from tests.cli.tools import TINY, call
from tests.snapshots import refuses, says

PAIRS = "user,tokens\nann,x;y\nbob,y;z\ncid,z;x\n"
PEOPLE = "user,epoch,token\n" + "".join(
    f"{user},{epoch},t{(user + epoch * token) % 9}\n"
    for user in range(8)
    for epoch in (1, 2)
    for token in range(1, 6)
    if (epoch * token) % 9
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run, and its study file."""
    place = tmp_path_factory.mktemp("finished")
    (place / "study.toml").write_text(TINY)
    assert call("study", place / "study.toml", "-o", place / "run", "-q").returncode == 0
    return place


@pytest.fixture
def place(tmp_path, finished):
    for name, text in (("k.csv", PAIRS), ("a.csv", PAIRS), ("people.csv", PEOPLE)):
        (tmp_path / name).write_text(text)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "result.json").write_bytes((finished / "run/result.json").read_bytes())
    (tmp_path / "users.csv").write_text("user,item\n1,a\n1,b\n2,a\n2,c\n")
    return tmp_path


def everything(place):
    return {
        str(file.relative_to(place)): file.read_bytes()
        for file in place.rglob("*")
        if file.is_file()
    }


COMMANDS = [
    (("link", "k.csv", "a.csv", "-o", "OUT"), "k.csv", "x.json"),
    (("link", "k.csv", "a.csv", "-o", "OUT"), "a.csv", "x.json"),
    (("singling", "people.csv", "--columns", "token", "-o", "OUT"), "people.csv", "x.html"),
    (
        ("singling", "people.csv", "--columns", "token", "--records", "OUT"),
        "people.csv",
        "x.parquet",
    ),
    (("unicity", "users.csv", "-o", "OUT"), "users.csv", "x.html"),
    (("report", "run", "-o", "OUT"), "run/result.json", "x.html"),
    (("report", "run/result.json", "-o", "OUT"), "run/result.json", "x.html"),
    (("compare", "run", "run", "-o", "OUT"), "run/result.json", "x.html"),
    (("items", "users.csv", "-o", "OUT"), "users.csv", "x.json"),
]


@pytest.mark.parametrize(("words", "read", "written"), COMMANDS)
@pytest.mark.parametrize("how", ["the same name", "a hard link", "a symbolic link"])
def test_no_output_takes_the_place_of_an_input(place, monkeypatch, words, read, written, how):
    """Whatever it is called."""
    monkeypatch.chdir(place)
    if how == "the same name":
        written = f"./{read}"
    elif how == "a hard link":
        os.link(read, written)
    else:
        Path(written).symlink_to(place / read)
    before = everything(place)
    done = call(*(written if word == "OUT" else word for word in words))
    assert done.returncode == 2, done
    assert "is read" in done.stderr or "cannot be made" in done.stderr
    assert everything(place) == before
    assert Path(written).is_symlink() == (how == "a symbolic link")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("release", "topics", "known.parquet", "-o", "."), "known.parquet"),
        (("release", "topics", "folder", "-o", "folder"), "folder/anonymous.parquet"),
        (("items", "users.parquet", "-o", ".", "--with-users"), "users.parquet"),
    ],
)
def test_no_folder_is_filled_over_an_input(place, monkeypatch, words, name):
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.chdir(place)
    (place / "folder").mkdir()
    rows = [line.split(",") for line in PEOPLE.splitlines()[1:]]
    columns = dict(zip(("user", "epoch", "item"), map(list, zip(*rows, strict=True)), strict=True))
    if words[0] == "release":
        columns["token"] = columns.pop("item")
    parquet.write_table(pa.table(columns), place / name)
    before = everything(place)
    done = call(*words)
    assert done.returncode == 2, done
    says(done.stderr)
    assert everything(place) == before


def test_a_table_that_a_study_reads_is_no_list_of_users(place, monkeypatch):
    """The study file names it, not the command."""
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.chdir(place)
    rows = [line.split(",") for line in PEOPLE.splitlines()[1:]]
    columns = zip(("user", "epoch", "token"), map(list, zip(*rows, strict=True)), strict=True)
    parquet.write_table(pa.table(dict(columns)), place / "users.parquet")
    (place / "mine.toml").write_text(
        'attacks = ["hamming"]\n[people]\nkind = "table"\npath = "users.parquet"\n'
    )
    before = (place / "users.parquet").read_bytes()
    done = call("study", "mine.toml", "-o", ".", "--with-users")
    assert (place / "users.parquet").read_bytes() == before
    assert done.returncode == 2, done
    assert "users.parquet" in done.stderr
    again = [call("study", "mine.toml", "-o", "other", "--with-users") for _ in range(2)]
    assert [one.returncode for one in again] == [0, 0], again


def test_a_page_goes_through_a_pipe(place):
    pipe, got = place / "pipe.html", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    done = call("report", place / "run", "-o", pipe, "-q")
    assert done.returncode == 0, done.stderr
    reader.join()
    assert got[0].startswith("<!doctype html>")
    assert pipe.is_fifo()


def test_a_link_stays_a_link(place):
    (place / "elsewhere.html").write_text("old")
    (place / "page.html").symlink_to("elsewhere.html")
    done = call("report", place / "run", "-o", place / "page.html")
    assert done.returncode == 2
    assert "is a link" in done.stderr
    assert (place / "elsewhere.html").read_text() == "old"
    assert (place / "page.html").is_symlink()


def test_the_log_follows_no_link(place):
    (place / "run2").mkdir()
    (place / "secret").write_text("mine")
    (place / "run2" / "log.txt").symlink_to(place / "secret")
    (place / "study.toml").write_text(TINY)
    done = call("study", place / "study.toml", "-o", place / "run2", "-q")
    assert done.returncode == 2, done
    says(done.stderr)
    assert (place / "secret").read_text() == "mine"


def test_a_log_that_becomes_a_link_under_way_is_not_followed(place):
    from reidrisk.core.files import append

    (place / "secret").write_text("mine")
    (place / "log.txt").symlink_to(place / "secret")
    with refuses("path-is-link"):
        append(place / "log.txt", "text")
    os.mkfifo(place / "pipe.txt")
    with refuses("cannot-write"):
        append(place / "pipe.txt", "text")
    assert (place / "secret").read_text() == "mine"


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_only_the_owner_may_read_people(tmp_path, name):
    assert call("synth", "topics", "--users", "20", "-o", tmp_path / name).returncode == 0
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
