"""Bound: k-anonymity of what is shown.

Paper: lemma 7.
"""

from typing import Any

import numpy as np

from reidrisk.attacks.card import PAPER
from reidrisk.estimates import Bound, Estimate
from reidrisk.risk.bounds.protocol import (
    ANYONE,
    AS_IT_SAYS,
    AS_LIKELY,
    ONLY_SMALL,
    RANDOM_USER,
    SMALL_COST,
    WHICHEVER,
    Setting,
    ThreatModel,
)
from reidrisk.theory import anonymity, upper_from_k_anonymity

ABOUT = ThreatModel(
    figures=("k-anonymity",),
    side="upper",
    knows="what every user always shows",
    needs=("release", "people", "seed"),
    assumes=f"{AS_LIKELY}, and {AS_IT_SAYS}.",
    bounds=f"{RANDOM_USER} {WHICHEVER}",
    holds_for=ANYONE,
    limits=(
        f"{ONLY_SMALL} Left out if anything that is shown is left to chance, or if anybody shows "
        "what nobody else does. The smallest group counts for all: the exact optimum is never "
        "above it, and often below."
    ),
    cost=SMALL_COST,
    source=f"{PAPER}, section 6.2, lemma 7.",
)


def bound(setting: Setting) -> Bound | None:
    """What k-anonymity allows, where every user always shows what k - 1 others show too."""
    if setting.world is None:
        return None
    # Groups may be smaller among those whom attacks assess.
    k = min(_anonymity(chances) for chances, _ in setting.world.parts)
    if k <= 1:
        return None
    sentence = (
        f"{k}-anonymity: every user always shows the same, and so do at least {k - 1} others. For "
        f"{ABOUT.holds_for}."
    )
    return Bound(ABOUT.figure, ABOUT.side, Estimate.computed(upper_from_k_anonymity(k)), sentence)


def _anonymity(chances: Any) -> int:
    """The k of the users who show something; 0 if one of them shows it only sometimes."""
    shares = chances.sum(axis=1)
    shown = chances[np.flatnonzero(shares > 0)]
    return anonymity(shown) if set(shares.tolist()) <= {0.0, 1.0} else 0
