"""Estimates: how sure a measured number is."""

from reidrisk.estimates.betting import anytime_interval, mean_of_numbers
from reidrisk.estimates.claims import Claims, ClaimsBin, claims
from reidrisk.estimates.credits import mean_of_credits
from reidrisk.estimates.crowds import credit_in_crowds
from reidrisk.estimates.differences import paired_difference, unpaired_difference
from reidrisk.estimates.estimate import Bound, Estimate, Side
from reidrisk.estimates.extrapolation import Extrapolation, extrapolate, sizes_to_fit
from reidrisk.estimates.intervals import confidence, mean_of_shares, standard_errors
from reidrisk.estimates.open_set import Decision, OpenSet, Rule, open_set
from reidrisk.estimates.per_user import PerUserRisk, per_user_risk
from reidrisk.estimates.selective import Selective, risk_coverage, selective

__all__ = [
    "Bound",
    "Claims",
    "ClaimsBin",
    "Decision",
    "Estimate",
    "Extrapolation",
    "OpenSet",
    "PerUserRisk",
    "Rule",
    "Selective",
    "Side",
    "anytime_interval",
    "claims",
    "confidence",
    "credit_in_crowds",
    "extrapolate",
    "mean_of_credits",
    "mean_of_numbers",
    "mean_of_shares",
    "open_set",
    "paired_difference",
    "per_user_risk",
    "risk_coverage",
    "selective",
    "sizes_to_fit",
    "standard_errors",
    "unpaired_difference",
]
