"""What sections say, that they agree with each other, and sections of others."""

import re
import sys
from dataclasses import replace

import pytest
from tests.report.hostile import EVIL
from tests.report.sample import bare, bound, exact, risk, sample, spread
from tests.snapshots import refuses

from reidrisk import report
from reidrisk.plotting import PAGE
from reidrisk.report.sections import bounds, per_user, section_at, sections
from reidrisk.study.text.bounds import bounds_of, number
from reidrisk.study.text.verdict import verdict

TOY = """
from reidrisk.report import Column, Exhibit, Section

def section(result):
    rows = tuple({"attack": risk.attack, "slots": risk.slots} for risk in result.risks)
    shown = (Column("Attack", lambda row: row["attack"], "attack", number=False),)
    exhibit = Exhibit("toy-table", "<b>Toy</b>", "Of \\u202e" + result.title, rows, shown)
    return Section("toy", "Is this <i>mine</i>?", ("From outside.",), (exhibit,))

def nothing(result):
    return None

def wrong(result):
    return "<p>text</p>"

number = 5
"""


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """A module of someone else, in the folder one works in."""
    (tmp_path / "toys.py").write_text(TOY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "toys"
    sys.modules.pop("toys", None)


def shown(exhibit, heading):
    (column,) = [one for one in exhibit.columns if one.heading == heading]
    return [(column.show(row), row[column.key]) for row in exhibit.rows]


def uppers():
    return (
        bound("estimated", "upper", {"value": 0.30, "low": 0.2, "high": 0.43}, "It was sampled."),
        bound("proved", "upper", exact(0.55), "It was computed."),
        bound("old bound allows", "upper", exact(0.6), "Of an earlier result."),
    )


def test_a_bound_is_one_number_in_verdict_table_and_chart():
    result = replace(sample(), bounds=(*sample().bounds, *uppers()), risks=())
    (exhibit,) = bounds.section(result).exhibits
    limits = [one for one in bounds_of(result) if one.side == "upper"]
    assert {"estimated", "proved", "old bound"} <= {one.name for one in limits}
    rows = exhibit.draw(exhibit.rows, PAGE).to_dict()["data"]["values"]
    drawn = {row["name"]: row for row in rows}
    cells = dict(zip((row["name"] for row in exhibit.rows), shown(exhibit, "Right"), strict=True))
    words = [one.text for one in verdict(result) if one.about in {"ruled out", "possible"}]
    for one in limits:
        text, value = cells[one.name]
        assert value == number(one) == one.high
        row = drawn[one.name]
        assert (row["at"], row["from"], row["to"], row["short"]) == (value, value, value, text)
        (promise,) = [word for word in words if one.name in word.lower()]
        if number(one) < 1:
            said = re.search(r"more than ([\d.]+ %)", promise)[1]
            assert said == re.search(r"[\d.]+ %", text).group()
        assert f"{one.name} " in exhibit.sentence


def test_never_is_said_of_what_is_proved_alone():
    result = replace(sample(), bounds=uppers(), risks=())
    (exhibit,) = bounds.section(result).exhibits
    assert [one for _, one in shown(exhibit, "How sure")] == ["95 % confidence", "proved", "proved"]
    assert "estimated at most 43 % with 95 % confidence" in exhibit.sentence
    assert "proved never above 55 %" in exhibit.sentence
    assert "allows" not in exhibit.sentence


def selective(selections):
    result = replace(sample(), per_user=(), claims=(), selections=tuple(selections))
    (exhibit,) = per_user.section(result).exhibits
    return exhibit.sentence


def test_a_selective_attacker_says_what_was_asked_and_what_was_reached():
    first = sample().selections[0]
    named, right = (replace(first.named, **spread(value, 500)) for value in (0.18, 0.91))
    sure = replace(first, attack="x", precision=0.95, named=named, right=right)
    assert selective([replace(sure, precision=0.5), sure]) == (
        "An attacker (x) who speaks only when sure enough to be right in 95 % of cases names 18 % "
        "(14 % to 22 %) of people, and was right about 91 % (82 % to 100 %) of those."
    )
    silent = replace(sure, named=replace(named, **spread(0.0)), right=None)
    assert selective([silent]).endswith("to show that any claim is so good.")


def test_the_real_selective_attacker_has_its_denominator():
    assert "speaks only when sure enough to be right in 95 % of cases" in selective(
        sample().selections
    )
    result = replace(sample(), per_user=(), claims=())
    (exhibit,) = per_user.section(result).exhibits
    assert {cell for cell, _ in shown(exhibit, "Assessed")} == {"200"}


@pytest.mark.parametrize(
    ("worst", "high", "said"),
    [
        ("binomial, doubled tails, both halves", "order statistics", "in at least 19 % ("),
        ("fitted spread, bootstrap; low end: at least", "fitted spread", "in 19 % ("),
    ],
)
def test_the_tenth_most_at_risk_does_not_contradict_the_percentiles(worst, high, said):
    (one,) = sample().per_user
    record = replace(
        one,
        worst_decile=replace(one.worst_decile, method=worst, **spread(0.19, 500)),
        percentile_90=replace(one.percentile_90, method=high, **spread(0.3, 500)),
    )
    spreads, percentiles = per_user.section(replace(sample(), per_user=(record,))).exhibits[:2]
    earlier = high == "order statistics"
    assert said in spreads.sentence
    assert ("comes out too low" in percentiles.sentence) == earlier
    assert ("of measured risks" in percentiles.sentence) == earlier
    names = [name for name, _ in shown(percentiles, "Risk of a person")]
    assert ("90 in 100 people have at most, as measured" in names) == earlier
    assert ("mean of the tenth most at risk, at least" in names) == earlier


def test_a_section_of_someone_else_comes_last_and_is_escaped(toys, tmp_path):
    own = section_at(f"{toys}:section")
    evil = bare(title=EVIL, risks=(risk(EVIL, 0.05, slots=1), risk(EVIL, 0.1)))
    page = report.html(evil, tmp_path / "page.html", sections=(own,)).read_text(encoding="utf-8")
    names = re.findall(r'<section id="([a-z]+)"', page)
    assert names == ["regulators", "slots", "toy", "again"]
    assert '<a href="#toy">Is this &lt;i&gt;mine&lt;/i&gt;?</a>' in page
    assert "&lt;b&gt;Toy&lt;/b&gt;" in page
    assert "<p>From outside.</p>" in page
    assert "alert(1)</script>" not in page
    assert "\u202e" not in page
    files = report.files(bare(), tmp_path / "files", sections=(own,))
    assert tmp_path / "files" / "toy-table.csv" in files


def test_a_section_of_someone_else_may_have_nothing_to_say(toys):
    with_it = sections(sample(), (section_at(f"{toys}:nothing"),))
    assert [one.name for one in with_it] == [one.name for one in sections(sample())]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("absent_module:section", "plug-in-not-found"),
        ("{}:absent", "plug-in-not-found"),
        ("{}", "plug-in-not-found"),
        ("{}:number", "not-a-section"),
        ("{}:wrong", "not-a-section"),
    ],
)
def test_what_is_no_section_is_refused(toys, path, code):
    with refuses(code):
        sections(sample(), (section_at(path.format(toys)),))


@pytest.mark.parametrize(
    ("name", "table", "code"),
    [
        ("slots", "toy-table", "duplicate-section"),
        ("again", "toy-table", "duplicate-section"),
        ("toy", "spectrum", "duplicate-section"),
        ("a b", "toy-table", "invalid-section-name"),
        ("toy", "../evil", "invalid-section-name"),
    ],
)
def test_names_of_parts_are_places_in_the_page_and_files(name, table, code):
    exhibit = report.Exhibit(table, "", "", (), ())
    with refuses(code):
        sections(sample(), (lambda _: report.Section(name, "", (), (exhibit,)),))


@pytest.mark.parametrize(
    ("ceiling", "fits", "said"),
    [
        (0.3, True, "The attack is already as good as the model of type-aware allows"),
        (0.2, True, "An attack was right more often"),
        (0.9, False, "does not fit its model"),
        (0.9, True, None),
    ],
)
def test_an_attack_above_its_ceiling_is_explained_beside_the_spectrum(ceiling, fits, said):
    held = (
        bound("type-aware", "lower", spread(0.305)),
        bound("best within type-aware", "estimate", spread(ceiling), fits=fits),
    )
    result = bare(bounds=held, risks=(risk("type-aware", 0.305),))
    sentences = " ".join(bounds.section(result).sentences)
    assert (said in sentences) if said else not sentences


def test_what_rules_nothing_out_is_as_many_times_guessing_as_there_are_people():
    result = bare(users=14_039, bounds=(bound("local privacy", "upper", exact(1.0)),))
    (exhibit,) = bounds.section(result).exhibits
    assert exhibit.rows[0]["times"] == "14,039"
