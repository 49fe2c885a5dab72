"""Charts as specifications and as pictures; the one place that speaks to the renderer."""

import copy
import functools
import hashlib
import re
from importlib.metadata import version
from typing import Any

from reidrisk import own_cache
from reidrisk.drawing import Look, config
from reidrisk.guests import guest
from reidrisk.machine import GIB, check_address_space
from reidrisk.report.parts import Exhibit

WIDTH = 720
PANEL_WIDTH = 420
_SCALE = 2
# Address space that the renderer asks for: 64.3 GiB, measured.
_RESERVED = 66 * GIB


def specification(exhibit: Exhibit, look: Look, width: int | str) -> dict[str, Any]:
    """The chart of an exhibit as a Vega-Lite specification."""
    if exhibit.draw is None:
        raise TypeError(f"{exhibit.name} has no chart")
    # A theme that somebody enabled in altair must not change the report.
    with guest("altair").theme.enable("none"):
        drawn = exhibit.draw(exhibit.rows, look).properties(width=width)
        # Whether it is Vega-Lite is found out by who draws it, and for ours by a test.
        spec: dict[str, Any] = drawn.to_dict(validate=False)
    spec["config"] = config(look)
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["description"] = f"{exhibit.title}. {exhibit.sentence}"
    return spec


def svg(spec: dict[str, Any], width: int) -> str:
    """A still picture."""
    still = copy.deepcopy(spec) | {"width": width}
    picture: str = _renderer().vegalite_to_svg(still, vl_version=_version())
    return picture


def inline_svg(spec: dict[str, Any], width: int, name: str) -> str:
    """A still picture for a page with others: its inner names are its own, its words unspoken."""
    picture = svg(spec, width).replace("<svg ", '<svg aria-hidden="true" ', 1)
    return re.sub(r'(id="|url\(#)(clip|gradient)', rf"\g<1>{name}-\g<2>", picture)


def png(spec: dict[str, Any], width: int) -> bytes:
    """A still picture in pixels, fine enough for print."""
    still = copy.deepcopy(spec) | {"width": width}
    picture: bytes = _renderer().vegalite_to_png(still, vl_version=_version(), scale=_SCALE)
    return picture


def _renderer() -> Any:
    """The library that draws; without room for it, it would end the process."""
    check_address_space(_RESERVED, "the library that draws charts")
    return guest("vl_convert")


@functools.cache
def library() -> str:
    """The scripts that draw charts in a browser, all in one: bundled once a machine."""
    guest("vl_convert")  # asked for first, so that who lacks it is told how to get it
    made_by = f"vl-convert {version('vl-convert-python')}, Vega-Lite {_version()}".encode()
    folder = own_cache.own_folder()
    path = folder and folder / f"charts-{hashlib.sha256(made_by).hexdigest()[:32]}.js"
    kept = path and own_cache.found(path, made_by)
    if kept:
        return kept.decode()
    script: str = _renderer().javascript_bundle(vl_version=_version())
    if path:
        own_cache.keep(path, made_by, script.encode())
    return script


def _version() -> str:
    """The version of Vega-Lite that altair writes, such as 6.4."""
    schema: str = guest("altair").SCHEMA_VERSION
    return ".".join(schema.removeprefix("v").split(".")[:2])
