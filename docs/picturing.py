"""Pictures on pages, drawn by the build from results that the build computes.

`docs/pictures/NAME.py` has two functions: `compute()` gives a result, always the same, and
`draw(result, look)` gives a chart in the colours of a look, or the bytes of a PNG file. A page
shows it by a block

    ```{picture} NAME
    :alt: what it shows, in words
    The caption.
    ```

Each is drawn twice into `docs/_pictures`, for light pages and for dark ones, and drawn again when
its file, what pictures share (`docs/pictures/_*.py`), the package or this file changes; a picture
PAGE-NAME also when `docs/PAGE.md` does, whose lines it may run. A picture that fails fails the
build, with its name.
"""

import hashlib
import runpy
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

import reidrisk
from reidrisk.plotting import FILE, Style, config
from reidrisk.report.charts import svg

WIDTH = 700
LOOKS = {
    "light": Style(FILE.series, FILE.ink, FILE.muted, FILE.faint, background=None, legend=True),
    "dark": Style(
        ("#56b4e9", "#e69f00", "#00b98a", "#cc79a7", "#f0e442", "#d55e00"),
        "#e9edf1",
        "#a3adb8",
        "#343c46",
        background=None,
        legend=True,
    ),
}
"""As the report has them."""

_PICTURES, _DRAWN = "pictures", "_pictures"
_FIT = {"type": "fit-x", "contains": "padding"}
_told = logging.getLogger(__name__)


def draw_all(app: Sphinx) -> None:
    """Draw every picture that was not drawn before from the same files."""
    folder = Path(app.srcdir) / _PICTURES
    sources = _sources(folder)
    for picture in sorted(folder.glob("[!_]*.py")):
        page = Path(app.srcdir) / f"{picture.stem.partition('-')[0]}.md"
        own = picture.read_bytes() + (page.read_bytes() if page.exists() else b"")
        made_from = hashlib.sha256(sources + own).hexdigest()
        stamp = Path(app.srcdir) / _DRAWN / f"{picture.stem}.sha256"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == made_from:
            continue
        _told.info("drawing %s", picture.stem)
        try:
            drawn = _drawn(picture)
        except Exception as wrong:
            raise ExtensionError(f"the picture {picture.stem} could not be drawn", wrong) from wrong
        stamp.parent.mkdir(exist_ok=True)
        for old in stamp.parent.glob(f"{picture.stem}-*"):
            old.unlink()
        for name, content in drawn.items():
            (stamp.parent / name).write_bytes(content)
        stamp.write_text(made_from, encoding="utf-8")


def _sources(folder: Path) -> bytes:
    """A hash of all that pictures may depend on."""
    package = Path(reidrisk.__file__).parent
    found = hashlib.sha256(version("vl-convert-python").encode())
    ours = (file for kind in ("*.py", "*.css", "*.html", "*.js") for file in package.rglob(kind))
    for file in sorted([*ours, *folder.glob("_*.py"), Path(__file__)]):
        found.update(file.read_bytes())
    return found.digest()


def _drawn(picture: Path) -> dict[str, bytes]:
    """The files of a picture."""
    made = runpy.run_path(str(picture))
    result = made["compute"]()
    files = {}
    for name, look in LOOKS.items():
        found = made["draw"](result, look)
        ending = "png" if isinstance(found, bytes) else "svg"
        content = found if isinstance(found, bytes) else _svg(found, look).encode()
        files[f"{picture.stem}-{name}.{ending}"] = content
    return files


def _svg(chart: Any, look: Style) -> str:
    return svg(chart.to_dict() | {"config": config(look), "autosize": _FIT}, WIDTH)


class Picture(Directive):
    """A picture with its caption, for light and for dark."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}
    has_content = True

    def run(self) -> list[nodes.Node]:
        environment = self.state.document.settings.env
        name = self.arguments[0]
        if "alt" not in self.options:
            raise self.error(f"the picture {name} needs :alt:, what it shows in words")
        figure = nodes.figure(classes=["picture"])
        for look in LOOKS:
            file = next((Path(environment.srcdir) / _DRAWN).glob(f"{name}-{look}.*"), None)
            if not file:
                raise self.error(f"there is no docs/{_PICTURES}/{name}.py")
            figure += nodes.image(
                uri=f"/{_DRAWN}/{file.name}", alt=self.options["alt"], classes=[f"only-{look}"]
            )
        if self.content:
            caption = nodes.Element()
            self.state.nested_parse(self.content, self.content_offset, caption)
            figure += nodes.caption("", "", *caption.children[0].children)
            figure += nodes.legend("", *caption.children[1:]) if caption.children[1:] else []
        return [figure]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", draw_all)
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
