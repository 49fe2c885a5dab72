"""Parts that all charts share: styles, axes and curves with intervals."""

from reidrisk.plotting.axes import decades, floor_of, log_range, log_ticks
from reidrisk.plotting.curves import TOLD, alone, over_slots, over_users
from reidrisk.plotting.style import (
    COLOURS,
    DASHES,
    FILE,
    GLYPHS,
    MEASURED,
    PAGE,
    PEOPLE,
    PERCENT,
    SHAPES,
    SHOWN,
    Style,
    by_attack,
    config,
    marked,
    switchable,
)
from reidrisk.plotting.vega import Chart, chart, fixed, layer, of, settings

__all__ = [
    "COLOURS",
    "DASHES",
    "FILE",
    "GLYPHS",
    "MEASURED",
    "PAGE",
    "PEOPLE",
    "PERCENT",
    "SHAPES",
    "SHOWN",
    "TOLD",
    "Chart",
    "Style",
    "alone",
    "by_attack",
    "chart",
    "config",
    "decades",
    "fixed",
    "floor_of",
    "layer",
    "log_range",
    "log_ticks",
    "marked",
    "of",
    "over_slots",
    "over_users",
    "settings",
    "switchable",
]
