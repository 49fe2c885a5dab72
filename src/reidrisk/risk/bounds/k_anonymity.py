"""Users who always show the same as others.  Paper: lemma 7."""

from typing import Any

import numpy as np

from reidrisk.estimates import Bound, Estimate
from reidrisk.estimates.estimate import Side
from reidrisk.risk.bounds.setting import Setting
from reidrisk.theory import anonymity, upper_from_k_anonymity

SIDE: Side = "upper"


def bound(setting: Setting) -> Bound | None:
    """What k-anonymity allows, where every user always shows what k - 1 others show too."""
    if setting.world is None:
        return None
    k = min(_anonymity(chances) for chances, _ in setting.world.parts)
    if k <= 1:
        return None
    sentence = (
        f"{k}-anonymity: every user always shows the same, and so do at least {k - 1} others. For "
        "any attacker who names a person by what one site is shown of them."
    )
    return Bound("k-anonymity", SIDE, Estimate.computed(upper_from_k_anonymity(k)), sentence)


def _anonymity(chances: Any) -> int:
    """The k of those who show something; 0 if any of them shows it by chance."""
    shares = chances.sum(axis=1)
    shown = chances[np.flatnonzero(shares > 0)]
    return anonymity(shown) if set(shares.tolist()) <= {0.0, 1.0} else 0
