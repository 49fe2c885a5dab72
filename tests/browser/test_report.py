"""The report in a real browser: drawn, switched, printed, and silent on the network."""

import pytest
from tests.browser.conftest import DRAWN
from tests.browser.tools import axe_findings, pages_of, printed
from tests.report.hostile import EVIL, hostile
from tests.report.reckoned import reckoned_sample
from tests.report.sample import sample

from reidrisk import report
from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.data import synthetic_topics
from reidrisk.releases import TopicsApi
from reidrisk.report.sections import sections
from reidrisk.study import Study
from reidrisk.study.text.numbers import share_with_interval

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def charts():
    return [one.name for part in sections(sample()) for one in part.exhibits if one.draw]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    return {
        "sample": report.html(sample(), folder / "sample.html"),
        "hostile": report.html(hostile(), folder / "hostile.html"),
        "strangers": report.html(_with_strangers(), folder / "strangers.html"),
        "information": report.html(reckoned_sample(), folder / "information.html"),
        "hostile-information": report.html(hostile(reckoned_sample()), folder / "evil.html"),
    }


def _with_strangers():
    """Two attacks by all rules, and strangers enough for 0.1 %."""
    api = TopicsApi()
    study = Study(
        release=api, attacks=(Hamming(), WeightedHamming(api)), targets=2000, strangers=0.5, seed=5
    )
    return study.run(synthetic_topics(4200, epochs=4, seed=1))


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


@pytest.mark.parametrize(
    ("name", "width"),
    [("sample", 360), ("sample", 1920), ("hostile", 360), ("information", 360),
     ("hostile-information", 360)],
)  # fmt: skip
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
def test_axe_finds_nothing(visit, scheme, width):
    page = visit(color_scheme=scheme, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert axe_findings(page) == []


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_printed_pages_are_numbered_and_leave_the_study_out(visit, paper):
    page = visit()
    before = page.locator("[data-chart=slots] svg").bounding_box()["width"]
    pages = pages_of(printed(page, paper))
    for place, text in enumerate(pages, 1):
        assert f"Page {place} of {len(pages)}" in text
        assert sample().title in text
    whole = "\n".join(pages)
    assert "How to get the same numbers" in whole
    for word in ("The study as it was run", '"release"', '"kind"', "Numbers of this chart"):
        assert word not in whole
    page.wait_for_function(
        "before => document.querySelector('[data-chart=slots] svg').clientWidth >= before - 1",
        arg=before,
    )


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_no_heading_is_left_alone_at_the_end_of_a_page(visit, paper):
    headings = {part.title for part in sections(sample())}
    headings |= {one.title for part in sections(sample()) for one in part.exhibits}
    for text in pages_of(printed(visit(), paper)):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        assert len(lines) > 2
        assert lines[-1].startswith(sample().title)  # the foot
        assert lines[-2] not in headings


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_what_is_said_below_a_heading_stays_with_its_chart_or_table(visit, paper):
    said = [sentence for part in sections(sample()) for sentence in part.sentences]
    # Below a chart, what it shows may end a page.
    tables = [one for part in sections(sample()) for one in part.exhibits if one.draw is None]
    said += [one.sentence for one in tables]
    for text in pages_of(printed(visit(), paper)):
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        assert not any(len(lines[-2]) > 20 and lines[-2] in sentence for sentence in said)


def test_panels_stand_below_each_other_on_paper_and_keep_to_it(visit):
    page = visit()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 672, "height": 900})
    tables = page.locator(".panels table").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert len(tables) > 1
    assert max(tables) <= 672


def test_tables_begin_again_with_their_heads_on_paper(visit):
    pages = pages_of(printed(visit(), "A4"))
    heads = [" ".join(text.split()).count("Attack People Kind Right") for text in pages]
    assert sum(one > 0 for one in heads) > 1


def test_tables_of_strangers_fit_a_desktop(visit):
    """Regression: nine columns scrolled."""
    page = visit("strangers")
    page.locator("#strangers summary").first.click()
    for region in page.locator("#strangers .scroll").all():
        if region.is_visible():
            assert region.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_on_paper_trade_offs_have_a_few_thresholds(visit):
    """Regression: they took seven pages."""
    page = visit("strangers")
    rows, note = page.locator("[data-exhibit=strangers-gap] tbody tr"), page.locator(".paper")
    assert note.first.is_hidden()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    shown = sum(row.is_visible() for row in rows.all())
    assert 4 <= shown <= 2 * 5 < rows.count()
    assert note.first.is_visible()


def test_what_is_switched_off_is_not_explained_on_paper(visit):
    page = visit()
    key = page.locator("#figure-slots button.key").first
    key.click()
    page.emulate_media(media="print")
    assert key.is_hidden()
    assert page.locator("#figure-slots button.key").last.is_visible()


SHADOW = """table => {
    const place = table.closest('.scroll');
    return [place.scrollWidth > place.clientWidth, getComputedStyle(place).backgroundAttachment];
}"""


@pytest.mark.parametrize(("width", "wider"), [(360, True), (1280, False)])
def test_a_table_wider_than_the_screen_can_be_reached_and_hints_at_it(visit, width, wider):
    """The covers move with the table (local), the shadows do not (scroll)."""
    table = visit(width=width).locator("[data-exhibit=utility]")
    assert table.evaluate(SHADOW) == [wider, "local, local, scroll, scroll"]
    region = table.locator("xpath=..")
    assert (region.get_attribute("role"), region.get_attribute("tabindex")) == ("region", "0")
    assert region.get_attribute("aria-label")
    edge = region.bounding_box()
    clip = {"x": edge["x"] + edge["width"] - 4, "y": edge["y"] + 20, "width": 4, "height": 4}
    page = table.page
    first = page.screenshot(clip=clip, full_page=True)
    region.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    page.wait_for_timeout(100)
    assert (page.screenshot(clip=clip, full_page=True) != first) == wider


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


def test_what_is_folded_away_is_drawn_when_it_is_opened(visit):
    page = visit("information", width=390)
    chart = page.locator("[data-chart=learning]")
    assert not chart.is_visible()
    summary = page.locator("#figure-learning summary")
    assert summary.inner_text() == "How the models learned"
    summary.focus()
    page.keyboard.press("Enter")
    playwright.expect(chart).to_have_class("chart live")
    playwright.expect(chart.locator("svg .mark-symbol path")).to_have_count(16)
    box = chart.locator("svg").bounding_box()
    assert 250 < box["width"] <= 390
    assert box["height"] > 150
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_without_scripts_what_is_folded_away_opens_all_the_same(visit):
    page = visit("information", java_script_enabled=False, live=False)
    page.locator("#figure-learning summary").click()
    assert page.locator("[data-chart=learning] svg").bounding_box()["height"] > 150


def test_on_paper_nothing_is_folded_away_and_curves_have_a_few_rows(visit):
    page = visit("information", color_scheme="dark")
    pages = pages_of(printed(page, "A4"))
    whole = "\n".join(pages)
    for title in ("How the models learned", "Counts, and what corrects them"):
        assert whole.count(title) == 1
    assert "Printed are 4 of 16 rows" in " ".join(whole.split())


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing_in_information(visit, scheme, width):
    page = visit("information", color_scheme=scheme, width=width)
    for summary in page.locator("#information summary").all():
        summary.click()
    page.wait_for_function(DRAWN)
    assert axe_findings(page) == []
