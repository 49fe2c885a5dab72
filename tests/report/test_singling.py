"""The pages of singling out and of unicity: they say what was found, and nothing by name."""

import re

import numpy as np
import pytest
from tests.report.hostile import EVIL
from tests.report.test_page import Parsed

import reidrisk as rr
from reidrisk.report import singling, unicity
from reidrisk.study.text import singling as singling_text
from reidrisk.study.text import unicity as unicity_text


def people(rows=400, towns=6):
    rng = np.random.default_rng(1)
    return {
        "town": [f"town {one}" for one in rng.integers(0, towns, rows)],
        "age": rng.integers(18, 70, rows),
        "sex": rng.choice(["f", "m", ""], rows),
    }


def sales(rows=900):
    rng = np.random.default_rng(2)
    return {
        "user": rng.integers(0, 200, rows),
        "day": rng.integers(20230101, 20230129, rows),
        "paid": rng.integers(1, 40, rows),
    }


@pytest.fixture(scope="module")
def found():
    return rr.singling(people(), columns=["town", "age", "sex"], register=people(3000))


@pytest.fixture(scope="module")
def known():
    return rr.unicity(
        sales(), epoch="day", count="paid", points=(1, 2), coarsen=["week"], rounding=[10]
    )


def test_the_verdict_begins_with_who_is_alone(found):
    first, best, register, promise = singling_text.verdict(found)
    assert first.text.startswith(f"{found.unique} people of 400, ")
    assert "alone with their town, age and sex" in first.text
    assert f"{found.groups} times as often" in best.text
    found_in, records = found.register.found, found.people
    assert (
        f"The register of 3,000 people has the values of {found_in} of {records}" in register.text
    )
    assert promise.warns
    assert "promises nothing" in promise.text


def test_the_verdict_of_a_table_in_which_nobody_is_alone():
    found = rr.singling({"town": ["a"] * 5 + ["b"] * 7}, columns=["town"])
    first, best, promise = singling_text.verdict(found)
    assert "None of 12 people is alone with their town: at least 5 share them" in first.text
    assert "16.7 %" in best.text
    assert "5-anonymity" in promise.text
    assert "above 20 %" in promise.text
    assert not promise.warns
    assert [one.name for one in singling.sections(found)] == ["groups", "regulators", "columns"]


def test_a_register_without_any_record_warns():
    found = rr.singling({"a": [1, 2]}, columns=["a"], register={"a": [3]})
    assert "says nothing about this table" in singling_text.verdict(found)[2].text
    assert "register" not in [one.name for one in singling.sections(found)]


def test_the_page_is_whole(found, tmp_path):
    page = singling.html(found, tmp_path / "page.html", name="people.csv").read_text()
    assert re.findall(r'<section id="([a-z]+)"', page) == [
        "groups", "regulators", "columns", "values", "register", "limits", "again",
    ]  # fmt: skip
    ids = Parsed(page).ids()
    assert len(ids) == len(set(ids))
    assert "Seed" not in page.split('id="again"')[1].split("</dl>")[0]
    again = singling.html(found, tmp_path / "again.html", name="people.csv").read_text()
    assert page == again


def test_tables_hold_the_records(found):
    exhibits = {one.name: one for part in singling.sections(found) for one in part.exhibits}
    assert [row["people"] for row in exhibits["groups"].rows] == [
        size.people for size in found.sizes[: len(exhibits["groups"].rows)]
    ]
    assert sum(row["people"] for row in exhibits["groups"].rows) == found.people
    shares = {row["label"]: row["value"] for row in exhibits["columns"].rows}
    assert shares == {one.name: one.unique_share.value for one in found.parts}
    assert sum(shares.values()) == pytest.approx(found.share_unique.value)
    named = {row["label"] for row in exhibits["values"].rows}
    assert "(empty)" in named
    rare = next(one for one in found.rare if one.column == "age")
    assert f"{rare.values} values of fewer than 10 people each" in named


def test_fair_shares_that_are_sampled_show_their_intervals(found, monkeypatch):
    from reidrisk.risk.tables import groups

    exact = {one.name: one for part in singling.sections(found) for one in part.exhibits}
    assert "95 % interval" not in [one.heading for one in exact["columns"].columns]
    monkeypatch.setattr(groups, "MOST_WORK", 0)
    sampled = rr.singling(people(), columns=["town", "age", "sex"])
    shown = {one.name: one for part in singling.sections(sampled) for one in part.exhibits}
    assert "95 % interval" in [one.heading for one in shown["columns"].columns]


def test_the_page_of_points_is_whole(known, tmp_path):
    first, right, coarser = unicity_text.verdict(known)
    assert "2 random points (day and paid)" in first.text
    assert "guessing among all who have the points" in right.text
    assert "Known only by week, rounded to 10" in coarser.text
    page = unicity.html(known, tmp_path / "page.html").read_text()
    assert re.findall(r'<section id="([a-z]+)"', page) == ["singled", "right", "limits", "again"]
    exhibits = {one.name: one for part in unicity.sections(known) for one in part.exhibits}
    assert [row["value"] for row in exhibits["singled"].rows] == [
        one.singled_out.value for one in known
    ]
    assert [row["value"] for row in exhibits["right"].rows] == [one.right.value for one in known]


def test_nobody_with_so_many_points_is_said(tmp_path):
    found = rr.unicity({"user": [1, 2], "item": [1, 1]}, points=(3,))
    assert unicity_text.verdict(found)[0].text == "Nobody has as many points as were asked for."
    page = unicity.html(found, tmp_path / "page.html").read_text()
    assert 'class="chart"' not in page


def test_exact_figures_have_no_ranges():
    found = rr.unicity({"user": [1, 2, 2], "item": [1, 1, 2]}, points=(1, 2), known="rarest")
    assert "exact" in unicity_text.basis(found)
    assert "knows the 2 rarest points (item) of a person" in unicity_text.verdict(found)[0].text
    shown = [one.heading for one in unicity.sections(found)[0].exhibits[0].columns]
    assert not any("interval" in heading for heading in shown)
    assert "1 of them has fewer than 2 points and is in no such figure" in unicity_text.basis(found)


def test_hostile_names_do_nothing(tmp_path):
    table = {EVIL: ["x"] * 12 + [EVIL] * 12, "age": [*range(24)]}
    found = rr.singling(table, columns=[EVIL, "age"])
    page = singling.html(found, tmp_path / "page.html", name=EVIL).read_text(encoding="utf-8")
    plain = singling.html(rr.singling({"a": [1]}, columns="a"), tmp_path / "plain.html")
    kinds = {tag for tag, _ in Parsed(plain.read_text(encoding="utf-8")).tags}
    assert {tag for tag, _ in Parsed(page).tags} <= {*kinds, "figure", "path", "svg", "rect", "g"}
    assert "\u202e" not in page
