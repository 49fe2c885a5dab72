"""Bound: attackers who see everybody's noisy vectors at once.

Proof: `docs/concepts/noise-bounds.md`.
"""

from reidrisk import theory
from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.bounds.noisy_vectors import MOST_PAIRS
from reidrisk.risk.bounds.protocol import AS_IT_SAYS, WHICHEVER, Setting, ThreatModel

ABOUT = ThreatModel(
    figures=("noise, everyone at once",),
    side="upper",
    knows="the vector that noise is added to of every user",
    needs=("release", "people"),
    assumes=f"Every user is shown once, and {AS_IT_SAYS}.",
    bounds=(
        "What share of users is named correctly, on average, if everybody is named at once. "
        f"{WHICHEVER}"
    ),
    holds_for=(
        "attackers who see what a site is shown of everybody at once and name all of them together"
    ),
    limits=(
        "Given for Gaussian noise only. It need not be reached: it takes all others for known, and "
        "leaves only a user and the nearest other to be told apart. It does not cover an attacker "
        "who sees rows of several sites and knows that they are one person's."
    ),
    cost=(
        "Compares all users with each other, where users times users times dimensions are at most "
        f"{MOST_PAIRS:,}; else it is left out."
    ),
    source="Two nearest users, swapped or not: proved on the page of noise bounds.",
)


def bound(setting: Setting) -> Bound | None:
    """What share can be named if everybody is shown: each is confused with the nearest other."""
    parts = setting.noisy_vectors
    if not parts or parts[0].noise.law != "gaussian":
        return None
    distances = [part.neighbours for part in parts]
    if any(one is None for one in distances):
        return None
    best = max(
        theory.upper_matching_from_neighbours(one, part.deviation)
        for one, part in zip(distances, parts, strict=True)
        if one is not None
    )
    sentence = f"For {ABOUT.holds_for}: each user may be taken for the nearest other."
    return Bound(ABOUT.figure, ABOUT.side, Estimate.computed(best, "formula"), sentence)
