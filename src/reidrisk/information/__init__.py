"""How much what is shown tells, in bits."""

from reidrisk.information.counts import CountedBits, CountedInformation, Way, count_information

__all__ = ["CountedBits", "CountedInformation", "Way", "count_information"]
