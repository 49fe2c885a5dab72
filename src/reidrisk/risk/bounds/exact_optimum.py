"""Bound: the exact optimum of a small world.

Paper: corollary 1.
"""

from reidrisk.attacks.card import PAPER
from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.bounds.protocol import (
    ANYONE,
    AS_IT_SAYS,
    AS_LIKELY,
    NOT_COVERED,
    ONLY_SMALL,
    RANDOM_USER,
    SMALL_COST,
    WHICHEVER,
    Setting,
    ThreatModel,
)
from reidrisk.theory.columns import best_of_columns
from reidrisk.theory.numerics import UpperBound, exact_sum

ABOUT = ThreatModel(
    figures=("exact optimum",),
    side="upper",
    knows="the chance of everything that may be shown of every user",
    needs=("release", "people", "seed"),
    assumes=f"{AS_LIKELY}, and {AS_IT_SAYS}.",
    bounds=f"{RANDOM_USER} {WHICHEVER}",
    holds_for=f"{ANYONE}, whatever else is known",
    limits=f"{ONLY_SMALL} {NOT_COVERED}",
    cost=SMALL_COST,
    source=f"{PAPER}, section 4, corollary 1.",
)


def bound(setting: Setting) -> Bound | None:
    """How often an attacker who knows all chances, gaps included, can be right at best."""
    if setting.world is None:
        return None
    # The best rule names, for each outcome, the user most likely to show it (corollary 1).
    best = max(
        UpperBound(exact_sum(best_of_columns(chances)[0]) / targets)
        for chances, targets in setting.world.parts
    )
    sentence = (
        f"For {ABOUT.holds_for}: the sum over every outcome, gaps included, of the largest chance."
    )
    if len(setting.world.parts) > 1:
        sentence += (
            " For a random target, or a random one of those that attacks assess, whichever is "
            "larger."
        )
    return Bound(ABOUT.figure, ABOUT.side, Estimate.computed(best, "exact"), sentence)
