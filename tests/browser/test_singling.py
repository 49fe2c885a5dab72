"""The pages of singling out, of unicity and of two runs in a real browser."""

import pytest
from tests.report.test_comparison import FEW, MANY
from tests.report.test_singling import people, sales
from tests.study.test_compare import result

import reidrisk as rr
from reidrisk import report

pytestmark = pytest.mark.browser


CHARTS = {"singling": 3, "unicity": 2, "comparison": 1, "tables": 1}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    found = rr.singling(people(), columns=["town", "age", "sex"], register=people(3000))
    known = rr.unicity(sales(), epoch="day", count="paid", points=(1, 2), coarsen=["week"])
    return {
        "singling": report.singling.html(found, folder / "singling.html"),
        "unicity": report.unicity.html(known, folder / "unicity.html"),
        "comparison": report.comparison.html(
            rr.compare(result(("a", FEW), ("b", FEW)), result(("a", MANY), ("b", FEW), seed=1)),
            folder / "comparison.html",
        ),
        "tables": report.comparison.html(
            rr.compare(found.result(), rr.singling(people(), columns=["town", "sex"]).result()),
            folder / "tables.html",
        ),
        "long names": report.comparison.html(
            rr.compare(
                result(("weighted-hamming", FEW)), result(("weighted-hamming", MANY), seed=1)
            ),
            folder / "long.html",
        ),
    }


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_within_the_window_and_nothing_is_fetched(visit, name, width, scheme):
    page = visit(name, width=width, color_scheme=scheme)
    assert page.locator(".chart.live svg").count() == CHARTS[name]
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_no_word_of_a_still_picture_is_cut_off(visit):
    """It is measured where it is drawn, and read with other letters."""
    page = visit("long names", live=False, java_script_enabled=False)
    ends = page.locator(".chart svg").evaluate(
        """picture => [picture, ...picture.querySelectorAll('text')]
            .map(one => one.getBoundingClientRect()).map(one => [one.left, one.right])"""
    )
    (left, right), *words = ends
    assert len(words) > 5
    assert all(left <= first and last <= right for first, last in words)
