"""Libraries that are used where they are installed and asked for where they are not."""

import importlib
from html import escape
from types import ModuleType
from typing import Any

from reidrisk.errors import MissingExtra


def guest(module: str, extra: str = "plots") -> ModuleType:
    """Import an optional library, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise MissingExtra(
            f"{missing.name or module} is needed for this and is not installed: "
            f"pip install 'reidrisk[{extra}]'"
        ) from missing


def frame(rows: list[dict[str, Any]]) -> Any:
    """Rows as a data frame of pandas, or else of polars."""
    for module in ("pandas", "polars"):
        try:
            return importlib.import_module(module).DataFrame(rows)
        except ImportError:
            continue
    raise MissingExtra("a data frame needs pandas or polars: pip install pandas")


def risk_chart(rows: list[dict[str, Any]], along: str, *, title: str, scale: str) -> Any:
    """A chart of altair: risk with its interval along something, one line per attack."""
    altair = guest("altair")
    base = altair.Chart(altair.Data(values=rows)).encode(
        x=altair.X(f"{along}:Q", scale=altair.Scale(type=scale), title=along),
        color=altair.Color("attack:N"),
    )
    share = {"title": "correctly identified", "axis": altair.Axis(format="%")}
    band = base.mark_area(opacity=0.25).encode(y=altair.Y("low:Q", **share), y2="high:Q")
    line = base.mark_line(point=True).encode(y=altair.Y("value:Q", **share))
    return (band + line).properties(title=title)


def html_table(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table for notebooks; all text is escaped."""
    lines = [_html_row("th", headings), *(_html_row("td", row) for row in rows)]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def _html_row(tag: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
