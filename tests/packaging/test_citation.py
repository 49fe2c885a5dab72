"""How we are cited: the file, the page and the package agree."""

import re

import pytest
from tests.packaging.pages import ROOT, fences

import reidrisk

yaml = pytest.importorskip("yaml")
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
SOFTWARE, PAPER = (
    fence.text for fence in fences(ROOT / "docs/how-to/cite.md") if fence.kind == "bibtex"
)


def field(entry, name):
    return re.search(rf"{name} *= \{{(.*?)\}},?$", entry, re.DOTALL | re.MULTILINE)[1]


def test_the_file_has_what_the_format_requires():
    assert {"cff-version", "message", "title", "authors"} <= CITED.keys()
    assert CITED["license"] == "Apache-2.0"


def test_the_version_is_that_of_the_package():
    assert CITED["version"] == reidrisk.__version__ == field(SOFTWARE, "version")


@pytest.mark.parametrize("name", ["title", "doi", "year", "volume", "journal"])
def test_the_page_cites_the_same_paper(name):
    assert field(PAPER, name) == str(CITED["references"][0][name])


def test_the_page_names_all_authors():
    names = field(PAPER, "author")
    plain = names.replace(r"{\~n}", "ñ").replace(r"{\'e}", "é")
    cited = [
        f"{one['family-names']}, {one['given-names']}" for one in CITED["references"][0]["authors"]
    ]
    assert re.split(r"\s+and\s+", plain) == cited
