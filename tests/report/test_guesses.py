"""Lists of names, and crowds: what the report says of them."""

from dataclasses import replace

from tests.report.sample import bare, sample

from reidrisk.estimates import Estimate
from reidrisk.report.sections import crowds, guesses
from reidrisk.study.result import Guesses


def named(attack, number, value):
    right = Estimate(value, value - 0.01, value + 0.01, 0.95, 1_000, "made up")
    return Guesses(attack, 4, 400, number, right)


def test_it_tells_how_much_a_list_adds():
    risks = sample().risks
    records = (named("hamming", 1, 0.1), named("hamming", 20, 0.45))
    section = guesses.section(bare(risks=risks, guesses=records))
    (exhibit,) = section.exhibits
    assert exhibit.sentence == (
        "Hamming goes from 10.0 % with one name to 45 % (44 % to 46 %) with 20 names."
    )
    assert "several of the 400 people" in section.sentences[0]
    assert [row["guesses"] for row in exhibit.rows] == [1, 20]
    assert [row["value"] for row in exhibit.rows] == [0.1, 0.45]
    assert {row["targets"] for row in exhibit.rows} == {1_000}
    shown = [column.show(exhibit.rows[1]) for column in exhibit.columns]
    assert shown == ["hamming", "20", "45 %", "44 % to 46 %", "1,000"]
    assert [key.text for key in exhibit.keys] == ["hamming"]


def test_the_sample_has_what_the_study_asked_for():
    (exhibit,) = guesses.section(sample()).exhibits
    numbers = [row["guesses"] for row in exhibit.rows if row["attack"] == "hamming"]
    assert numbers == [1, 5, 20, 100]
    risk = {one.attack: one.value for one in sample().risks if one.slots == 4 and not one.setting}
    assert {row["attack"]: row["value"] for row in exhibit.rows if row["guesses"] == 1} == risk


def test_one_guess_alone_is_no_section():
    assert guesses.section(bare(risks=sample().risks)) is None
    alone = bare(risks=sample().risks, guesses=(named("hamming", 1, 0.1),))
    assert guesses.section(alone) is None


def test_crowds_are_called_exact_only_where_they_are():
    """A result of before had one crowd of each size, drawn at random."""
    every = "the mean over every such crowd"
    assert every in crowds.section(sample()).sentences[0]
    before = bare(risks=sample().risks, sizes=sample().sizes)
    assert not any(every in sentence for sentence in crowds.section(before).sentences)


def test_it_is_said_where_ranks_were_not_counted_to_the_end():
    open_end = "counted only up to rank"
    assert not any(open_end in sentence for sentence in crowds.section(sample()).sentences)
    first, *others = sample().sizes
    part = replace(first, method=f"{first.method}, ranks counted to 921")
    told = crowds.section(replace(sample(), sizes=(part, *others))).sentences
    assert (
        "Who rates above the right person was counted only up to rank 921 (hamming); what that "
        "leaves open is in the upper ends."
    ) in told
