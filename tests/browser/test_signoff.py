"""The sign-off in a real browser: on two printed pages, on phones, in the dark, for everybody."""

from dataclasses import replace

import pytest
from tests.browser.tools import axe_findings, count_of_pages, pages_of, printed
from tests.report.sample import sample
from tests.report.signed import SIGNOFF, signed
from tests.report.test_signoff import BLANK, SAID, evil
from tests.report.test_singling import people, sales

import reidrisk as rr
from reidrisk import report
from reidrisk.study.result import Result

pytestmark = pytest.mark.browser

TWO_PAGES = ("full", "failed", "empty", "nothing", "table", "points")
END = "The very last words."


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signoff")
    texts = dict.fromkeys(SAID, " ".join(40 * ["a word and another"]))
    results = {
        "full": signed(inputs={"visits.parquet": "ab" * 32}),
        "failed": signed(signoff=replace(SIGNOFF, limit=0.01)),
        "empty": sample(),
        "nothing": Result("Nothing", {}, 10, 5, (1,), 0.95, 0, ()),
        "long": signed(
            signoff=replace(SIGNOFF, **{**texts, "scope": "x" * 3000, "before": f"{BLANK} {END}"})
        ),
        "hostile": evil(),
        "table": rr.singling(people(), columns=["town", "age"], register=people(3000)).result(),
        "points": rr.unicity(sales(), epoch="day", count="paid", points=(1, 2)).result(),
    }
    return {
        name: report.html(result, folder / f"{name}.html", edition="signoff")
        for name, result in results.items()
    }


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("name", TWO_PAGES)
def test_it_prints_on_exactly_two_pages(visit, name, paper):
    pdf = printed(visit(name), paper)
    assert count_of_pages(pdf) == 2
    first, second = pages_of(pdf)
    assert "Page 1 of 2" in first
    assert "Page 2 of 2" in second
    assert "How many people are named correctly" in first
    assert "Decision and signature" in second
    for text in (first, second):
        assert " · result " in text.splitlines()[-1] or " · result " in text


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_long_fields_flow_on_and_nothing_is_cut(visit, paper):
    page = visit("long")
    pages = pages_of(printed(page, paper))
    assert len(pages) > 2
    whole = "".join(pages)
    assert whole.count("x") >= 3000
    assert END in " ".join(whole.split())
    assert whole.count("another") >= 40 * (len(SAID) - 2)
    assert "Decision and signature" in pages[-1] or "Decision and signature" in pages[-2]


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("name", ["full", "empty", "long", "hostile"])
def test_no_width_scrolls_sideways(visit, name, width):
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    right = page.locator("p, dt, dd:not(.strip), li, svg").evaluate_all(
        "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
    )
    assert right <= width


def test_numbers_and_axis_stand_under_each_other(visit):
    """The strips and the axis have the same ends, or marks would lie."""
    for width in (390, 1280):
        page = visit("full", width=width)
        ends = page.locator(".strip svg, .axis svg").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(one => [one.left, one.right])"
        )
        assert len(ends) == 6
        assert ends == [pytest.approx(ends[0], abs=0.1)] * 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["full", "failed", "empty"])
def test_axe_finds_nothing(visit, name, width, scheme):
    assert axe_findings(visit(name, width=width, color_scheme=scheme)) == []


def test_paper_is_light_in_the_dark(visit):
    page = visit("full", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(20, 24, 29)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_hostile_words_do_nothing(visit):
    page = visit("hostile")
    assert page.locator("script, img").count() == 0
    assert "{{7*7}}" in page.locator("h1").inner_text()
    assert count_of_pages(printed(page, "A4")) >= 2
