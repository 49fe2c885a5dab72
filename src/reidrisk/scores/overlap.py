"""Score: common tokens of two rows, whatever the slot."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.rows import BagRows, tokens_in
from reidrisk.scores.protocol import Gains, Unit, check_shape, check_sum, to_grid


@dataclass(frozen=True, eq=False)
class OverlapWeights:
    """A gain for each token that both sides hold, whatever the slot.

    Args:
        match: Gain by token. A token counts once, however often either side shows it.

    Known sets and bags count with all their tokens. `OverlapWeights(np.ones(349))` is the size of
    the overlap of two token sets.

    Example:
        >>> common = rr.OverlapWeights(np.ones(5))
        >>> scores = common.of(np.array([[3, 1, 4], [0, 1, 2]]), np.array([1, 3, 3]))
        >>> (scores / rr.scores.GRID).tolist()
        [2.0, 1.0]
    """

    unit: ClassVar[Unit] = Unit("weights in common")

    match: Gains

    def __init__(self, match: ArrayLike) -> None:
        object.__setattr__(self, "match", to_grid(match, "match", dimensions=(1,)))

    def check(self, observations: Observations) -> None:
        """Refuse another alphabet, and sums beyond the grid."""
        check_shape(1, len(self.match), observations)
        check_sum(self.match, _most_shown(observations))

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        both = common(known, shown)
        return np.asarray(np.where(both == MISSING, 0, self.match[both]).sum(axis=1))


def common(known: Tokens, shown: Tokens) -> Tokens:
    """The tokens of each anonymous row that the known row beside it holds, each once.

    Args:
        known: Known rows of any kind; all tokens of a row count, but not how often they came.
        shown: An anonymous row for each of them, or one for all.
    """
    rows = tokens_in(known.reshape(len(known), -1))
    once = first_shown(np.atleast_2d(shown))
    beside = np.broadcast_to(once, (len(rows), once.shape[1]))
    # A token of the anonymous row that is new behind the known row is not in common.
    both = first_shown(np.concatenate([rows, beside], axis=1))
    new = both[:, rows.shape[1] :] != MISSING
    return np.where(new, MISSING, beside)


def first_shown(rows: Tokens) -> Tokens:
    """The same rows, with `MISSING` in place of tokens that came before in the row.

    Args:
        rows: Rows of tokens; counts of bags are left out.

    Example:
        >>> rr.scores.first_shown(np.array([[2, 5, 2, 2]])).tolist()
        [[2, 5, -1, -1]]
    """
    rows = tokens_in(rows)
    order = np.argsort(rows, axis=1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=1)
    again = ranked[:, 1:] == ranked[:, :-1]
    ranked[:, 1:][again] = MISSING
    once = np.empty_like(ranked)
    np.put_along_axis(once, order, ranked, axis=1)
    return once


def _most_shown(observations: Observations) -> int:
    """Most different tokens that an anonymous row can hold."""
    shown = observations.anonymous
    most = shown.set_size if isinstance(shown, BagRows) else shown.shape[1]
    return min(int(most), observations.tokens)


def most_held(observations: Observations) -> int:
    """Most different tokens that a row of either side can hold."""
    known = min(observations.slots * observations.set_size, observations.tokens)
    return max(known, _most_shown(observations))
