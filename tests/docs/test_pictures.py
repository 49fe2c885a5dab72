"""Pictures are drawn by the build: for light and dark, again when they change, or not at all."""

import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="sphinx is not installed")
pytest.importorskip("myst_parser", reason="myst-parser is not installed")
pytest.importorskip("vl_convert", reason="vl-convert is not installed")

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import docutils_namespace, patch_docutils

DOCS = Path(__file__).parents[2] / "docs"
PICTURE = """
from pathlib import Path
from reidrisk.plotting import chart

def compute():
    with Path("computed").open("a") as file:
        file.write("x")
    return [{"x": 1, "y": 0.5}]

def draw(rows, look):
    return chart(rows).mark("point", color=look.colour(0)).encode(x="x:Q", y="y:Q")
"""
PAGE = """# Page

```{picture} dot
:alt: a dot
One *dot*.
```
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Pages with one picture."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    (tmp_path / "docs/pictures").mkdir(parents=True)
    (tmp_path / "docs/pictures/dot.py").write_text(PICTURE)
    (tmp_path / "docs/index.md").write_text(PAGE)
    return tmp_path


def build(site):
    folders = [site / name for name in ("docs", "html", "trees")]
    settings = {"extensions": ["myst_parser", "picturing"]}
    with patch_docutils(), docutils_namespace():
        Sphinx(
            folders[0],
            None,
            *folders[1:],
            "html",
            settings,
            status=None,
            warning=None,
            warningiserror=True,
            exception_on_warning=True,
        ).build()


def computed(site):
    return len((site / "computed").read_text())


def test_a_picture_is_shown_for_light_and_for_dark_in_its_own_colours(site):
    build(site)
    page = (site / "html/index.html").read_text()
    for look, colour in (("light", "#0072b2"), ("dark", "#56b4e9")):
        assert re.search(rf'<img alt="a dot" class="only-{look}" src="(.*?{look}.svg)"', page)
        assert colour in (site / f"html/_images/dot-{look}.svg").read_text()
    assert "One <em>dot</em>." in page
    assert computed(site) == 1


def test_a_picture_is_drawn_again_only_when_what_it_is_made_from_changes(site):
    build(site)
    build(site)
    assert computed(site) == 1
    with (site / "docs/pictures/dot.py").open("a") as file:
        file.write("# another\n")
    build(site)
    assert computed(site) == 2
    (site / "docs/pictures/_shared.py").write_text("WIDTH = 3\n")
    build(site)
    assert computed(site) == 3
    (site / "docs/dot.md").write_text("---\norphan: true\n---\n\n# Lines that a picture may run\n")
    build(site)
    assert computed(site) == 4


def test_a_picture_that_fails_fails_the_build_with_its_name(site):
    (site / "docs/pictures/dot.py").write_text("def compute(): return 1 / 0\n")
    with pytest.raises(ExtensionError, match="the picture dot could not be drawn"):
        build(site)


def test_bytes_are_a_file_of_pixels_and_take_the_place_of_what_was_there(site):
    build(site)
    (site / "docs/pictures/dot.py").write_text(
        "def compute(): return b'pixels'\n\n\ndef draw(seen, look): return seen\n"
    )
    build(site)
    drawn = sorted(file.name for file in (site / "docs/_pictures").glob("dot-*"))
    assert drawn == ["dot-dark.png", "dot-light.png"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("dot\n", "dash\n", "there is no docs/pictures/dash.py"),
        (":alt: a dot\n", "", "needs :alt:"),
    ],
)
def test_a_page_that_asks_for_what_is_not_there_fails_the_build(site, old, new, told):
    (site / "docs/index.md").write_text(PAGE.replace(old, new, 1))
    with pytest.raises(Exception, match=told):
        build(site)


def test_the_report_is_a_chart_where_there_is_no_browser(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.delenv("CHROMIUM", raising=False)
    made = runpy.run_path(str(DOCS / "pictures/report.py"))
    monkeypatch.setitem(made["draw"].__globals__, "exhibit", lambda name, _: name)
    assert made["draw"](made["compute"](), look=None) == "spectrum"


def test_every_picture_is_on_a_page():
    pages = (page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = re.findall(r"^```\{picture\} (\S+)$", text, re.MULTILINE)
    drawn = {picture.stem for picture in (DOCS / "pictures").glob("[!_]*.py")}
    assert set(shown) == drawn
