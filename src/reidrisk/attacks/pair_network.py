"""Attack: the paper's network, asked whether two rows are of one person.

Paper: section 8. It needs the extra `torch`; `neural` learns more in the same time.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.learned_pairs import LearnedPairs
from reidrisk.attacks.protocol import ONE_ROW, View, panel_of
from reidrisk.core.checks import whole_number
from reidrisk.core.observations import Observations
from reidrisk.learning.pairs import pairs_of
from reidrisk.learning.progress import Training
from reidrisk.scores.shortlisted import KEEP_BEST, Shortlisted


@dataclass(frozen=True, eq=False)
class PairNetwork:
    """Guess the user whose row a trained network is surest to be the same person's.

    The network reads both rows and is trained on a panel, with ten wrong pairs for each true one.
    It rates the rows that `LearnedPairs` lists, which learns from the same panel.

    Args:
        panel: Other users, of whom both sides and who is who are known; that of the view, if None.
        keep_best: How many rows to list.
        training: Steps, batches, seed.

    Example:
        >>> attack = rr.attacks.PairNetwork(keep_best=100)
        >>> attack.needs, attack.likelihood
        (('panel',), False)
    """

    name: ClassVar[str] = "pair-network"
    knows: ClassVar[str] = (
        "both sides of other people, and trains a network on them to tell whether two rows are one "
        "person's"
    )
    assumes: ClassVar[str] = (
        "As good as its training: the paper does not say how large the panel was, nor how long the "
        "network was trained."
    )
    limits: ClassVar[str] = (
        "Rates only rows that learned-pairs lists. The network and its training are of a laptop's "
        "size. Refuses rows with more slots than the panel has."
    )
    cost: ClassVar[str] = (
        "Trains a Transformer on the panel: needs the extra torch. Rates listed rows pair by pair."
    )
    source: ClassVar[str] = f"{PAPER}, section 8.2.3; decision 26."
    likelihood: ClassVar[bool] = False
    uses: ClassVar[str] = ONE_ROW
    trains: ClassVar[bool] = True

    panel: Observations | None = None
    keep_best: int = field(default=KEEP_BEST, kw_only=True)
    training: Training = field(default=Training(steps=4_000, rate=0.002, every=200), kw_only=True)

    def __post_init__(self) -> None:
        whole_number("keep_best", self.keep_best, least=1)

    @property
    def needs(self) -> tuple[str, ...]:
        """A panel, unless it was given."""
        return ("panel",) if self.panel is None else ()

    def fit(self, view: View) -> Shortlisted:
        """The score, from the panel."""
        panel = panel_of(self, view)
        pairs = pairs_of(panel, view.known, self.name)
        first = LearnedPairs(panel).fit(view)
        from reidrisk.learning.pair_network import (  # noqa: PLC0415  needs torch
            Size,
            learn_pair_network,
        )

        score, _ = learn_pair_network(pairs, view.tokens, size=Size(), how=self.training)
        return Shortlisted(score, first, self.keep_best)
