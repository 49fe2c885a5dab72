"""Text that a spreadsheet would run."""

import csv
import io

import pytest
from tests.snapshots import refuses

from reidrisk.core.csv_safe import guarded
from reidrisk.data import make_profiles, read_profiles, write_profiles
from reidrisk.report.exhibits import Exhibit

HOSTILE = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\N{FULLWIDTH EQUALS SIGN}1+1",
)


@pytest.mark.parametrize("cell", HOSTILE)
def test_a_formula_is_shown_and_not_run(cell):
    assert guarded(cell) == f"'{cell}"


@pytest.mark.parametrize(
    "cell", [-5, -0.5, None, True, "", "-", "+", "-5", "+5.25", "-1e-07", "a=b", "week 1", "5 %"]
)
def test_numbers_and_plain_text_stay_as_they_are(cell):
    assert guarded(cell) == cell


def test_tables_of_a_report_run_nothing():
    rows = tuple({"attack": cell, "value": -0.5, "=name": 1} for cell in HOSTILE)
    written = Exhibit("x", "x", "x", rows, ()).csv()
    head, *cells = csv.reader(io.StringIO(written, newline=""))
    assert head == ["attack", "value", "'=name"]
    assert [cell[0] for cell in cells] == [f"'{cell}" for cell in HOSTILE]
    assert {cell[1] for cell in cells} == {"-0.5"}


@pytest.mark.parametrize("column", ["user", "epoch", "token"])
@pytest.mark.parametrize("label", HOSTILE)
def test_people_with_such_labels_are_written_as_parquet_only(tmp_path, column, label):
    """With a quote before it, a label would come back as another one."""
    given = {"user": ["ann", "bob"], "epoch": ["w1", "w1"], "token": ["x", "y"]}
    given[column][1] = label
    people = make_profiles(*given.values())
    with refuses("formula-in-label") as wrong:
        write_profiles(people, tmp_path / "people.csv")
    assert label not in str(wrong.value)
    assert not list(tmp_path.iterdir())
    write_profiles(people, tmp_path / "people.parquet")
    again = read_profiles(tmp_path / "people.parquet")
    assert again.ids.tolist() == people.ids.tolist()
    assert again.labels.tolist() == people.labels.tolist()


@pytest.mark.parametrize("users", [[-5, 3, 7], ["-5", "+3", "b"], ["-", "@", "a"]])
def test_numbers_below_zero_come_back_from_csv(tmp_path, users):
    people = make_profiles(users, [1, 1, 1], [-1, 2, 3])
    write_profiles(people, tmp_path / "people.csv")
    again = read_profiles(tmp_path / "people.csv")
    assert again.ids.tolist() == people.ids.tolist()
    assert again.labels.tolist() == people.labels.tolist()
