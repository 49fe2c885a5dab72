"""Bits that two sites share about a user, from counts, with what corrects them."""

from reidrisk.information.counts.counting import count_information
from reidrisk.information.counts.intervals import TOO_FEW, CountedBits, CountedInformation, Way

__all__ = ["TOO_FEW", "CountedBits", "CountedInformation", "Way", "count_information"]
