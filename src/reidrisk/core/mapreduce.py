"""Pass over known rows: cut them into blocks, work on each, and merge the results.

Code that counts, samples or searches known rows passes a function `work`, which sees some blocks
and returns a result, and a function `merge` that puts two results together. Rows in memory or on
disk are shared among the cores of this machine. For rows on a cluster the work is sent to them, and
only results come back.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import reduce as fold
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from reidrisk.core.machine import cores
from reidrisk.core.parallel import listen, over_queue
from reidrisk.core.rows import Rows, Tokens

Result = TypeVar("Result")

Blocks: TypeAlias = Iterator[tuple[int, Tokens]]
"""Blocks of known rows, each with the number of its first row."""

Work: TypeAlias = Callable[[Blocks], Result]
Merge: TypeAlias = Callable[[Result, Result], Result]

Report: TypeAlias = Callable[[float], None]
"""Told now and then what share of a pass is done."""

ROWS_AT_A_TIME = 1 << 18

_LEAST_UNIT, _MOST_UNIT, _UNITS = 1 << 12, 1 << 18, 16

# The first block has a quarter of the most rows, but at least `_FEW`; no block has fewer rows than
# a machine word has bits.
_FIRST, _FEW, _FEWEST = 4, 1 << 12, 1 << 6
# A block that takes longer than `_LONG` seconds is too large; the next one is at most `_MORE` times
# larger; halving it helped if it then takes less than `_HELPED` of the time. Measured: decision 4.
_LONG, _MORE, _HELPED = 0.4, 8, 0.8


@runtime_checkable
class Elsewhere(Protocol):
    """Rows on another machine, such as a cluster: work is sent to them."""

    def over(
        self,
        work: Work[Any],
        merge: Merge[Any],
        *,
        step: int | None = None,
        most: int = ROWS_AT_A_TIME,
        report: Report | None = None,
    ) -> Any:
        """Let `work` see each block once, and merge the results: see `over_rows`."""
        ...


def unit(users: int) -> int:
    """Rows that always stay together, however known rows are cut: a power of two.

    Units begin at multiples of it, and a step divides it, so steps are the same on every backend.
    """
    wanted = max(users // _UNITS, 1)
    return min(max(1 << (wanted.bit_length() - 1), _LEAST_UNIT), _MOST_UNIT)


def over_rows(
    rows: Rows,
    work: Work[Result],
    merge: Merge[Result],
    *,
    step: int | None = None,
    most: int = ROWS_AT_A_TIME,
) -> Result:
    """Cut the rows into blocks, let `work` see each of them once, merge the results.

    Args:
        rows: Known rows.
        work: Called with some of the blocks, perhaps with none; several calls may run at a time,
            here or elsewhere. It must use nothing but its arguments and what it has captured.
        merge: Puts two results together; any order and grouping gives the same.
        step: Rows in a block, exactly, but for the last: a power of two, at most `unit(users)`.
            For sums of floats, whose order matters: key the parts by their first row, and add them
            in this order at the end.
        most: Rows in a block at most, if `step` is not given.
    """
    if isinstance(rows, Elsewhere):
        return rows.over(work, merge, step=step, most=most)  # type: ignore[no-any-return]
    return over_here(rows, work, merge, step=step, most=most, threads=cores())


def over_here(
    rows: Rows,
    work: Work[Result],
    merge: Merge[Result],
    *,
    step: int | None = None,
    most: int = ROWS_AT_A_TIME,
    threads: int,
    done: Callable[[int], None] | None = None,
) -> Result:
    """`over_rows` for rows that are read on this machine.

    Without a step, blocks are as large as can be worked on in a fraction of a second, so that an
    interrupt is heard and progress moves.

    Args:
        rows: Known rows.
        work: Called once by each thread, with blocks from one queue.
        merge: Puts two results together.
        step: Rows in a block, exactly, but for the last.
        most: Rows in a block at most, if there is no step.
        threads: How many.
        done: Told, from any thread, how many rows were worked on since.
    """
    pace = _Pace(most, rows.users, threads)

    def cuts() -> Iterator[tuple[int, int]]:
        start = 0
        while start < rows.users:
            stop = min(start + (step or pace.size(rows.users - start)), rows.users)
            yield start, stop
            start = stop

    def read(taken: Iterator[tuple[int, int]]) -> Blocks:
        for start, stop in taken:
            # Processor time of this thread: waiting for others must not make blocks smaller.
            began = time.thread_time()
            yield start, rows.block(start, stop)
            listen()  # after an interrupt, progress is no longer reported
            pace.took(stop - start, time.thread_time() - began)
            if done is not None:
                done(stop - start)

    busy = min(threads, -(-rows.users // (step or pace.rows)))
    return fold(merge, over_queue(lambda taken: work(read(taken)), cuts(), busy))


def rows_in_order(rows: Rows) -> Tokens:
    """All rows of tokens in slots, here and sorted by what they hold: their order says nothing.

    Args:
        rows: Known rows, wherever they are.
    """
    parts = over_rows(rows, _gathered, lambda some, others: some | others)
    every = np.concatenate([parts[start] for start in sorted(parts)])
    return np.asarray(every[np.lexsort(every.T[::-1])])


def _gathered(blocks: Blocks) -> dict[int, Tokens]:
    return {start: np.asarray(rows).copy() for start, rows in blocks}


class _Pace:
    """Chooses the rows of the next block by how long the blocks before took.

    It begins with few rows and takes more while blocks are quick. It takes fewer when a block took
    long, unless that did not help: then the time goes into work that every block costs.

    Args:
        most: Rows at most.
        users: All rows.
        threads: How many take some.
    """

    def __init__(self, most: int, users: int, threads: int) -> None:
        self.threads = threads
        few = min(_FEW, most)  # too few to share between threads
        self.most = max(min(most, -(-users // threads)), few, 1)
        self.fewest = min(_FEWEST, self.most)
        self.rows = max(self.most // _FIRST, few, 1)
        self.last: int | None = None
        self.long = self.most, math.inf

    def size(self, left: int) -> int:
        """Rows of the next block; what is left at the end is shared equally among threads."""
        if self.last is None and left <= self.threads * self.rows:
            self.last = max(-(-left // self.threads), self.fewest)
        return min(self.rows, self.last or self.rows)

    def took(self, rows: int, seconds: float) -> None:
        """Learn how long a block took; `rows` may differ from the size that is tried now."""
        before, long = self.long
        if seconds > _LONG and self.fewest < rows <= self.rows:
            if rows < before and seconds > _HELPED * long:
                self.fewest = self.rows = before
            else:
                self.long, self.rows = (rows, seconds), max(rows // 2, self.fewest)
        elif seconds < _LONG / 2 and rows >= self.rows:
            self.rows = min(int(rows * _LONG / max(seconds, _LONG / _MORE)), self.most)
