"""Score: the cosine between the tokens of two rows, whatever the slot."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.errors import InvalidInput
from reidrisk.scores.overlap import common, first_shown, most_held
from reidrisk.scores.protocol import GRID, Gains, Unit, check_shape, check_sum, to_grid


@dataclass(frozen=True, eq=False, init=False)
class CosineWeights:
    """The cosine of two vectors that hold a weight for each token of their side.

    Args:
        weights: Weight by token, 0 or more. A token counts once, however often it is held.

    With whole numbers s[t], the squares of weights on the grid, and sums over the tokens in common
    (c), of the known row (a) and of the anonymous one (b), the score is `c / (sqrt(a) sqrt(b))` in
    double precision, rounded to a whole multiple of 2**-40. All sums are exact and each other step
    is rounded once, so the score is the same everywhere. Where nothing is in common, it is 0.

    Example:
        >>> cosine = rr.scores.CosineWeights(np.ones(5))
        >>> scores = cosine.of(np.array([[3, 1], [0, 2]]), np.array([1, 3]))
        >>> (scores / rr.scores.GRID).tolist()
        [1.0, 0.0]
    """

    unit: ClassVar[Unit] = Unit("cosines")

    square: Gains

    def __init__(self, weights: ArrayLike) -> None:
        values = np.asarray(weights, dtype=np.float64)
        if not (values >= 0).all() or not values.size:
            raise InvalidInput(
                "weights has a number for each token, 0 or more", code="invalid-weights"
            )
        largest = values.max()  # a cosine does not depend on the scale, and squares stay below 1
        square = (values / largest if largest > 0 else values) ** 2
        object.__setattr__(self, "square", to_grid(square, "weights", dimensions=(1,)))

    def check(self, observations: Observations) -> None:
        """Refuse another alphabet, and sums beyond the grid."""
        check_shape(1, len(self.square), observations)
        check_sum(self.square, most_held(observations))

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows, shown = known.reshape(len(known), -1), np.atleast_2d(shown)
        return _cosines(
            self._sum(common(rows, shown)),
            lengths(self._sum(first_shown(rows))),
            lengths(self._sum(first_shown(shown))),
        )

    def _sum(self, tokens: Tokens) -> Gains:
        return np.asarray(np.where(tokens == MISSING, 0, self.square[tokens]).sum(axis=1))


def lengths(squares: Gains) -> NDArray[np.float64]:
    """The lengths of vectors, given the sums of their squares."""
    return np.asarray(np.sqrt(squares.astype(np.float64)))


def _cosines(both: Gains, known: NDArray[Any], shown: NDArray[Any]) -> Gains:
    """Cosines on the grid, from sums over common tokens and the lengths of both sides."""
    area = known * shown
    # Written as three roundings in a fixed order: kernels repeat them exactly.
    share = np.divide(both.astype(np.float64), area, out=np.zeros(len(both)), where=both > 0)
    return np.asarray(np.rint(share * GRID), dtype=np.int64)
