"""Colours, shapes and dashes of attacks, safe for colour-blind readers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from reidrisk.plotting.vega import Chart, of, settings

_FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"
MEASURED = "DejaVu Sans, Verdana, sans-serif"
"""A wide font, so that pictures leave enough room for whatever font a reader's `_FONT` becomes."""

# Colours differ for every eye (Okabe and Ito); shapes repeat with another period than colours.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
GLYPHS = ("●", "■", "▲", "◆", "✚", "▼", "\N{EN DASH}")
DASHES: tuple[list[int], ...] = ([], [7, 3], [2, 2], [7, 3, 2, 3], [12, 3])
COLOURS = 6
SHOWN = "indexof(shown, datum.attack) >= 0"
PERCENT = "format(100 * datum.value, '.4~r') + ' %'"
PEOPLE = (
    "datum.value < 1e6 ? format(datum.value, ',') : "
    "datum.value < 1e9 ? format(datum.value / 1e6, '~r') + 'M' : "
    "format(datum.value / 1e9, '~r') + 'B'"
)


@dataclass(frozen=True)
class Style:
    """Colours of a chart, and whether it explains its marks itself."""

    series: tuple[str, ...]
    ink: str
    muted: str
    faint: str
    background: str | None
    legend: bool

    def colour(self, place: int) -> str:
        """Colours repeat when there are more series than colours."""
        return self.series[place % COLOURS]


# The page decides between light and dark by itself; files cannot.
PAGE = Style(
    tuple(f"var(--series-{place})" for place in range(COLOURS)),
    "var(--ink)",
    "var(--muted)",
    "var(--faint)",
    background=None,
    legend=False,
)
FILE = Style(
    ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    "#1b1f24",
    "#59636e",
    "#d8dee4",
    background="#ffffff",
    legend=True,
)


def by_attack(
    attacks: Sequence[str], look: Style, used: Collection[str] | None = None
) -> dict[str, Any]:
    """Colour, shape and dash of each attack, the same in every chart.

    Args:
        attacks: All of a result, also those that a chart does not show: their places decide.
        look: Of the chart.
        used: Those that it shows, for the legend; all, if None.
    """
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(attacks))]
    dashes = [DASHES[place % len(DASHES)] for place in range(len(attacks))]
    colours = [look.colour(place) for place in range(len(attacks))]
    shown = [attack for attack in attacks if used is None or attack in used]
    return {
        **marked("attack", attacks, colours, shapes, look, shown),
        "strokeDash": of(
            "attack:N",
            scale=settings(domain=list(attacks), range=dashes),
            legend=_legend(look, shown),
        ),
    }


def marked(
    field: str,
    names: Sequence[str],
    colours: Sequence[str],
    shapes: Sequence[str],
    look: Style,
    shown: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Colour and shape by the value of a field; a legend of those shown, if the look has one."""
    legend = _legend(look, names if shown is None else shown)

    def scale(values: Sequence[Any]) -> Any:
        return settings(domain=list(names), range=list(values))

    return {
        "color": of(f"{field}:N", scale=scale(colours), legend=legend),
        "shape": of(f"{field}:N", scale=scale(shapes), legend=legend),
    }


def _legend(look: Style, shown: Sequence[str]) -> Any:
    if not look.legend:
        return None
    return settings(
        title=None, orient="top", symbolOpacity=1, values=list(shown), labelLimit=600, columns=2
    )


def switchable(layers: Chart, attacks: Sequence[str]) -> Chart:
    """Let the page choose the attacks shown."""
    return layers.properties(params=[{"name": "shown", "value": list(attacks)}])


def config(look: Style) -> dict[str, Any]:
    """Everything quiet: thin grid, no frame, text in the colours of the page."""
    text = {"labelColor": look.muted, "titleColor": look.ink, "labelFontSize": 12}
    return {
        "font": _FONT,
        "background": look.background or "transparent",
        "padding": 16 if look.background else 4,
        "view": {"stroke": None},
        "axis": {
            **text,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": look.faint,
            "domainColor": look.faint,
            "tickColor": look.faint,
            "labelPadding": 6,
            "titlePadding": 10,
            "labelSeparation": 8,
            "labelOverlap": True,
        },
        "legend": {**text, "symbolStrokeWidth": 2, "symbolSize": 90},
        "text": {"color": look.ink, "fontSize": 12},
        "title": {"color": look.ink, "anchor": "start"},
    }
