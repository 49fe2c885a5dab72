"""A study in which everybody is also named at once: records, sentences, report and gate."""

from dataclasses import replace

import pytest
from tests.report.sample import bare, sample

from reidrisk import data
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.estimates import Bound, Estimate
from reidrisk.releases import RandomisedResponse, TopicsApi
from reidrisk.report.sections import assignments as section_of
from reidrisk.risk import bounds, measure_assignment
from reidrisk.risk.records import Assignment
from reidrisk.study import Result, Study
from reidrisk.study.analyses.assignments import BOUND, bound_at_once, verdict
from reidrisk.study.toml import study_file

API = TopicsApi(topics=40)
PEOPLE = data.synthetic_topics(150, topics=40, epochs=4, seed=1)
STUDY = Study(release=API, attacks=(Hamming(), WeightedHamming(API)), slots=(1, 4), seed=7)


@pytest.fixture(scope="module")
def result():
    return replace(STUDY, everyone=True).run(PEOPLE)


def named(attack, value, alone=0.1):
    right, before, listed = (
        Estimate(one, max(one - 0.05, 0), one + 0.05, 0.95, 400, "made up")
        for one in (value, alone, 0.6)
    )
    return Assignment(attack, 4, 400, 400, 50, 0, listed, before, right)


def result_with(*found, limit=None):
    risks = sample().risks
    proved = () if limit is None else (
        Bound(BOUND, "upper", Estimate.computed(limit), "Everyone is shown once.", slots=4),
    )  # fmt: skip
    return bare(risks=risks, assignments=found, bounds=proved)


def test_records_are_those_of_the_measurement(result):
    seen = API.observe(PEOPLE, seed=7)
    assert [one.attack for one in result.assignments] == ["hamming", "weighted-hamming"]
    assert {one.slots for one in result.assignments} == {4}
    found = measure_assignment(seen, Hamming())
    assert result.assignments[0].right.trials == found.right.trials
    alone = {one.attack: one.value for one in result.risks if one.slots == 4}
    assert {one.attack: one.alone.value for one in result.assignments} == alone


def test_it_is_read_as_it_was_written(result, tmp_path):
    assert Result.load(result.save(tmp_path)) == result


def test_who_does_not_ask_gets_the_same_as_before(result):
    """No new key in what is said of the study, no new field in the file."""
    without = STUDY.run(PEOPLE)
    assert '"assignments"' not in without.to_json()
    assert "everyone" not in without.study
    assert result.study["everyone"] is True
    assert without.risks == result.risks


def test_a_study_file_asks_for_it(tmp_path):
    text = (
        'everyone = true\n[people]\nkind = "synthetic"\nusers = 100\n[release]\nkind = "topics"\n'
    )
    assert study_file(text, folder=tmp_path).study.everyone


def test_the_verdict_names_the_strongest():
    (said,) = verdict(result_with(named("hamming", 0.2), named("weighted-hamming", 0.3)))
    assert said.text == (
        "Everyone at once: after 4 slots, an attacker who names all 400 rows together, and nobody "
        "twice, picks the right person in 30 % (25 % to 35 %) of 400 cases (weighted-hamming). One "
        "by one the same attack does so in 10 %. Bounds for one random user say nothing about such "
        "attackers."
    )


def test_the_bound_that_covers_it_is_said():
    (said,) = verdict(result_with(named("hamming", 0.2), limit=0.6))
    assert said.text.endswith(
        "It is proved that nobody who sees everybody at once does so in more than 60 %."
    )
    (said,) = verdict(result_with(named("hamming", 0.8), limit=0.6))
    assert said.text.endswith("what that bound assumes does not hold.")
    assert bounds.matching.ABOUT.figure == BOUND


def test_nobody_asked():
    assert list(verdict(result_with())) == []
    assert section_of.section(result_with()) is None


def test_the_section_shows_both_ways():
    found = section_of.section(result_with(named("hamming", 0.2), limit=0.6))
    (exhibit,) = found.exhibits
    assert exhibit.sentence == (
        "Hamming names 20 % (15 % to 25 %) of 400 people rightly at once, and 10 % one by one."
    )
    assert "60 %" in found.sentences[1]
    (row,) = exhibit.rows
    shown = [column.show(row).replace("\N{NO-BREAK SPACE}", " ") for column in exhibit.columns]
    assert shown == [
        "hamming", "10 % (5 % to 16 %)", "20 % (15 % to 25 %)", "60 % (54 % to 65 %)", "50", "400",
    ]  # fmt: skip
    assert "random person" in section_of.section(result_with(named("hamming", 0.2))).sentences[1]


def test_the_gate_judges_it():
    risks = max(one.high for one in sample().risks if not one.setting)
    found = result_with(named("hamming", 0.9))
    assert not found.gate(max_risk=(risks + 0.95) / 2).passed
    assert found.gate(max_risk=(risks + 0.95) / 2, attack="weighted-hamming").passed
    assert result_with().gate(max_risk=(risks + 0.95) / 2).passed


def test_the_bound_is_there_in_small_worlds():
    """All outcomes are gone through, and what everybody shows at once rules something out."""
    people = data.synthetic_topics(60, topics=30, epochs=2, seed=1)
    study = Study(
        release=RandomisedResponse(epsilon=6), attacks=(Hamming(),), slots=(1,), everyone=True
    )
    found = study.run(people)
    proved = bound_at_once(found)
    assert 0 < proved.high < 0.5
    assert found.assignments[0].right.low <= proved.high
    assert "It is proved that nobody who sees everybody at once" in str(found)
