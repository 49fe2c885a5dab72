"""Anybody can guess."""

from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.bounds.setting import Setting


def bound(setting: Setting) -> Bound:
    """How often naming anyone is right."""
    share = Estimate.computed(1 / setting.seen.users)
    return Bound("guessing", "lower", share, "Naming anyone, whatever is shown.")
