"""The report in a real browser: drawn, switched, printed, and silent on the network.

Needs Chromium (`CHROMIUM` names another one) and playwright; the accessibility check also needs
axe-core, which `make axe` fetches, or `AXE` names.
"""

import os
import shutil
from pathlib import Path

import pytest
from tests.report.hostile import EVIL, hostile
from tests.report.sample import sample

from reidrisk import report
from reidrisk.report.sections import sections
from reidrisk.study.saying.numbers import share_with_interval

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
AXE = Path(
    os.environ.get("AXE")
    or Path(__file__).parents[2] / ".venv/axe/node_modules/axe-core/axe.min.js"
)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def charts():
    return [one.name for part in sections(sample()) for one in part.exhibits if one.draw]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    return {
        "sample": report.html(sample(), folder / "sample.html"),
        "hostile": report.html(hostile(), folder / "hostile.html"),
    }


@pytest.fixture
def visit(browser, files):
    """Open a page, and afterwards see that nothing was fetched and nothing went wrong."""
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
            page.wait_for_function("document.querySelectorAll('.chart:not(.live)').length === 0")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints
    assert all(url in {file.as_uri() for file in files.values()} for url in requests)


def test_every_chart_is_drawn(visit, charts):
    page = visit()
    drawn = page.locator(".chart.live").evaluate_all("all => all.map(one => one.dataset.chart)")
    assert drawn == charts
    for name in charts:
        chart = page.locator(f"[data-chart={name}]")
        assert chart.locator("svg").count() == 1
        assert chart.locator("svg").get_attribute("aria-hidden") == "true"
        assert chart.locator("svg path[aria-roledescription], svg .mark-symbol path").count() or (
            chart.locator("svg .mark-rect path").count()
        )
        assert len(chart.get_attribute("aria-label")) > 20


def test_charts_are_there_without_scripts(visit, charts):
    page = visit(java_script_enabled=False, live=False)
    assert page.locator(".chart svg").count() == len(charts)
    assert page.locator("#theme").is_hidden()
    assert page.locator("#figure-slots .chart svg").bounding_box()["height"] > 200


def test_an_attack_can_be_switched_off_and_on_by_keyboard(visit):
    page = visit()
    figure = page.locator("#figure-slots")
    points = figure.locator("svg .mark-symbol path")
    before = points.count()
    key = figure.get_by_role("button", name="weighted-hamming")
    key.focus()
    page.keyboard.press("Enter")
    playwright.expect(key).to_have_attribute("aria-pressed", "false")
    playwright.expect(points).to_have_count(before - len(sample().slots))
    page.keyboard.press("Space")
    playwright.expect(points).to_have_count(before)


def test_hovering_tells_the_number(visit):
    page = visit()
    page.locator("#figure-slots svg .mark-symbol path").last.hover()
    tooltip = page.locator("#vg-tooltip-element")
    playwright.expect(tooltip).to_be_visible()
    playwright.expect(tooltip).to_contain_text(
        share_with_interval([risk for risk in sample().risks if not risk.setting][-1])
    )


def ground(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_the_button(visit, scheme):
    page = visit(color_scheme=scheme)
    first, other = ("rgb(255, 255, 255)", "rgb(20, 24, 29)")[:: 1 if scheme == "light" else -1]
    assert ground(page) == first
    page.locator("#theme").click()
    assert ground(page) == other
    page.locator("#theme").click()
    assert ground(page) == first


def test_tables_hold_the_records(visit):
    page = visit()
    for section in sections(sample()):
        for exhibit in section.exhibits:
            table = page.locator(f"table[data-exhibit={exhibit.name}]")
            cells = table.locator("tbody tr").evaluate_all(
                "rows => rows.map(row => [...row.cells].map(cell => "
                "cell.querySelector('data') ? cell.querySelector('data').value : cell.innerText))"
            )
            assert len(cells) == len(exhibit.rows)
            for row, shown in zip(exhibit.rows, cells, strict=True):
                for column, cell in zip(exhibit.columns, shown, strict=True):
                    value = row[column.key]
                    if column.number and isinstance(value, int | float):
                        assert float(cell) == value


def test_the_risks_are_those_of_the_result(visit):
    values = visit().locator("[data-exhibit=slots] tbody td:nth-child(3) data")
    shown = values.evaluate_all("all => all.map(one => Number(one.value))")
    assert shown == [risk.value for risk in sample().risks if not risk.setting]


@pytest.mark.parametrize(("name", "width"), [("sample", 360), ("sample", 1920), ("hostile", 360)])
def test_no_width_scrolls_sideways(visit, name, width):
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    widest = page.locator(".chart svg").evaluate_all(
        "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
    )
    assert widest <= width


def test_charts_follow_the_window(visit):
    page = visit(width=1280)
    svg = page.locator("[data-chart=slots] svg")
    before = svg.bounding_box()["width"]
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function(
        "before => document.querySelector('[data-chart=slots] svg').clientWidth < before - 300",
        arg=before,
    )


def test_hostile_names_are_shown_and_do_nothing(visit):
    page = visit("hostile")
    assert page.locator("h1").inner_text().startswith(EVIL.split("\u202e")[0])
    assert page.locator("img").count() == 0
    assert page.title().startswith("</script><script>alert(1)</script>{{7*7}}")
    key = page.locator("#figure-slots button.key").first
    key.click()
    playwright.expect(key).to_have_attribute("aria-pressed", "false")
    playwright.expect(page.locator("#figure-slots svg .mark-symbol path")).to_have_count(
        2 * len(sample().slots)
    )
    page.locator("#figure-slots svg .mark-symbol path").last.hover()
    playwright.expect(page.locator("#vg-tooltip-element")).to_contain_text("{{7*7}}")
    assert page.locator("#vg-tooltip-element img, #vg-tooltip-element script").count() == 0


def test_on_paper_everything_is_open_and_light(visit):
    page = visit(color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert ground(page) == "rgb(255, 255, 255)"
    assert page.locator("#theme").is_hidden()
    assert len(page.pdf(format="A4")) > 50_000
    page.evaluate("dispatchEvent(new Event('afterprint'))")


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing_serious(visit, scheme, width):
    if not AXE.is_file():
        pytest.skip("axe-core is not here; fetch it with: make axe")
    page = visit(color_scheme=scheme, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    # Evaluated by the driver, which the page's own policy does not bind.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(found => found.violations)")
    assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("chart", ["spectrum", "sizes"])
def test_logarithmic_axes_have_three_labels_and_none_upon_another(visit, chart, width):
    page = visit(width=width)
    axes = page.locator(f"[data-chart={chart}] svg .role-axis-label").evaluate_all(
        """all => all.map(axis => [...axis.querySelectorAll("text")]
            .filter(label => label.getAttribute("opacity") !== "0")
            .map(label => label.getBoundingClientRect())
            .map(box => [box.left, box.right, box.top, box.bottom]))"""
    )
    assert len(axes) == {"spectrum": 1, "sizes": 2}[chart]
    for labels in axes:
        assert len(labels) >= 3
        for place, (left, right, top, bottom) in enumerate(labels):
            for other in labels[place + 1 :]:
                apart = right <= other[0] or other[1] <= left
                assert apart or bottom <= other[2] or other[3] <= top
