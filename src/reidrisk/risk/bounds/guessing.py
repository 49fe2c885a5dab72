"""Bound: guessing at random, which anybody can do."""

from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.bounds.protocol import AS_LIKELY, Setting, ThreatModel

ABOUT = ThreatModel(
    figures=("guessing",),
    side="lower",
    knows="nothing but who the users are",
    needs=(),
    assumes=f"{AS_LIKELY}.",
    bounds="How often one random user is named correctly.",
    holds_for="anybody: what is shown is not looked at",
    limits="It counts every known user: whoever can rule some out guesses better.",
    cost="Nothing: one in as many as there are users.",
    source="Arithmetic; the baseline of every study.",
)


def bound(setting: Setting) -> Bound:
    """How often naming somebody at random is right."""
    share = Estimate.computed(1 / setting.seen.users)
    return Bound(ABOUT.figure, ABOUT.side, share, "Naming anyone, whatever is shown.")
