"""Curves and results show themselves: tables, data frames, charts."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.snapshots import refuses

from reidrisk import Hamming, MissingExtra, Study, TopicsApi, WeightedHamming, data
from reidrisk.plotting import FILE
from reidrisk.risk import measure, measure_sizes
from reidrisk.study.text.verdict import verdict

API = TopicsApi()
PEOPLE = data.synthetic_topics(users=300, epochs=2, seed=1)
SEEN = API.observe(PEOPLE, targets=50, seed=1)
CURVE = measure(SEEN, Hamming(), slots=(1, 2))
SIZES = measure_sizes(SEEN, Hamming(), users=(10, 300))
RESULT = Study(release=API, attacks=(Hamming(),), targets=50, seed=1).run(PEOPLE)
HOSTILE = "</table><script>alert(1)</script>"


@pytest.mark.parametrize("shown", [CURVE, SIZES, RESULT])
def test_tables_hold_the_figures(shown):
    html = shown._repr_html_()
    values = shown.values() if shown is not RESULT else shown.risks
    assert all(f"{one.value:.4%}" in html for one in values)


@pytest.mark.parametrize(
    "hostile", [replace(CURVE, attack=HOSTILE), replace(RESULT, title=HOSTILE)]
)
def test_text_is_escaped(hostile):
    assert "<script>" not in hostile._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("shown", [CURVE, SIZES, RESULT])
def test_frames_of_whatever_library_there_is(monkeypatch, shown, library):
    for module in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, library, SimpleNamespace(DataFrame=lambda rows: rows))
    rows = shown.to_frame()
    assert rows[0]["attack"] == "hamming"
    assert {"value", "low", "high", "level", "method"} <= set(rows[0])


@pytest.mark.parametrize("wrong", [ImportError("numpy is too old"), ValueError("numpy is too old")])
def test_a_library_that_is_there_but_broken_is_not_passed_over(monkeypatch, wrong):
    def imported(name):
        if name == "pandas":
            raise wrong
        return SimpleNamespace(DataFrame=lambda rows: rows)

    # only where the package asks for it: pydantic imports its own parts by the same function
    mine = SimpleNamespace(import_module=imported)
    monkeypatch.setattr("reidrisk.core.optional.importlib", mine)
    with pytest.raises(type(wrong), match="numpy is too old"):
        CURVE.to_frame()


def test_a_library_that_lacks_a_part_of_its_own_says_which(monkeypatch):
    def imported(name):
        raise ModuleNotFoundError("No module named 'dateutil'", name="dateutil")

    # only where the package asks for it: pydantic imports its own parts by the same function
    mine = SimpleNamespace(import_module=imported)
    monkeypatch.setattr("reidrisk.core.optional.importlib", mine)
    with pytest.raises(ModuleNotFoundError, match="dateutil"):
        RESULT.to_frame()


def test_without_any_library_the_message_says_what_to_install(monkeypatch):
    for module in ("pandas", "polars", "altair"):
        monkeypatch.setitem(sys.modules, module, None)
    with refuses("missing-extra", MissingExtra):
        CURVE.to_frame()
    with refuses("missing-extra", MissingExtra):
        RESULT.plot()


@pytest.mark.parametrize("shown", [CURVE, SIZES, RESULT])
def test_charts_hold_the_figures(shown):
    pytest.importorskip("altair")
    chart = shown.plot().to_dict()
    rows = chart["data"]["values"] if "data" in chart else chart["layer"][0]["data"]["values"]
    values = shown.values() if shown is not RESULT else shown.risks
    assert [row["value"] for row in rows] == [one.value for one in values]


@pytest.mark.parametrize("shown", [CURVE, SIZES, RESULT])
def test_charts_look_like_those_of_a_report(shown):
    pytest.importorskip("altair")
    chart = shown.plot().to_dict()
    colours = [
        layer["encoding"]["color"]["scale"]["range"]
        for layer in chart["layer"]
        if "color" in layer["encoding"]
    ]
    assert colours
    assert all(each == [FILE.series[0]] for each in colours)
    assert chart["config"]["background"] == FILE.background
    assert chart["title"] == (RESULT.title if shown is RESULT else "hamming")
    assert all("said" in row for row in chart["data"]["values"])
    scale = chart["layer"][-1]["encoding"]["x"].get("scale") or {}
    assert scale.get("type") == ("log" if shown is SIZES else None)


def test_attacks_of_a_result_have_one_order():
    first, second = Hamming(), WeightedHamming(API)
    result = Study(release=API, attacks=(second, first), targets=50, seed=1).run(PEOPLE)
    assert result.attacks == ("weighted-hamming", "hamming")
    assert replace(result, attackers=()).attacks == ("weighted-hamming", "hamming")
    chart = result.plot().to_dict()
    assert chart["layer"][0]["encoding"]["color"]["scale"]["domain"] == list(result.attacks)


@pytest.mark.parametrize("shown", [CURVE, SIZES, RESULT])
def test_pictures_of_charts_can_be_made(shown):
    converter = pytest.importorskip("vl_convert")
    assert converter.vegalite_to_svg(shown.plot().to_dict()).startswith("<svg")


def test_printing_a_result_prints_the_verdict():
    text = str(RESULT)
    assert text.startswith(RESULT.title)
    assert all(statement.text in text for statement in verdict(RESULT))
