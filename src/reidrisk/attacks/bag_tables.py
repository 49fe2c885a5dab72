"""Two tables of counts, and how well a weighting tells their rows apart without the truth."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import View
from reidrisk.core.mapreduce import Elsewhere
from reidrisk.core.products import Vectors, list_best
from reidrisk.core.rows import token_rows
from reidrisk.errors import InvalidInput
from reidrisk.scores.inner_product import counts_of

_SAMPLE = 1_000
"""Anonymous rows by which weightings are compared: more would hardly change the choice."""

_NEAREST = 21


class Tables(NamedTuple):
    """Counts of known and anonymous rows, users x tokens, in an order that says nothing."""

    known: Any
    shown: Any

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return int(self.known.shape[1])

    def only(self, times: Any, *kinds: str) -> "Tables":
        """The columns of tokens that tell something of time; of items, if no kind is named.

        Args:
            times: What each token tells of time; all are items if None.
            kinds: Which tokens, as `View.times` calls them.
        """
        if times is None:
            return self
        places = np.flatnonzero(np.isin(times, kinds or ("",)))
        return Tables(self.known[:, places], self.shown[:, places])

    @property
    def holders(self) -> NDArray[np.int64]:
        """How many rows of both tables hold each token."""
        return np.asarray(self.known.getnnz(axis=0) + self.shown.getnnz(axis=0))

    @property
    def rarity(self) -> NDArray[np.float64]:
        """The logarithm of one over the share of rows that hold each token."""
        rows = self.known.shape[0] + self.shown.shape[0]
        return np.asarray(np.log((rows + 1) / (self.holders + 0.5)))

    @property
    def counted(self) -> bool:
        """Whether anything came more than once in a row."""
        return bool((self.known.data > 1).any() or (self.shown.data > 1).any())


def tables_of(view: View, name: str) -> Tables:
    """The counts of both tables, sorted by content: the fit must not depend on the order of rows.

    Args:
        view: Known and anonymous rows.
        name: The attack, for messages.
    """
    if isinstance(view.known, Elsewhere):
        raise rows_elsewhere(name)
    known = token_rows(view.known)
    held = known.codec.held(known, 0, known.users)
    return Tables(*(_in_order(counts_of(rows, known.tokens)) for rows in (held, view.anonymous)))


def rows_elsewhere(name: str) -> InvalidInput:
    """The refusal of known rows that are on a cluster.

    Args:
        name: The attack, for messages.
    """
    return InvalidInput(
        f"{name} compares all rows with each other in memory, and the known rows are on a "
        "cluster; leave it out, or link tables in memory",
        code="rows-elsewhere",
    )


def _in_order(counts: Any) -> Any:
    """The same rows, sorted by what they hold."""
    counts.sort_indices()
    starts, columns, data = counts.indptr, counts.indices, counts.data
    keys = [
        (columns[begin:end].tobytes(), data[begin:end].tobytes()) for begin, end in pairwise(starts)
    ]
    return counts[sorted(range(len(keys)), key=keys.__getitem__)]


def standing_out(known: Vectors, shown: Vectors, lead: float = 0.5) -> float:
    """Share of anonymous rows with a known row that is clearly nearest, in both directions.

    It is high where a score singles people out, and uses no truth. For many rows it is judged by a
    sample of anonymous ones.

    Args:
        known: Vectors of known rows.
        shown: Vectors of anonymous rows.
        lead: A best row is clearly nearest if its lead is at least so much of the spread of the
            next twenty.
    """
    random = np.random.default_rng(0)
    some = random.permutation(len(shown))[:_SAMPLE]
    rows, scores = list_best(shown[some], known, _NEAREST)
    winners = rows[:, 0]
    back, back_scores = list_best(known[winners], shown, _NEAREST)
    mutual = back[:, 0] == some
    return float((mutual & leads(scores, lead) & leads(back_scores, lead)).mean())


def leads(scores: NDArray[np.int64], least: float) -> NDArray[np.bool_]:
    """Whether the best score is far ahead of the others.

    Args:
        scores: The best scores of each row, best first.
        least: The lead is at least so much of the spread of the others.
    """
    if scores.shape[1] == 1:
        return np.ones(len(scores), np.bool_)
    lead, spread = scores[:, 0] - scores[:, 1], scores[:, 1] - scores[:, -1]
    return np.asarray((lead > 0) & (lead >= least * spread))
