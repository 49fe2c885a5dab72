"""The verdict of a report as a browser shows it; without a browser, its first chart."""

import os
import shutil
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pictures._topics import exhibit, studied
from picturing import LOOKS

import reidrisk as rr
from reidrisk.plotting import Chart, Style

_CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
_SIZE = {"width": 840, "height": 900}


def compute() -> dict[str, bytes]:
    """Pictures of the page in light and in dark, or nothing."""
    if not (_CHROMIUM and find_spec("playwright")):
        return {}
    started = import_module("playwright.sync_api").sync_playwright
    with tempfile.TemporaryDirectory() as folder, started() as driver:
        page = rr.report.html(studied(), Path(folder) / "report.html")
        browser = driver.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        return {scheme: _seen(browser, page, scheme) for scheme in LOOKS}


def _seen(browser: Any, page: Path, scheme: str) -> bytes:
    opened = browser.new_page(viewport=_SIZE, color_scheme=scheme, device_scale_factor=1.5)
    opened.goto(page.as_uri())
    verdict = opened.locator(".verdict").bounding_box()
    shown = {"x": 0, "y": 0, "width": _SIZE["width"], "height": verdict["y"] + verdict["height"]}
    picture: bytes = opened.screenshot(clip=shown, full_page=True)
    return picture


def draw(seen: dict[str, bytes], look: Style) -> Chart | bytes:
    if not seen:
        return exhibit("spectrum", look)
    return next(seen[scheme] for scheme, one in LOOKS.items() if one == look)
