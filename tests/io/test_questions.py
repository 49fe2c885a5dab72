"""The questions to ask of a table: the worst first, each with a command that runs."""

import shlex
from pathlib import Path

import pytest
from tests.cli.tools import call
from tests.io import example_tables
from tests.io.test_inspect import PEOPLE, PLAYS, table

from reidrisk.io.inspect import inspect_file
from reidrisk.io.layouts import Layout
from reidrisk.io.questions import OTHER_TABLE

SAMPLES = "--samples 1,2,4,8 -o items/"
RETURNS = "--count Quantity --returns net --samples 1,2,4,8"
ONE = {"french_customers": Layout(encoding="latin-1")}
WANTED = {
    "movie_log": (
        "unicity {} --user 1 --item 2 --epoch 4", f"items {{}} --user 1 --item 2 {SAMPLES}",
    ),
    "movie_users": ("singling {} --columns 5,2,4,3",),
    "census": ("singling {} --columns 3,1,2,4,5,6,7",),
    "register": ("singling {} --columns date_of_birth,postcode,street_number,suburb,state",),
    "survey": ("singling {} --columns dob,zip,no,town,st",),
    "retail": (
        "unicity {} --user CustomerID --item StockCode --epoch InvoiceDate",
        f"items {{}} --user CustomerID --item StockCode {RETURNS} -o items/",
    ),
    "french_customers": (
        "singling {} --columns 'Code postal,Âge,Ville' --encoding iso8859-1",
    ),
    "german_purchases": (
        "unicity {} --user Kunde --item Artikel --epoch Datum",
        f"items {{}} --user Kunde --item Artikel --count Menge {SAMPLES}",
    ),
    "reviews": (
        "unicity {} --user reviewerID --item asin --epoch unixReviewTime",
        f"items {{}} --user reviewerID --item asin {SAMPLES}",
    ),
    "contacts": ("singling {} --columns birthday,city",),
    "payments": ("unicity {} --user card_holder --epoch paid_at --count paid",),
    "visits_with_people": (
        "singling {} --columns zip,sex --user visitor",
        "unicity {} --user visitor --item page",
        f"items {{}} --user visitor --item page {SAMPLES}",
    ),
}  # fmt: skip


def split(words, path):
    """The words of a command on a file, with its output."""
    verb = words.split()[0]
    output = f" -o {verb}/" if verb in {"singling", "unicity"} else ""
    return shlex.split(f"reidrisk {words.format(shlex.quote(str(path)))}{output}")


@pytest.mark.parametrize("make", example_tables.TABLES, ids=lambda make: make.__name__)
def test_every_suggested_command_runs(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    path = make(tmp_path)
    found = inspect_file(path, ONE.get(make.__name__, Layout()))
    own = [one.command for one in found.suggestions if OTHER_TABLE not in one.command]
    wanted = [split(words, path) for words in WANTED[make.__name__]]
    assert [shlex.split(command) for command in own] == wanted
    assert found.command == own[0]
    for command in own:
        done = call(*shlex.split(command)[1:])
        assert done.returncode == 0, (command, done.stderr)
        assert Path(command.split()[-1], "report.html").exists()


@pytest.mark.parametrize("make", [example_tables.register, example_tables.movie_log])
def test_a_link_with_another_table_runs(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    path = make(tmp_path)
    *_, last = inspect_file(path).suggestions
    words = shlex.split(last.command.replace(OTHER_TABLE, shlex.quote(str(path))))
    assert words[1] == "link"
    done = call(*words[1:], "-q")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "header", "rows", "shape", "words"),
    [
        ("my plays.csv", ("customer", "product", "qty"), PLAYS, "log",
         "unicity {} --user customer --item product"),
        ("p.csv", None, PLAYS, "log", "unicity {} --user 1 --item 2"),
        ("t.csv", ("person", "age", "sex", "mail"), PEOPLE, "table",
         "singling {} --columns age,sex"),
        ("k.csv", ("user", "tokens"), [("a", "1;2"), ("b", "2;3")], "linked",
         "link {} OTHER_TABLE -o link/"),
        ("m.csv", ("user", "representation", "probability"), [("a", "x", "1")], "matrix",
         "bounds {}"),
        ("h.csv", ("user", "timestamp", "domain"),
         [("a", "2023-01-01", "x.org"), ("a", "2023-01-02", "x.org")], "history",
         "unicity {} --user user --item domain --epoch timestamp"),
        ("x.csv", ("cat_id", "name"), [("1", "a"), ("2", "b")], "taxonomy",
         "release topics PEOPLE --taxonomy {} -o seen/"),
        ("-u.csv", ("colour", "n"), [("red", "1"), ("blue", "2"), ("green", "3")], "table",
         "singling {} --columns colour,n"),
        ("v.csv", ("user", "n"), [("red", "1"), ("blue", "1"), ("green", "1")], "unknown",
         "inspect {} --user COLUMN --item COLUMN"),
    ],
)  # fmt: skip
def test_the_first_command_fits_the_table(tmp_path, name, header, rows, shape, words):
    path = table(tmp_path / name, header, rows)
    found = inspect_file(path)
    assert found.shape == shape
    assert shlex.split(found.command) == split(words, path)
    done = call("inspect", path, width=80)
    assert done.returncode == 0, done.stderr
    asked = done.stdout.partition("Next:\n" if len(found.suggestions) == 1 else "worst first:\n")[2]
    blocks = asked.replace("\\\n", "").strip().split("\n\n")
    told = [tuple(line.strip() for line in block.splitlines()) for block in blocks]
    assert [(question, shlex.split(command)) for question, command in told] == [
        (one.question, shlex.split(one.command)) for one in found.suggestions
    ]


def test_a_file_may_be_called_like_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "-u.csv", ("colour", "n"), [("red", "1"), ("blue", "2"), ("green", "3")])
    command = inspect_file("-u.csv").command
    assert command == "reidrisk singling ./-u.csv --columns colour,n -o singling/"
    assert call(*shlex.split(command)[1:]).returncode == 0


def test_a_condition_and_a_form_of_times_stand_in_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = example_tables.retail(tmp_path)
    layout = Layout(epoch="InvoiceDate", where="Quantity > 0", time_format="%m/%d/%Y %H:%M")
    found = inspect_file(path, layout)
    assert found.rows == 1470
    unicity, items, link = (one.command for one in found.suggestions)
    assert "--where 'Quantity > 0'" in unicity
    assert "--time-format '%m/%d/%Y %H:%M'" in unicity
    assert "--returns" not in items
    assert "--time-format" not in link
    assert call(*shlex.split(unicity)[1:], "-q").returncode == 0


def test_what_was_said_stands_in_every_command(tmp_path):
    path = table(tmp_path / "p.txt", None, PLAYS, separator="|")
    found = inspect_file(path, Layout(user="1", item="2", separator="|", header=False))
    assert len(found.suggestions) == 3
    assert all("--separator '|' --no-header" in one.command for one in found.suggestions)
    assert found.columns[0].why == "option"


@pytest.mark.parametrize(
    ("header", "entry", "added"),
    [
        (("user", "item", "count"), ("u1", "", "1"), "--where 'item is not null'"),
        (("user", "item", "count"), ("", "i1", "1"), "--count count --samples"),
        (("user", "item", "count"), ("NA", "i1", "1"), "--count count --samples"),
        (("user", "item", "count"), ("?", "i1", "1"), "--where 'user not in ('\"'\"'?'\"'\"')'"),
        (("user", "item", "count"), ("u1", "i1", "-1"), "--returns net"),
        (("user", "item", "count"), ("u1", "i1", ""), "--where 'count is not null'"),
        (("user", "an item", "count"), ("u1", "", "1"), """--where '"an item" is not null'"""),
        (("user", "item", "count"), ("u1", "i1", "many"), None),
    ],
)
def test_what_would_be_refused_is_left_out_or_the_command_is(
    tmp_path, monkeypatch, header, entry, added
):
    monkeypatch.chdir(tmp_path)
    path = table(tmp_path / "p.csv", header, [*PLAYS, entry])
    found = inspect_file(path, Layout(item=header[1]))
    commands = {one.command.split()[1]: one.command for one in found.suggestions}
    assert ("items" in commands) == (added is not None)
    if added:
        assert added in commands["items"]
    for verb in commands.keys() - {"link"}:
        done = call(*shlex.split(commands[verb])[1:], "-q")
        assert done.returncode == 0, (commands[verb], done.stderr)


def test_rows_without_a_user_are_left_out_of_singling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"u{n % 40}", f"{n % 40 % 7}", f"i{n % 9}") for n in range(200)]
    path = table(tmp_path / "t.csv", ("user", "town", "item"), [*rows, ("", "9", "i1")])
    found = inspect_file(path)
    assert found.describing == ("town",)
    assert "--where 'user is not null'" in found.command
    assert call(*shlex.split(found.command)[1:], "-q").returncode == 0


def test_a_column_with_a_comma_in_its_name_is_left_out_and_that_is_said(tmp_path):
    rows = [(str(n), str(n % 9), str(n % 7)) for n in range(60)]
    found = inspect_file(table(tmp_path / "t.csv", ("user", '"age, in years"', "town"), rows))
    assert found.describing == ("town",)
    assert "age, in years (its name holds a comma: rename it)" in str(found)


def test_lists_of_items_are_asked_as_items(tmp_path):
    frame = {"user": ["a", "b", "c"], "items": [["x", "y"], ["y"], ["x"]]}
    found = inspect_file(frame)
    assert found.shape == "log"
    assert [one.command for one in found.suggestions] == [
        "rr.unicity(frame, user='user', item='items')",
        "rr.items(frame, user='user', item='items', samples=(1, 2, 4, 8))",
        "rr.link(frame, OTHER_TABLE, user='user', item='items')",
    ]


DAYS = [f"2012-03-{1 + n % 28:02}" for n in range(60)]
VALUES = {
    "customer": [f"c{n % 20}" for n in range(60)],
    "nr": [str(n % 20) for n in range(60)],
    "date": DAYS,
    "year": [str(1990 + n // 20) for n in range(60)],
    "number_of_cds": [str(n % 7) for n in range(60)],
    "dollar_value": [f"{n}.{n % 90 + 10}" for n in range(60)],
    "hospital": [str(n % 2) for n in range(60)],
    "town": [f"town{n % 9}" for n in range(60)],
    "review_count": [str(n % 5) for n in range(60)],
}


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        # How many, and yes or no, are no items: the amount says more.
        (("customer", "date", "number_of_cds", "dollar_value", "hospital"),
         "unicity {} --user customer --epoch date --count dollar_value"),
        (("nr", "year", "hospital"), "unicity {} --user nr --epoch year"),
        (("customer", "town", "review_count"),
         f"items {{}} --user customer --item town --count review_count {SAMPLES}"),
    ],
)  # fmt: skip
def test_columns_of_a_log_are_asked_for_what_they_say(tmp_path, monkeypatch, names, wanted):
    monkeypatch.chdir(tmp_path)
    rows = list(zip(*(VALUES[name] for name in names), strict=True))
    path = table(tmp_path / "t.csv", names, rows)
    commands = [shlex.split(one.command) for one in inspect_file(path).suggestions]
    assert split(wanted, path) in commands
    for command in commands:
        if OTHER_TABLE not in command:
            assert call(*command[1:]).returncode == 0


def test_ids_are_those_that_have_a_name(tmp_path):
    rows = [(str(n), f"{n * n + 500}", str(n % 9)) for n in range(1, 40)]
    found = inspect_file(table(tmp_path / "t.csv", ("", "pidnum", "dose"), rows))
    assert [(one.name, one.role) for one in found.columns] == [
        ("1", None), ("pidnum", "user"), ("dose", None),
    ]  # fmt: skip
    assert found.describing == ("dose",)


def test_measurements_are_no_users(tmp_path):
    rows = [(f"{n % 9}.5", f"{n % 7}.25", "ab"[n % 2]) for n in range(60)]
    found = inspect_file(table(tmp_path / "t.csv", None, rows))
    assert (found.shape, found.users) == ("table", None)


def test_keys_that_repeat_are_users_without_times(tmp_path):
    rows = [(f"{n % 9:x}" + 20 * "a7", "", f"band{n % 7}", str(n)) for n in range(60)]
    found = inspect_file(table(tmp_path / "t.tsv", None, rows, "\t"))
    assert (found.users, found.columns[0].role, found.columns[2].role) == (9, "user", "item")


def test_what_differs_for_few_users_is_named_and_is_no_item(tmp_path):
    rows = [
        (f"c{n % 20}", f"2012-03-{1 + n // 2:02}", "moved" if n == 59 else f"town{n % 20}", "f")
        for n in range(60)
    ]
    found = inspect_file(table(tmp_path / "t.csv", ("customer", "day", "town", "sex"), rows))
    town = found.columns[2]
    assert (town.role, town.left_out) == (
        None, "differs between the rows of few users: give each one row to ask about it",
    )  # fmt: skip
    assert "town (differs between the rows of few users" in " ".join(str(found).split())


def test_answers_to_a_question_are_no_users(tmp_path):
    rows = [(str(n % 7), str(20 + n % 50), "fm"[n % 2]) for n in range(300)]
    for names in (("nr", "age", "sex"), None):
        assert inspect_file(table(tmp_path / "t.csv", names, rows)).users is None
