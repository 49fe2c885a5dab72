"""Anybody can guess."""

from reidrisk.estimates import Bound, Estimate
from reidrisk.estimates.estimate import Side
from reidrisk.risk.bounds.setting import Setting

SIDE: Side = "lower"


def bound(setting: Setting) -> Bound:
    """How often naming anyone is right."""
    share = Estimate.computed(1 / setting.seen.users)
    return Bound("guessing", SIDE, share, "Naming anyone, whatever is shown.")
