"""Attack: count common tokens, leaving out those that are more likely noise."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.overlap import Overlap
from reidrisk.attacks.protocol import ONE_ROW, View, release_of
from reidrisk.releases import popularity
from reidrisk.releases.protocol import Release, ShowsOneOfTop
from reidrisk.scores import OverlapWeights


@dataclass(frozen=True, slots=True)
class DenoisedOverlap:
    """Overlap in which a token that is more likely noise than real does not count.

    That is where `q_out > (q_in - q_out) p`, with p its popularity among the known rows.

    Args:
        release: What showed the tokens; that of the view, if None.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> print(rr.measure(seen, rr.attacks.DenoisedOverlap(api))[2])
        2.2336% [1.2901%, 3.6051%] (95%, n=1,000)
    """

    name: ClassVar[str] = "denoised-overlap"
    knows: ClassVar[str] = "how the release works, and counts how popular each token is"
    assumes: ClassVar[str] = Overlap.assumes
    limits: ClassVar[str] = (
        "Ignores slots, gaps and how often a token came. Real tokens that are rare are dropped "
        "with the noise. Works only with a release that shows one token of a top set."
    )
    cost: ClassVar[str] = (
        "One pass over the known rows counts tokens. The search compares every target with "
        "every known row."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: overlap without tokens that are more likely noise than real."
    )
    likelihood: ClassVar[bool] = False
    uses: ClassVar[str] = ONE_ROW
    asks: ClassVar[type[ShowsOneOfTop]] = ShowsOneOfTop

    release: Release | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The release, unless it was given."""
        return ("release",) if self.release is None else ()

    def fit(self, view: View) -> OverlapWeights:
        """One for each common token that counts."""
        shows = release_of(self, view, self.asks).one_of_top(view.tokens)
        popular = popularity(view.known, shows, pooled=True).in_use[0]
        return OverlapWeights(
            np.where((shows.q_in - shows.q_out) * popular < shows.q_out, 0.0, 1.0)
        )
