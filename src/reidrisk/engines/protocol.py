"""The protocol of engines, and the threads and memory that one may use.

An engine cuts known rows into blocks, lets work see each of them and merges the results; it does no
arithmetic of its own. Searches, curves, evidence and counts are written once, in `search.py`, over
`reduce`, so they give the same answer on every backend.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from reidrisk.core.machine import GIB, to_get_more
from reidrisk.core.mapreduce import Merge, Result, Work
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Rows
from reidrisk.errors import TooLarge

# Blocks are not made smaller than this for the sake of more threads.
FEWEST_ROWS = 1 << 12
# With more targets at once, one block of rows takes so long that an interrupt is heard late.
MOST_TARGETS = 1 << 15
# Pairs of tokens that are compared in one block at most: a fraction of a second of the fastest
# strategy. Blocks of slower work become smaller (`mapreduce.over_here`).
TOKEN_PAIRS = 1 << 36


@dataclass(frozen=True, slots=True)
class Room:
    """Threads, rows and memory that an engine may take on one machine.

    Args:
        threads: Pieces of work at a time.
        rows: Known rows in a block, at most.
        memory: Bytes that all of them may take together.
    """

    threads: int
    rows: int
    memory: int

    def rows_together(self, users: int, most: int) -> int:
        """How many rows a block has.

        The number of blocks is a multiple of the number of threads, so that all threads end at the
        same time, unless blocks would be very small.

        Args:
            users: How many known rows there are.
            most: Rows in a block at most, for other reasons than memory.
        """
        most = min(self.rows, max(most, FEWEST_ROWS))
        rounds = -(-users // (most * self.threads))
        return min(most, max(-(-users // (rounds * self.threads)), FEWEST_ROWS))

    def targets_together(self, targets: int, size: Callable[[int], int]) -> int:
        """How many targets fit into memory at once, at most `MOST_TARGETS`.

        Args:
            targets: How many there are.
            size: Called with a number of targets; the bytes that they take.
        """
        targets = min(targets, MOST_TARGETS)
        while targets > 1 and size(targets) > self.memory:
            targets = -(-targets // 2)
        self.check_fits(size(targets))
        return targets

    def check_fits(self, size: int) -> None:
        """Refuse what would take more memory than allowed.

        Args:
            size: Bytes.
        """
        if size > self.memory:
            raise TooLarge(
                f"this needs {size / GIB:.3g} GiB of memory and {self.memory / GIB:.3g} GiB are "
                f"allowed; {to_get_more()}, or use fewer targets, users or slots",
                code="out-of-memory",
            )


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
        """The same rows, brought to where this engine works on them; lazy rows are made.

        Rows that are there already are returned as they are.

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
    """Most known rows in a block: fewer for many targets, long rows and large sets.

    Args:
        observations: Who is compared with whom.
        token_pairs: Pairs of tokens that are compared in one block at most.
    """
    shown = max(int(observations.anonymous.size), 1)  # there may be nothing but empty bags
    # Rows that hold no tokens have no set size.
    return token_pairs // (shown * getattr(observations.known, "set_size", 1))
