"""What all charts share: looks, axes, and risk along something."""

from reidrisk.drawing.axes import decades, floor_of, log_range, log_ticks
from reidrisk.drawing.curves import TOLD, alone, over_slots, over_users
from reidrisk.drawing.looks import (
    COLOURS,
    DASHES,
    FILE,
    GLYPHS,
    PAGE,
    PEOPLE,
    PERCENT,
    SHAPES,
    SHOWN,
    Look,
    by_attack,
    chart,
    config,
    marked,
    switchable,
)

__all__ = [
    "COLOURS",
    "DASHES",
    "FILE",
    "GLYPHS",
    "PAGE",
    "PEOPLE",
    "PERCENT",
    "SHAPES",
    "SHOWN",
    "TOLD",
    "Look",
    "alone",
    "by_attack",
    "chart",
    "config",
    "decades",
    "floor_of",
    "log_range",
    "log_ticks",
    "marked",
    "over_slots",
    "over_users",
    "switchable",
]
