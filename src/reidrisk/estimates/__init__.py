"""How sure a measured number is."""

from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.intervals import confidence, mean_of_shares

__all__ = ["Estimate", "confidence", "mean_of_shares"]
