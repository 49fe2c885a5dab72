"""Attack: the cosine of what parts of two and three letters whole rows have.

References:
    G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval, Information
    Processing and Management 24, 1988.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View, check_needs
from reidrisk.attacks.record_linkage.values import normalised
from reidrisk.core.mapreduce import Blocks, over_rows
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.scores.inner_product import InnerProduct, counts_of
from reidrisk.scores.text_parts import TextParts

_SIZES = (2, 3)


@dataclass(frozen=True, slots=True)
class TextCosine:
    """Guess the user whose row has the most parts of two and three letters in common.

    All values of a row are read as one text, whatever their columns. Rare parts count more. So
    typing errors and values in the wrong column cost little.

    Example:
        >>> values = np.array(["jane", "miller", "john", "smith", "jnae", "milller"], object)
        >>> seen = rr.Observations([[0, 1], [2, 3]], [[5, 4]], [0], tokens=6)
        >>> view = rr.attacks.View.of(seen, labels=values)
        >>> rr.LocalEngine().credit(seen, rr.attacks.TextCosine().fit(view)).tolist()
        [1.0]
    """

    name: ClassVar[str] = "text-cosine"
    knows: ClassVar[str] = "nothing but the two tables, and compares rows as texts"
    assumes: ClassVar[str] = (
        "Close to best if values are texts with typing errors, or stand in the wrong column."
    )
    limits: ClassVar[str] = (
        "Sees no order and no columns: a number is like any other that has the same digits beside "
        "each other. Learns nothing of how reliable a column is. Refuses vectors, which have no "
        "texts."
    )
    cost: ClassVar[str] = (
        "One pass over the known rows counts parts. The search visits known rows that share parts, "
        "and most share some."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: letters in a row, weighted as Salton and Buckley weigh terms, 1988."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("labels",)
    uses: ClassVar[str] = ONE_ROW

    def fit(self, view: View) -> InnerProduct:
        """The cosine, with weights by how many known rows have each part."""
        check_needs(self, view)
        if view.known.kind is Kind.VECTORS:
            raise InvalidInput(
                f"{self.name} compares texts, and known rows hold {view.known.kind.value}",
                code="wrong-kind-of-rows",
            )
        parts = _parts_of(view.labels)
        holders = over_rows(view.known, partial(_holders, parts=parts), np.add)
        weights = np.log((1 + view.known.users) / (1 + holders)) + 1
        text = TextParts(parts, weights)
        return InnerProduct(text, text, view.tokens)


def _holders(blocks: Blocks, *, parts: Any) -> NDArray[np.int64]:
    """How many of some known rows have each part."""
    found = np.zeros(parts.shape[1], np.int64)
    for _, rows in blocks:
        held = (counts_of(rows, parts.shape[0]) @ parts).tocsr()
        found += np.bincount(held.indices, minlength=len(found))
    return found


def _parts_of(values: Iterable[Any]) -> Any:
    """Tokens x parts: how often each value has each part; parts in alphabetical order."""
    from scipy import sparse  # noqa: PLC0415  heavy, and few need it

    held = [_cut(normalised(str(one))) for one in values]
    numbers = {part: at for at, part in enumerate(sorted({one for some in held for one in some}))}
    columns = np.array([numbers[one] for some in held for one in some], np.int64)
    starts = np.cumsum([0, *map(len, held)])
    shape = (len(held), max(len(numbers), 1))
    table = sparse.csr_matrix((np.ones(len(columns), np.int64), columns, starts), shape)
    table.sum_duplicates()
    return table


def _cut(value: str) -> list[str]:
    padded = f" {value} "
    return [padded[at : at + size] for size in _SIZES for at in range(len(padded) - size + 1)]
