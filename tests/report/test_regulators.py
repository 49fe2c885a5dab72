"""The words of regulators: each is a record of the result, or is said not to be asked for."""

from dataclasses import replace

import pytest
from tests.report.sample import bare, risk, sample

from reidrisk.estimates import mean_of_credits
from reidrisk.report.sections import regulators
from reidrisk.study.result import Credits, Signoff
from reidrisk.study.text.verdict import strongest


def rows(result):
    (exhibit,) = regulators.section(result).exhibits
    return {row["word"]: row for row in exhibit.rows}


def figure(row):
    return row["value"], row["low"], row["high"]


def test_every_figure_is_a_record_of_the_result():
    found, best = rows(sample()), strongest(sample())
    for word in ("linkability", "prosecutor risk", "marketer risk", "average risk"):
        assert figure(found[word]) == (best.value, best.low, best.high)
        assert found[word]["source"] == f"risk of {best.attack}"
    (spread,) = sample().per_user
    worst = spread.worst_decile
    assert figure(found["worst tenth"]) == (worst.value, worst.low, worst.high)
    assert found["worst tenth"]["source"] == f"per_user of {spread.attack}"
    assert "400 users" in found["population"]["here"]
    assert found["sample"]["here"] == "200 people attacked at random, 200 of them assessed"


def test_what_was_not_asked_has_no_figure():
    found = rows(bare(risks=(risk("x", 0.1),)))
    for word in ("singling out", "inference", "journalist risk", "maximum risk", "worst tenth"):
        assert figure(found[word]) == (None, None, None)
        assert found[word]["source"].startswith("not asked in this study; ")
    assert found["threshold"]["here"] == "none was set"
    assert regulators.section(bare()) is None


def test_a_threshold_has_its_source():
    result = replace(sample(), signoff=Signoff(limit=0.09, limit_source="our policy"))
    assert rows(result)["threshold"]["here"] == "9 %; the verdict says if it is kept"
    assert rows(result)["threshold"]["source"] == "limit of [signoff]: our policy"


@pytest.mark.parametrize("winners", ["1 1 0 2 - 1 0 0", "1x2 0 2 - 1 0x2"])
def test_singling_out_is_the_share_with_certain_credit(winners):
    best = replace(risk("x", 0.1), targets=7, not_assessed=1)
    other = Credits("y", best.slots, "people", "0 0")
    record = Credits("x", best.slots, "people", winners)
    found = rows(bare(risks=(best,), credits=(other, record)))["singling out"]
    wanted = mean_of_credits([1, 1, 0, 0, 1, 0, 0], level=sample().level)
    assert figure(found) == (wanted.value, wanted.low, wanted.high)
    assert found["source"] == "credits of x"


@pytest.mark.parametrize("winners", ["", "- -", "1 <b>", "1x"])
def test_credits_that_tell_nothing_are_not_a_zero(winners):
    best = replace(risk("x", 0.1), targets=0, not_assessed=2)
    record = Credits("x", best.slots, "people", winners)
    found = rows(bare(risks=(best,), credits=(record,)))["singling out"]
    assert figure(found) == (None, None, None)


def test_rows_of_tables_are_not_called_people():
    tables = replace(sample(), study={"people": {"kind": "Linked"}})
    assert rows(tables)["sample"]["here"].startswith("200 rows attacked at random")
