"""Strangers on the command line."""

import json

import numpy as np
import pytest
from tests.cli.tools import call

from reidrisk.study import Result
from reidrisk.study.analyses.strangers import SPEAKS_BY
from reidrisk.study.text.numbers import interval, share


@pytest.fixture
def tables(tmp_path):
    """Baskets of 120 known users and 100 visitors, of whom 40 are strangers."""
    for name, users, seed in (("known", range(120), 3), ("anonymous", range(60, 160), 4)):
        lines = ["user,item"]
        for user in users:
            taste = np.random.default_rng(user).choice(50, 8, replace=False)
            drawn = np.random.default_rng([user, seed]).choice(taste, 5, replace=False)
            lines += [f"u{user},i{item}" for item in drawn]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    return tmp_path / "known.csv", tmp_path / "anonymous.csv"


def test_tables_with_strangers_are_told_so(tables):
    done = call("link", *tables, width=80)
    assert done.returncode == 0, done.stderr
    assert "40 anonymous rows are of users who are not known: strangers." in done.stdout
    assert "60 known visitors and 40 strangers were met; of all visitors 60 % are" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = " ".join(done.stdout.split())
    assert "takes more strangers: 1,997 for 0.1 % and 197 for 1 % at least." in words


def test_every_figure_is_printed_with_its_interval(tables, tmp_path):
    attacks = ("--attack", "overlap", "--attack", "rarity-overlap")
    done = call("link", *tables, *attacks, "-o", tmp_path / "run.json", width=80)
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "If at most 5 % of strangers may be accused" in words
    for one in Result.load(tmp_path / "run.json").strangers:
        point = one.at(0.05)
        figures = (point.wrong, point.accused, point.false)
        assert f"{one.attack} {' '.join(map(share, figures))} by" in words
        ends = " ".join(map(interval, figures))
        assert f"by {SPEAKS_BY[one.rule]} {ends}" in words
    assert not {"gap", "posterior"} & set(words.split())


def test_a_share_of_known_users_can_be_hidden(tables, tmp_path):
    done = call("link", *tables, "--strangers", "30%", "--present", "5%", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    result = Result.load(tmp_path / "run")
    assert result.users < 120
    assert {one.present for one in result.strangers} == {0.05}
    assert {one.targets + one.strangers for one in result.strangers} == {100}
    # The study that it wrote gives the same.
    again = call("study", tmp_path / "run" / "study.toml", "-o", tmp_path / "again")
    assert again.returncode == 0, again.stderr
    assert Result.load(tmp_path / "again").strangers == result.strangers


def test_plays_and_releases_can_have_strangers(tables, tmp_path):
    done = call("items", tables[0], "--samples", "4", "--strangers", "40%", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["strangers"][0]["strangers"] > 20
    synth = call("synth", "topics", "--users", "200", "--epochs", "2", "-o", tmp_path / "p.parquet")
    assert synth.returncode == 0, synth.stderr
    shown = call("release", "topics", tmp_path / "p.parquet", "-o", tmp_path / "seen")
    assert shown.returncode == 0, shown.stderr
    done = call("attack", tmp_path / "seen", "--strangers", "50%", width=80)
    assert done.returncode == 0, done.stderr
    assert "speaks by" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--strangers", "some"), "'some' is neither keep nor refuse, nor a share"),
        (("--strangers", "100%"), "somebody must be known"),
        (("--present", "0"), "present is a share of visitors above 0"),
    ],
)
def test_bad_shares_are_refused(tables, words, message):
    done = call("link", *tables, *words)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_present_needs_strangers(tables):
    done = call("link", tables[0], tables[0], "--present", "50%")
    assert done.returncode == 2
    assert "this study meets nobody else" in " ".join(done.stderr.split())
