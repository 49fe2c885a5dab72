"""What commands take of the machine, and what they say where it is too little."""

import re
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.tools import SCRIPT, TINY, call
from tests.snapshots import refuses, says

from reidrisk import data
from reidrisk.core import machine
from reidrisk.core.machine import GIB
from reidrisk.errors import TooLarge
from reidrisk.releases import TopicsApi, observe

TAKES_MEMORY = [
    ("attack",), ("bounds",), ("calibrate",), ("demo",), ("information",), ("items",), ("link",),
    ("release", "topics"), ("singling",), ("study", "run"), ("sweep",), ("synth", "topics"),
    ("unicity",),
]  # fmt: skip


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "known.csv"
    rows = "".join(f"u{user},{user % 7}\nu{user},{user % 5 + 7}\n" for user in range(60))
    path.write_text(f"user,item\n{rows}")
    return path


@pytest.fixture
def little(monkeypatch):
    """A machine on which a MiB can be taken."""
    monkeypatch.setattr(machine, "usable_memory", lambda: 1 << 20)


@pytest.mark.parametrize("command", TAKES_MEMORY, ids=" ".join)
def test_every_command_that_takes_memory_can_be_told_how_much(command):
    assert "--max-memory SIZE" in call(*command, "--help").stdout


def test_the_answer_does_not_depend_on_the_memory(table, tmp_path):
    plain = call("link", table, table, "--json", "-o", tmp_path / "one")
    small = call("link", table, table, "--json", "-o", tmp_path / "two", "--max-memory", "64 GiB")
    answers = [
        re.sub(r'"(seconds|finished|started)": .*', "", one.stdout) for one in (plain, small)
    ]
    assert plain.returncode == small.returncode == 0
    assert answers[0] == answers[1]
    assert "max-memory" not in (tmp_path / "two" / "study.toml").read_text()


@pytest.mark.parametrize("most", ["", "2", "-1GiB", "much", "0GiB", "2GiX"])
def test_a_size_that_is_none_is_refused(table, most):
    said = call("unicity", table, "--max-memory", most)
    assert said.returncode == 2
    says(said.stderr)


@pytest.mark.parametrize(
    "arguments", [("link", "{}", "{}"), ("singling", "{}", "--columns", "item"), ("unicity", "{}")]
)
def test_what_does_not_fit_is_said_in_one_line(table, arguments):
    said = call(*(one.format(table) for one in arguments), "--max-memory", "10MiB", "-q")
    assert said.returncode == 2
    assert re.fullmatch(
        r"reidrisk: .*this needs .* GiB of memory and 0 GiB .*raise --max-memory .*\n", said.stderr
    )


def test_a_study_that_does_not_fit_is_refused(tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    said = call("study", tmp_path / "study.toml", "-o", tmp_path / "run", "--max-memory", "10MB")
    assert said.returncode == 2
    says(said.stderr)
    assert "Traceback" not in said.stderr


def test_more_people_than_can_be_held_are_refused_before_they_are_made():
    people = data.synthetic_topics(10**12, epochs=4, seed=1)
    with refuses("out-of-memory", TooLarge):
        observe(TopicsApi(), people, targets=1, strangers=0.1, seed=1)
    with refuses("out-of-memory", TooLarge):
        observe(TopicsApi(), people, seed=1, hold=lambda rows: rows)


def test_more_that_sites_see_than_can_be_held_is_refused_before_it_is_shown(little):
    people = data.synthetic_topics(10_000, epochs=40, seed=1)
    with refuses("out-of-memory", TooLarge):
        observe(TopicsApi(), people, seed=1)


def test_more_slots_than_can_be_held_are_refused_before_they_are_made(
    little, tmp_path, monkeypatch
):
    # Whatever is loaded on the way: that is a matter of which tests came before.
    monkeypatch.setattr("reidrisk.io.tables.within_memory", lambda parts, _: parts)
    lines = "".join(f"{one},{one},5\n" for one in range(1000))
    (tmp_path / "long.csv").write_text(f"user,epoch,token\n{lines}")
    with refuses("out-of-memory", TooLarge):
        data.read_linked(tmp_path / "long.csv", tmp_path / "long.csv")


def test_more_epochs_than_can_be_held_are_refused_before_they_are_made(little):
    many = np.arange(1000)
    with refuses("out-of-memory", TooLarge):
        data.make_profiles(many, many, many)


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such limits")
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
@pytest.mark.parametrize("most", [0.2, 1.3, 4])
def test_under_any_limit_a_command_ends_well_or_says_why_in_one_line(table, kind, most):
    import resource

    def limit():
        resource.setrlimit(getattr(resource, kind), (int(most * GIB),) * 2)

    said = subprocess.run(
        [SCRIPT, "link", table, table, "-q"],
        check=False, capture_output=True, text=True, timeout=300, preexec_fn=limit,
    )  # fmt: skip
    assert (said.returncode, len(said.stderr.splitlines())) in {(0, 0), (2, 1)}
    if most < 1:
        assert "`ulimit -" in said.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such limits")
def test_a_run_whose_charts_cannot_be_drawn_says_so_and_keeps_its_figures(table, tmp_path):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (8 * GIB, 8 * GIB))

    said = subprocess.run(
        [SCRIPT, "link", table, table, "-q", "-o", tmp_path / "run"],
        check=False, capture_output=True, text=True, timeout=300, preexec_fn=limit,
    )  # fmt: skip
    assert said.returncode == 0
    assert re.fullmatch(r"No page: .* 66 GiB of address space.*`ulimit -v` .*\n", said.stderr)
    assert (tmp_path / "run" / "result.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such limits")
def test_help_needs_no_memory():
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (GIB // 2, GIB // 2))

    said = subprocess.run(
        [SCRIPT, "link", "--help"],
        check=False, capture_output=True, text=True, timeout=300, preexec_fn=limit,
    )  # fmt: skip
    assert said.returncode == 0
