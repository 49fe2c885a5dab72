"""Tables whose rows are compared by several scores, and their rows by number and by content."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.compared_baskets import Baskets
from reidrisk.attacks.compared_columns import Columns
from reidrisk.attacks.compared_vectors import ComparedVectors
from reidrisk.attacks.protocol import View
from reidrisk.attacks.vector_tables import check_alike, is_of_vectors
from reidrisk.core.observations import Observations
from reidrisk.core.rows import token_rows
from reidrisk.errors import InvalidInput
from reidrisk.learning.stacking import Guesses, ListedView, Pairs
from reidrisk.scores.pair_table import STEPS, PairTable, contents

_LARGEST = 2.0**38  # of a score, in units: far above log odds, and within 64 bits on the grid


class Comparable(Protocol):
    """Two tables whose rows can be compared by several scores: of counts, columns or vectors.

    Attributes:
        ordered: Whether it matters in which slot a token stands.
    """

    ordered: ClassVar[bool]

    @property
    def known(self) -> Any:
        """Known rows, in an order that says nothing."""
        ...

    @property
    def shown(self) -> Any:
        """Anonymous rows, likewise."""
        ...

    @property
    def tokens(self) -> int | None:
        """Size of the alphabet; None of vectors."""
        ...

    def only(self, known: NDArray[np.int64], shown: NDArray[np.int64]) -> Self:
        """Some rows of both sides, in this order.

        Args:
            known: Numbers of known rows.
            shown: Numbers of anonymous rows.
        """
        ...

    def alike(self, others: Self) -> Self:
        """The same tables, with features that mean the same as those of other tables.

        Args:
            others: Tables of other people.
        """
        ...

    def learned(self, labels: NDArray[np.int64]) -> Self:
        """The same tables, compared also by what pairs teach; the same if that is nothing.

        Args:
            labels: The known row of each anonymous row whose pair is known; -1 of others.
        """
        ...

    def compare(self) -> tuple[Pairs, list[ListedView]]:
        """The pairs that some score lists, with their features, and the scores."""
        ...

    def guess(self, views: Sequence[ListedView]) -> Guesses:
        """Confident guesses, to learn from.

        Args:
            views: The scores.
        """
        ...


def comparable(view: View, name: str) -> Comparable:
    """The tables of a view, as their rows can be compared.

    Args:
        view: Known and anonymous rows.
        name: The attack, for messages.
    """
    if is_of_vectors(view):
        return ComparedVectors.of(view, name)
    return Columns.of(view, name) if view.columns else Baskets.of(view, name)


def check_panel(panel: Observations, view: View, name: str) -> None:
    """Refuse a panel of another alphabet, or of vectors of another shape.

    Args:
        panel: People of whom both rows are known.
        view: Known and anonymous rows.
        name: The attack, for messages.
    """
    if is_of_vectors(view):
        check_alike(panel, view, name)
    elif token_rows(panel.known).tokens != view.tokens:
        raise InvalidInput(
            f"the panel has {panel.tokens} tokens, and the rows to be compared {view.tokens}; "
            "give a panel of rows of the same alphabet",
            code="alphabet-mismatch",
        )


class Distinct(NamedTuple):
    """Rows of two tables that hold something different, by number and by content."""

    tables: Comparable
    known: dict[bytes, int]
    shown: dict[bytes, int]

    @classmethod
    def of(cls, tables: Comparable) -> "Distinct":
        """The different rows of tables that are sorted by content."""
        numbers, kept = [], []
        for side in (tables.known, tables.shown):
            keys = contents(side, tables.tokens, ordered=tables.ordered)
            first = {key: place for place, key in reversed(list(enumerate(keys)))}
            places = sorted(first.values())
            kept.append(np.array(places, np.int64))
            numbers.append({keys[place]: number for number, place in enumerate(places)})
        return cls(tables.only(*kept), *numbers)

    def labels(self, panel: Observations) -> NDArray[np.int64]:
        """The known row of each anonymous row of a panel; -1 of all others.

        Rows are found by what they hold. What several people of the panel have shown teaches
        nothing, unless their known rows are the same too.

        Args:
            panel: People of whom both rows are known.
        """
        found = np.full(len(self.shown), -1)
        shown, known = (
            contents(rows, self.tables.tokens, ordered=self.tables.ordered)
            for rows in (panel.anonymous, panel.true_rows)
        )
        doubtful = set()
        for one, other in zip(shown, known, strict=True):
            if one in self.shown and other in self.known:
                target, row = self.shown[one], self.known[other]
                if found[target] not in {-1, row}:
                    doubtful.add(target)
                found[target] = row
        found[sorted(doubtful)] = -1
        return found

    def learned(self, labels: NDArray[np.int64]) -> "Distinct":
        """The same rows, compared also by what pairs teach.

        Args:
            labels: The known row of each anonymous row whose pair is known; -1 of others.
        """
        return self._replace(tables=self.tables.learned(labels))

    def table(
        self, targets: NDArray[np.int64], rows: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> PairTable:
        """The scores of pairs as whole numbers.

        Args:
            targets: The anonymous row of each pair, ascending.
            rows: The known row of each pair, ascending for each anonymous row.
            scores: The score of each pair.
        """
        starts = np.searchsorted(targets, np.arange(len(self.shown) + 1))
        whole = np.rint(np.clip(scores, -_LARGEST, _LARGEST) * STEPS).astype(np.int64)
        return PairTable(
            self.known, self.shown, starts, rows, whole, self.tables.tokens,
            ordered=self.tables.ordered,
        )  # fmt: skip
