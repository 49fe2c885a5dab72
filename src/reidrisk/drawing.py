"""What all charts share: colours and shapes safe for the colour-blind, axes, sizes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reidrisk.guests import guest

# Colours differ for every eye (Okabe and Ito); shapes repeat with another period than colours.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
GLYPHS = ("●", "■", "▲", "◆", "✚", "▼", "\N{EN DASH}")
DASHES: tuple[list[int], ...] = ([], [7, 3], [2, 2], [7, 3, 2, 3], [12, 3])
COLOURS = 6
_FEW_TICKS, _MOST_TICKS = 2, 5
SHOWN = "indexof(shown, datum.attack) >= 0"
PERCENT = "format(100 * datum.value, '.4~r') + ' %'"
PEOPLE = (
    "datum.value < 1e6 ? format(datum.value, ',') : "
    "datum.value < 1e9 ? format(datum.value / 1e6, '~r') + 'M' : "
    "format(datum.value / 1e9, '~r') + 'B'"
)


@dataclass(frozen=True)
class Look:
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
PAGE = Look(
    tuple(f"var(--series-{place})" for place in range(COLOURS)),
    "var(--ink)",
    "var(--muted)",
    "var(--faint)",
    background=None,
    legend=False,
)
FILE = Look(
    ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    "#1b1f24",
    "#59636e",
    "#d8dee4",
    background="#ffffff",
    legend=True,
)


def chart(rows: Sequence[Any]) -> Any:
    """A chart of rows."""
    alt = guest("altair")
    return alt.Chart(alt.Data(values=list(rows)))


def by_attack(attacks: Sequence[str], look: Look, *, dashed: bool = False) -> dict[str, Any]:
    """Colour, shape and, for lines, dashes of each attack, the same in every chart."""
    alt, places = guest("altair"), range(len(attacks))
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1) if look.legend else None

    def scale(values: Iterable[Any]) -> Any:
        return alt.Scale(domain=list(attacks), range=list(values))

    return {
        "color": alt.Color(
            "attack:N", scale=scale(look.colour(place) for place in places), legend=legend
        ),
        "shape": alt.Shape(
            "attack:N", scale=scale(SHAPES[place % len(SHAPES)] for place in places), legend=legend
        ),
        **(
            {
                "strokeDash": alt.StrokeDash(
                    "attack:N",
                    scale=scale(DASHES[place % len(DASHES)] for place in places),
                    legend=legend,
                )
            }
            if dashed
            else {}
        ),
    }


def switchable(layers: Any, attacks: Sequence[str]) -> Any:
    """Let the page choose the attacks shown."""
    return layers.add_params(guest("altair").param(name="shown", value=list(attacks)))


def floor_of(values: Iterable[float]) -> float:
    """Where a logarithmic axis begins: half the least number above 0."""
    return min((value for value in values if value > 0), default=1e-6) / 2


def decades(floor: float) -> list[float]:
    """Powers of ten from 1 down to the floor; 5 and 2 of each where they are few, or every second.

    A chart needs two ticks at least, to be read.
    """
    tens = [10.0**-power for power in range(12) if 10.0**-power >= floor]
    if len(tens) <= _FEW_TICKS:
        parts = [part * ten for ten in (1.0, *tens) for part in (1, 0.5, 0.2)]
        return sorted({round(part, 9) for part in parts if part >= floor}, reverse=True)
    return tens[:: 1 if len(tens) <= _MOST_TICKS else 2]


def config(look: Look) -> dict[str, Any]:
    """Everything quiet: thin grid, no frame, text in the colours of the page."""
    text = {"labelColor": look.muted, "titleColor": look.ink, "labelFontSize": 12}
    return {
        "font": "system-ui, -apple-system, 'Segoe UI', sans-serif",
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
