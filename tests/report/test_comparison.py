"""The page about two runs: it says which is worse, and nothing else runs in it."""

import json
from dataclasses import replace

import pytest
from tests.report.hostile import EVIL
from tests.report.test_page import Parsed
from tests.study.test_compare import result

from reidrisk.plotting import FILE
from reidrisk.report import comparison
from reidrisk.study._compare import Change, compare

pytest.importorskip("altair")

FEW, MANY = "0" * 900 + "1" * 100, "0" * 800 + "1" * 200


@pytest.fixture
def found():
    return compare(result(("a", FEW), ("b", FEW)), result(("a", MANY), ("b", FEW), ("c", FEW)))


def test_the_page_says_what_was_found(found, tmp_path):
    page = comparison.html(found, tmp_path / "page.html", names=("last", "now")).read_text()
    assert "now is worse than last by 10 points (7 to 13): a after 8 slots; same 1,000" in page
    assert "Only now tried c." in page
    assert "The studies differ in nothing that they record." in page


def test_figures_and_chart_are_of_every_attack(found):
    section, changes = comparison.sections(found)
    (exhibit,) = section.exhibits
    assert [row["attack"] for row in exhibit.rows] == ["a", "b"]
    assert [row["value"] for row in exhibit.rows] == pytest.approx([0.1, 0])
    assert "A is right more often: +10 points (+7 to +13)." in exhibit.sentence
    assert "B may be right as often: 0 points" in exhibit.sentence
    assert not changes.exhibits
    turned = comparison.sections(compare(result(("a", MANY)), result(("a", FEW))))[0]
    assert "A is right less often: -10 points" in turned.exhibits[0].sentence


def test_changes_are_a_table(found):
    changed = replace(found, changes=(Change("noise", "0.05", "0.1"), Change("seed", "1", "2")))
    (exhibit,) = comparison.sections(changed)[1].exhibits
    assert exhibit.sentence == "The studies differ in 2 things."
    assert [column.show(exhibit.rows[0]) for column in exhibit.columns] == ["noise", "0.05", "0.1"]


def test_attacks_of_one_name_have_rows_of_their_own():
    section, _ = comparison.sections(compare(*[result(("a", FEW), ("a", MANY))] * 2))
    drawn = json.dumps(section.exhibits[0].draw(section.exhibits[0].rows, FILE).to_dict())
    assert '"a (1)"' in drawn
    assert '"a (2)"' in drawn


def test_words_of_others_stay_words(found, tmp_path):
    evil = replace(
        found,
        before=EVIL,
        after=EVIL,
        differences=tuple(replace(one, attack=EVIL) for one in found.differences),
        only_after=(EVIL,),
        changes=(Change(EVIL, EVIL, EVIL),),
    )
    page = comparison.html(evil, tmp_path / "page.html", names=(EVIL, EVIL), command=EVIL)
    text = page.read_text()
    assert "<script>alert(1)" not in text
    assert "\u202e" not in text
    assert not {"img"} & {tag for tag, _ in Parsed(text).tags}
