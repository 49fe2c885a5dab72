"""Singling out: who is alone in a table with a row per person."""

from reidrisk.risk.tables.singling._measure import singling
from reidrisk.risk.tables.singling.result import (
    ColumnPart,
    GroupSize,
    RareValues,
    RecordRisk,
    RegisterCrowds,
    Singling,
    ValuePart,
)

__all__ = [
    "ColumnPart",
    "GroupSize",
    "RareValues",
    "RecordRisk",
    "RegisterCrowds",
    "Singling",
    "ValuePart",
    "singling",
]
