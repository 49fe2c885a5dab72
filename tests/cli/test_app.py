"""The command line as a whole: help, exit codes, completion, cost of starting."""

import json
import subprocess
import sys

import click
import numpy as np
import pytest
from tests.cli.tools import SCRIPT, call, run

import reidrisk
from reidrisk.attacks import ATTACKS
from reidrisk.cli import cli


def _commands(command=cli, path=()):
    yield path
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _commands(inner, (*path, name))


@pytest.mark.parametrize("path", list(_commands()), ids=lambda path: " ".join(path) or "all")
def test_every_help_has_an_example_that_starts_with_its_command(path):
    done = call(*path, "--help")
    assert done.returncode == 0
    assert "Examples:\n" in done.stdout
    if path not in {(), ("study", "run")}:
        assert f"reidrisk {' '.join(path)}" in done.stdout.split("Examples:")[1]
    assert call(*path, "-h").stdout == done.stdout


def test_version_and_unknown_commands():
    assert call("--version").stdout == f"reidrisk {reidrisk.__version__}\n"
    assert "No such command" in call("bonds").stderr
    assert call("bonds").returncode == 2
    assert call("bounds").returncode == 2


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from reidrisk import cli\n"
        "sys.argv = ['reidrisk', 'study', 'run', '--help']\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'numba', 'rich', 'pydantic', 'altair'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


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


def test_a_full_disk_behind_stdout_is_no_fault_of_ours():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [SCRIPT, "completion", "fish"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_too_little_memory_is_said(monkeypatch):
    def starve(*_, **__):
        raise MemoryError

    monkeypatch.setattr("reidrisk.data.synthetic_topics", starve)
    done = call("synth", "topics", "--users", "10", "-o", "people.csv")
    assert done.returncode == 2
    assert "not enough memory" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell):
    done = call("completion", shell)
    assert done.returncode == 0
    assert "_REIDRISK_COMPLETE" in done.stdout


def test_completion_completes():
    done = run(
        _REIDRISK_COMPLETE="bash_complete", COMP_WORDS="reidrisk cal", COMP_CWORD="1"
    )  # fmt: skip
    assert done.stdout == "plain,calibrate\n"


def test_the_list_of_attacks_names_all_that_can_be_chosen():
    listed = json.loads(call("attacks", "--json").stdout)
    names = {row["name"] for row in listed}
    assert set(ATTACKS) < names
    assert {row["side"] for row in listed} == {"lower", "estimate", "upper"}
    table = call("attacks").stdout
    assert all(name in table for name in names)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--users", "10q", "a whole number such as 10000, 10k or 10M; got '10q'"),
        ("--users", "0", "users is a whole number of at least 1"),
        ("--epochs", "0", "0 is not in the range"),
        ("--seed", "-1", "-1 is not in the range"),
    ],
)
def test_bad_quantities_are_refused_by_name(tmp_path, option, value, message):
    given = {"--users": "10", option: value}
    words = [word for pair in given.items() for word in pair]
    done = call("synth", "topics", *words, "-o", tmp_path / "people.csv")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
