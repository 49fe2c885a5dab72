"""The section on strangers says what the records say."""

import csv
import io
from dataclasses import replace

import pytest

from reidrisk import data, report
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.releases import TopicsApi
from reidrisk.report.strangers import section
from reidrisk.study import Study
from reidrisk.study.saying.numbers import share_with_interval

API = TopicsApi()


@pytest.fixture(scope="module")
def result():
    study = Study(
        release=API,
        attacks=(Hamming(), WeightedHamming(API)),
        targets=300,
        strangers=0.5,
        unit="weeks",
        seed=5,
    )
    return study.run(data.synthetic_topics(1000, epochs=4))


def test_without_strangers_there_is_no_section(result):
    assert section(replace(result, strangers=())) is None


def test_every_attack_and_rule_stands_in_one_table(result):
    points, *charts = section(result).exhibits
    assert [(row["attack"], row["rule"]) for row in points.rows] == [
        ("hamming", "score"),
        ("hamming", "gap"),
        ("weighted-hamming", "score"),
        ("weighted-hamming", "gap"),
        ("weighted-hamming", "posterior"),
    ]
    assert [one.name for one in charts] == ["strangers-score", "strangers-gap",
                                            "strangers-posterior"]  # fmt: skip
    headings = [column.heading for column in points.columns]
    assert headings[2:] == ["1 % accused", "5 % accused", "All accused", "Wrong at 1 %",
                            "Accused at 1 %", "Claims false at 1 %"]  # fmt: skip
    for one, row in zip(result.strangers, points.rows, strict=True):
        shown = [column.show(row) for column in points.columns]
        assert shown[2] == share_with_interval(one.at(0.01).right)
        assert shown[4] == share_with_interval(one.decisions[-1].right)
        assert shown[5] == share_with_interval(one.at(0.01).wrong)
        assert shown[6] == share_with_interval(one.at(0.01).accused)


def test_charts_hold_every_decision_exactly(result):
    charts = section(result).exhibits[1:]
    rows = [row for chart in charts for row in csv.DictReader(io.StringIO(chart.csv()))]
    decisions = [each for one in result.strangers for each in one.decisions]
    assert len(rows) == len(decisions)
    assert {float(row["right_value"]) for row in rows} == {one.right.value for one in decisions}


def test_every_figure_stands_under_its_chart(result):
    for chart in section(result).exhibits[1:]:
        headings = [column.heading for column in chart.columns]
        assert headings == ["Attack", "Threshold", "Accused", "Right", "Wrong", "Claims false"]
        last = [column.show(chart.rows[-1]) for column in chart.columns]
        (everybody,) = {one.decisions[-1].wrong for one in result.strangers
                        if (one.attack, one.rule) == (last[0], chart.rows[-1]["rule"])}  # fmt: skip
        assert last[4] == share_with_interval(everybody)


def test_sentences_say_who_was_met_and_what_could_not_be_shown(result):
    told = " ".join(section(result).sentences)
    one = result.strangers[0]
    assert (
        f"{one.targets:,} of them and {one.strangers:,} strangers were met, after 4 weeks" in told
    )
    assert "takes more strangers: 1,997 for 0.1 % at least" in told
    assert "saw nothing" not in told
    missed = tuple(replace(one, not_assessed=12) for one in result.strangers)
    told = " ".join(section(replace(result, strangers=missed)).sentences)
    assert (
        "Of 12 more one side saw nothing, which does not make them safe; those who showed "
        "something count among the claims, and nowhere else."
    ) in told


def test_so_few_strangers_that_nothing_can_be_asked(result):
    bare = tuple(replace(one, decisions=one.decisions[-1:]) for one in result.strangers)
    made = section(replace(result, strangers=bare))
    assert made.exhibits[0].sentence == "There are too few strangers to choose when to speak."
    assert "at most" in made.exhibits[1].sentence


def test_the_page_has_it(result, tmp_path):
    page = report.html(result, tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<section id="strangers"' in page
    assert "What if the person is not in the list at all?" in page
