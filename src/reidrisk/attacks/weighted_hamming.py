"""Agreement on a rare token says more.  Paper: section 8.2.2."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reidrisk.attacks.release import Floats, Release, check_alphabet, marginal
from reidrisk.observations import SETS, Observations
from reidrisk.scores import SetWeights, TokenWeights
from reidrisk.scores.chances import log_chance


@dataclass(frozen=True, slots=True)
class WeightedHamming:
    """Weigh agreement and disagreement by how popular the token is.

    With p the popularity of the token o that is shown, k the size of a top set, a match gains
    `log(q_out + (q_in - q_out) q_in p / (q_out + (q_in - q_out) p))` and a mismatch
    `log(q_out + (q_in - q_out) a)`, `a = (k-1) p / (k-p)`: the paper's simplification, in which
    only the token shown counts. `TokenTable` looks at both.

    Where several sites know a user, a slot matches if any of them was shown the token; with m of
    them the chances become those of "one of m" and "none of m".

    Args:
        release: What showed the tokens.
        pooled: One popularity for all slots, as in the paper's experiments, or one for each.
    """

    name: ClassVar[str] = "weighted-hamming"
    knows: ClassVar[str] = "the release; popularity is estimated from the known rows"
    assumes: ClassVar[str] = (
        "Best if users are alike but for chance, weeks are independent, and a token shown says the "
        "same about every other one."
    )
    likelihood: ClassVar[bool] = True

    release: Release
    pooled: bool = field(default=True, kw_only=True)

    def fit(self, seen: Observations) -> TokenWeights:
        """Weights from the popularity of tokens among the known rows."""
        check_alphabet(self.release, seen)
        popularity = self.release.popularity(seen, pooled=self.pooled).in_use
        match, mismatch = (
            log_chance(chance) - marginal(self.release, popularity, seen)
            for chance in chances(self.release, popularity, sites=seen.set_size)
        )
        kind = SetWeights if seen.known.ndim == SETS else TokenWeights
        return kind(match, mismatch)


def chances(release: Release, popularity: Floats, *, sites: int = 1) -> tuple[Floats, Floats]:
    """Chance that a token is shown if a known site showed it too, and if none did.

    That a token is in the top set is Bayes' rule: from its popularity and the chance that one of
    the sites shows it. In the second case noise is neglected, as in the paper: each site shows
    another one of the top set, with chance `1 - 1/k` if the token is in it.
    """
    p, rise = popularity, release.q_in - release.q_out
    shown = p * _any_of(release.q_in, sites), (1 - p) * _any_of(release.q_out, sites)
    hidden = p * (1 - 1 / release.top) ** sites, 1 - p
    match, mismatch = (
        release.q_out + rise * np.divide(inside, total, out=np.zeros_like(p), where=total > 0)
        for inside, total in ((part[0], part[0] + part[1]) for part in (shown, hidden))
    )
    return match, mismatch


def _any_of(chance: float, sites: int) -> float:
    """Chance of at least one of several events, without loss of digits if it is small."""
    return -math.expm1(sites * math.log1p(-chance)) if chance < 1 else 1.0
