"""How much what is shown tells, in bits."""

from reidrisk.information.counts import PairBits, pair_information

__all__ = ["PairBits", "pair_information"]
