"""Attack: the attacker knows every user's secrets, from which the release draws.

Paper: section 7.
"""

from dataclasses import dataclass
from typing import ClassVar

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View, release_of
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.releases.protocol import Release, Reveals, ShowsOneOfTop
from reidrisk.scores import Score


@dataclass(frozen=True, slots=True)
class FullInformation:
    """Guess the user whose secrets make what is shown likeliest, gaps included.

    It is the best rule of an attacker who knows every user's distribution, and so the upper end of
    what any attacker can do with what one site is shown. Known rows are what `reidrisk.releases`
    reveals: top sets where the Topics API shows.

    Args:
        release: What showed the tokens; that of the view, if None.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> revealed = api.reveal(people, seed=7)
        >>> print(rr.measure(revealed, rr.FullInformation(api))[2])
        5.7135% [4.1741%, 7.6777%] (95%, n=1,000)
    """

    name: ClassVar[str] = "full-information"
    knows: ClassVar[str] = (
        "every user's secrets (the top sets or true tokens from which the release draws)"
    )
    assumes: ClassVar[str] = (
        "Best for every population: the distribution of what each user shows is known."
    )
    limits: ClassVar[str] = (
        "Nobody knows so much: it shows what is left to chance once nothing is secret. Works "
        "only with a release that reveals what its chances follow from."
    )
    cost: ClassVar[str] = "Nothing to fit. The search compares every target with every known row."
    source: ClassVar[str] = f"{PAPER}, section 4, corollary 1; section 7."
    likelihood: ClassVar[bool] = True
    uses: ClassVar[str] = ONE_ROW
    asks: ClassVar[type[Reveals]] = Reveals

    release: Release | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The release, unless it was given."""
        return ("release",) if self.release is None else ()

    def fit(self, view: View) -> Score:
        """What the release itself says about everything that it may show."""
        release = release_of(self, view, self.asks)
        if isinstance(release, ShowsOneOfTop):
            top = release.one_of_top(view.tokens).top
            if view.known.kind is not Kind.SETS or view.set_size != top:
                raise InvalidInput(
                    f"{self.name} needs top sets of {top} tokens for each user and slot, not what "
                    "a site was shown; use the observations of reidrisk.releases.reveal",
                    code="needs-top-sets",
                )
        return release.likelihood(view.tokens)
