"""Attackers who see what is shown of everybody at once.  Paper: lemma 3."""

from reidrisk.estimates import Bound, Estimate
from reidrisk.estimates.estimate import Side
from reidrisk.risk.bounds.setting import Setting
from reidrisk.theory.columns import upper_someone
from reidrisk.theory.numerics import UpperBound, upper_sum

SIDE: Side = "upper"


def bound(setting: Setting) -> Bound | None:
    """How many different rows users are expected to show: of equal ones, one is named for sure."""
    if setting.world is None:
        return None
    best = max(
        UpperBound(upper_sum(upper_someone(chances)) / targets)
        for chances, targets in setting.world.parts
    )
    sentence = (
        "For attackers who see what a site is shown of everybody at once and name all of them "
        "together: the expected number of different rows per user, gaps included."
    )
    return Bound("everyone at once", SIDE, Estimate.computed(best), sentence)
