"""Unicity: how many known points single a person out."""

from reidrisk.risk.tables.unicity._measure import unicity
from reidrisk.risk.tables.unicity.result import KnownPoints, Unicity

__all__ = ["KnownPoints", "Unicity", "unicity"]
