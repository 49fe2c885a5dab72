"""Score: the inner product of what two rows are mapped to, in whole numbers.

A map turns rows into vectors of whole numbers, rounded once. From then on everything is exact: see
`core/products.py`. Cosines, latent dimensions and penalties for shared tokens differ in their maps
only.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from reidrisk.core.matrix_products import EXACT
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.products import Vectors, list_best
from reidrisk.core.rows import BagRows, Kind, Rows, counts_in, token_rows, tokens_in
from reidrisk.errors import InvalidInput
from reidrisk.scores.protocol import Gains, Unit

STEPS = 2**18
"""Steps in which an entry of a vector of length 1 is rounded."""

_COSINES = Unit("cosines", steps=STEPS * STEPS)

COARSE_STEPS = 4080
"""The same for dense vectors of up to a thousand entries: single precision holds their products."""

COARSE_COSINES = Unit("cosines", steps=COARSE_STEPS * COARSE_STEPS)


class Map(Protocol):
    """Turns rows into vectors of whole numbers."""

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of rows: of tokens, given as a matrix of counts; or of vectors."""
        ...


class Penalty(Protocol):
    """What is taken off twice the product with a known row, whatever it is compared with."""

    def of(self, known: Vectors) -> Gains:
        """What is taken off for each of some known vectors: whole numbers."""
        ...


@dataclass(frozen=True, slots=True)
class SquaredLength:
    """The squared length of the known vector.

    Twice the product less the squared length is highest for the nearest known vector: it is the
    negative squared distance, but for the squared length of the anonymous one.
    """

    def of(self, known: Vectors) -> Gains:
        """The squared length of each known vector."""
        return known.dots(known)


@dataclass(frozen=True, eq=False)
class Hubs:
    """How near a known row is to everybody: the mean of its best products with anonymous rows.

    A row that is near to all targets wins too often; its score is lowered by as much. This is the
    correction of Conneau and others (CSLS), of which the part that is the same for all known rows
    is left out.

    Args:
        shown: The vectors of the anonymous rows.
        nearest: How many of the best are averaged.
    """

    shown: Vectors
    nearest: int = 10

    def of(self, known: Vectors) -> Gains:
        """The mean of the best products of each known vector, rounded down."""
        _, scores = list_best(known, self.shown, self.nearest)
        return np.asarray(scores.sum(axis=1) // scores.shape[1])


@dataclass(frozen=True, eq=False)
class InnerProduct:
    """The inner product of a known and an anonymous row, each mapped to a vector.

    Args:
        known_map: Maps known rows.
        shown_map: Maps anonymous rows.
        tokens: Size of the alphabet; None if rows are vectors themselves.
        unit: What the products count.
        penalty: If given, the score is twice the product less this: for the nearest vector, or so
            that hubs do not win too often.

    Example:
        >>> plain = rr.scores.InnerProduct.of_vectors()
        >>> plain.of(np.array([[[1, 2]], [[0, 3]]]), np.array([[2, 1]])).tolist()
        [4, 3]
    """

    known_map: Map
    shown_map: Map
    tokens: int | None
    unit: Unit = _COSINES
    penalty: Penalty | None = None

    @classmethod
    def of_vectors(cls, unit: Unit | None = None, penalty: Penalty | None = None) -> "InnerProduct":
        """The plain inner product of rows that are vectors: of their sums over all slots.

        Args:
            unit: What it counts; products of their whole numbers, if not given.
            penalty: If given, the score is twice the product less this.
        """
        unit = Unit("inner products", steps=1) if unit is None else unit
        return cls(sums_of_slots, sums_of_slots, None, unit, penalty)

    def check(self, observations: Observations) -> None:
        """Refuse rows of another kind or alphabet, and products that would not be exact."""
        known = observations.known
        if (self.tokens is None) != (known.kind is Kind.VECTORS):
            takes = Kind.VECTORS.value if self.tokens is None else "tokens"
            raise InvalidInput(
                f"known holds {known.kind.value}; this inner product rates {takes}: use an attack "
                "for rows of that kind",
                code="wrong-kind-of-rows",
            )
        if self.tokens is not None and token_rows(known).tokens != self.tokens:
            raise InvalidInput(
                f"the score is for {self.tokens} tokens, and the observations have "
                f"{observations.tokens}",
                code="score-mismatch",
            )
        # The longest of the known rows is checked when they are mapped, block by block.
        self.check_exact(self.known(observations.true_rows), self.shown(observations.anonymous))

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        one = shown.ndim < known.ndim if self.tokens is None else shown.ndim == 1
        vectors = self.known(known)
        products = vectors.dots(self.shown(shown[None] if one else shown))
        return products if self.penalty is None else 2 * products - self.penalty.of(vectors)

    def known(self, rows: Any) -> Vectors:
        """The vectors of known rows.

        Args:
            rows: A handle, or an array as its blocks are.
        """
        return self.known_map(self._read(rows))

    def shown(self, rows: Any) -> Vectors:
        """The vectors of anonymous rows.

        Args:
            rows: A handle, or an array as its blocks are.
        """
        return self.shown_map(self._read(rows))

    def check_exact(self, known: Vectors, shown: Vectors) -> None:
        """Refuse vectors that are so long that sums of their products may be rounded.

        Args:
            known: Vectors of known rows.
            shown: Those of anonymous rows.
        """
        one, other = known.longest, shown.longest
        squared = one if isinstance(self.penalty, SquaredLength) else 0.0
        if one * max(2 * other, squared) >= EXACT:
            raise InvalidInput(
                f"vectors of length {one:.3g} and {other:.3g} have products "
                f"beyond {EXACT / 2:.3g}, which are not exact; divide all by the same number",
                code="gain-too-large",
            )

    def _read(self, rows: Any) -> Any:
        return np.asarray(rows) if self.tokens is None else counts_of(rows, self.tokens)


def sums_of_slots(rows: Any) -> Vectors:
    """Rows of vectors, summed over their slots; gaps are zero.

    Args:
        rows: Users x slots x dimensions, of the type of their grid.
    """
    gap = np.iinfo(rows.dtype).min
    # Most often there is none: then vectors of one slot are taken as they are.
    if gap in rows:
        there = (rows != gap).any(axis=2, keepdims=True)
        rows = np.where(there, rows, 0)
    one = rows.shape[1] == 1
    return Vectors(None, rows[:, 0] if one else rows.sum(axis=1, dtype=np.float64))


def counts_of(rows: Rows | Tokens, tokens: int) -> Any:
    """How often each row holds each token, in any slot: a `scipy.sparse.csr_matrix`.

    Args:
        rows: A handle on rows of tokens in memory, or an array as its blocks are.
        tokens: Size of the alphabet.
    """
    from scipy import sparse  # noqa: PLC0415  heavy, and few need it

    if isinstance(rows, BagRows) and (not len(rows.values) or rows.values.min() > MISSING):
        return rows.to_csr()
    entries = np.asarray(rows)
    entries = entries.reshape(len(entries), -1)
    symbols, counts = tokens_in(entries), counts_in(entries)
    there = symbols != MISSING
    row, _ = np.nonzero(there)
    held = sparse.csr_matrix((counts[there], (row, symbols[there])), shape=(len(entries), tokens))
    held.sum_duplicates()
    return held
