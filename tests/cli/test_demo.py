"""The demo, and the study file it runs."""

import pytest
from tests.cli.tools import TINY, call
from tests.snapshots import says

from reidrisk.cli.study import starter
from reidrisk.errors import MissingExtra
from reidrisk.study import Result
from reidrisk.study.toml import parse


def test_the_starter_is_written_once_and_says_all(tmp_path):
    file = tmp_path / "mine.toml"
    assert call("study", "new", file).returncode == 0
    assert file.read_text() == starter()
    parse(file.read_text())
    again = call("study", "new", file)
    assert (again.returncode, "is left alone" in again.stderr) == (2, True)
    says(call("study", "new", tmp_path / "absent" / "mine.toml").stderr)


SMALL = {
    '"100k"': '"1k"\ntypes = 8',
    'targets = "1k"': "targets = 100",
    '["1k", "3k", "10k", "30k"]': "[50, 100, 200, 500]",
    "users = 100": "users = 5",
    "repeats = 20": "repeats = 2",
}


def small_starter():
    """The starter with fewer people."""
    text = starter()
    for large, small in SMALL.items():
        assert large in text
        text = text.replace(large, small)
    return text


def test_the_demo_ends_with_a_verdict_and_a_page(tmp_path, monkeypatch):
    pytest.importorskip("altair")
    monkeypatch.setattr("reidrisk.cli.demo.starter", small_starter)
    done = call("demo", "-o", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"The report: {tmp_path / 'demo' / 'report.html'}\n")
    assert "Found: after 8 weeks, an attacker who knows " in done.stdout
    result = Result.load(tmp_path / "demo")
    for name in ("bounds", "sizes", "extrapolations", "selections", "per_user", "information"):
        assert getattr(result, name), name
    assert {risk.attack for risk in result.risks if risk.setting} == {
        "hamming", "weighted-hamming", "type-aware",
    }  # fmt: skip


def test_the_demo_without_the_extra_shows_the_figures_and_what_to_install(tmp_path, monkeypatch):
    def missing(*_, **__):
        raise MissingExtra("pip install 'reidrisk[plots]'")

    monkeypatch.setattr("reidrisk.report.html", missing)
    monkeypatch.setattr("reidrisk.cli.demo.starter", lambda: TINY)
    done = call("demo", "-o", tmp_path / "demo")
    assert done.returncode == 0
    assert "after 4 weeks" in done.stdout
    says(done.stderr)


def test_the_demo_leaves_the_run_of_another_study_alone(tmp_path, monkeypatch):
    """It began anew without a word, and the run was gone."""
    monkeypatch.setattr("reidrisk.cli.demo.starter", lambda: TINY)
    (tmp_path / "study.toml").write_text(TINY.replace("seed = 3", "seed = 4"))
    assert call("study", tmp_path / "study.toml", "-o", tmp_path / "run", "-q").returncode == 0
    before = {file: file.read_bytes() for file in (tmp_path / "run").rglob("*.json")}
    done = call("demo", "-o", tmp_path / "run")
    assert done.returncode == 2, done
    assert "--fresh" in done.stderr
    assert {file: file.read_bytes() for file in (tmp_path / "run").rglob("*.json")} == before
    assert call("demo", "-o", tmp_path / "demo", "-q").returncode == 0
    assert call("demo", "-o", tmp_path / "demo", "-q").returncode == 0
