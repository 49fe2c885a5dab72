"""What a file looks like: counted exactly, nobody shown, and who is alone in it."""

import json
import random
from collections import Counter
from statistics import mean, median

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.tools import call
from tests.shared_data import DATA, needs_data

import reidrisk as rr
from reidrisk.errors import InvalidInput
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
    often = Counter(song for _, song, _ in PLAYS)
    assert often[item.examples[0]] == max(often.values())
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
    assert (found.shape, found.columns[0].examples) == ("log", ())


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
    found = inspect_file(table(tmp_path / "q.csv", ("kupac", "product", "sex"), nobody))
    assert [one.examples for one in found.columns] == [(), ("rye",), ()]


def test_long_files_are_looked_at_in_part_and_that_is_said(tmp_path, monkeypatch):
    path = plays(tmp_path / "p.csv")
    monkeypatch.setattr(inspect, "MOST_ROWS", 100)
    found = inspect_file(path)
    assert found.looked_at == 100
    assert found.rows == inspect_file(path).rows > 100
    done = call("inspect", path)
    assert "400 rows" in done.stdout
    assert "from the first 100 rows" in " ".join(done.stdout.split())


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


def alone_by(rows, *places):
    """How many rows are alone by some columns, as pandas counts them."""
    frame = pd.DataFrame(rows)
    return int((~frame.duplicated(list(places), keep=False)).sum())


def test_every_describing_column_is_suggested_the_most_identifying_first(tmp_path):
    """ZIP codes and dates of birth too, however many values they have."""
    rows = [
        (str(n), str(chance.randrange(20, 60)), chance.choice("fm"),
         str(chance.randrange(10**4, 10**5)),
         f"19{chance.randrange(40, 99)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 28):02}",
         "here")
        for n in range(300)
    ]  # fmt: skip
    names = ("user_id", "age", "sex", "zip", "born", "place")
    found = inspect_file(table(tmp_path / "t.csv", names, rows))
    alone = {name: alone_by(rows, place) for place, name in enumerate(names)}
    assert {one.name: one.alone for one in found.columns} == alone
    assert found.describing == tuple(
        sorted(("zip", "born", "age", "sex"), key=lambda name: -alone[name])
    )
    assert (found.alone, found.people) == (alone_by(rows, 1, 2, 3, 4), 300)
    assert [one.left_out for one in found.columns] == [
        "the user",
        "",
        "",
        "",
        "",
        "same in every row",
    ]
    risk = rr.singling(str(tmp_path / "t.csv"), columns=found.describing)
    assert (risk.unique, risk.people) == (found.alone, found.people)


def test_in_a_log_people_are_alone_with_a_value_that_nobody_else_has(tmp_path):
    people = {f"u{n}": (chance.choice("fm"), str(chance.randrange(12))) for n in range(40)}
    rows = [
        (user, str(chance.randrange(90)), *people[user])
        for user in chance.choices(list(people), k=500)
    ]
    found = inspect_file(table(tmp_path / "t.csv", ("user", "item", "sex", "town"), rows))
    frame = pd.DataFrame(rows, columns=["user", "item", "sex", "town"])
    for column in found.columns[1:]:
        holders = frame.groupby(column.name)["user"].nunique()
        mine = frame[frame[column.name].isin(holders[holders == 1].index)]
        assert column.alone == mine["user"].nunique()
    each = frame.drop_duplicates(["user", "sex", "town"])
    assert found.describing[0] == "town"
    assert found.alone == alone_by(each[["sex", "town"]].to_numpy().tolist(), 0, 1)
    assert found.people == frame["user"].nunique()
    assert found.columns[1].left_out == "differs between the rows of a user"


def test_rows_that_come_again_are_said_and_those_of_a_user_are_one_person(tmp_path):
    rows = [
        (
            str(n),
            str(chance.randrange(20, 60)),
            chance.choice("fm"),
            str(1000 + chance.randrange(70)),
        )
        for n in range(120)
    ]
    more = [*rows, *rows[:40]]
    names = ("member", "age", "sex", "zip")
    found = inspect_file(table(tmp_path / "t.csv", names, more))
    assert (found.alone, found.people) == (alone_by(rows, 1, 2, 3), 120)
    assert [one.command.split()[1] for one in found.suggestions] == ["singling"]
    assert "--user member" in found.command
    found = inspect_file(table(tmp_path / "s.csv", names[1:], [row[1:] for row in more]))
    frame = pd.DataFrame([row[1:] for row in more])
    assert found.repeated == int(frame.duplicated().sum()) >= 40
    assert f"{found.repeated} rows are the same as an earlier one" in str(found)


def test_signs_for_no_value_are_said_and_counted(tmp_path):
    rows = [
        (str(n), chance.choice(["?", "Private", ""]), chance.choice(["NA", "-", "x"]))
        for n in range(90)
    ]
    found = inspect_file(table(tmp_path / "t.csv", ("user", "work", "more"), rows))
    _, work, more = found.columns
    assert (work.blank, work.signs) == (sum(row[1] == "?" for row in rows), ("?",))
    assert work.empty == sum(row[1] == "" for row in rows)
    assert set(more.signs) == {"NA", "-"}
    assert more.blank == sum(row[2] != "x" for row in rows)
    assert "?" not in work.examples
    assert "In work, ? stands for no value" in str(found)


def test_direct_identifiers_are_warned_of_and_left_out(tmp_path):
    rows = [
        (f"c{n}", f"p{n}@example.org", f"+43 664 {1000000 + 7 * n}", str(20 + n % 9))
        for n in range(60)
    ]
    path = table(tmp_path / "t.csv", ("customer", "contact", "call", "age"), rows)
    found = inspect_file(path)
    assert [one.content for one in found.columns] == [
        "ids",
        "e-mail addresses",
        "phone numbers",
        None,
    ]
    (warning,) = found.warnings
    assert "contact (e-mail addresses), call (phone numbers)" in warning
    assert "remove them" in warning
    assert found.describing == ("age",)
    shown = "".join((str(found), found._repr_html_(), json.dumps(found.record), repr(found),
                     call("inspect", path, "--json").stdout))  # fmt: skip
    assert not any(cell in shown for row in rows for cell in row[:3])
    assert "Warning: The table holds direct identifiers" in call("inspect", path).stdout


def test_a_column_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no column 'custmer'"):
        inspect_file(plays(tmp_path / "p.csv"), Layout(user="custmer"))


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("order_id", "age"), None),  # numbers orders, not people
        (("no", "age"), "no"),
        (("age", "no"), "no"),
    ],
)
def test_ids_are_those_of_people_and_of_nothing_else(tmp_path, names, kept):
    numbers = [str(1000 + n) for n in range(90)]
    ages = [str(chance.randrange(20, 60)) for _ in numbers]
    by_name = {"age": ages}
    rows = list(zip(*(by_name.get(name, numbers) for name in names), strict=True))
    found = inspect_file(table(tmp_path / "t.csv", names, rows))
    assert next((one.name for one in found.columns if one.role == "user"), None) == kept
    assert found.describing == ("age",)


def test_numbers_that_many_share_describe_people(tmp_path):
    rows = [(str(n), str(n % 7), str(n % 40)) for n in range(120)]
    found = inspect_file(table(tmp_path / "t.csv", ("user", "department_id", "house_no"), rows))
    assert found.describing == ("house_no", "department_id")


def test_ages_and_choices_in_the_first_column_are_no_users(tmp_path):
    ages = [str(chance.randrange(17, 90)) for _ in range(400)]
    rows = [(age, chance.choice(["Private", "?"]), str(chance.randrange(10**6))) for age in ages]
    found = inspect_file(table(tmp_path / "adult.data", None, rows, ", "))
    assert found.users is None
    assert set(found.describing) == {"1", "2", "3"}
    flags = [
        (str(10_000 + 17 * n), chance.choice("yn"), chance.choice(["rye", "oat"]))
        for n in range(80)
    ]
    found = inspect_file(table(tmp_path / "m.csv", ("zip", "member", "product"), flags))
    assert found.users is None
    assert "member" in found.describing


def test_a_frame_is_inspected_as_a_file_and_told_to_call_python(tmp_path):
    frame = pd.DataFrame(PEOPLE, columns=["person", "age", "sex", "mail"])
    found = inspect_file(frame)
    filed = inspect_file(table(tmp_path / "t.csv", ("person", "age", "sex", "mail"), PEOPLE))
    assert found.columns == filed.columns
    assert found.suggestions[0].command == "rr.singling(frame, columns=('age', 'sex'))"
    told = found.to_frame()
    assert list(told["name"]) == ["person", "age", "sex", "mail"]
    assert list(told["alone"]) == [one.alone for one in found.columns]


def test_numbers_too_long_for_a_machine_and_records_can_be_looked_at():
    long = {"a": [str(10**45 + n) for n in range(30)], "b": [str(n % 3) for n in range(30)]}
    assert inspect_file(long).describing == ("b",)
    records = pa.table({"user": ["a", "b"], "more": [{"x": 1}, {"x": 2}]})
    assert inspect_file(records).shape == "unknown"


def test_notebooks_show_columns_and_commands_escaped(tmp_path):
    rows = [(str(n), str(n % 5)) for n in range(60)]
    found = inspect_file(table(tmp_path / "t.csv", ("user", "<b>age</b>"), rows))
    page = found._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;age&lt;/b&gt;" in page
    assert page.count("<pre>") == len(found.suggestions)


@needs_data
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("completejourney_household_week_category.csv.gz",
         "--user household_id --item cat_id --epoch week"),
        ("anonymous-msweb.data", "--user user --item item"),
        ("lastfm2k_user_artists.dat", "--user 1 --item 2"),
        ("msd_tasteprofile_10000_head.txt.gz", "--user 1 --item 2"),
    ],
)  # fmt: skip
def test_real_files_lead_to_their_command(name, words):
    found = inspect_file(DATA / name)
    assert found.command == f"reidrisk unicity {DATA / name} {words} -o unicity/"
    verbs = [one.command.split()[1] for one in found.suggestions]
    assert verbs == ["unicity", "items", "link"]


@needs_data
def test_lists_of_items_are_no_people():
    for name in ("completejourney_categories.csv", "chrome_taxonomy_v2.tsv"):
        assert inspect_file(DATA / name).shape == "taxonomy"


@pytest.mark.parametrize("often", [1, 3])
def test_a_wide_table_takes_no_more_queries_than_a_narrow_one(often, tmp_path, monkeypatch):
    asked = []
    run = inspect.OpenTables.run
    monkeypatch.setattr(
        inspect.OpenTables, "run", lambda *given: asked.append(given[1]) or run(*given)
    )
    taken = []
    for width in (3, 90):
        names = ("user", *(f"x{place}" for place in range(width)))
        rows = [(f"u{n // often}", *(str(chance.randrange(9)) for _ in range(width)))
                for n in range(30)]  # fmt: skip
        found = inspect_file(table(tmp_path / f"{width}.csv", names, rows))
        assert len(found.columns) == width + 1
        taken.append(len(asked))
        asked.clear()
    assert taken[0] == taken[1]


def test_people_are_alone_by_all_columns_of_a_wide_table(tmp_path):
    # Only the last column but one tells the first two people apart.
    rows = [(*(str(max(n, 1)) for _ in range(60)), "ab"[n > 0], "x") for n in range(9)]
    names = (*(f"x{place}" for place in range(60)), "kind", "same")
    found = inspect_file(table(tmp_path / "t.csv", names, rows))
    assert (found.alone, found.people, found.repeated) == (9, 9, 0)
    again = inspect_file(table(tmp_path / "u.csv", names, [*rows, rows[0]]))
    assert (again.alone, again.people, again.repeated) == (8, 10, 1)


def test_a_log_may_have_nothing_but_users_and_lists():
    found = rr.inspect(pa.table({"user": [1, 1, 2], "tokens": [["a"], ["b", "c"], ["a"]]}))
    assert (found.users, found.rows, found.describing) == (2, 3, ())
    assert found.columns[0].alone == 2
