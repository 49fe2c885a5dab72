"""`reidrisk singling` and `reidrisk unicity`."""

import json

import pytest
from pyarrow import parquet
from tests.cli.tools import call
from tests.snapshots import says

import reidrisk as rr

PEOPLE = """id,town,age
anna,Ham,7
ben,Ham,7
carla,Ham,
dora,Eck,9
"""
REGISTER = "town,age\nHam,7\nHam,7\nHam,7\nHam,\n"
SALES = """who;when;paid
anna;2023-05-17;10.10
anna;2023-05-18;4
ben;2023-05-17;9.70
ben;2023-05-18;4
"""


@pytest.fixture
def files(tmp_path):
    for name, content in (("people.csv", PEOPLE), ("register.csv", REGISTER), ("sales.csv", SALES)):
        (tmp_path / name).write_text(content)
    return tmp_path


def test_singling_says_who_is_alone(files):
    done = call("singling", files / "people.csv", "--columns", "town,age", "--user", "id")
    assert done.returncode == 0, done.stderr
    says(done.stdout)
    assert not any(secret in done.stdout for secret in ("anna", "Eck", "Ham"))


def test_all_columns_that_describe_people_are_known_if_none_is_named(files):
    done = call("singling", files / "people.csv")
    assert done.returncode == 0, done.stderr
    assert "all that describe people are known: age, town." in " ".join(done.stdout.split())
    named = rr.singling(files / "people.csv", columns=["age", "town"])
    assert rr.singling(files / "people.csv") == named


def test_singling_prints_json_and_writes_k_and_a_page(files):
    done = call(
        "singling", files / "people.csv", "--columns", "town,age", "--register",
        files / "register.csv", "--json", "--records", files / "k.parquet",
        "-o", files / "page.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["schema"] == "reidrisk/1"
    found = rr.singling(
        files / "people.csv", columns=["town", "age"], register=files / "register.csv"
    )
    assert printed["singling"].items() <= json.loads(json.dumps(found.record)).items()
    assert rr.Result.from_json(done.stdout).singling == found.figures
    assert printed["singling"]["register"]["not_found"] == 1
    records = parquet.read_table(files / "k.parquet").to_pydict()
    assert records == {"k": [2, 2, 1, 1], "register": [3, 3, 1, 0]}
    page = (files / "page.html").read_text()
    assert "reidrisk singling" in page
    assert "people.csv" in page


def test_singling_with_a_register_says_what_is_not_in_it(files):
    done = call(
        "singling", files / "people.csv", "--columns", "town,age", "--register",
        files / "register.csv",
    )  # fmt: skip
    assert "1 of 3 found" in done.stdout
    assert "1 record has values that are not in the register" in " ".join(done.stdout.split())


def test_columns_without_names_are_called_by_their_number(files):
    (files / "plain.csv").write_text("Ham,7\nHam,7\nEck,9\n")
    done = call("singling", files / "plain.csv", "--no-header", "--columns", "1,2")
    says(done.stdout)


def test_values_are_named_if_asked_for(files):
    arguments = ("singling", files / "people.csv", "--columns", "town,age", "--json")
    assert "Eck" not in call(*arguments).stdout
    assert "Eck" in call(*arguments, "--least", "1").stdout


def test_unicity_says_how_many_points_are_enough(files):
    done = call(
        "unicity", files / "sales.csv", "--separator", ";", "--user", "who", "--epoch", "when",
        "--count", "paid", "--points", "1,2,3", "--round", "5", "--coarsen", "week",
        "--known", "rarest", "-o", files / "page.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    says(done.stdout)
    assert "anna" not in done.stdout
    assert "single" in (files / "page.html").read_text()


def test_unicity_finds_users_and_items_by_name_or_place(files):
    (files / "named.csv").write_text("household_id,song,plays\nu,x,1\nu,y,2\nv,x,1\n")
    (files / "plain.tsv").write_text("u\tx\t1\nu\ty\t2\nv\tx\t1\n")
    named, plain = (rr.unicity(files / name, points=(1, 2)) for name in ("named.csv", "plain.tsv"))
    assert (named.point, plain.point) == (("song",), ("2",))
    assert named.figures == plain.figures
    dated = rr.unicity(files / "named.csv", points=(1,), count="plays")
    assert dated.users == 2


def test_unicity_prints_json(files):
    (files / "plays.tsv").write_text("user\titem\nu\tx\nu\ty\nv\tx\n")
    done = call("unicity", files / "plays.tsv", "--points", "1,2", "--json", "--seed", "3")
    found = rr.unicity(files / "plays.tsv", points=(1, 2), targets=10_000, seed=3)
    assert rr.Result.from_json(done.stdout).unicity == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("singling", "sales.csv"),
            "name the columns that an attacker knows, such as --columns age,postcode",
        ),
        (
            ("singling", "people.csv", "--columns", "town,agee"),
            "nearest is 'age'; name the right ones with --columns",
        ),
        (("singling", "people.csv", "--columns", "town", "--user", "town"), "named for two things"),
        (
            ("singling", "twice.csv", "--columns", "town", "--user", "id"),
            "1 user has rows that differ",
        ),
        (
            ("singling", "people.csv", "--columns", "town", "--records", "k.csv"),
            "written as .parquet",
        ),
        (("singling", "absent.csv", "--columns", "town"), "no such file"),
        (
            ("singling", "people.csv", "--columns", "town", "--register", "sales.csv"),
            "no column 'town'",
        ),
        (("unicity", "people.csv", "--header"), "no column is plainly the user"),
        (("unicity", "people.csv", "--item", "town"), "no column 'user'"),
        (
            ("unicity", "people.csv", "--user", "id", "--item", "town", "--coarsen", "day"),
            "name it with --epoch",
        ),
        (
            ("unicity", "people.csv", "--user", "id", "--item", "town", "--round", "x"),
            "not numbers",
        ),
        (("unicity", "people.csv", "--user", "id", "--item", "age"), "row 3: 'age' is empty"),
        (
            ("unicity", "people.csv", "--user", "id", "--count", "town", "--round", "5"),
            "(--count) must hold numbers",
        ),
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(files, words, message):
    (files / "twice.csv").write_text("id,town\nanna,Ham\nanna,Eck\n")
    paths = [files / word if word.endswith((".csv", ".parquet")) else word for word in words]
    done = call(*paths)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not any(secret in done.stderr for secret in ("anna", "Eck", "Traceback"))
    assert not done.stdout


def test_nothing_is_written_if_something_is_wrong(files):
    done = call("singling", files / "people.csv", "--columns", "sex", "-o", files / "page.html")
    assert done.returncode == 2
    assert not (files / "page.html").exists()


@pytest.mark.parametrize("command", ["singling", "unicity"])
@pytest.mark.parametrize(
    ("output", "message"),
    [("people.csv", "is read, and"), ("absent/x.html", "does not exist")],
)
def test_no_page_is_written_over_what_is_read(files, command, output, message):
    columns = ("--columns", "town") if command == "singling" else ("--user", "id", "--item", "town")
    more = ("--records", files / "k.parquet") if command == "singling" else ()
    done = call(command, files / "people.csv", *columns, *more, "-o", files / output)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert (files / "people.csv").read_text() == PEOPLE
    assert len(list(files.iterdir())) == 3


def test_two_files_are_not_written_to_one_name(files):
    path = files / "x.parquet"
    done = call(
        "singling", files / "people.csv", "--columns", "town", "--records", path, "-o", path
    )
    assert done.returncode == 2
    assert not path.exists()


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    """Regression: the page named the hash of the file as it was afterwards."""
    import reidrisk as rr

    table, whole = tmp_path / "t.csv", rr.singling
    table.write_text("age,zip\n" + "".join(f"{age},1\n" for age in range(20, 60)))

    def meanwhile(*given, **more):
        found = whole(*given, **more)
        table.write_text(table.read_text() + "99,2\n")
        return found

    monkeypatch.setattr(rr, "singling", meanwhile)
    done = call("singling", table, "--columns", "age,zip", "-o", tmp_path / "p.html")
    assert (done.returncode, (tmp_path / "p.html").exists()) == (2, False)
    says(done.stderr)


QUESTIONS = {
    "singling": ("people.csv", "--columns", "town,age", "--register", "register.csv"),
    "unicity": ("sales.csv", "--user", "who", "--epoch", "when", "--points", "1,2"),
}


def asked(files, command, *more):
    words = [files / word if word.endswith(".csv") else word for word in QUESTIONS[command]]
    return call(command, *words, *more)


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_table_has_a_run_as_a_study_has(files, command):
    """Regression: the gate called what these commands print damaged."""
    run = files / "run"
    done = asked(files, command, "-o", run)
    assert done.returncode == 0, done.stderr
    assert f"All figures: {run}. The report: {run / 'report.html'}" in done.stdout.replace("\n", "")
    assert sorted(one.name for one in run.iterdir()) == ["report.html", "result.json"]
    result = rr.Result.load(run)
    read = [word for word in QUESTIONS[command] if word.endswith(".csv")]
    assert sorted(result.inputs) == sorted(read)
    assert "reidrisk" in result.versions
    assert result.study["command"].startswith("reidrisk")
    assert asked(files, command, "--json").stdout.count(result.title) == 1
    page = (run / "report.html").read_text(encoding="utf-8")
    done = call("report", run, "-o", files / "again.html")
    assert done.returncode == 0, done.stderr
    assert (files / "again.html").read_text(encoding="utf-8") == page
    done = call("report", run, "--edition", "signoff", "-o", files / "signoff.html")
    assert done.returncode == 0, done.stderr
    assert "Signature" in (files / "signoff.html").read_text(encoding="utf-8")
    assert call("report", run, "--files", files / "charts", "-o", files / "x.html").returncode == 0
    assert {one.suffix for one in (files / "charts").iterdir()} == {".csv", ".svg", ".png"}
    assert call("gate", run, "--max-risk", "5%").returncode == 3
    words = ("gate", run, "--max-risk", "100%", "--json")
    assert call(*words).returncode == (3 if command == "singling" else 0)
    accepted = ("--accept", "unassessed", "--accept", "register-incomplete")
    done = call(*words, *accepted)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["checked"] == 2


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_table_is_written_again_and_nothing_else_is_replaced(files, command):
    run = files / "run"
    assert asked(files, command, "-o", run, "-q").returncode == 0
    before = (run / "result.json").read_bytes()
    assert asked(files, command, "-o", run, "-q").returncode == 0
    assert (run / "result.json").read_bytes() == before
    (run / "result.json").write_text("{}")
    done = asked(files, command, "-o", run)
    assert (done.returncode, (run / "result.json").read_text()) == (2, "{}")
    (run / "result.json").unlink()
    (run / "run.json").write_text("{}")
    done = asked(files, command, "-o", run)
    assert (done.returncode, (run / "result.json").exists()) == (2, False)
    assert "folder of a study" in done.stderr


@pytest.mark.parametrize("command", QUESTIONS)
def test_one_file_holds_the_result_or_the_report(files, command):
    done = asked(files, command, "-o", files / "x.json")
    assert "A page: reidrisk report" in " ".join(done.stdout.split())
    result = rr.Result.load(files / "x.json")
    done = asked(files, command, "-o", files / "x.html")
    assert f"The report: {files / 'x.html'}" in done.stdout.replace("\n", "")
    assert result.title in (files / "x.html").read_text(encoding="utf-8").replace("&#39;", "'")


def test_two_tables_are_compared(files):
    (files / "coarse.csv").write_text(PEOPLE.replace("9", "7").replace("Eck", "Ham"))
    for name, run in (("people.csv", "before"), ("coarse.csv", "after")):
        done = call("singling", files / name, "--columns", "town,age", "-o", files / run, "-q")
        assert done.returncode == 0, done.stderr
    done = call("compare", files / "before", files / "after", "-o", files / "both.html")
    assert done.returncode == 0, done.stderr
    says(done.stdout.replace(str(files), "TMP"))
    assert "exact" in (files / "both.html").read_text(encoding="utf-8")
    words = ("gate", files / "after", "--compare", files / "before", "--worse-by", "1%")
    assert call(*words).returncode == 0
    back = ("gate", files / "before", "--compare", files / "after", "--worse-by", "1%")
    assert call(*back).returncode == 3


def test_a_write_that_is_stopped_leaves_nothing(files, monkeypatch):
    """Neither half a file nor what it was written to."""

    def stopped(*_given, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("reidrisk.study.result.Result.to_json", stopped)
    done = asked(files, "singling", "-o", files / "run")
    assert done.returncode == 130
    assert not (files / "run").exists()
