"""The pages of singling out, of unicity and of two runs in a real browser."""

import pytest
from tests.report.test_comparing import FEW, MANY
from tests.report.test_singling import people, sales
from tests.study.test_comparing import result

import reidrisk as rr
from reidrisk import report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from tests.browser.test_report import CHROMIUM, FLAGS  # noqa: E402  needs playwright itself

pytestmark = pytest.mark.browser


CHARTS = {"singling": 3, "unicity": 2, "comparing": 1}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    found = rr.singling(people(), columns=["town", "age", "sex"], register=people(3000))
    known = rr.unicity(sales(), epoch="day", count="paid", points=(1, 2), coarsen=["week"])
    return {
        "singling": report.singling.html(found, folder / "singling.html"),
        "unicity": report.unicity.html(known, folder / "unicity.html"),
        "comparing": report.comparing.html(
            rr.compare(result(("a", FEW), ("b", FEW)), result(("a", MANY), ("b", FEW), seed=1)),
            folder / "comparing.html",
        ),
    }


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_within_the_window_and_nothing_is_fetched(pages, name, width, scheme):
    if not CHROMIUM:
        pytest.skip("there is no chromium")
    complaints, requests = [], []
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda wrong: complaints.append(str(wrong)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(pages[name].as_uri())
        page.wait_for_function("document.querySelectorAll('.chart:not(.live)').length === 0")
        assert page.locator(".chart.live svg").count() == CHARTS[name]
        assert page.evaluate("document.documentElement.scrollWidth") == width
        chromium.close()
    assert not complaints
    assert requests == [pages[name].as_uri()]
