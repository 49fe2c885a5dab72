"""The exact optimum of a small world.  Paper: corollary 1."""

from reidrisk.estimates import Bound, Estimate
from reidrisk.estimates.estimate import Side
from reidrisk.risk.bounds.setting import Setting
from reidrisk.theory.columns import best_of_columns
from reidrisk.theory.numerics import UpperBound, exact_sum

SIDE: Side = "upper"


def bound(setting: Setting) -> Bound | None:
    """How often the best attacker is right who knows the chances of everything, gaps included."""
    if setting.world is None:
        return None
    best = max(
        UpperBound(exact_sum(best_of_columns(chances)[0]) / targets)
        for chances, targets in setting.world.parts
    )
    sentence = (
        "For any attacker who names a person by what one site is shown of them, whatever else is "
        "known: the sum over every outcome, gaps included, of the largest chance."
    )
    if len(setting.world.parts) > 1:
        sentence += (
            " For a random target, or a random one of those that attacks assess, whichever is "
            "larger."
        )
    return Bound("exact optimum", SIDE, Estimate.computed(best, "exact"), sentence)
