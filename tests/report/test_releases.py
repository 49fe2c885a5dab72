"""Releases side by side, as a data protection officer reads them."""

from dataclasses import replace

import pytest
from tests.report.sample import bare, risk, sample, spread

from reidrisk.estimates import Estimate
from reidrisk.plotting import FILE
from reidrisk.report.sections import releases
from reidrisk.study.result import Compared, Refusal
from reidrisk.study.text.numbers import at_most


def figure(value):
    return Estimate(level=0.95, trials=400, method="test", **spread(value))


def compared(name, *values, **more):
    risks = tuple(risk(f"attack-{place}", value) for place, value in enumerate(values))
    return Compared(name, 4, risks, withheld=figure(0.2), **more)


BEST = compared("best", 0.1, 0.3, real=figure(0.9), variation=figure(0.05))
COHORTS = compared("cohorts users=20", 0.05, refused=(Refusal("attack-1", "It cannot."),))
NEVER = Compared("cohorts users=9999", 0, cannot="there are too few")


def made(*found):
    return releases.section(bare(releases=found))


def test_without_releases_there_is_no_section():
    assert made() is None


def test_of_several_attacks_the_strongest_counts():
    section = made(BEST, COHORTS)
    assert [(row["release"], row["attack"], row["value"]) for row in section.exhibits[0].rows] == [
        ("best", "attack-1", 0.3),
        ("cohorts users=20", "attack-0", 0.05),
    ]
    assert section.exhibits[0].sentence == (
        "The right person is named in 30 % of cases with best, and in 5.0 % with cohorts users=20."
    )


def test_what_flatters_is_said():
    text = " ".join(made(BEST, COHORTS, NEVER).sentences)
    assert (
        "attack-1 does not apply to cohorts users=20, so that release may look safer than it is."
        in text
    )
    both = " ".join(made(BEST, COHORTS, replace(COHORTS, release="cohorts users=30")).sentences)
    assert (
        "cohorts users=20 and cohorts users=30, so these releases may look safer than they are."
        in both
    )
    assert "cohorts users=9999 was left out: there are too few." in text
    assert "after 4 slots" in text
    other = made(BEST, replace(COHORTS, slots=1))
    assert "each after its own number of slots, 1 and 4" in other.sentences[0]


def test_figures_that_mean_nothing_are_dashes_and_not_drawn():
    risks, uses = made(BEST, COHORTS).exhibits
    columns = {column.heading: column for column in uses.columns}
    assert [columns["Real"].show(row) for row in uses.rows] == ["90 %", "\N{EN DASH}"]
    assert [(key.glyph, key.text) for key in risks.keys] == [("A", "best"), ("■", "attack-1")]
    drawn = risks.draw(risks.rows, FILE).to_dict()
    for layer in drawn["layer"]:
        rows = layer.get("data", drawn["data"])["values"]
        assert [row["release"] for row in rows] == ["best"]
    assert made(COHORTS).exhibits[0].draw is None


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ((NEVER,), None),
        ((replace(COHORTS, risks=()),), "No attack applies to any of these releases."),
        ((COHORTS,), "With cohorts users=20 the right person is named in 5.0 % of cases."),
    ],
)
def test_few_releases(found, sentence):
    section = made(*found)
    assert [one.sentence for one in section.exhibits[:1]] == ([sentence] if sentence else [])


def test_the_program_s_own():
    (section,) = [releases.section(sample())]
    risks, uses = section.exhibits
    assert [row["release"] for row in risks.rows] == [
        "topics", "cohorts users=20", "minimum-users users=40 of=topics",
    ]  # fmt: skip
    ceiling = next(column for column in risks.columns if column.heading == "Ceiling")
    (full,) = [one for one in sample().bounds if one.name == "full information"]
    said = [ceiling.show(row) for row in risks.rows]
    assert said == [at_most(full.high), "5 %", "none"]
    assert "withheld_value" in uses.csv()
