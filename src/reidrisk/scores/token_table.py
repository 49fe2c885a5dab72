"""Score: a gain for each pair of known and shown token."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput
from reidrisk.scores import population
from reidrisk.scores.protocol import (
    GRID,
    NATS,
    Floats,
    Gains,
    Unit,
    as_tokens,
    by_slot,
    check_kind,
    check_shape,
    check_sum,
    choose,
    coins,
    frozen,
    log_sum,
    to_grid,
)


@dataclass(frozen=True, eq=False, init=False)
class TokenPairWeights:
    """A gain for each pair of tokens.

    Args:
        gain: `gain[shown, known]` for all slots, or `gain[slot, shown, known]`.
        gaps: Whether the last row and column are gains of gaps: `gain[..., -1, known]` where
            nothing is shown, `gain[..., shown, -1]` where nothing is known. Without them a gap on
            either side adds nothing.

    Example:
        >>> close = rr.TokenPairWeights([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
        >>> scores = close.of(np.array([[0, 2], [1, 2]]), np.array([0, 1]))
        >>> (scores / rr.scores.GRID).tolist()
        [3.0, 2.0]
    """

    unit: ClassVar[Unit] = NATS

    table: Gains
    """Gains, slots x (tokens + 1) x (tokens + 1), the gap last."""
    gaps: bool
    """Whether gaps have gains of their own."""

    def __init__(self, gain: ArrayLike, *, gaps: bool = False) -> None:
        table = to_grid(gain, "gain", dimensions=(2, 3))
        size = table.shape[-1]
        if size != table.shape[-2] or size == gaps:
            raise InvalidInput(
                f"gain has shape {table.shape}; it needs a row and a column for every token"
                + (", and one for gaps behind them" if gaps else ""),
                code="wrong-shape",
            )
        table = table.reshape(-1, size, size)
        # `MISSING` is -1, so it indexes the last row or column: gaps need no branch.
        self._fill(table if gaps else frozen(np.pad(table, ((0, 0), (0, 1), (0, 1)))), gaps=gaps)

    def _fill(self, table: Gains, *, gaps: bool) -> None:
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "gaps", gaps)

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return int(self.table.shape[2]) - 1

    @property
    def gain(self) -> Gains:
        """The gains as they were given, for each slot or once for all."""
        return self.table if self.gaps else self.table[:, :-1, :-1]

    def check(self, observations: Observations) -> None:
        """Refuse sets, bags, another alphabet, and sums beyond the grid."""
        check_kind("TokenPairWeights", observations, Kind.TOKENS)
        check_shape(len(self.table), self.tokens, observations)
        check_sum(self.table, observations.slots)

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        slots = known.shape[1]
        gains = by_slot(self.table, slots)[np.arange(slots), shown, known]
        return np.asarray(gains.sum(axis=1))

    def normalised(self) -> "TokenPairWeights":
        """The same score as the logarithm of a distribution of what is shown."""
        outcomes = self.tokens + self.gaps
        # What is subtracted is rounded to the grid too, so that scores stay whole numbers.
        sums = log_sum(self.table[:, :outcomes] / GRID, 1)
        table = self.table.copy()
        table[:, :outcomes] -= np.asarray(np.rint(sums * GRID), np.int64)[:, None]
        return table_of(table, gaps=self.gaps)

    def of_anyone(self, known: Rows, shown: Tokens) -> Floats:
        """Logarithm of the chance that anyone shows these rows, slot by slot."""
        return population.by_table(self.normalised().table, known, shown)

    def sample(self, known: Tokens, *, seed: int) -> NDArray[np.int64]:
        """What may be shown beside each of these known rows."""
        rows, slots = known.shape
        outcomes, chance = self.tokens + self.gaps, coins(rows, slots, seed)
        shown = np.empty((rows, slots), np.int64)
        for slot, table in enumerate(by_slot(self.normalised().table, slots)):
            chances = np.exp(table[:outcomes] / GRID)
            shown[:, slot] = choose(chances[:, known[:, slot]].T, chance[:, slot])
        return as_tokens(shown, self.tokens)


def table_of(table: Gains, *, gaps: bool) -> TokenPairWeights:
    """A token table from gains that are on the grid, gaps included."""
    # `__init__` would round gains that are rounded already.
    made = object.__new__(TokenPairWeights)
    made._fill(frozen(table), gaps=gaps)
    return made
