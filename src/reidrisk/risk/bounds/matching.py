"""Bound: attackers who see everybody's rows at once.

Paper: lemma 3.
"""

from reidrisk.attacks.card import PAPER
from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.bounds.protocol import (
    AS_IT_SAYS,
    ONLY_SMALL,
    SMALL_COST,
    WHICHEVER,
    Setting,
    ThreatModel,
)
from reidrisk.theory.columns import upper_someone
from reidrisk.theory.numerics import UpperBound, upper_sum

ABOUT = ThreatModel(
    figures=("everyone at once",),
    side="upper",
    knows="the chance of everything that may be shown of every user",
    needs=("release", "people", "seed"),
    assumes=f"Every user is shown once, and {AS_IT_SAYS}.",
    bounds=(
        "What share of users is named correctly, on average, if everybody is named at once. "
        f"{WHICHEVER}"
    ),
    holds_for=(
        "attackers who see what a site is shown of everybody at once and name all of them together"
    ),
    limits=(
        f"{ONLY_SMALL} It need not be reached: it counts rows that differ, as if each of them were "
        "named correctly once. It does not cover an attacker who sees rows of several sites and "
        "knows that they are one person's."
    ),
    cost=SMALL_COST,
    source=f"{PAPER}, section 5, lemma 3.",
)


def bound(setting: Setting) -> Bound | None:
    """How many different rows there are per user: of equal ones, one can be named for sure."""
    if setting.world is None:
        return None
    # Of users who show the same, at most one can be named rightly for sure (lemma 3).
    best = max(
        UpperBound(upper_sum(upper_someone(chances)) / targets)
        for chances, targets in setting.world.parts
    )
    sentence = (
        f"For {ABOUT.holds_for}: the expected number of different rows per user, gaps included."
    )
    return Bound(ABOUT.figure, ABOUT.side, Estimate.computed(best), sentence)
