"""Logarithms of chances, as gains of a score."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

IMPOSSIBLE = -10_000.0
"""Gain, in nats, of what cannot happen: far below all others, and still a number."""


def log_chance(chances: ArrayLike) -> NDArray[np.float64]:
    """Logarithm of chances; of what cannot happen, a very low number."""
    values = np.asarray(chances, np.float64)
    logs: NDArray[np.float64] = np.log(
        values, out=np.full(values.shape, IMPOSSIBLE), where=values > 0
    )
    return logs
