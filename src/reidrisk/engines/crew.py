"""The threads of a search: they share known rows, report progress and agree on memory."""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reidrisk.errors import TooLarge
from reidrisk.observations import Observations
from reidrisk.parallel import over_queue

Result = TypeVar("Result")
Progress = Callable[[int, int], None]

# Pairs of tokens that are compared before a thread listens again: so that an interrupt is heard
# within a second or two.
TOKEN_PAIRS = 1 << 36
_FEWEST_ROWS = 1 << 12
_GIB = 1 << 30


@dataclass(slots=True)
class Crew:
    """Threads that take blocks of known rows from one queue.

    Args:
        threads: How many.
        rows: Known rows in a block, at most.
        memory: Bytes they may take together.
        progress: Called with the pairs done and all pairs, from any thread, one at a time.
        pairs: All pairs of known and anonymous rows of this search.
    """

    threads: int
    rows: int
    memory: int
    progress: Progress | None
    pairs: int
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def over_rows(
        self,
        observations: Observations,
        work: Callable[[Iterator[tuple[int, int]]], Result],
        searches: int = 1,
        token_pairs: int = TOKEN_PAIRS,
    ) -> list[Result]:
        """Give each thread `work` and an iterator of blocks, (start, stop), of the known rows.

        Args:
            observations: Whose rows.
            work: What to do with them.
            searches: How many searches this pass serves; they count as progress.
            token_pairs: How many pairs of tokens to compare at a time.
        """
        users, targets = len(observations.known), len(observations.anonymous)
        step = self.rows_together(observations, token_pairs)
        blocks = [(start, min(start + step, users)) for start in range(0, users, step)]

        def reported(taken: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
            for start, stop in taken:
                yield start, stop
                self._report((stop - start) * targets * searches)

        return over_queue(lambda taken: work(reported(taken)), blocks, self.threads)

    def in_steps(
        self, work: Callable[[int, int], Result], rows: int, step: int, targets: int
    ) -> list[Result]:
        """Call `work(start, stop)` for steps of rows; what it returned, in the order of the rows.

        The steps do not depend on the threads: for sums of floats, whose order matters.
        """

        def take(starts: Iterator[int]) -> list[tuple[int, Result]]:
            done = []
            for start in starts:
                stop = min(start + step, rows)
                done.append((start, work(start, stop)))
                self._report((stop - start) * targets)
            return done

        parts = over_queue(take, range(0, rows, step), self.threads)
        results = dict(pair for part in parts for pair in part)
        return [results[start] for start in sorted(results)]

    def finish(self) -> None:
        """Report what need not be done as done."""
        self._report(self.pairs - self.done)

    def rows_together(self, observations: Observations, token_pairs: int = TOKEN_PAIRS) -> int:
        """Rows in a block: fewer for many targets, long rows and large sets.

        There are as many blocks as threads, or a multiple, unless they would be very small.
        """
        users = len(observations.known)
        width = len(observations.anonymous) * observations.slots * observations.set_size
        most = min(self.rows, max(token_pairs // width, _FEWEST_ROWS))
        rounds = -(-users // (most * self.threads))
        return min(most, max(-(-users // (rounds * self.threads)), _FEWEST_ROWS))

    def targets_together(self, targets: int, size: Callable[[int], int]) -> int:
        """How many targets fit into memory at once, given the bytes that some number takes."""
        while targets > 1 and size(targets) > self.memory:
            targets = -(-targets // 2)
        self.check_fits(size(targets))
        return targets

    def check_fits(self, size: int) -> None:
        """Refuse what would take more memory than allowed."""
        if size > self.memory:
            raise TooLarge(
                f"this needs {size / _GIB:.3g} GiB of memory and {self.memory / _GIB:.3g} GiB are "
                "allowed; raise max_memory, use fewer threads or targets, or search the known rows "
                "in shards and merge"
            )

    def _report(self, pairs: int) -> None:
        with self.lock:
            self.done += pairs
            if self.progress is not None:
                self.progress(self.done, self.pairs)


def free_memory() -> int:
    """Bytes that can be taken without swapping; plenty where the system does not say."""
    report = Path("/proc/meminfo")
    if report.exists():
        lines = (line.split() for line in report.read_text(encoding="ascii").splitlines())
        return next(int(line[1]) * 1024 for line in lines if line[0] == "MemAvailable:")
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 1 << 62
