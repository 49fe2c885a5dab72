"""Map rows to what parts their texts have, so that rows are alike whose texts are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.products import Vectors
from reidrisk.scores.inner_product import STEPS


@dataclass(frozen=True, eq=False)
class TextParts:
    """Rows of tokens as vectors of length 1: `1 + log(count)` of each part, times its weight.

    Args:
        parts: Tokens x parts, a `scipy.sparse.csr_matrix`: how often the text behind each token
            has each part.
        weights: Of each part.
    """

    parts: Any
    weights: NDArray[np.float64]

    def __call__(self, rows: Any) -> Vectors:
        """The vectors of a matrix of counts, rows x tokens."""
        # Counts are whole numbers, so that sums are exact; a row's own sum is in a fixed order.
        held = (rows @ self.parts).tocsr().astype(np.float64)
        held.sort_indices()
        held.data = (1 + np.log(held.data)) * self.weights[held.indices]
        squares = np.asarray(held.multiply(held).sum(axis=1)).ravel()
        lengths = np.repeat(np.sqrt(squares), np.diff(held.indptr))
        held.data = np.rint(
            np.divide(STEPS * held.data, lengths, where=lengths > 0, out=lengths * 0)
        )
        return Vectors(held, np.zeros((held.shape[0], 0)))
