"""Attacks: learn to combine many scores, from pairs that are known or from confident guesses.

References:
    D. Wolpert, Stacked generalization, Neural Networks 5, 1992.
    D. Yarowsky, Unsupervised word sense disambiguation rivaling supervised methods, ACL 1995:
    learning from one's own confident guesses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import Tables, tables_of
from reidrisk.attacks.card import PAPER
from reidrisk.attacks.cosine import cosine_of
from reidrisk.attacks.latent import PRICE, latent_scores
from reidrisk.attacks.protocol import View, check_needs, panel_of
from reidrisk.core.observations import Observations
from reidrisk.learning.stacking import ListedView, Pairs, combine, list_pairs
from reidrisk.scores.inner_product import InnerProduct
from reidrisk.scores.pair_table import STEPS, PairTable, contents

if TYPE_CHECKING:
    from reidrisk.scores.bag_maps import Counting

_FEWEST_LABELS = 20
"""Confident guesses below which there is nothing to learn from."""

_LARGEST = 2.0**38  # of a score, in units: far above log odds, and within 64 bits on the grid


@dataclass(frozen=True, slots=True)
class Stacked:
    """Guess by boosted trees that learned from known pairs how to combine many scores.

    Cosines by several weightings, latent dimensions and what two rows share list pairs that may be
    of one person. For each pair the trees see every score by itself, corrected for hubs, and how
    far it is ahead of the best other row on either side. Where a single score is right more often,
    judged on some of the known pairs, that score is taken instead.

    Args:
        panel: People of whom both rows are known; None to take them from the view.

    Example:
        >>> rr.Stacked().needs
        ('anonymous', 'panel')
    """

    name: ClassVar[str] = "stacked"
    knows: ClassVar[str] = "both tables and the true pairs of half of the people"
    assumes: ClassVar[str] = (
        "Close to best if the people whose pairs are known are like the others, and there are "
        "some hundreds of them."
    )
    limits: ClassVar[str] = (
        "Rates only rows that one of its scores lists; all others tie behind them. Needs some "
        "hundreds of known pairs. Ignores slots and times."
    )
    cost: ClassVar[str] = (
        "Ten scores are searched four times each, and boosted trees are learned from up to 3,000 "
        "people."
    )
    source: ClassVar[str] = f"Not in {PAPER}: stacked generalisation, Wolpert, 1992."
    likelihood: ClassVar[bool] = False
    uses: ClassVar[str] = "all rows"
    crossfits: ClassVar[bool] = True

    panel: Observations | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """A panel, unless it was given."""
        return ("anonymous",) if self.panel is not None else ("anonymous", "panel")

    def fit(self, view: View) -> PairTable:
        """The scores of all pairs that are listed."""
        panel = panel_of(self, view)
        tables = _Distinct.of(tables_of(view, self.name))
        pairs, _ = _compared(tables)
        return tables.table(pairs, combine(pairs, tables.labels(panel)))


@dataclass(frozen=True, slots=True)
class SelfTrained:
    """The same without known pairs: its own confident guesses are what it learns from.

    The score that finds the most rows that are clearly nearest to each other, in both directions,
    takes these for pairs of one person. Guesses about half of the rows teach the trees that judge
    the other half.

    Example:
        >>> rr.SelfTrained().needs
        ('anonymous',)
    """

    name: ClassVar[str] = "self-trained"
    knows: ClassVar[str] = "nothing but the two tables, and learns from its own confident guesses"
    assumes: ClassVar[str] = (
        "Close to best if its confident guesses are right, and the people they are about are like "
        "the others."
    )
    limits: ClassVar[str] = (
        "Rates only rows that one of its scores lists; all others tie behind them. Ignores slots "
        "and times. Where nobody stands out, it is the best single score."
    )
    cost: ClassVar[str] = Stacked.cost
    source: ClassVar[str] = f"Not in {PAPER}: self-training, Yarowsky, 1995."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous",)
    uses: ClassVar[str] = "all rows"
    unshared: ClassVar[bool] = False

    def fit(self, view: View) -> PairTable:
        """The scores of all pairs that are listed."""
        check_needs(self, view)
        tables = _Distinct.of(tables_of(view, self.name))
        pairs, views = _compared(tables)
        starts = [place for place, one in enumerate(views) if one.priced == self.unshared]
        start = max(starts, key=lambda place: int(views[place].listed.confident.sum()))
        listed = views[start].listed
        confident = listed.confident
        scores = pairs.corrected[:, start].astype(np.float64)
        if confident.sum() >= _FEWEST_LABELS:
            scores = _learned(pairs, np.where(confident, listed.rows[:, 0], -1))
        return tables.table(pairs, scores)


@dataclass(frozen=True, slots=True)
class SelfTrainedUnshared(SelfTrained):
    """The same, beginning with guesses among users who share no item with the target.

    Example:
        >>> rr.attacks.attack_named("self-trained-unshared").uses
        'all rows'
    """

    name: ClassVar[str] = "self-trained-unshared"
    knows: ClassVar[str] = (
        "nothing but the two tables and that people hold no item in both, and learns from its own "
        "confident guesses"
    )
    unshared: ClassVar[bool] = True


def _learned(pairs: Pairs, guesses: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores learned from guesses; no guess teaches the model that judges it."""
    half = np.random.default_rng(1).permutation(len(guesses)) % 2
    scores = np.zeros(len(pairs.targets))
    for one in (0, 1):
        mine = half[pairs.targets] == one
        scores[mine] = combine(pairs, np.where(half == one, -1, guesses))[mine]
    return scores


class _Compared(NamedTuple):
    """A score of all pairs, and whether sharing an item has a price in it."""

    listed: ListedView
    priced: bool


def _compared(tables: "_Distinct") -> tuple[Pairs, list[_Compared]]:
    """Pairs that are listed by some score, with their features, and the scores."""
    both = tables.tables
    views = [
        _Compared(
            ListedView.of(score.known_map(both.known), score.shown_map(both.shown),
                          score.unit.steps),
            priced,
        )
        for score, priced in _scores(both)
    ]  # fmt: skip
    pairs = list_pairs([one.listed for one in views], both.known, both.shown, both.rarity)
    return pairs, views


def _scores(tables: Tables) -> Iterator[tuple[InnerProduct, bool]]:
    """The scores that are combined, and whether sharing an item has a price in them."""
    weightings: list[tuple[Counting, float]] = [("binary", 0.0), ("binary", 0.5), ("binary", 1.0)]
    latent: list[tuple[Counting, tuple[int, ...]]] = [("binary", (32, 128, 256))]
    if tables.counted:
        weightings = [("share", 0.0), ("share", 1.0), ("log", 0.5), ("binary", 0.5)]
        latent = [("binary", (32, 128)), ("log", (64,))]
    for counting, rarity in weightings:
        yield cosine_of(tables, counting, rarity, centred=True), False
    for counting, dimensions in latent:
        for price in (None, PRICE):
            for score in latent_scores(tables, counting, dimensions, price):
                yield score, price is not None


class _Distinct(NamedTuple):
    """Rows of two tables that hold something different, by number and by content."""

    tables: Tables
    known: dict[bytes, int]
    shown: dict[bytes, int]

    @classmethod
    def of(cls, tables: Tables) -> "_Distinct":
        """The different rows of tables that are sorted by content."""
        numbers, kept = [], []
        for side in tables:
            keys = contents(side, tables.tokens)
            first = {key: place for place, key in reversed(list(enumerate(keys)))}
            places = sorted(first.values())
            kept.append(side[places])
            numbers.append({keys[place]: number for number, place in enumerate(places)})
        return cls(Tables(*kept), *numbers)

    def labels(self, panel: Observations) -> NDArray[np.int64]:
        """The known row of each anonymous row of a panel; -1 of all others."""
        tokens, found = self.tables.tokens, np.full(len(self.shown), -1)
        known = contents(panel.true_rows, tokens)
        for one, other in zip(contents(panel.anonymous, tokens), known, strict=True):
            if one in self.shown and other in self.known:
                found[self.shown[one]] = self.known[other]
        return found

    def table(self, pairs: Pairs, scores: NDArray[np.float64]) -> PairTable:
        """The scores of pairs as whole numbers."""
        starts = np.searchsorted(pairs.targets, np.arange(len(self.shown) + 1))
        whole = np.rint(np.clip(scores, -_LARGEST, _LARGEST) * STEPS).astype(np.int64)
        return PairTable(self.known, self.shown, starts, pairs.rows, whole, self.tables.tokens)
