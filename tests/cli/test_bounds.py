"""The command line, as the real executable."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import reidrisk
from reidrisk import theory

SCRIPT = Path(sys.executable).parent / "reidrisk"


def run(*arguments, **environment):
    return subprocess.run(
        [SCRIPT, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment},
    )  # fmt: skip


def test_the_demo_prints_the_theory_in_eighty_columns():
    done = run("demo", COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    table = [line for line in done.stdout.splitlines() if "%" in line]
    assert all(len(line) <= 80 for line in table)
    assert (
        "one listener, best attacker       37.5%      36.2%      32.5%       25.0%" in done.stdout
    )


def test_bounds_reads_a_table_and_prints_every_statement(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("user,representation,probability\nanna,x,0.5\nanna,y,0.5\nben,y,1\n")
    done = run("bounds", path, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["schema"] == "reidrisk/1"
    values = {item["name"]: item["value"] for item in printed["bounds"]}
    assert values["random user, optimum"] == 0.75
    assert "anna" not in done.stdout
    table = run("bounds", path, COLUMNS="120").stdout
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
    done = run("bounds", path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_file_and_an_unknown_command_exit_with_2(tmp_path):
    assert "no such file" in run("bounds", tmp_path / "absent.csv").stderr
    assert run("bounds", tmp_path / "absent.csv").returncode == 2
    assert run("bonds").returncode == 2
    assert run("bounds").returncode == 2


def test_help_and_version():
    assert "Commands:" in run("--help").stdout
    assert "Examples:\n    reidrisk bounds release.csv" in run("bounds", "--help").stdout
    assert run("--version").stdout == f"reidrisk {reidrisk.__version__}\n"


def test_a_fault_of_ours_exits_with_1_and_says_so(tmp_path):
    np.save(tmp_path / "release.npy", np.eye(2))
    code = (
        "import sys; from reidrisk import cli, theory; theory.bounds = lambda _: 1 / 0; "
        f"sys.argv = ['reidrisk', 'bounds', {str(tmp_path / 'release.npy')!r}]; cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "not yours" in done.stderr
