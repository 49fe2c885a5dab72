"""Attack: count the slots that agree, weighted by how rare the token is.

Paper: section 8.2.2.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.gap_chances import gap_chances
from reidrisk.attacks.protocol import ONE_ROW, View, release_of
from reidrisk.releases import popularity
from reidrisk.releases.protocol import OneOfTop, Release, ShowsOneOfTop
from reidrisk.scores import TokenWeights
from reidrisk.scores.protocol import log_chance

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightedHamming:
    """Weigh agreement and disagreement by how popular the token is.

    With p the popularity of the token o that is shown, k the size of a top set, a match gains
    `log(q_out + (q_in - q_out) q_in p / (q_out + (q_in - q_out) p))` and a mismatch
    `log(q_out + (q_in - q_out) a)`, `a = (k-1) p / (k-p)`: the paper's simplification, in which
    only the token shown counts. `TokenTable` looks at both.

    Where slots may be empty, each gain also holds the chance that it is: `gap_chances`.

    Where several sites know a user, a slot matches if any of them was shown the token; with m of
    them the chances become those of "one of m" and "none of m".

    Args:
        release: What showed the tokens; that of the view, if None.
        pooled: One popularity for all slots, as in the paper's experiments, or one for each.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> print(rr.measure(seen, rr.WeightedHamming(api))[2])
        2.3442% [1.3669%, 3.7266%] (95%, n=1,000)
    """

    name: ClassVar[str] = "weighted-hamming"
    knows: ClassVar[str] = "how the release works, and counts how popular each token is"
    assumes: ClassVar[str] = (
        "Best if users differ only by chance, slots are independent, and a token that was shown "
        "says the same about every other token."
    )
    limits: ClassVar[str] = (
        "Takes slots to be independent: it misses what several slots tell together, and where "
        "people have lasting interests it may not be right as often as it claims. Works only with "
        "a release that shows one token of a top set."
    )
    cost: ClassVar[str] = (
        "One pass over the known rows counts tokens. The search compares every target with "
        "every known row."
    )
    source: ClassVar[str] = f"{PAPER}, section 8.2.2."
    likelihood: ClassVar[bool] = True
    uses: ClassVar[str] = ONE_ROW
    asks: ClassVar[type[ShowsOneOfTop]] = ShowsOneOfTop

    release: Release | None = None
    pooled: bool = field(default=True, kw_only=True)

    @property
    def needs(self) -> tuple[str, ...]:
        """The release, unless it was given."""
        return ("release",) if self.release is None else ()

    def fit(self, view: View) -> TokenWeights:
        """Weights from the popularity of tokens among the known rows."""
        release = release_of(self, view, self.asks)
        shows = release.one_of_top(view.tokens)
        popular = popularity(view.known, shows, pooled=self.pooled).in_use
        match, mismatch = chances(shows, popular, sites=view.set_size)
        # Slot by slot also where popularity is pooled: its single row is broadcast.
        gaps = gap_chances(view, release, self.name)
        if gaps is None:
            return TokenWeights(log_chance(match), log_chance(mismatch))
        comes, back = 1 - gaps.given_token[:, None], 1 - gaps.given_gap[:, None]
        alone = shows.q_out + (shows.q_in - shows.q_out) * popular
        return TokenWeights(
            log_chance(comes * match),
            log_chance(comes * mismatch),
            known_gap=log_chance(back * alone),
            shown_gap=log_chance(gaps.given_token),
            both_gaps=log_chance(gaps.given_gap),
        )


def chances(shows: OneOfTop, popular: Floats, *, sites: int = 1) -> tuple[Floats, Floats]:
    """Chance that a token is shown if a known site showed it too, and if none did.

    That a token is in the top set is Bayes' rule: from its popularity and the chance that one of
    the sites shows it. In the second case noise is neglected, as in the paper: each site shows
    another one of the top set, with chance `1 - 1/k` if the token is in it.
    """
    p, rise = popular, shows.q_in - shows.q_out
    # Both at once: in the top set and shown by a site, and not in it but shown.
    shown = p * _any_of(shows.q_in, sites), (1 - p) * _any_of(shows.q_out, sites)
    hidden = p * (1 - 1 / shows.top) ** sites, 1 - p
    match, mismatch = (
        shows.q_out + rise * np.divide(inside, total, out=np.zeros_like(p), where=total > 0)
        for inside, total in ((part[0], part[0] + part[1]) for part in (shown, hidden))
    )
    return match, mismatch


def _any_of(chance: float, sites: int) -> float:
    """Chance of at least one of several events, without loss of digits if it is small."""
    # log1p has no value at -1.
    return -math.expm1(sites * math.log1p(-chance)) if chance < 1 else 1.0
