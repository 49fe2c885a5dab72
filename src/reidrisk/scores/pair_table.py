"""Score: a table of pairs of rows that were rated before, known by what they hold.

What an attacker learns by comparing all rows with each other is no function of two rows alone. Its
scores are looked up by the content of rows, so that equal rows have equal scores wherever they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.rows import Kind, token_rows
from reidrisk.errors import InvalidInput
from reidrisk.scores.inner_product import counts_of
from reidrisk.scores.protocol import Gains, Unit, check_kind

UNLISTED = -(2**60)
"""The score of every pair that is not in the table: they all tie, below those that are."""

STEPS = 2**20
"""Whole numbers in one unit of a table."""

_LOG_ODDS = Unit("log odds", steps=STEPS)


@dataclass(frozen=True, eq=False)
class PairTable:
    """Scores of some pairs of rows; all other pairs tie below them.

    Args:
        known: The number of each known row by its content, see `contents`.
        shown: The number of each anonymous row by its content.
        starts: Where the pairs of each anonymous row begin, and at last where the last ends.
        rows: The known row of each pair, ascending for each anonymous row.
        scores: The score of each pair.
        tokens: Size of the alphabet; None if rows are vectors.
        unit: What scores count.
        ordered: Whether it matters in which slot a token stands, see `contents`.

    Example:
        >>> known, shown = np.array([[0, 1], [2, 2]]), np.array([[0, 2]])
        >>> rows = [{one: number for number, one in enumerate(rr.scores.contents(side, 3))}
        ...         for side in (known, shown)]
        >>> table = rr.scores.PairTable(*rows, np.array([0, 1]), np.array([1]), np.array([7]), 3)
        >>> table.of(known, shown[0]).tolist()
        [-1152921504606846976, 7]
    """

    known: Mapping[bytes, int]
    shown: Mapping[bytes, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    scores: Gains
    tokens: int | None
    unit: Unit = _LOG_ODDS
    ordered: bool = False

    def check(self, observations: Observations) -> None:
        """Refuse another alphabet, and shards: the table was made of all known rows."""
        if self.tokens is None:
            check_kind("the table", observations, Kind.VECTORS)
        elif token_rows(observations.known).tokens != self.tokens:
            raise InvalidInput(
                f"the table is for {self.tokens} tokens, and the observations have "
                f"{observations.tokens}",
                code="score-mismatch",
            )
        if observations.known.users < observations.users:
            raise InvalidInput(
                f"these are {observations.known.users:,} of {observations.users:,} known rows, and "
                "the table was made of all of them; search all at once",
                code="incomplete-shard",
            )

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows = self.numbers(known, self.known)
        one = shown.ndim < (2 if self.tokens is not None else 3)
        targets = self.numbers(shown[None] if one else shown, self.shown)
        return self.look_up(np.broadcast_to(targets, rows.shape), rows)

    def numbers(self, rows: Any, among: Mapping[bytes, int]) -> NDArray[np.int64]:
        """The numbers of rows by their content; -1 for those that the table does not know.

        Args:
            rows: A handle, or an array as its blocks are.
            among: `known` or `shown`.
        """
        keys = contents(rows, self.tokens, ordered=self.ordered)
        return np.array([among.get(key, -1) for key in keys], np.int64)

    def look_up(self, targets: NDArray[np.int64], rows: NDArray[np.int64]) -> Gains:
        """The scores of pairs, given the numbers of both rows.

        Args:
            targets: Numbers of anonymous rows.
            rows: Numbers of the known row beside each.
        """
        width = len(self.known) + 1
        # Pairs are sorted by target and row, so their codes are too.
        listed = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts)) * width
        codes, wanted = listed + self.rows, targets * width + rows
        places = np.searchsorted(codes, wanted)
        found = (places < len(codes)) & (targets >= 0) & (rows >= 0)
        found[found] = codes[places[found]] == wanted[found]
        scores = np.full(len(wanted), UNLISTED)
        scores[found] = self.scores[places[found]]
        return scores


def contents(rows: Any, tokens: int | None, *, ordered: bool = False) -> list[bytes]:
    """What each row holds, as bytes: whatever the slot, or slot by slot.

    Args:
        rows: A handle, a `scipy.sparse.csr_matrix` of counts, or an array as blocks of rows are.
        tokens: Size of the alphabet; None if rows are vectors.
        ordered: Whether it matters in which slot a token stands, and which are empty: rows hold
            one token for each slot, or a vector.

    Example:
        >>> rows = np.array([[2, 0, 0], [0, 2, 0]])
        >>> one, other = rr.scores.contents(rows, tokens=3)
        >>> one == other
        True
        >>> one, other = rr.scores.contents(rows, tokens=3, ordered=True)
        >>> one == other
        False
    """
    if tokens is None:
        return [row.tobytes() for row in np.ascontiguousarray(rows)]
    if ordered:
        return [row.tobytes() for row in np.ascontiguousarray(rows, np.int64)]
    counts = rows if hasattr(rows, "indptr") else counts_of(rows, tokens)
    counts.sort_indices()
    held = np.stack([counts.indices.astype(np.int64), counts.data.astype(np.int64)], axis=1)
    ends = counts.indptr.tolist()
    return [held[begin:end].tobytes() for begin, end in pairwise(ends)]
