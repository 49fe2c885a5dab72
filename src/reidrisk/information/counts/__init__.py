"""Bits that two sites share about a user, estimated from counts."""

from reidrisk.information.counts.counting import count_information
from reidrisk.information.counts.intervals import TOO_FEW, CountedBits, CountedInformation, Way

__all__ = ["TOO_FEW", "CountedBits", "CountedInformation", "Way", "count_information"]
