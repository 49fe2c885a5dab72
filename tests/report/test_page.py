"""The page: whole, safe, the same each time."""

import base64
import csv
import hashlib
import html.parser
import io
import json
import re
import struct
import sys
from dataclasses import replace

import pytest
from tests.report.hostile import EVIL, hostile
from tests.report.sample import bare, risk, sample
from tests.snapshots import refuses

from reidrisk import report
from reidrisk.core.sanitize import cleaned
from reidrisk.errors import MissingExtra
from reidrisk.report.sections import sections
from reidrisk.study.result import Result


class Parsed(html.parser.HTMLParser):
    """Tags, ids and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        self.inside = tag

    def handle_endtag(self, _):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + data)

    def ids(self):
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


@pytest.fixture(scope="session")
def text(report_page):
    return report_page.read_text(encoding="utf-8")


def made(result, folder):
    return report.html(result, folder / "report.html").read_text(encoding="utf-8")


def test_it_is_small_and_has_every_section_in_order(text):
    assert len(text.encode()) < 1_500_000
    assert re.findall(r'<section id="([a-z]+)"', text) == [
        "spectrum", "regulators", "strongest", "slots", "guesses", "sizes", "people", "sweeps",
        "releases", "information", "limits", "again",
    ]  # fmt: skip


def test_the_same_result_gives_the_same_bytes(text, tmp_path):
    assert made(Result.from_json(sample().to_json()), tmp_path) == text


def test_ids_are_unique(text):
    ids = Parsed(text).ids()
    assert len(ids) == len(set(ids))


def test_the_policy_allows_these_scripts_and_nothing_else(text):
    parsed = Parsed(text)
    (policy,) = [a["content"] for t, a in parsed.tags if a.get("http-equiv")]
    run = [body for attributes, body in parsed.scripts if "type" not in attributes]
    allowed = re.findall(r"'sha256-([^']+)'", policy.split("style-src")[0])
    assert allowed == [base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in run]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http:" not in policy


def test_nothing_points_outside(text):
    for tag, attributes in Parsed(text).tags:
        for name in ("src", "href", "action", "xlink:href", "srcset", "data", "poster"):
            assert attributes.get(name, "#").startswith("#"), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert "style" not in attributes


def test_a_result_of_risks_alone_has_no_trace_of_the_rest(tmp_path):
    result = bare(risks=(risk("Hamming", 0.005, slots=1), risk("Hamming", 0.01)))
    page = made(result, tmp_path)
    assert [section.name for section in sections(result)] == ["regulators", "slots"]
    (alone,) = sections(bare(risks=(risk("Hamming", 0.01),)))
    assert alone.name == "regulators"
    body = page[: page.index("<script>")].partition("</style>")[2]
    for word in ("extrapol", "sure", "Bits", "Assumed", "Not covered", "Input", "Effect of"):
        assert word not in body


def test_a_result_of_nothing_is_still_a_page(tmp_path):
    page = made(bare(), tmp_path)
    assert "no attack was measured" in page
    assert 'role="img"' not in page


def test_values_of_zero_can_be_drawn_on_logarithmic_axes(tmp_path):
    zero = [
        replace(one, estimate=replace(one.estimate, value=0.0, low=0.0, high=0.001))
        for one in sample().bounds
    ]
    sizes = [replace(one, value=0.0, low=0.0) for one in sample().sizes]
    page = made(bare(bounds=tuple(zero), sizes=tuple(sizes)), tmp_path)
    assert "NaN" not in page.partition("</style>")[2].partition("<script>")[0]


def test_sweeps_over_words_and_over_two_parameters(tmp_path):
    grid = tuple(
        risk("Hamming", value, noise=noise, mode=mode)
        for mode in ("paper", "browser")
        for noise, value in ((0.0, 0.2), (0.1, 0.1))
    )
    words = tuple(risk("Hamming", value, mode=mode) for mode, value in (("a", 0.2), ("b", 0.1)))
    result = bare(risks=grid + words)
    (section,) = [one for one in sections(result) if one.name == "sweeps"]
    assert [exhibit.title for exhibit in section.exhibits] == [
        "Effect of noise, mode = paper", "Effect of noise, mode = browser", "Effect of mode",
    ]  # fmt: skip
    assert "Hamming is right in 20.0 % of cases with mode = a and in 10.0 % with b." in made(
        result, tmp_path
    )


def test_hostile_names_stay_text(tmp_path):
    page = made(hostile(), tmp_path)
    parsed = Parsed(page)
    assert (
        len([1 for tag, _ in parsed.tags if tag == "script"])
        == len([1 for section in sections(hostile()) for one in section.exhibits if one.draw]) + 2
    )
    assert "alert(1)</script>" not in page
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    assert "{{7*7}}" in page
    assert not set(page) & set("\u202e\u2066\u2028\x00\x1b")
    for attributes, body in parsed.scripts:
        if attributes.get("type"):
            assert not set(body) & set("<>&\u2028\u2029")
            json.loads(body)


def test_a_name_with_half_a_character_can_be_written(tmp_path):
    assert "half \ufffd" in made(bare(title="half \ud800"), tmp_path)


def test_a_section_may_draw_with_altair_and_a_theme_changes_nothing(tmp_path):
    altair = pytest.importorskip("altair")
    rows = ({"share": 0.25}, {"share": 0.5})

    def draw(rows, look):
        drawn = altair.Chart(altair.Data(values=list(rows)))
        return drawn.mark_point(color=look.ink).encode(x="share:Q")

    def section(_):
        exhibit = report.Exhibit("toy", "Toy", "A toy.", rows, (), draw)
        return report.Section("toys", "Toys?", exhibits=(exhibit,))

    def page():
        path = report.html(bare(bounds=sample().bounds), tmp_path / "page.html", sections=[section])
        return path.read_text(encoding="utf-8")

    text = page()
    (spec,) = [body for about, body in Parsed(text).scripts if about.get("id") == "spec-toy"]
    assert json.loads(spec)["encoding"]["x"]["field"] == "share"
    with altair.theme.enable("dark"):
        assert page() == text


def test_a_page_needs_no_altair(text, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert made(sample(), tmp_path) == text


@pytest.mark.parametrize("library", ["jinja2", "vl_convert"])
def test_a_missing_library_is_named_with_the_extra(library, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with refuses("missing-extra", MissingExtra):
        report.html(sample(), tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
    assert report.text(sample())


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path):
    with refuses("cannot-write"):
        report.html(bare(), tmp_path / "no folder" / "report.html")
    (tmp_path / "file").touch()
    with refuses("cannot-write"):
        report.files(sample(), tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_every_chart_becomes_three_files_and_every_table_one(tmp_path):
    paths = report.files(sample(), tmp_path / "charts")
    drawn = {path.stem for path in paths if path.suffix == ".png"}
    assert drawn == {
        "spectrum", "slots", "guesses", "sizes", "per-user-1", "claims-1", "claims-2", "sweep-1",
        "sweep-2", "releases", "information",
    }  # fmt: skip
    assert {path.name for path in (tmp_path / "charts").iterdir()} == {path.name for path in paths}
    assert {path.stem for path in paths} - drawn == {
        "held-out",
        "percentiles-1",
        "regulators",
        "selective",
        "strongest",
        "utility",
        *(f"threat-model-{place}" for place in range(1, 9)),
    }
    for name in drawn:
        svg = (tmp_path / "charts" / f"{name}.svg").read_text(encoding="utf-8")
        assert svg.startswith("<svg")
        assert "var(" not in svg
        png = (tmp_path / "charts" / f"{name}.png").read_bytes()
        assert struct.unpack(">I", png[16:20])[0] > 800
    with (tmp_path / "charts" / "slots.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    risks = [one for one in sample().risks if not one.setting]
    assert [float(row["value"]) for row in rows] == [one.value for one in risks]
    assert [row["attack"] for row in rows] == [one.attack for one in risks]


def test_hostile_names_do_not_name_files():
    exhibits = [one for section in sections(cleaned(hostile())) for one in section.exhibits]
    assert all(re.fullmatch(r"[a-z0-9-]+", one.name) for one in exhibits)
    (slots,) = [one for one in exhibits if one.name == "slots"]
    first = next(csv.DictReader(io.StringIO(slots.csv())))
    assert first["attack"].startswith(EVIL.split("\u202e")[0])
