"""`reidrisk compare`."""

import json
from dataclasses import replace

import pytest
from tests.cli.tools import TINY, call
from tests.snapshots import says

import reidrisk as rr

TEXT = TINY.partition("[sweep]")[0]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    noisy = TEXT + '[release]\nnoise = "60%"\n'
    for name, text in (("quiet", TEXT), ("loud", noisy), ("other", TEXT.replace("= 3", "= 4"))):
        (folder / f"{name}.toml").write_text(text)
        done = call("study", folder / f"{name}.toml", "-o", folder / name, "-q")
        assert done.returncode == 0, done.stderr
    return folder


def test_the_same_targets_are_compared(runs):
    done = call("compare", runs / "quiet", runs / "loud", width=80)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert told.startswith("loud is safer than quiet by ")
    says(told)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert call("compare", runs / "quiet", runs / "loud", "-q").stdout == ""


def test_other_targets_are_compared_by_their_intervals(runs):
    told = " ".join(call("compare", runs / "quiet", runs / "other").stdout.split())
    says(told)


def test_json_has_everything(runs):
    done = call("compare", runs / "quiet" / "result.json", runs / "loud", "--json")
    body = json.loads(done.stdout)
    found = rr.compare(rr.Result.load(runs / "quiet"), rr.Result.load(runs / "loud"))
    assert (body["schema"], body["slots"], body["level"]) == ("reidrisk/1", 4, 0.95)
    assert [one["change"]["high"] for one in body["differences"]] == [
        one.change.high for one in found.differences
    ]
    assert all(one["paired"] for one in body["differences"])
    assert body["changes"] == [{"what": "noise of the release", "before": "0.05", "after": "0.6"}]


def test_runs_of_one_name_are_told_by_their_paths(runs, tmp_path):
    rr.Result.load(runs / "loud").save(tmp_path / "quiet")
    told = " ".join(call("compare", runs / "quiet", tmp_path / "quiet").stdout.split())
    assert f"{tmp_path / 'quiet'} is safer than {runs / 'quiet'}" in told


def test_the_same_run_differs_in_nothing(runs):
    told = " ".join(call("compare", runs / "quiet", runs / "quiet").stdout.split())
    assert "cannot be told: the difference is 0 points" in told
    assert "The studies differ in nothing that they record." in told


def test_what_only_one_tried_is_told(runs, tmp_path):
    less = rr.Result.load(runs / "loud")
    risks = tuple(one for one in less.risks if one.attack == "hamming")
    attackers = tuple(one for one in less.attackers if one.name == "hamming")
    replace(less, risks=risks, attackers=attackers).save(tmp_path)
    says(call("compare", runs / "quiet", tmp_path).stdout)


def test_the_heading_has_the_lowest_level(runs, tmp_path):
    less = rr.Result.load(runs / "quiet")
    risks = tuple(replace(one, method="betting, anytime") for one in less.risks)
    replace(less, risks=risks, credits=()).save(tmp_path)
    told = " ".join(call("compare", runs / "quiet", tmp_path, width=120).stdout.split())
    says(told)
    assert "95 % interval" not in told
    section, _ = rr.report.comparison.sections(rr.compare(less, rr.Result.load(tmp_path)))
    headings = [column.heading for column in section.exhibits[0].columns]
    assert "92.5 % interval" in headings


def test_a_page_is_written(runs, tmp_path):
    pytest.importorskip("altair")
    page = tmp_path / "page.html"
    done = call("compare", runs / "quiet", runs / "loud", "-o", page)
    assert done.returncode == 0, done.stderr
    says(done.stdout)
    assert "loud compared with quiet" in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("absent",), "no such file"),
        (("loud", "--slots", "3"), "no number of slots 3 in common; the first has 2, 4"),
    ],
)
def test_what_cannot_be_compared_is_refused(runs, words, message):
    other, *more = words
    done = call("compare", runs / "quiet", runs / other, *more)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
