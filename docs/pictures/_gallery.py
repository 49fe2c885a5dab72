"""Charts of the gallery, drawn from the very lines that stand above them on the page."""

import contextlib
import functools
import io
import re
import tempfile
from pathlib import Path
from typing import Any

import reidrisk as rr
from reidrisk.plotting import Chart, Style
from reidrisk.report import comparison, singling, unicity
from reidrisk.report.exhibits import Exhibit
from reidrisk.report.sections import sections

_PAGE = Path(__file__).parents[1] / "gallery.md"
_BLOCK = re.compile(r"^```(python|\{picture\} gallery-(\S+))\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@functools.cache
def results() -> dict[str, Any]:
    """What `result` was, by chart, when its lines had been run."""
    names: dict[str, Any] = {"__name__": "gallery"}
    found = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        for kind, chart, text in _BLOCK.findall(_PAGE.read_text(encoding="utf-8")):
            if kind == "python":
                exec(compile(text, str(_PAGE), "exec"), names)  # noqa: S102  our own page
            else:
                found[chart] = names["result"]
    return found


def exhibit(chart: str) -> Exhibit:
    """The exhibit of this name, of the report on what the lines gave."""
    result = results()[chart]
    if isinstance(result, rr.Result):
        told = sections(result)
    elif isinstance(result, rr.risk.Singling):
        told = singling.sections(result)
    elif isinstance(result, rr.risk.Unicity):
        told = unicity.sections(result)
    else:
        told = comparison.sections(result)
    return {one.name: one for part in told for one in part.exhibits}[chart]


def draw(chart: Exhibit, look: Style) -> Chart:
    """The chart in the colours of a look."""
    drawn: Chart = chart.draw(chart.rows, look)
    return drawn
