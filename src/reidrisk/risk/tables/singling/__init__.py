"""Tables in which every row is a person: who is alone with what some columns say."""

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
