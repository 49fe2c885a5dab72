"""What all charts share: looks, axes, and risk along something."""

from reidrisk.drawing.axes import decades, floor_of, log_range, log_ticks
from reidrisk.drawing.curves import TOLD, alone, over_slots, over_users
from reidrisk.drawing.grammar import Chart, chart, fixed, layer, of, settings
from reidrisk.drawing.looks import (
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
    Look,
    by_attack,
    config,
    marked,
    switchable,
)

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
    "Look",
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
