"""Bits that two sites share about a user, estimated from counts."""

from reidrisk.information.counts.counting import (
    TOO_FEW,
    CountedBits,
    CountedInformation,
    Way,
    count_information,
)

__all__ = ["TOO_FEW", "CountedBits", "CountedInformation", "Way", "count_information"]
