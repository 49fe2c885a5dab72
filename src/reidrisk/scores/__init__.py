"""What a known row gains by explaining an anonymous one: the language attacks speak to engines."""

from reidrisk.scores.slots import (
    GRID,
    Gains,
    ProfileWeights,
    Score,
    SetWeights,
    TokenTable,
    TokenWeights,
    by_slot,
    first_shown,
)

__all__ = [
    "GRID",
    "Gains",
    "ProfileWeights",
    "Score",
    "SetWeights",
    "TokenTable",
    "TokenWeights",
    "by_slot",
    "first_shown",
]
