"""Attackers who know some points of a person: purchases, plays, places and times."""

from reidrisk.risk.known_points.measuring import unicity
from reidrisk.risk.known_points.result import KnownPoints, Unicity

__all__ = ["KnownPoints", "Unicity", "unicity"]
