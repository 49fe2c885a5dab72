"""Attack: learn from confident guesses how to combine many scores.

References:
    D. Yarowsky, Unsupervised word sense disambiguation rivaling supervised methods, ACL 1995:
    learning from one's own confident guesses.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.combined_scores import Distinct, comparable
from reidrisk.attacks.protocol import ALL_ROWS, View, check_needs
from reidrisk.attacks.stacked import Stacked
from reidrisk.learning.stacking import Pairs, combine
from reidrisk.scores.pair_table import PairTable

_FEWEST_LABELS = 20
"""Confident guesses below which there is nothing to learn from."""


@dataclass(frozen=True, slots=True)
class SelfTrained:
    """Guess by boosted trees that learned from confident guesses how to combine many scores.

    The score that finds the most rows that are by far nearest to each other, in both directions,
    takes rows that are clearly nearest for pairs of one person; it may be one among users who share
    no item. Guesses about half of the rows teach the trees that judge the other half. In tables of
    columns, guesses of several scores are taken; not of one whose guesses would be as confident if
    the columns of anonymous rows were mixed. Of vectors, guesses also teach in which directions the
    two sides of a person go together.

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
        "and epochs, and times unless a column tells when each item came; but columns of a table "
        "are compared one by one, by the values behind tokens, which it then needs to know. Where "
        "nobody stands out, it is the best single score."
    )
    cost: ClassVar[str] = Stacked.cost
    source: ClassVar[str] = f"Not in {PAPER}: self-training, Yarowsky, 1995."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous",)
    uses: ClassVar[str] = ALL_ROWS
    transductive: ClassVar[bool] = True
    reads_times: ClassVar[bool] = True
    libraries: ClassVar[tuple[str, ...]] = ("scikit-learn",)

    def fit(self, view: View) -> PairTable:
        """The scores of all pairs that are listed."""
        check_needs(self, view)
        tables = Distinct.of(comparable(view, self.name))
        pairs, views = tables.tables.compare()
        guesses = tables.tables.guess(views)
        if guesses.right >= _FEWEST_LABELS:
            return _learned(tables, pairs, guesses.rows)
        scores = pairs.corrected[:, guesses.view].astype(np.float64)
        return tables.table(pairs.targets, pairs.rows, scores)


def _learned(tables: Distinct, pairs: Pairs, guesses: NDArray[np.int64]) -> PairTable:
    """Scores learned from guesses; no guess teaches the model that judges it."""
    half = np.random.default_rng(1).permutation(len(guesses)) % 2
    parts = []
    for one in (0, 1):
        labels = np.where(half == one, -1, guesses)
        taught = tables.learned(labels)
        mine = pairs if taught.tables is tables.tables else taught.tables.compare()[0]
        own = half[mine.targets] == one
        parts.append((mine.targets[own], mine.rows[own], combine(mine, labels)[own]))
    targets, rows, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((rows, targets))
    return tables.table(targets[order], rows[order], scores[order])
