"""What the report says of bits: told by the release, counted, learned; and whether slots add up."""

import re
from dataclasses import replace

import pytest
from tests.report.hostile import EVIL, hostile
from tests.report.reckoned import WARNING, figure, reckoned_sample
from tests.report.sample import sample

from reidrisk import report
from reidrisk.information.records import Mean
from reidrisk.plotting import FILE, PAGE
from reidrisk.report.charts import specification
from reidrisk.report.exhibits import NOTHING
from reidrisk.report.sections import independence, information
from reidrisk.study.analyses.information import said


def exhibits(section):
    return {one.name: one for one in section.exhibits}


def cells(exhibit, heading):
    (column,) = [one for one in exhibit.columns if one.heading == heading]
    return [column.show(row) for row in exhibit.rows]


def test_a_release_alone_is_told_as_it_is():
    section = information.section(sample())
    (exhibit,) = section.exhibits
    assert [one.heading for one in exhibit.columns] == [
        "Figure", "Weeks", "Bits", "95 % interval", "What it is",
    ]  # fmt: skip
    assert not exhibit.keys
    assert cells(exhibit, "95 % interval")[:3] == ["exact"] * 3
    assert len(section.sentences) == 1


def test_told_counted_and_learned_stand_side_by_side_with_what_each_is():
    section = information.section(reckoned_sample())
    exhibit = exhibits(section)["information"]
    assert [key.text for key in exhibit.keys] == ["told by the release", "counted or learned"]
    rows = list(zip(*(cells(exhibit, name) for name in (
        "Figure", "Weeks", "By", "Bits", "95 % interval", "People")), strict=True))  # fmt: skip
    assert rows[4:6] == [
        ("mutual information", "1", "the release", rows[4][3], "exact", NOTHING),
        ("mutual information", "1", "counts", "1.9", "1.30 to 2.50", "400"),
    ]
    assert rows[-1] == ("mutual information", "4", "laptop", "1.09", "1.040 to 1.140", "400")
    assert cells(exhibit, "What it is")[7].startswith("too high on average: ")
    assert cells(exhibit, "What it is")[-1].startswith("may be off either way: ")
    assert "1.9 (1.30 to 2.50) over 1 week by counts" in exhibit.sentence
    assert exhibit.sentence.endswith("over 4 weeks by the model laptop.")
    assert any("No bound in this report rests on it" in one for one in section.sentences)
    assert section.sentences[-1] == WARNING


def test_a_value_is_not_rounded_to_the_end_of_its_interval():
    row = {"value": 6.605, "low": 4.611, "high": 7.002, "level": 0.95, "error": None}
    assert said(row) == "6.6"


def test_ways_of_correcting_counts_are_folded_away_and_may_be_below_nothing():
    exhibit = exhibits(information.section(reckoned_sample()))["counts"]
    assert exhibit.folded
    assert cells(exhibit, "Way") == ["plug-in", "shuffled"]
    assert cells(exhibit, "95 % interval")[1] == "-0.30 to -0.10"
    drawn = exhibit.draw(exhibit.rows, FILE).to_dict()
    assert drawn["data"]["values"][1]["beside"] == 0


def test_curves_are_folded_away_one_line_for_each_model_and_figure():
    exhibit = exhibits(information.section(reckoned_sample()))["learning"]
    assert exhibit.folded
    assert [key.text for key in exhibit.keys] == ["laptop, entropy", "laptop, conditional entropy"]
    assert len(exhibit.rows) == 16
    assert exhibit.printed == {0, 7, 8, 15}
    assert "18,432 parameters and learned from 280 people" in exhibit.sentence
    assert "laptop, entropy: 6.762 bits per week at step 800 of 800" in exhibit.sentence


def test_whether_slots_are_independent_is_a_section_with_its_sentence():
    result = reckoned_sample()
    section = independence.section(result)
    (exhibit,) = section.exhibits
    assert section.title == "Are weeks independent?"
    (found,) = result.independence
    assert exhibit.sentence == found.told("week", "weeks")
    assert "4 weeks share" in exhibit.sentence
    assert any("the truth may lie outside" in sentence for sentence in section.sentences)
    assert all(row["measured"] for row in exhibit.rows), "learned, so as light as all that is"
    assert cells(exhibit, "Bits") == ["3.70", "4.36"]
    assert cells(exhibit, "Taken") == ["one by one", "together"]
    single = replace(found, slots=1, together=Mean(1, 0.1), one_by_one=Mean(1, 0.1))
    assert independence.section(replace(result, independence=(single,))) is None
    assert independence.section(sample()) is None


def test_counts_without_a_release_that_tells_are_a_section_too():
    result = replace(sample(), information=(), reckoned=(figure("entropy", "counts", 2.0, 0.1),))
    section = information.section(result)
    assert [one.name for one in section.exhibits] == ["information"]


def test_hostile_words_stay_words(tmp_path):
    text = report.html(hostile(reckoned_sample()), tmp_path / "page.html").read_text()
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert re.search(r'<section id="independence"', text)
    assert EVIL not in text


@pytest.mark.parametrize("name", ["information", "counts", "learning", "independence"])
def test_every_chart_becomes_a_file_that_explains_itself(name):
    result = reckoned_sample()
    found = {**exhibits(information.section(result)), **exhibits(independence.section(result))}
    spec = specification(found[name], FILE, 600)
    assert found[name].sentence in spec["description"]
    assert "var(" not in str(spec)


def test_colours_of_attacks_stand_for_nothing_else():
    result = reckoned_sample()
    parts = (information.section(result), independence.section(result))
    for exhibit in (one for part in parts for one in part.exhibits):
        assert "series" not in str(specification(exhibit, PAGE, 600))
        assert {key.colour for key in exhibit.keys} <= {"ink"}
