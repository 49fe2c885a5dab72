"""Import optional libraries, and say how to install the ones that are missing."""

import importlib
import importlib.util
from collections.abc import Sequence
from html import escape
from types import ModuleType
from typing import Any, TypeVar

from reidrisk.errors import MissingExtra


def guest(module: str, extra: str = "plots") -> ModuleType:
    """Import an optional library, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise MissingExtra(
            _absent(missing.name or module, extra), code="missing-extra"
        ) from missing


def check_guest(module: str, extra: str, what: str) -> None:
    """Say how to get an optional library that is not installed, without loading one that is."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtra(_absent(module, extra, what), code="missing-extra")


def _absent(module: str, extra: str, what: str = "this") -> str:
    return f"{module} is needed for {what} and is not installed: pip install 'reidrisk[{extra}]'"


_FRAMES = ("pandas", "polars")
_HERE = __name__.partition(".")[0]
_Made = TypeVar("_Made")


def in_frames_of(made: _Made, *tables: Any) -> _Made:
    """The same value, whose frames are of the library that its tables came in.

    The library is no field of the value: it changes neither equality nor what is stored.

    Args:
        made: What was made of the tables; it asks `frame` for its frames.
        tables: Frames, files or columns in memory, or what was made of them; the first that is of
            such a library decides.
    """
    for table in tables:
        home = type(table).__module__.partition(".")[0]
        library = getattr(table, "frame_library", None) if home == _HERE else home
        if library in _FRAMES:
            object.__setattr__(made, "frame_library", library)
            break
    return made


def frame(rows: list[dict[str, Any]], of: Any = None) -> Any:
    """Rows as a data frame of pandas, or else of polars.

    A library that is installed but broken is not skipped: its error is raised.

    Args:
        rows: By column.
        of: What they belong to: see `in_frames_of`.
    """
    first = getattr(of, "frame_library", _FRAMES[0])
    for module in dict.fromkeys((first, *_FRAMES)):
        try:
            return importlib.import_module(module).DataFrame(rows)
        except ModuleNotFoundError as missing:
            if missing.name != module:
                raise
    raise MissingExtra(
        "a data frame needs pandas or polars: pip install pandas, or polars", code="missing-extra"
    )


def html_table(title: str, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table for notebooks; all text is escaped."""
    lines = [_html_row("th", headings), *(_html_row("td", row) for row in rows)]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def _html_row(tag: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
