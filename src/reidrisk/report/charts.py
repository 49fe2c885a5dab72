"""Chart specifications, and rendering them as pictures."""

import copy
import functools
import re
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from typing import Any

from reidrisk.core import cache_dir
from reidrisk.core.digest import sha256
from reidrisk.core.machine import GIB, check_address_space
from reidrisk.core.optional import guest
from reidrisk.plotting import MEASURED, Chart, Style, config
from reidrisk.plotting.vega import VERSION
from reidrisk.report.exhibits import Exhibit

WIDTH = 720
PANEL_WIDTH = 420
_SCALE = 2
# Address space that the renderer asks for: 64.3 GiB, measured.
_RESERVED = 66 * GIB


def specification(exhibit: Exhibit, look: Style, width: int | str) -> dict[str, Any]:
    """The chart of an exhibit as a Vega-Lite specification.

    Args:
        exhibit: One that has a chart.
        look: Colours and fonts.
        width: In pixels, or "container".
    """
    if exhibit.draw is None:
        raise TypeError(f"{exhibit.name} has no chart")
    drawn = exhibit.draw(exhibit.rows, look).properties(width=width)
    with nullcontext() if isinstance(drawn, Chart) else _no_theme():
        spec: dict[str, Any] = drawn.to_dict()
    spec["config"] = config(look)
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["description"] = f"{exhibit.title}. {exhibit.sentence}"
    return spec


def svg(spec: dict[str, Any], width: int) -> str:
    """A still picture in SVG.

    Args:
        spec: A Vega-Lite specification.
        width: In pixels.
    """
    # Text is measured in a font of wide letters, so that no label is cut off in whatever font the
    # reader's browser has.
    still = copy.deepcopy(spec) | {"width": width}
    font = still["config"]["font"]
    still["config"]["font"] = MEASURED
    picture: str = _renderer().vegalite_to_svg(still, vl_version=version_drawn())
    return picture.replace(f'font-family="{MEASURED}"', f'font-family="{font}"')


def inline_svg(spec: dict[str, Any], width: int, name: str) -> str:
    """A still picture to stand in a page beside others.

    Args:
        spec: A Vega-Lite specification.
        width: In pixels.
        name: Of the chart; ids within the picture begin with it, since they are global in a page.
    """
    # Screen readers are given the sentence of the exhibit instead.
    picture = svg(spec, width).replace("<svg ", '<svg aria-hidden="true" ', 1)
    return re.sub(r'(id="|url\(#)(clip|gradient)', rf"\g<1>{name}-\g<2>", picture)


def png(spec: dict[str, Any], width: int) -> bytes:
    """A still picture in PNG, fine enough for print.

    Args:
        spec: A Vega-Lite specification.
        width: In pixels, before scaling.
    """
    still = copy.deepcopy(spec) | {"width": width}
    picture: bytes = _renderer().vegalite_to_png(still, vl_version=version_drawn(), scale=_SCALE)
    return picture


def _renderer() -> Any:
    """The library that draws; without enough address space it would abort the process."""
    check_address_space(_RESERVED, "the library that draws charts")
    return guest("vl_convert")


@functools.cache
def library() -> str:
    """The scripts that draw charts in a browser, in one bundle that is cached on this machine."""
    made_by = f"Vega-Lite {version_drawn()} by vl-convert {version('vl-convert-python')}".encode()
    folder = cache_dir.cache_folder()
    path = folder and folder / f"charts-{sha256(made_by)[:32]}.js"
    kept = path and cache_dir.read_cached(path, made_by)
    if kept:
        return kept.decode()
    script: str = _renderer().javascript_bundle(vl_version=version_drawn())
    if path:
        cache_dir.write_cached(path, made_by, script.encode())
    return script


def _no_theme() -> AbstractContextManager[Any]:
    """Turns off altair's theme: one that a user enabled must not change the report."""
    quiet: AbstractContextManager[Any] = guest("altair").theme.enable("none")
    return quiet


@functools.cache
def version_drawn() -> str:
    """The version of Vega-Lite that is drawn: the last that the renderer has of ours."""
    known = [tuple(map(int, one.split("."))) for one in _versions()]
    return ".".join(map(str, max(one for one in known if one[0] == VERSION)))


def _versions() -> list[str]:
    versions: list[str] = guest("vl_convert").get_vegalite_versions()
    return versions
