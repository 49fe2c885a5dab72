"""A browser, and pages in it that are silent and complain of nothing."""

import pytest
from tests.browser.tools import CHROMIUM, FLAGS

DRAWN = """() => [...document.querySelectorAll('.chart:not(.live)')]
    .every(one => one.closest('details:not([open])'))"""
"""Whether every chart is drawn that is not folded away."""


@pytest.fixture(scope="package")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, files):
    """Open one of `files`, and afterwards see that nothing was fetched and nothing went wrong."""
    contexts, complaints, requests = [], [], []

    def opened(name="sample", *, width=1280, live=True, **settings):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **settings))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda wrong: complaints.append(str(wrong)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.route("**/*", lambda route: (requests.append(route.request.url), route.continue_()))
        page.goto(files[name].as_uri())
        if live:
            page.wait_for_function(DRAWN)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints
    assert all(url in {file.as_uri() for file in files.values()} for url in requests)
