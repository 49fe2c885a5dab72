"""Attack: learn from known pairs how to combine many scores.

References:
    D. Wolpert, Stacked generalization, Neural Networks 5, 1992.
"""

from dataclasses import dataclass
from typing import ClassVar

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.combined_scores import Distinct, check_panel, comparable
from reidrisk.attacks.protocol import ALL_ROWS, View, panel_of
from reidrisk.core.observations import Observations
from reidrisk.learning.stacking import combine
from reidrisk.scores.pair_table import PairTable

_FEWEST_LABELS = 20
"""Pairs of a panel that must be among the rows, or else it is compared by itself."""


@dataclass(frozen=True, slots=True)
class Stacked:
    """Guess by boosted trees that learned from known pairs how to combine many scores.

    The panel may be people of these tables, whose rows are found in them by what they hold, or
    other people, who are then compared among themselves. A pair is never judged by a model that
    learned from its anonymous row, unless somebody of the panel shows the very same.

    Cosines by several weightings, latent dimensions and what two rows share list pairs that may be
    of one person. For each pair the trees see every score by itself, corrected for hubs, and how
    far it is ahead of the best other row on either side. Where a single score is right more often,
    judged on some of the known pairs, that score is taken instead.

    Columns of a table are compared by what their values are: parts of their texts in common, rare
    values in common, how near numbers and dates are, and record linkage. The trees also see how
    similar the values of each column are, and how far apart numbers and dates.

    Vectors are compared by their cosines, centred and not, with small directions weighted up, by
    distance, and in the directions in which the known pairs go together. These directions are
    learned again from the other half of the pairs for every pair that teaches the trees.

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
        "hundreds of known pairs. Ignores slots and epochs, and times unless a column tells when "
        "each item came; but columns of a table are compared one by one, by the values behind "
        "tokens, which it then needs to know."
    )
    cost: ClassVar[str] = (
        "Ten scores are searched once in each direction, four of columns, nine of vectors, and "
        "boosted trees are learned from up to 3,000 people. At most ten known rows are listed for "
        "each target and score: among 100,000 rows of three columns, five minutes and 1.6 GB."
    )
    source: ClassVar[str] = f"Not in {PAPER}: stacked generalisation, Wolpert, 1992."
    likelihood: ClassVar[bool] = False
    uses: ClassVar[str] = ALL_ROWS
    transductive: ClassVar[bool] = True
    reads_times: ClassVar[bool] = True
    libraries: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    crossfits: ClassVar[bool] = True

    panel: Observations | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """A panel, unless it was given."""
        return ("anonymous",) if self.panel is not None else ("anonymous", "panel")

    def fit(self, view: View) -> PairTable:
        """The scores of all pairs that are listed."""
        panel, both = panel_of(self, view), comparable(view, self.name)
        check_panel(panel, view, self.name)
        tables = Distinct.of(both)
        labels = tables.labels(panel)
        if (labels >= 0).sum() >= _FEWEST_LABELS:
            pairs, _ = tables.learned(labels).tables.compare()
            return tables.table(pairs.targets, pairs.rows, combine(pairs, labels))
        # Other people than these: learn among them.
        known = View.of(panel, labels=view.labels, times=view.times, columns=view.columns)
        others = Distinct.of(comparable(known, self.name).alike(both))
        labels = others.labels(panel)
        others = others.learned(labels)
        lessons, _ = others.tables.compare()
        pairs, _ = tables.tables.alike(others.tables).compare()
        return tables.table(pairs.targets, pairs.rows, combine(pairs, labels, lessons))
