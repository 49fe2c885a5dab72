"""`reidrisk bounds`."""

import json

import pytest
from tests.cli.tools import call

from reidrisk import theory


def test_bounds_reads_a_table_and_prints_every_statement(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("user,representation,probability\nanna,x,0.5\nanna,y,0.5\nben,y,1\n")
    done = call("bounds", path, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["schema"] == "reidrisk/1"
    values = {item["name"]: item["value"] for item in printed["bounds"]}
    assert values["random user, optimum"] == 0.75
    assert "anna" not in done.stdout
    table = call("bounds", path).stdout
    assert "75.0000%" in table
    assert all(item.name in table for item in theory.bounds(theory.read_matrix(path)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("user,representation,probability\nanna,x,0.5\n", "sums to 0.5, not to 1"),
        ("user,token,probability\nanna,x,1\n", "no column 'representation'"),
        ("", "release.csv"),
    ],
)
def test_bad_files_get_a_message_and_exit_code_2(tmp_path, content, message):
    path = tmp_path / "release.csv"
    path.write_text(content)
    done = call("bounds", path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_file_exits_with_2(tmp_path):
    done = call("bounds", tmp_path / "absent.csv")
    assert (done.returncode, "no such file" in done.stderr) == (2, True)
