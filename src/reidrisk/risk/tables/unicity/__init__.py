"""Attackers who know some points of a person: purchases, plays, places and times."""

from reidrisk.risk.tables.unicity._measure import unicity
from reidrisk.risk.tables.unicity.result import KnownPoints, Unicity

__all__ = ["KnownPoints", "Unicity", "unicity"]
