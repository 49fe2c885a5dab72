"""The protocol of engines: cut known rows into blocks, work on each, merge the results.

It does no arithmetic of its own. Searches, curves, evidence and counts are written once, in
`search.py`, over `reduce`; so they give the same answer on every backend.
"""

from typing import Protocol

from reidrisk.core.mapreduce import Merge, Result, Work
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Rows
from reidrisk.engines.memory import Room

# Pairs of tokens that are compared in one block at most: a fraction of a second of the fastest
# strategy. Blocks of slower work become smaller (`mapreduce.over_here`).
TOKEN_PAIRS = 1 << 36


class Engine(Protocol):
    """What an engine provides; searches are written once above it, in `search`.

    Example:
        >>> rows = rr.TokenRows([[3, 1], [0, 1], [2, 2]], tokens=4)
        >>> def largest(blocks):
        ...     return max((int(block.max()) for _, block in blocks), default=0)
        >>> rr.LocalEngine().reduce(rows, largest, max)
        3
    """

    @property
    def room(self) -> Room:
        """Threads, rows and memory of one machine."""
        ...

    def hold(self, rows: Rows) -> Rows:
        """The same rows where this engine works on them: made, if they are made when asked for.

        Holding what is held gives it back.

        Args:
            rows: Known rows.
        """
        ...

    def reduce(
        self,
        rows: Rows,
        work: Work[Result],
        merge: Merge[Result],
        *,
        step: int | None = None,
        most: int = TOKEN_PAIRS,
        pairs: int = 0,
    ) -> Result:
        """Cut the rows into blocks, let `work` see each of them once, merge the results.

        Args:
            rows: Known rows.
            work: Called with some of the blocks, perhaps with none; several calls may run at a
                time, here or elsewhere.
            merge: Puts two results together; any order and grouping gives the same.
            step: Rows in a block, exactly, but for the last: a power of two, at most
                `mapreduce.unit(rows.users)`. For sums of floats, whose order matters: key the parts
                by their first row, and add them in this order at the end.
            most: Rows in a block at most, if `step` is not given.
            pairs: Pairs of rows that one known row stands for, to report progress.
        """
        ...


def rows_at_a_time(observations: Observations, token_pairs: int = TOKEN_PAIRS) -> int:
    """Known rows in a block at most: fewer for many targets, long rows and large sets.

    Args:
        observations: Who is compared with whom.
        token_pairs: Pairs of tokens that are compared in one block at most.
    """
    shown = max(int(observations.anonymous.size), 1)  # there may be nothing but empty bags
    # Rows of another kind than tokens have no sets.
    return token_pairs // (shown * getattr(observations.known, "set_size", 1))
