"""Files as people have them go to a report with one command and no script.

Beside every figure there is a short script with pandas that gives the same.
"""

import numpy as np
import pandas as pd
import pytest
from tests.cli import files_of_others as files
from tests.cli.tools import call

from reidrisk.study import Result


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Run a command, and read the result that it wrote beside its report."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        done = call(*words, "-o", words[0])
        assert done.returncode == 0, done.stderr
        assert (tmp_path / words[0] / "report.html").stat().st_size > 10_000
        return Result.load(words[0]), done.stdout + done.stderr

    return run


def best_guess(table, columns):
    """How often somebody is right who knows these columns: once for each combination."""
    return len(table.drop_duplicates(list(columns))) / len(table)


def right_by_rarest(table, user, *point):
    """How often somebody is right who knows the rarest point of each person."""
    pairs = table.drop_duplicates([user, *point])
    holders = pairs.groupby(list(point), dropna=False)[user].transform("size")
    return (1 / holders.groupby(pairs[user]).min()).mean()


def test_a_movie_log_without_a_header(tmp_path, ask):
    path = files.movie_log(tmp_path)
    table = pd.read_csv(path, sep="\t", names=list("1234"))
    result, _ = ask("unicity", "u.data", "--user", "1", "--item", "2", "--epoch", "4",
                    "--known", "rarest", "--points", "1")  # fmt: skip
    assert result.risks[0].value == pytest.approx(right_by_rarest(table, "1", "2", "4"))


def test_its_users_with_their_post_codes(tmp_path, ask):
    path = files.movie_users(tmp_path)
    table = pd.read_csv(path, sep="|", names=list("12345"), dtype=str)
    result, _ = ask("singling", "u.user", "--columns", "5,2,3,4")
    assert result.risks[0].value == best_guess(table, "2345")


def test_a_census_with_question_marks(tmp_path, ask):
    path = files.census(tmp_path)
    table = pd.read_csv(path, names=list("12345678"), dtype=str, skipinitialspace=True)
    result, _ = ask("singling", "adult.data", "--columns", "1,2,4,5,6,7,8")
    assert result.risks[0].value == best_guess(table, "1245678")
    assert result.users == len(table)


def test_two_registers_whose_columns_have_other_names(tmp_path, ask):
    known, anonymous = files.record_pair(tmp_path)
    one = pd.read_csv(known, dtype=str)
    two = pd.read_csv(anonymous, sep=";", dtype=str)
    names = {"given_name": "First name", "surname": "last", "postcode": "PLZ",
             "date_of_birth": "born"}  # fmt: skip
    agree = sum(
        (two[there].to_numpy(object)[:, None] == one[here].to_numpy(object)).astype(int)
        for here, there in names.items()
    )
    best = agree == agree.max(axis=1, keepdims=True)
    same = np.equal.outer(
        two["id"].str.extract(r"rec-(\d+)")[0].to_numpy(),
        one["rec_id"].str.extract(r"rec-(\d+)")[0].to_numpy(),
    )
    credit = ((best & same) / best.sum(axis=1, keepdims=True)).sum(axis=1).mean()
    pairs = ",".join(f'{here}="{there}"' for here, there in names.items())
    columns = ("--columns", pairs, "--known-user", "rec_id", "--anonymous-user", "id")
    refused = call("link", "org.csv", "dup.csv", *columns)
    assert refused.returncode == 2
    assert '--user-pattern "rec-([0-9]+)"' in refused.stderr
    result, _ = ask("link", "org.csv", "dup.csv", *columns, "--user-pattern", "rec-([0-9]+)")
    hamming = next(risk for risk in result.risks if risk.attack == "hamming")
    assert hamming.value == pytest.approx(credit)


@pytest.mark.parametrize("sheet", [False, True])
def test_online_retail_with_nobody_and_returns(tmp_path, ask, sheet):
    maker = files.online_retail_sheet if sheet else files.online_retail
    path = maker(tmp_path)
    table = pd.read_csv(
        files.online_retail(tmp_path), encoding="latin-1", dtype={"CustomerID": str}
    )
    there = table[table["CustomerID"].notna()]
    how = () if sheet else ("--encoding", "latin-1")
    result, said = ask("unicity", path.name, "--user", "CustomerID", "--item", "StockCode",
                       "--epoch", "InvoiceDate", "--known", "rarest", "--points", "1",
                       *how)  # fmt: skip
    expected = right_by_rarest(there, "CustomerID", "StockCode", "InvoiceDate")
    assert result.risks[0].value == pytest.approx(expected)
    assert f"{len(table) - len(there):,}" in said
    sums = there.groupby(["CustomerID", "StockCode"])["Quantity"].sum()
    result, _ = ask("items", path.name, "--user", "CustomerID", "--item", "StockCode",
                    "--count", "Quantity", "--returns", "net", "--samples", "1,4",
                    *how)  # fmt: skip
    assert result.users == sums[sums > 0].index.get_level_values(0).nunique()


def test_a_french_register_in_latin_1(tmp_path, ask):
    path = files.french(tmp_path)
    table = pd.read_csv(path, sep=";", encoding="latin-1", dtype=str)
    refused = call("singling", path.name, "--columns", "âge")
    assert refused.returncode == 2
    assert "--encoding latin-1" in refused.stderr
    result, _ = ask("singling", path.name, "--columns", "âge,sexe,ville", "--encoding", "latin-1")
    assert result.risks[0].value == best_guess(table, ("âge", "sexe", "ville"))


def test_a_german_export_with_decimal_commas(tmp_path, ask):
    path = files.german(tmp_path)
    table = pd.read_csv(path, sep=";", decimal=",", thousands=".")
    result, _ = ask("unicity", path.name, "--user", "Kunde", "--count", "Preis",
                    "--epoch", "Datum", "--known", "rarest", "--points", "1")  # fmt: skip
    expected = right_by_rarest(table, "Kunde", "Preis", "Datum")
    assert result.risks[0].value == pytest.approx(expected)
    result, _ = ask("items", path.name, "--user", "Kunde", "--item", "Artikel", "--count", "Menge",
                    "--weighted", "--samples", "2")  # fmt: skip
    assert result.users == table["Kunde"].nunique()


def test_json_lines(tmp_path, ask):
    path = files.json_lines(tmp_path)
    table = pd.read_json(path, lines=True, convert_dates=False)
    result, _ = ask("unicity", path.name, "--user", "user_id", "--item", "page", "--known",
                    "rarest", "--points", "1")  # fmt: skip
    assert result.risks[0].value == pytest.approx(right_by_rarest(table, "user_id", "page"))


def test_an_office_report_with_a_title_and_a_total(tmp_path, ask):
    path = files.titled(tmp_path)
    table = pd.read_csv(path, skiprows=3, skipfooter=1, engine="python")
    columns = ("--columns", "age,occupation", "--user", "member")
    refused = call("singling", path.name, *columns)
    assert refused.returncode == 2
    assert "--where \"member <> 'Total'\"" in refused.stderr
    result, said = ask("singling", path.name, *columns, "--where", "member <> 'Total'")
    assert result.risks[0].value == best_guess(table, ("age", "occupation"))
    assert result.users == len(table)
    assert "title" in said
