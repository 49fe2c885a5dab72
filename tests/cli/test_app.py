"""The command line as a whole: help, exit codes, completion, cost of starting."""

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.shell_completion import ShellComplete
from tests.cli.tools import SCRIPT, call, run
from tests.snapshots import says

import reidrisk
from reidrisk.attacks import ATTACKS
from reidrisk.cli import cli
from reidrisk.risk.bounds import BOUNDS


def _commands(command=cli, path=()):
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _commands(command.get_command(context, name), (*path, name))


@pytest.mark.parametrize("path", list(_commands()), ids=lambda path: " ".join(path) or "all")
def test_every_help_has_an_example_that_starts_with_its_command(path):
    done = call(*path, "--help")
    assert done.returncode == 0
    assert "Examples:\n" in done.stdout
    if path not in {(), ("study", "run")}:
        assert f"reidrisk {' '.join(path)}" in done.stdout.split("Examples:")[1]
    assert call(*path, "-h").stdout == done.stdout


def test_the_help_says_of_each_command_what_the_command_says_of_itself():
    context = click.Context(cli)
    for part in cli.parts.values():
        for name, (_, text) in part.items():
            own = cli.get_command(context, name)
            assert own.name == name
            assert own.help.partition("\n")[0] == text
            assert f"  {name:<11}  {text}\n" in call("--help").stdout


def test_version_and_unknown_commands():
    assert call("--version").stdout == f"reidrisk {reidrisk.__version__}\n"
    says(call("bonds").stderr)
    assert call("bonds").returncode == 2
    assert call("bounds").returncode == 2


def test_the_package_runs_as_a_module():
    def module(*words):
        return subprocess.run(
            [sys.executable, "-m", "reidrisk", *words], capture_output=True, text=True, check=False
        )

    assert module("--version").stdout == f"reidrisk {reidrisk.__version__}\n"
    bare = module()
    assert (bare.returncode, "Traceback" in bare.stderr) == (2, False)
    assert "Begin here" in bare.stdout + bare.stderr
    assert "demo" in bare.stdout + bare.stderr
    wrong = module("bonds")
    assert (wrong.returncode, "No such command" in wrong.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (["--help"], ["numpy", "numba", "pydantic", "altair", "rich", "reidrisk.cli.study"]),
        (["study", "run", "--help"], ["numpy", "numba", "pydantic", "altair"]),
        (["attack", "--help"], ["numpy", "numba", "pydantic", "altair"]),
    ],
)
def test_help_loads_nothing_heavy(words, heavy):
    code = (
        "import sys; from reidrisk import cli\n"
        f"sys.argv = ['reidrisk', *{words}]\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        f"print(sorted(set({heavy}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_fault_of_ours_exits_with_1_and_says_so(tmp_path, monkeypatch):
    np.save(tmp_path / "release.npy", np.eye(2))
    monkeypatch.setattr("reidrisk.theory.bounds", lambda _: 1 / 0)
    done = call("bounds", tmp_path / "release.npy")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "not yours" in done.stderr


def test_a_full_disk_behind_stdout_is_no_fault_of_ours():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([SCRIPT, "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_too_little_memory_is_said(monkeypatch):
    def starve(*_, **__):
        raise MemoryError

    monkeypatch.setattr("reidrisk.data.synthetic_topics", starve)
    done = call("synth", "topics", "--users", "10", "-o", "people.csv")
    assert done.returncode == 2
    says(done.stderr)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 9 failed"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libarrow.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        SystemError("error return without exception set"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
@pytest.mark.parametrize("threads", [False, True])
def test_every_way_to_lack_memory_is_said(monkeypatch, tmp_path, wrong, threads):
    def starve(*_, **__):
        if wrong is None:
            return np.empty(1 << 55)  # numpy has a kind of its own
        raise wrong

    def elsewhere(*_, **__):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(starve).result()

    monkeypatch.setattr("reidrisk.data.synthetic_topics", elsewhere if threads else starve)
    done = call("synth", "topics", "--users", "10", "-o", tmp_path / "people.csv")
    assert done.returncode == 2, done
    assert done.stderr.startswith("reidrisk: there is not enough memory")


def test_a_memory_limit_is_not_called_a_damaged_file(monkeypatch, tmp_path):
    def starve(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 9 failed")

    pq.write_table(pa.table({"user": [1], "tokens": [[1]]}), tmp_path / "k.parquet")
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", starve)
    done = call("link", tmp_path / "k.parquet", tmp_path / "k.parquet")
    assert done.returncode == 2, done
    assert done.stderr.startswith("reidrisk: there is not enough memory")


def test_the_end_of_a_file_is_not_called_stopped(monkeypatch, tmp_path):
    def cut(*_, **__):
        raise EOFError("Ran out of input")

    monkeypatch.setattr("reidrisk.data.synthetic_topics", cut)
    done = call("synth", "topics", "--users", "10", "-o", tmp_path / "people.csv")
    assert done.returncode == 1
    assert "EOFError" in done.stderr
    assert "stopped" not in done.stderr


@pytest.mark.parametrize("limit", [400_000, 500_000, 900_000])
def test_a_limit_of_memory_is_no_fault_and_nobody_is_stopped(tmp_path, limit):
    """Parts that are compiled may also end the program themselves: then there is no such word."""
    (tmp_path / "k.csv").write_text("user,tokens\na,x;y\nb,y;z\n")
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -v {limit} && exec {SCRIPT} link k.csv k.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert "stopped" not in done.stderr
    assert "not yours" not in done.stderr, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell):
    done = run(_REIDRISK_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert "_REIDRISK_COMPLETE" in done.stdout


def test_completion_completes():
    done = run(
        _REIDRISK_COMPLETE="bash_complete", COMP_WORDS="reidrisk cal", COMP_CWORD="1"
    )  # fmt: skip
    assert done.stdout == "plain,calibrate\n"


def test_names_of_attacks_are_completed():
    shell = ShellComplete(cli, {}, "reidrisk", "_REIDRISK_COMPLETE")
    found = shell.get_completions(["link", "known", "anonymous", "--attack"], "w")
    assert [one.value for one in found] == ["weighted-hamming"]


def test_every_attack_and_bound_is_listed_from_its_table():
    listed = json.loads(call("attacks", "--json").stdout)
    assert {row["name"] for row in listed["attacks"]} == set(ATTACKS)
    assert {row["name"] for row in listed["bounds"]} == set(BOUNDS)
    assert {row["side"] for row in listed["attacks"]} == {"lower"}
    assert {row["side"] for row in listed["bounds"]} == {"lower", "estimate", "upper"}
    assert all(row["says"].endswith(".") for row in listed["bounds"])
    table = call("attacks").stdout
    assert all(f" {row['name']} " in table for row in listed["attacks"] + listed["bounds"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("haming", "there is no attack 'haming'; there are cosine, cosine-csls, "),
        ("absent_module:Mine", "'absent_module' cannot be imported"),
        ("reidrisk:__version__", "should be an attack, but is none"),
    ],
)
def test_what_is_no_attack_is_refused_by_its_option(tmp_path, name, message):
    done = call("link", tmp_path / "a.csv", tmp_path / "b.csv", "--attack", name)
    assert done.returncode == 2
    assert "--attack" in done.stderr
    assert message in done.stderr


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
