"""`reidrisk reproduce`."""

import json

import pytest
from tests.cli.tools import call
from tests.reproduction.small import chapter
from tests.snapshots import says

from reidrisk.errors import MissingExtra


@pytest.fixture
def runs(monkeypatch):
    made = []
    chapters = (chapter("one", made, "First"), chapter("two", made, "Second"))
    monkeypatch.setattr("reidrisk.reproduction.chapters.CHAPTERS", chapters)
    return made


def test_it_ends_with_marks_and_the_paths(tmp_path, runs):
    pytest.importorskip("vl_convert")
    done = call("reproduce", "-o", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    said = done.stdout.replace("\N{NO-BREAK SPACE}", " ")
    says(said)
    says(done.stdout)
    assert done.stdout.endswith(f"The page: {tmp_path / 'new' / 'reproduction.html'}\n")
    assert json.loads((tmp_path / "new" / "reproduction.json").read_text())["seconds"] == 0
    again = call("reproduce", "-o", tmp_path / "new", "--all")
    assert again.returncode == 0
    assert "Lemma 3" in again.stdout
    assert len(runs) == 6
    quiet = call("reproduce", "-o", tmp_path / "new", "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_another_budget_is_another_reproduction_unless_fresh(tmp_path, runs):
    assert call("reproduce", "-o", tmp_path, "-q").returncode == 0
    done = call("reproduce", "-o", tmp_path, "--seconds", "7")
    assert done.returncode == 2
    assert "seconds differs" in done.stderr
    assert "--fresh" in done.stderr
    assert call("reproduce", "-o", tmp_path, "--seconds", "7", "--fresh", "-q").returncode == 0
    assert len(runs) == 12


def test_files_are_given_by_name(tmp_path, runs):
    (tmp_path / "plays.csv").write_text("user,item\na,b\n")
    given = call(
        "reproduce", "-o", tmp_path / "new", "--plays", tmp_path / "plays.csv",
        "--file", f"jha={tmp_path / 'plays.csv'}", "-q",
    )  # fmt: skip
    assert given.returncode == 0, given.stderr
    inputs = json.loads((tmp_path / "new" / "reproduction.json").read_text())["inputs"]
    assert sorted(inputs) == ["jha", "plays"]
    for words, said in (
        (("--file", "jha"), "is not NAME=PATH"),
        (("--file", "jha=absent"), "no such file"),
        (("--plays", tmp_path / "absent"), "no such file"),
        (("--seconds", "-1"), "not in the range"),
        (("--scale", "huge"), "huge"),
    ):
        done = call("reproduce", "-o", tmp_path / "other", *words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "other").exists()


def test_who_stops_it_is_told_how_to_go_on(tmp_path, runs, monkeypatch):
    from reidrisk.reproduction import chapters

    def stop(_scale):
        raise KeyboardInterrupt

    monkeypatch.setattr(chapters.CHAPTERS[1], "steps", stop)
    done = call("reproduce", "-o", tmp_path, "--seconds", "3")
    assert done.returncode == 130
    assert f"To go on: reidrisk reproduce --scale laptop --seconds 3 -o {tmp_path}" in done.stderr


def test_without_the_extra_there_are_marks_and_no_page(tmp_path, runs, monkeypatch):
    def missing(*_):
        raise MissingExtra("pip install 'reidrisk[plots]'")

    monkeypatch.setattr("reidrisk.reproduction.page.save", lambda *_: missing())
    done = call("reproduce", "-o", tmp_path)
    assert done.returncode == 0
    says(done.stderr)
    says(done.stdout)


def test_marks_are_shown_where_the_terminal_is_narrow(tmp_path, monkeypatch):
    long = chapter(
        "one", [], "A chapter whose title is as long as that of a paper with five authors"
    )
    monkeypatch.setattr("reidrisk.reproduction.chapters.CHAPTERS", (long,))
    done = call("reproduce", "-o", tmp_path, width=60)
    heading = next(line for line in done.stdout.splitlines() if "chapter" in line)
    assert heading.split() == ["chapter", "✓", "≈", "≠", "✕", "○", "+"]
    assert max(map(len, done.stdout.splitlines()[:6])) <= 60
