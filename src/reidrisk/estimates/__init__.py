"""How sure a measured number is."""

from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.intervals import mean_of_shares

__all__ = ["Estimate", "mean_of_shares"]
