"""Gate and report."""

import itertools
import json
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.tools import call, run

from reidrisk.errors import MissingExtra
from reidrisk.study.result import Result, Risk


def risk(attack="hamming", slots=1, high=0.5, **more):
    return Risk(
        attack=attack, slots=slots, users=100, targets=10, not_assessed=0, value=high / 2,
        low=0.0, high=high, level=0.95, method="made up", guessing=0.01, **more,
    )  # fmt: skip


def result(*risks):
    return Result(
        title="t", study={}, users=100, targets=10, slots=(1, 2), level=0.95, seed=0, risks=risks
    )


@pytest.fixture
def made(tmp_path):
    highs = {("a", 1): 0.01, ("a", 2): 0.02, ("b", 1): 0.03, ("b", 2): 0.04}
    risks = [risk(attack, slots, high) for (attack, slots), high in highs.items()]
    result(*risks, risk("a", 2, 0.9, setting={"noise": 0.1})).save(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("most", "chosen", "failing"),
    [
        ("4%", (), 0),
        ("0.04", (), 0),
        ("3.9%", (), 1),
        ("1%", (), 3),
        ("1%", ("--slots", "1"), 1),
        ("1%", ("--attack", "a"), 1),
        ("1%", ("--attack", "a", "--slots", "1"), 0),
        ("0", (), 4),
    ],
)
def test_the_gate_compares_upper_ends(made, most, chosen, failing):
    done = call("gate", made, "--max-risk", most, *chosen)
    assert done.returncode == (3 if failing else 0)
    assert len(done.stdout.splitlines()) == (failing or 1)
    assert done.stdout.startswith("passed") == (not failing)
    printed = call("gate", made / "result.json", "--max-risk", most, *chosen, "--json")
    body = json.loads(printed.stdout)
    assert (body["passed"], len(body["failing"])) == (not failing, failing)
    assert printed.returncode == done.returncode
    quiet = call("gate", made, "--max-risk", most, *chosen, "-q")
    assert (quiet.stdout, quiet.returncode) == ("", done.returncode)


def test_the_gate_as_the_real_executable(made):
    done = run("gate", made, "--max-risk", "3%")
    assert done.returncode == 3
    assert (
        done.stdout
        == "b after 2 slots among 100 users: 2.0000%, upper end 4.0000%, above 3.0000%\n"
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1))
def test_the_gate_passes_only_if_every_upper_end_is_low(tmp_path_factory, highs, most):
    folder = tmp_path_factory.mktemp("gate")
    result(*(risk(f"a{place}", 1, high) for place, high in enumerate(highs))).save(folder)
    expected = 3 if any(high > most for high in highs) else 0
    assert call("gate", folder, "--max-risk", repr(most)).returncode == expected


def test_the_gate_says_who_was_not_assessed(tmp_path):
    result(replace(risk(), not_assessed=7)).save(tmp_path)
    assert "7 targets could not be assessed" in call("gate", tmp_path, "--max-risk", "1").stderr


@pytest.mark.parametrize("words", [("--attack", "c"), ("--slots", "3")])
def test_a_gate_with_nothing_to_check_does_not_pass(made, words):
    done = call("gate", made, "--max-risk", "100%", *words)
    assert done.returncode == 2
    assert "slots 1, 2 and attacks a, b" in done.stderr


def damaged():
    """Ways to spoil a result.json, and what is then said."""
    text = result(risk()).to_json()
    yield "cut", text[:50], "is not JSON"
    yield "schema", text.replace("reidrisk/1", "reidrisk/9"), "schema 'reidrisk/9'"
    yield "list", "[]", "schema None"
    yield "not a number", text.replace('"high": 0.5', '"high": NaN'), "NaN is no number"
    yield "text", text.replace('"high": 0.5', '"high": "low"'), "risks.0.high: input should be"
    yield "yes", text.replace('"high": 0.5', '"high": false'), "risks.0.high: input should be"
    yield "missing", text.replace('"high": 0.5,\n', ""), "is damaged"
    yield "more", text.replace('"high": 0.5', '"high": 0.5, "hihg": 1'), "is damaged"
    yield "scalar", text.replace('"slots": [\n  1,\n  2\n ]', '"slots": 3'), "is damaged"


@pytest.mark.parametrize("command", [("gate", "--max-risk", "1%"), ("report",)], ids=lambda c: c[0])
@pytest.mark.parametrize(("text", "message"), [one[1:] for one in damaged()],
                         ids=[one[0] for one in damaged()])  # fmt: skip
def test_a_damaged_result_is_refused(tmp_path, command, text, message):
    (tmp_path / "result.json").write_text(text)
    done = call(*command, tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [("gate", "--max-risk", "1%"), ("report",)], ids=lambda c: c[0])
def test_absent_and_binary_results_are_refused(tmp_path, command):
    assert "no such file" in call(*command, tmp_path).stderr
    assert "no such file" in call(*command, tmp_path / "absent").stderr
    (tmp_path / "result.json").write_bytes(b"\xff\xfe\x00")
    assert "is damaged" in call(*command, tmp_path).stderr


def test_the_report_is_written(made, tmp_path):
    pytest.importorskip("altair")
    page, charts = tmp_path / "page.html", tmp_path / "charts"
    done = call("report", made, "-o", page, "--files", charts)
    assert done.returncode == 0, done.stderr
    assert page.read_text().startswith("<!")
    assert {file.suffix for file in charts.iterdir()} == {".svg", ".png", ".csv"}
    assert str(page) in done.stdout


SECTION = """
from reidrisk.report import Section

def mine(result):
    return Section("mine", "What <b>we</b> add", (f"{len(result.risks)} figures.",))

def wrong(result):
    return result
"""


def test_a_report_takes_sections_of_others(made, tmp_path, monkeypatch):
    pytest.importorskip("altair")
    (tmp_path / "added.py").write_text(SECTION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.delitem(sys.modules, "added", raising=False)
    page = tmp_path / "page.html"
    done = call("report", made, "-o", page, "--section", "added:mine")
    assert done.returncode == 0, done.stderr
    assert "<p>5 figures.</p>" in page.read_text()
    assert "What &lt;b&gt;we&lt;/b&gt; add" in page.read_text()
    for path, message in (
        ("added:wrong", "wrong should be a section of the report"),
        ("added:absent", "'added' has no 'absent'"),
        ("absent_module:mine", "'absent_module' cannot be imported"),
    ):
        done = call("report", made, "-o", tmp_path / "other.html", "--section", path)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
        assert not (tmp_path / "other.html").exists()
    both = ("--section", "added:mine", "--section", "added:mine")
    assert "two parts of the report are called 'mine'" in call("report", made, *both).stderr


def test_a_report_without_its_extra_says_what_to_install(made, tmp_path, monkeypatch):
    def missing(*_, **__):
        raise MissingExtra("altair is needed: pip install 'reidrisk[plots]'")

    monkeypatch.setattr("reidrisk.report.html", missing)
    done = call("report", made, "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert "pip install 'reidrisk[plots]'" in done.stderr


@pytest.mark.parametrize("place", ["{}/absent/page.html", "/proc/page.html", "{}"])
def test_a_report_that_cannot_be_written_says_so(made, tmp_path, place):
    pytest.importorskip("altair")
    done = call("report", made, "-o", place.format(tmp_path))
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


def test_all_of_the_damages_differ():
    texts = [one[1] for one in damaged()]
    assert all(one != other for one, other in itertools.combinations(texts, 2))
    assert result(risk()).to_json() not in texts
