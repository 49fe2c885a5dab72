"""The section on strangers says what the records say."""

import csv
import io
from dataclasses import replace

import pytest

from reidrisk import data, report
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.plotting import FILE
from reidrisk.releases import TopicsApi
from reidrisk.report.sections.strangers import section
from reidrisk.study import Study
from reidrisk.study.text.numbers import share_with_interval

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
    points, others, *charts = section(result).exhibits
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
    assert headings[2:] == ["1 % accused", "5 % accused", "All accused"]
    headings = [column.heading for column in others.columns]
    assert headings[2:] == ["Wrong", "Accused", "Claims false"]
    assert "at most 1 % of strangers" in others.title
    for place, one in enumerate(result.strangers):
        shown = _shown(points, place)
        assert shown[1] == {"score": "score", "gap": "lead", "posterior": "chance"}[one.rule]
        assert shown[2] == share_with_interval(one.at(0.01).right)
        assert shown[4] == share_with_interval(one.decisions[-1].right)
        more = _shown(others, place)
        assert more[2] == share_with_interval(one.at(0.01).wrong)
        assert more[3] == share_with_interval(one.at(0.01).accused)


def _shown(exhibit, place):
    return [column.show(exhibit.rows[place]).replace("\N{NO-BREAK SPACE}", " ")
            for column in exhibit.columns]  # fmt: skip


def test_figures_break_before_their_interval_and_nowhere_else(result):
    points = section(result).exhibits[0]
    for column in points.columns[2:]:
        assert column.breaks
        assert [part[:1] for part in column.show(points.rows[0]).split(" ")[1:]] == ["("]


def test_who_accuses_nobody_is_drawn_at_the_left_end_and_it_is_said(result):
    told = []
    for chart in section(result).exhibits[2:]:
        rows = [row for row in chart.rows if row["accused_value"]]
        for some in (rows, chart.rows):
            axis = chart.draw(some, FILE).to_dict()["layer"][0]["encoding"]["x"]["axis"]["title"]
            none = any(not row["accused_value"] for row in some)
            assert axis.endswith("; none is drawn at the left end") == none
            told.append(none)
    assert any(told)


def test_paper_gets_a_few_thresholds_and_says_where_all_are(result, tmp_path):
    """Regression: the tables took seven pages."""
    for chart in section(result).exhibits[2:]:
        mine = [one for one in result.strangers if one.rule == chart.rows[0]["rule"]]
        printed = [chart.rows[place] for place in sorted(chart.printed)]
        assert len(printed) <= 5 * len(mine)
        assert {row["wanted"] for row in printed} == {0.01, 0.05, None}
        for one in mine:
            accused = [row["accused_value"] for row in printed if row["attack"] == one.attack]
            assert accused[-1] == 1
            every = [each.accused.value for each in one.decisions]
            assert min(every, key=lambda share: abs(share - 0.1)) in accused
    page = report.html(result, tmp_path / "page.html").read_text(encoding="utf-8")
    rows = sum(len(chart.rows) for chart in section(result).exhibits[2:])
    printed = sum(len(chart.printed) for chart in section(result).exhibits[2:])
    assert page.count('<tr class="screen">') == rows - printed
    assert "All are in strangers-gap.csv" in page


def test_charts_hold_every_decision_exactly(result):
    charts = section(result).exhibits[2:]
    rows = [row for chart in charts for row in csv.DictReader(io.StringIO(chart.csv()))]
    decisions = [each for one in result.strangers for each in one.decisions]
    assert len(rows) == len(decisions)
    assert {float(row["right_value"]) for row in rows} == {one.right.value for one in decisions}


def test_every_figure_stands_under_its_chart(result):
    for chart in section(result).exhibits[2:]:
        headings = [column.heading for column in chart.columns]
        assert headings == ["Attack", "Threshold", "Accused", "Right", "Wrong", "Claims false"]
        last = _shown(chart, -1)
        (everybody,) = {one.decisions[-1].wrong for one in result.strangers
                        if (one.attack, one.rule) == (last[0], chart.rows[-1]["rule"])}  # fmt: skip
        assert last[4] == share_with_interval(everybody)


def test_sentences_say_who_was_met_and_what_could_not_be_shown(result):
    told = " ".join(section(result).sentences)
    one = result.strangers[0]
    assert (
        f"{one.targets:,} known visitors and {one.strangers:,} strangers were met; of all" in told
    )
    assert "takes more strangers: 1,997 for 0.1 % at least" in told
    assert "saw nothing" not in told
    missed = tuple(replace(one, not_assessed=12) for one in result.strangers)
    told = " ".join(section(replace(result, strangers=missed)).sentences)
    assert (
        "Of 12 more visitors one side saw nothing, which does not make them safe; those who showed "
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
