"""The page: one file, everything escaped, marks that need no colour."""

import re

import pytest
from tests.reproduction.small import TINY, chapter

from reidrisk.estimates import Estimate
from reidrisk.reproduction import Part, Point, Row, html, run
from reidrisk.reproduction.chapters import networks
from reidrisk.reproduction.record import MARKS, Reproduction
from reidrisk.reproduction.text import MEANING, SIGNS, figure, plain, summary

pytest.importorskip("vl_convert")

EVIL = "<script>alert('x')</script> & more"


@pytest.fixture
def found(tmp_path):
    return run(tmp_path / "run", TINY, only=[chapter("one", []), networks])


def test_the_page_is_one_silent_file_with_every_row(found, tmp_path):
    page = html(found, tmp_path / "page.html").read_text()
    assert html(found, tmp_path / "again.html").read_text() == page
    assert "default-src &#39;none&#39;" in page
    for row in found.rows:
        assert row.where in page
    for mark in MARKS:
        assert f"{SIGNS[mark]}\N{NO-BREAK SPACE}{mark}" in page
    assert "not reproducible" in page
    assert 'data-chart="one-figure-1"' in page
    assert "reidrisk reproduce --scale laptop" in page


def test_everything_is_escaped(tmp_path):
    number = Estimate(0.5, 0.4, 0.6, 0.95, 10, EVIL)
    points = (Point(EVIL, 1, number), Point("b", 2, number, published=0.4))
    row = Row(EVIL, EVIL, EVIL, number, "bits", "differs", EVIL, EVIL, axis="epochs", points=points)
    part = Part("one", EVIL, EVIL, (row,))
    bad = Reproduction("laptop", 1, 1, 0.0, 1, {EVIL: EVIL}, {EVIL: EVIL}, (part,))
    page = html(bad, tmp_path / "page.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_slips_have_a_part_of_their_own(found, tmp_path):
    assert 'id="slips"' not in html(found, tmp_path / "none.html").read_text()
    row = Row("Lemma 1", "w", "0", None, "", "not run", "why", slip="a sign is missing")
    slipped = Reproduction("full", 1, 1, 9.0, 1, {}, {}, (Part("one", "t", "s", (row,)),))
    page = html(slipped, tmp_path / "page.html").read_text()
    slips = re.search(r'id="slips".*?</section>', page, re.DOTALL)[0]
    assert "a sign is missing" in slips
    assert "at most 9 processor seconds" in page


@pytest.mark.parametrize(
    ("number", "unit", "said"),
    [
        (Estimate.computed(0.75), "", "0.75"),
        (Estimate.computed(0.0), "", "0"),
        (Estimate.computed(302_000_000), "", "302,000,000"),
        (Estimate.computed(2.2e-16), "", "2.2e-16"),
        (Estimate(1.1041, 1.0966, 1.1116, 0.95, 9, "x"), "bits", "1.104 bits (1.097 to 1.112)"),
        (Estimate(0.0968, 0.09, 0.104, 0.95, 9, "x"), "%", "9.7 % (9.0 % to 11 %)"),
        (Estimate(0.01, -0.01, 0.03, 0.95, 9, "x"), "%", "1.0 % (-1.0 to 3.0)"),
    ],
)
def test_figures_have_the_digits_that_their_interval_supports(number, unit, said):
    assert figure(number, unit) == said


def test_negative_and_small_numbers_are_said():
    assert (plain(-3), plain(-0.00992)) == ("-3", "-0.00992")


def test_the_summary_counts_every_mark(found):
    assert set(SIGNS) == set(MEANING) == set(MARKS)
    assert len(set(SIGNS.values())) == len(MARKS)
    said = summary(found)
    assert said.startswith(f"Of {len(found.rows)} published figures and statements, 11 come out")
