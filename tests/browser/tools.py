"""Chromium, paper and accessibility.

Needs Chromium (`CHROMIUM` names another one) and playwright; the accessibility check also needs
axe-core, which `make axe` fetches, or `AXE` names; reading what was printed needs `pdftotext`.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
AXE = Path(
    os.environ.get("AXE")
    or Path(__file__).parents[2] / ".venv/axe/node_modules/axe-core/axe.min.js"
)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def axe_findings(page):
    """What axe-core finds wrong with a page: rule, impact, where."""
    if not AXE.is_file():
        pytest.skip("axe-core is not here; fetch it with: make axe")
    # Evaluated by the driver, which the page's own policy does not bind.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(found => found.violations)")
    return [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found]


def printed(page, paper):
    """The page as a PDF, as a person prints it: without backgrounds."""
    return page.pdf(format=paper, prefer_css_page_size=True, print_background=False)


def count_of_pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def pages_of(pdf):
    """The text of each page."""
    reader = shutil.which("pdftotext")
    if not reader:
        pytest.skip("pdftotext is not here; it comes with poppler-utils")
    done = subprocess.run([reader, "-layout", "-", "-"], input=pdf, capture_output=True, check=True)
    pages = done.stdout.decode().split("\f")[:-1]
    assert len(pages) == count_of_pages(pdf)
    return pages
