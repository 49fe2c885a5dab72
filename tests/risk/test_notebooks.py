"""Curves and results show themselves: tables, data frames, charts."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from reidrisk import Hamming, MissingExtra, Study, TopicsApi, data
from reidrisk.risk import measure, measure_sizes

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


def test_without_any_library_the_message_says_what_to_install(monkeypatch):
    for module in ("pandas", "polars", "altair"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        CURVE.to_frame()
    with pytest.raises(MissingExtra, match=r"reidrisk\[plots\]"):
        RESULT.plot()


@pytest.mark.parametrize("shown", [CURVE, SIZES, RESULT])
def test_charts_hold_the_figures(shown):
    pytest.importorskip("altair")
    chart = shown.plot().to_dict()
    rows = chart["data"]["values"] if "data" in chart else chart["layer"][0]["data"]["values"]
    values = shown.values() if shown is not RESULT else shown.risks
    assert [row["value"] for row in rows] == [one.value for one in values]
