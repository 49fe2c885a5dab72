"""One pass over known rows: cut into blocks, worked on, and merged, wherever the rows are.

Whoever counts, samples or searches known rows writes a piece of work that sees some blocks and
returns something that merges, and lets it go over the rows here. Rows in memory or on disk are cut
over the cores of this machine. Rows that are elsewhere go over themselves: the work travels to
them, and only what it found comes back.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce as fold
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from reidrisk.machine import cores
from reidrisk.parallel import over_queue
from reidrisk.rows import Rows, Tokens

Result = TypeVar("Result")

Blocks: TypeAlias = Iterator[tuple[int, Tokens]]
"""Blocks of known rows, each with the number of its first row."""

Work: TypeAlias = Callable[[Blocks], Result]
Merge: TypeAlias = Callable[[Result, Result], Result]

Keep: TypeAlias = Callable[[Rows, Work[Any], Callable[[], Any]], Any]
"""Told of some work on some rows, goes over them by what it is given, or finds what that gave."""

Report: TypeAlias = Callable[[float], None]
"""Told now and then what share of a pass is done."""

ROWS_AT_A_TIME = 1 << 18

_keep: ContextVar[Keep | None] = ContextVar("keep", default=None)

_LEAST_UNIT, _MOST_UNIT, _UNITS = 1 << 12, 1 << 18, 16


@runtime_checkable
class Elsewhere(Protocol):
    """Rows that are not here: a pass goes to them."""

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
    """Rows that are never parted, wherever so many rows are cut: a power of two.

    Every unit begins at a multiple of it. A step divides it, so steps are the same everywhere.
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
            here or elsewhere. It must not need what it was not given: it may be far away.
        merge: Puts two results together; any order and grouping gives the same.
        step: Rows in a block, exactly, but for the last: a power of two, at most `unit(users)`.
            For sums of floats, whose order matters: key the parts by their first row, and add them
            in this order at the end.
        most: Rows in a block at most, if `step` is not given.
    """
    keep = _keep.get()
    if keep is not None:
        return keep(rows, work, lambda: _over(rows, work, merge, step, most))  # type: ignore[no-any-return]
    return _over(rows, work, merge, step, most)


@contextmanager
def kept(keep: Keep) -> Iterator[None]:
    """Let somebody keep what passes over rows give, since others will need the same."""
    before = _keep.set(keep)
    try:
        yield
    finally:
        _keep.reset(before)


def over_here(
    rows: Rows,
    work: Work[Result],
    merge: Merge[Result],
    *,
    size: int,
    threads: int,
    done: Callable[[int], None] | None = None,
) -> Result:
    """The same for rows that are read on this machine.

    Args:
        rows: Known rows.
        work: Called once by each thread, with blocks from one queue.
        merge: Puts two results together.
        size: Rows in a block.
        threads: How many.
        done: Told, from any thread, how many rows were worked on since.
    """
    cuts = [(start, min(start + size, rows.users)) for start in range(0, rows.users, size)]

    def read(taken: Iterator[tuple[int, int]]) -> Blocks:
        for start, stop in taken:
            yield start, rows.block(start, stop)
            if done is not None:
                done(stop - start)

    return fold(merge, over_queue(lambda taken: work(read(taken)), cuts, threads))


def _over(
    rows: Rows, work: Work[Result], merge: Merge[Result], step: int | None, most: int
) -> Result:
    if isinstance(rows, Elsewhere):
        return rows.over(work, merge, step=step, most=most)  # type: ignore[no-any-return]
    return over_here(rows, work, merge, size=most if step is None else step, threads=cores())
