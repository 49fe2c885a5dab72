"""The page of a reproduction in a real browser."""

import pytest
from tests.reproduction.small import TINY, chapter

from reidrisk.reproduction import html, run
from reidrisk.reproduction.chapters import information

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduced")
    found = run(folder / "run", TINY, only=[chapter("one", []), information])
    return {"reproduced": html(found, folder / "page.html")}


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_every_chart_is_drawn_within_the_window_and_nothing_is_fetched(visit, width, scheme):
    page = visit("reproduced", width=width, color_scheme=scheme)
    assert page.locator(".chart.live svg").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") == width
