"""A figure of information, as a record."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bits:
    """An information figure: bits per slot, with its standard error (0 if exact)."""

    name: str
    slots: int
    value: float
    error: float
    note: str
