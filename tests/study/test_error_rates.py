"""A study that also tells the figures of biometrics: records, file, sentences and section."""

import csv
import io
import json
from dataclasses import replace

import pytest
from tests.cli.tools import call

import reidrisk as rr
from reidrisk import data
from reidrisk.attacks import Hamming, Stacked, WeightedHamming
from reidrisk.estimates import Estimate
from reidrisk.plotting import FILE
from reidrisk.releases import TopicsApi
from reidrisk.report.exhibits import NOTHING
from reidrisk.report.sections.error_rates import section
from reidrisk.risk import measure_error_rates
from reidrisk.study import Result, Study
from reidrisk.study.toml import study_file

API = TopicsApi(topics=40)
PEOPLE = data.synthetic_topics(400, topics=40, epochs=4, seed=1)
STUDY = Study(release=API, attacks=(Hamming(), WeightedHamming(API)), slots=(1, 4), seed=7)


@pytest.fixture(scope="module")
def result():
    return replace(STUDY, error_rates=True).run(PEOPLE)


@pytest.fixture(scope="module")
def with_strangers():
    return replace(STUDY, error_rates=True, strangers=0.5).run(PEOPLE)


def shown(exhibit, place=0):
    return [
        column.show(exhibit.rows[place]).replace("\N{NO-BREAK SPACE}", " ")
        for column in exhibit.columns
    ]


def test_records_are_those_of_the_measurement(result):
    seen = API.observe(PEOPLE, seed=7)
    assert [one.attack for one in result.error_rates] == ["hamming", "weighted-hamming"]
    assert result.error_rates[0] == measure_error_rates(seen, Hamming(), seed=7)
    named = {one.attack: one.value for one in result.risks if one.slots == 4}
    for one in result.error_rates:
        assert one.ranks[0].right.value == named[one.attack]
        assert one.slots == 4


def test_it_is_read_as_it_was_written(result, tmp_path):
    assert Result.load(result.save(tmp_path)) == result


def test_who_does_not_ask_gets_the_same_as_before(result):
    """No new key in what is said of the study, no new field in the file."""
    without = STUDY.run(PEOPLE)
    assert '"error_rates"' not in without.to_json()
    assert "error_rates" not in without.study
    assert result.study["error_rates"] is True
    assert without.risks == result.risks
    assert section(without) is None


def test_a_study_file_asks_for_it(tmp_path):
    text = (
        'error_rates = true\n[people]\nkind = "synthetic"\nusers = 100\n'
        '[release]\nkind = "topics"\n'
    )
    assert study_file(text, folder=tmp_path).study.error_rates


def test_a_link_asks_for_it(tmp_path):
    table = {"user": [*range(30)] * 2, "item": [*range(30), *(one % 7 for one in range(30))]}
    found = rr.link(table, table, attacks=["overlap"], error_rates=True)
    assert found.error_rates[0].attack == "overlap"
    file = tmp_path / "table.csv"
    rows = "".join(f"{user},{item}\n" for user, item in zip(*table.values(), strict=True))
    file.write_text("user,item\n" + rows)
    done = call("link", file, file, "--attack", "overlap", "--error-rates", "--json")
    assert json.loads(done.stdout)["error_rates"] == json.loads(found.to_json())["error_rates"]


def test_an_attack_with_two_scores_is_left_out():
    table = {"user": [*range(40)] * 2, "item": [*range(40), *(one % 7 for one in range(40))]}
    found = rr.link(table, table, attacks=["overlap", Stacked()], error_rates=True)
    assert [one.attack for one in found.error_rates] == ["overlap"]


def test_too_few_to_judge_is_no_mistake():
    table = {"user": [1, 2], "item": ["a", "b"]}
    one = {"user": [1], "item": ["a"]}
    found = rr.link(table, one, attacks=["overlap"], error_rates=True)
    assert found.error_rates == ()
    assert section(found) is None


def test_the_section_shows_our_figure_beside_theirs(result):
    figures, ranks, comparisons, searches = section(result).exhibits
    for place, one in enumerate(result.error_rates):
        cells = shown(figures, place)
        assert cells[0] == one.attack
        named = next(r for r in result.risks if (r.attack, r.slots) == (one.attack, 4))
        assert cells[1].startswith(f"{named.value:.0%}"[:-1])
        assert cells[4] == NOTHING  # 400 people are too few for one in a thousand
        assert cells[5] != NOTHING
        assert len(shown(ranks, place)) == 1 + len(one.ranks)
    assert len(comparisons.rows) == sum(len(one.verification) for one in result.error_rates)
    assert len(searches.rows) == sum(len(one.identification) for one in result.error_rates)
    assert "own row was taken out" in section(result).sentences[-1]


def test_strangers_are_met_where_there_are_any(with_strangers):
    found = section(with_strangers)
    assert "strangers who had no part" in found.sentences[-1]
    assert with_strangers.error_rates[0].met == "strangers"
    assert with_strangers.error_rates[0].visitors == with_strangers.strangers[0].strangers // 2


def test_curves_are_drawn_and_written(result):
    for exhibit in section(result).exhibits[2:]:
        drawn = exhibit.draw(exhibit.rows, FILE).to_dict()
        points = drawn["data"]["values"]
        assert len(points) == len(exhibit.rows)
        ends = drawn["layer"][0]["encoding"]
        for name, axis in (("positive", "x"), ("value", "y")):
            low, high = ends[axis]["scale"]["domain"]
            assert all(low <= point[name] <= high for point in points)
            zero = any(not row[f"{'positive' if axis == 'x' else 'negative'}_value"]
                       for row in exhibit.rows)  # fmt: skip
            assert ("; none" in ends[axis]["axis"]["title"]) == zero
        rows = list(csv.DictReader(io.StringIO(exhibit.csv())))
        assert [float(row["threshold"]) for row in rows] == [
            row["threshold"] for row in exhibit.rows
        ]


def test_it_is_said_where_pairs_and_names_disagree(result):
    def told(*pairs):
        records = []
        for name, (error, right) in zip(("one", "other"), pairs, strict=True):
            rate, named = (
                Estimate(value, value - 0.01, value + 0.01, 0.95, 400, "made up")
                for value in (error, right)
            )
            one = result.error_rates[0]
            first = replace(one.ranks[0], right=named)
            ranks = (first, *one.ranks[1:])
            records.append(replace(one, attack=name, equal_error=rate, ranks=ranks))
        return section(replace(result, error_rates=tuple(records))).exhibits[0].sentence

    assert "By its EER one would be the strongest attack; other names more" in told(
        (0.1, 0.2), (0.2, 0.3)
    )
    assert "strongest" not in told((0.2, 0.2), (0.1, 0.3))
    assert "strongest" not in told((0.1, 0.295), (0.2, 0.3))


def test_the_report_has_it(result):
    page = result.report()
    assert "What do the figures of biometrics say?" in page
    assert "among 400 people one pair in 400 is of one person" in page
