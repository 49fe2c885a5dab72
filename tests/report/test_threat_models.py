"""Cards in the report: one for each attack and bound of the result, folded, and printed whole."""

import html
import re
from dataclasses import replace

from tests.report.sample import sample

from reidrisk.report.sections import threat_models
from reidrisk.risk import cards
from reidrisk.study import Result
from reidrisk.study.text.bounds import bounds_of


def titles(result: Result) -> list[str]:
    return [exhibit.title for exhibit in threat_models.section(result).exhibits]


def test_every_attack_and_figure_of_the_result_has_one_card():
    names = [title.partition(" (")[0] for title in titles(sample())]
    assert sorted(names) == sorted({*sample().attacks, *(one.name for one in bounds_of(sample()))})
    assert names[:3] == list(sample().attacks)
    assert "hamming (attack, lower)" in titles(sample())
    assert "full information (bound, upper)" in titles(sample())
    assert "gaps (attack, lower)" not in titles(sample())


def test_a_card_in_the_report_says_what_the_card_says():
    (card,) = cards("hamming")
    exhibit = threat_models.section(sample()).exhibits[0]
    assert [(row["point"], row["says"]) for row in exhibit.rows] == [
        line for line in card.lines if line[0] != "In short"
    ]
    assert exhibit.sentence == card.says


def test_cards_are_folded_away_on_the_page(report_page):
    text = report_page.read_text(encoding="utf-8")
    place = text[text.index('<section id="threat-models"') : text.index('<section id="limits"')]
    assert place.count('<details class="folded">') == len(titles(sample()))
    assert "<details open" not in place
    for title in titles(sample()):
        assert f"<summary>{html.escape(title)}</summary>" in place
    assert len(place) < 40_000
    assert not re.search(r"`|None|Not stated", place)


def test_a_result_without_figures_has_no_cards():
    assert threat_models.section(replace(sample(), bounds=(), attackers=())) is None
