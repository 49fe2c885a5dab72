"""What a file looks like: counted exactly, nobody shown, and a command that can be run."""

import json
import random
import shlex
from collections import Counter
from dataclasses import replace
from statistics import mean, median

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.tools import call
from tests.shared_data import DATA, needs_data

from reidrisk.io import inspect
from reidrisk.io.inspect import inspect_file
from reidrisk.io.layouts import Layout

chance = random.Random(5)  # noqa: S311  a test
PLAYS = [
    (f"listener-{chance.randrange(30)}", f"song{chance.randrange(9)}", str(chance.randrange(5)))
    for _ in range(400)
]
PEOPLE = [(str(1000 + n), str(chance.randrange(20, 30)), chance.choice("fm"), f"p{n}@example.org")
          for n in range(60)]  # fmt: skip


def table(path, header, rows, separator=","):
    lines = [header, *rows] if header else rows
    path.write_text("\n".join(separator.join(line) for line in lines) + "\n")
    return path


def plays(path, header=("customer", "product", "qty")):
    return table(path, header, PLAYS)


def test_everything_is_counted(tmp_path):
    found = inspect_file(plays(tmp_path / "p.csv"))
    rows = Counter(user for user, _, _ in PLAYS).values()
    assert (found.rows, found.looked_at, found.users) == (400, 400, len(rows))
    assert found.rows_per_user.least == min(rows)
    assert found.rows_per_user.most == max(rows)
    assert found.rows_per_user.median == median(rows)
    assert found.rows_per_user.mean == mean(rows)
    assert found.facts == {"format": "text", "separator": '","', "header": "yes"}
    user, item, count = found.columns
    columns = zip(*PLAYS, strict=True)
    assert [one.distinct for one in found.columns] == [len(set(column)) for column in columns]
    assert [one.role for one in found.columns] == ["user", "item", "count"]
    assert {one.why for one in found.columns} == {"name"}
    assert [one.kind for one in found.columns] == ["text", "text", "whole numbers"]
    common = [song for song, _ in Counter(song for _, song, _ in PLAYS).most_common()]
    assert item.examples[0] == common[0]
    assert user.examples == ()
    assert set(count.examples) <= set("01234")


def test_users_are_never_shown_nor_what_looks_like_them(tmp_path):
    names = ("person", "age", "sex", "mail")
    done = call("inspect", table(tmp_path / "t.csv", names, PEOPLE * 20))
    assert done.returncode == 0
    assert "@" not in done.stdout
    assert "1007" not in done.stdout
    done = call("inspect", plays(tmp_path / "p.csv"), "--json")
    assert "listener" not in done.stdout


@pytest.mark.parametrize(
    "value",
    ["a@b.org", "+43 1 234 56 78", "b80344d063b5ccb3212f", "SOAKIMP12A8C130995", "0664-1234567",
     "4111 1111 1111 1111", "550e8400-e29b-41d4-a716-446655440000", "12345678"],
)  # fmt: skip
def test_what_looks_like_an_identifier_is_not_shown(tmp_path, value):
    rows = [(user, value if song == "song1" else "rye bread", "1") for user, song, _ in PLAYS]
    found = inspect_file(table(tmp_path / "p.csv", ("user", "item", "n"), rows))
    assert found.columns[1].examples == ()
    assert found.columns[1].distinct == 2


def test_where_nobody_knows_who_the_users_are_nobody_is_shown(tmp_path):
    rows = [(user, song, n) for user, song, n in PLAYS for _ in range(20)]
    found = inspect_file(table(tmp_path / "p.csv", ("kupac", "proizvod", "broj"), rows))
    assert found.shape == "table"
    assert [one.examples for one in found.columns] == [(), (), ()]
    assert "say so with --user" in found.meaning
    found = inspect_file(table(tmp_path / "q.csv", ("Kunde", "Artikel", "Menge"), rows))
    assert (found.shape, found.columns[0].examples) == ("plays", ())


def test_values_that_few_rows_share_are_not_shown(tmp_path):
    rows = [("a", "x"), ("b", "x"), ("a", "y")] * 3
    found = inspect_file(table(tmp_path / "p.csv", ("user", "item"), rows))
    assert found.columns[1].examples == ()


def test_what_one_person_has_in_many_rows_is_not_shown(tmp_path):
    """Twelve orders of one customer go to one address, and to one nickname."""
    rows = [(f"c{n % 4}", f"{n % 4} Elm Street", "rye") for n in range(48)]
    rows += [(f"d{n}", "Oak Lane", "rye") for n in range(10)]
    found = inspect_file(table(tmp_path / "p.csv", ("customer", "address", "product"), rows))
    assert [one.examples for one in found.columns] == [(), (), ("rye",)]
    nobody = [(f"nick {n % 60}", "rye", "f") for n in range(900)]
    found = inspect_file(table(tmp_path / "q.csv", ("nick", "product", "sex"), nobody))
    assert [one.examples for one in found.columns] == [(), ("rye",), ()]


@pytest.mark.parametrize(
    ("name", "header", "rows", "shape", "words"),
    [
        ("my plays.csv", ("customer", "product", "qty"), PLAYS, "plays",
         "plays {} --user customer --item product --count qty --samples 1,2,4,8 -o run/"),
        ("p.csv", None, PLAYS, "plays",
         "plays {} --user 1 --item 2 --count 3 --samples 1,2,4,8 -o run/"),
        ("t.csv", ("person", "age", "sex", "mail"), PEOPLE, "table",
         "singling {} --columns age,sex"),
        ("k.csv", ("user", "tokens"), [("a", "1;2"), ("b", "2;3")], "linked",
         "link {} ANONYMOUS -o run/"),
        ("m.csv", ("user", "representation", "probability"), [("a", "x", "1")], "matrix",
         "bounds {}"),
        ("h.csv", ("user", "timestamp", "domain"), [("a", "2023-01-01", "x.org")], "history",
         "study new"),
        ("x.csv", ("cat_id", "name"), [("1", "a"), ("2", "b")], "taxonomy",
         "release topics PEOPLE --taxonomy {} -o seen/"),
        ("u.csv", ("colour", "n"), [("red", "1"), ("blue", "2"), ("green", "3")], "unknown",
         "inspect {} --user COLUMN --item COLUMN"),
    ],
)  # fmt: skip
def test_the_next_command_fits_the_table(tmp_path, name, header, rows, shape, words):
    path = table(tmp_path / name, header, rows)
    found = inspect_file(path)
    assert found.shape == shape
    wanted = shlex.split("reidrisk " + words.format(shlex.quote(str(path))))
    assert shlex.split(found.command) == wanted
    done = call("inspect", path, width=80)
    assert done.returncode == 0, done.stderr
    *_, last = done.stdout.partition("Next:\n\n  " if shape != "unknown" else "again:\n\n  ")
    assert shlex.split(last.replace("\\\n", "")) == shlex.split(found.command)


def test_what_was_said_stands_in_the_next_command(tmp_path):
    path = table(tmp_path / "p.txt", None, PLAYS, separator="|")
    found = inspect_file(path, Layout(user="1", item="2", separator="|", header=False))
    assert found.command.endswith("--user 1 --item 2 --separator '|' --no-header "
                                  "--samples 1,2,4,8 -o run/")  # fmt: skip
    assert found.columns[0].why == "option"


def test_the_command_that_is_advised_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(inspect_file(plays(tmp_path / "my plays.csv")).command)
    assert call(*words[1:]).returncode == 0


def test_long_files_are_looked_at_in_part_and_that_is_said(tmp_path, monkeypatch):
    from reidrisk.io.formats import delimited

    path = plays(tmp_path / "p.csv")
    monkeypatch.setattr(inspect, "MOST_ROWS", 100)
    monkeypatch.setattr(delimited, "BLOCK", 1 << 10)
    found = inspect_file(path)
    assert 100 <= found.looked_at < 200
    assert found.rows % 1000 == 0
    monkeypatch.setattr(inspect, "inspect_file", lambda *_, **__: replace(found, rows=48_000_000))
    done = call("inspect", path)
    assert "about 48,000,000 rows" in done.stdout
    assert f"from the first {found.looked_at} rows" in done.stdout


def test_columns_of_too_many_values_are_not_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect, "MOST_DISTINCT", 5)
    found = inspect_file(plays(tmp_path / "p.csv"))
    assert [one.distinct for one in found.columns] == [None, None, 5]
    assert found.users is None
    assert "many" in call("inspect", tmp_path / "p.csv").stdout


def test_empty_entries_and_types_of_parquet(tmp_path):
    rows = {"user": [1, 1, 2, None], "item": ["x", "", None, "y"], "when": [1.5, None, 2.5, 2.5],
            "lists": [[1], None, [2, 3], []]}  # fmt: skip
    parquet.write_table(pa.table(rows), tmp_path / "t.parquet")
    found = inspect_file(tmp_path / "t.parquet")
    assert [one.empty for one in found.columns] == [1, 2, 1, 1]
    assert [one.kind for one in found.columns] == ["whole numbers", "text", "numbers", "lists"]
    assert [one.distinct for one in found.columns] == [2, 2, 2, None]
    assert found.facts == {"format": "Parquet"}


def test_json_holds_the_same(tmp_path):
    done = call("inspect", plays(tmp_path / "p.csv"), "--json", "--user", "customer")
    found = json.loads(done.stdout)
    assert found["schema"] == "reidrisk/1"
    assert found["inspection"]["users"] == 30
    assert found["inspection"]["columns"][0]["why"] == "option"
    assert call("inspect", tmp_path / "p.csv", "--quiet").stdout == ""


@needs_data
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("completejourney_household_week_category.csv.gz",
         "--user household_id --item cat_id --count items"),
        ("anonymous-msweb.data", "--user user --item item"),
        ("lastfm2k_user_artists.dat", "--user 1 --item 2 --count 3"),
        ("msd_tasteprofile_10000_head.txt.gz", "--user 1 --item 2 --count 3"),
    ],
)  # fmt: skip
def test_real_files_lead_to_their_command(name, words):
    command = inspect_file(DATA / name).command
    assert command == f"reidrisk plays {DATA / name} {words} --samples 1,2,4,8 -o run/"
