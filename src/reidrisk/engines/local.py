"""The fast engine: all cores of this machine, with the same answer as the reference."""

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from reidrisk.core.machine import GIB, cores, usable_memory
from reidrisk.core.mapreduce import Elsewhere, Merge, Result, Work, over_here
from reidrisk.core.rows import Rows, Tokens
from reidrisk.engines.protocol import TOKEN_PAIRS, Engine, Room
from reidrisk.engines.search import Searches
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.releases.lazy_rows import LazyRows

Progress = Callable[[int, int], None]

# Rows that would take more than this fraction of the usable memory go to disk: the search itself
# needs memory too.
_MOST_MEMORY = 1 / 2


@dataclass(frozen=True, slots=True)
class LocalEngine(Searches):
    """An engine for one machine.

    Args:
        threads: All cores if not given. The answer does not depend on it.
        max_memory: Bytes the engine may take beside the observations; if not given, four fifths of
            what is free. Targets are searched in blocks that fit.
        rows: Most known rows that one thread takes at a time; fewer if they take long. The answer
            does not depend on it.
        progress: Called as `progress(pairs_done, pairs)` from time to time, from any thread.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> engine = rr.LocalEngine(threads=1, max_memory=2**30)
        >>> found = engine.search(seen, rr.TokenWeights(np.ones(40)))
        >>> float(found.credit.mean().round(4))
        0.0227
    """

    threads: int | None = None
    max_memory: int | None = None
    rows: int = 1 << 20
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name in ("threads", "max_memory", "rows"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInput(f"{name} is at least 1, got {value}", code="not-a-whole-number")

    @property
    def room(self) -> Room:
        """Threads, rows and memory it may take."""
        memory = self.max_memory or usable_memory()
        return Room(threads=self.threads or cores(), rows=self.rows, memory=memory)

    def hold(self, rows: Rows) -> Rows:
        """The rows; lazy ones are made once, in memory or on disk if they are too large.

        Args:
            rows: Known rows.
        """
        if not isinstance(rows, LazyRows):
            return rows
        if rows.array_bytes <= _MOST_MEMORY * usable_memory():
            return rows.held(np.empty(rows.array_shape, rows.dtype))
        return rows.held(_mapped(rows))

    @contextmanager
    def begin(self, pairs: int) -> Iterator[Engine]:
        """Threads that answer one question together.

        Args:
            pairs: All pairs of known and anonymous rows of the question.
        """
        pool = _ThreadPool(self.room, self.progress, pairs)
        yield pool
        pool.report(pairs - pool.done)


@dataclass(slots=True)
class _ThreadPool:
    """Threads that take blocks of known rows from one queue, and report progress.

    Args:
        room: Threads and memory that they may take.
        progress: Called with the pairs done and all pairs, from any thread, one at a time.
        pairs: All pairs of known and anonymous rows of this question.
    """

    room: Room
    progress: Progress | None
    pairs: int
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, rows: Rows) -> Rows:
        """The rows as they are: the engine has made them already."""
        return rows

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
        """Give each thread `work` and blocks from one queue; merge what they return."""
        if isinstance(rows, Elsewhere):
            return rows.over(work, merge, step=step, most=most)  # type: ignore[no-any-return]
        return over_here(
            rows,
            work,
            merge,
            step=step,
            most=self.room.rows_together(rows.users, most),
            threads=self.room.threads,
            done=(lambda users: self.report(users * pairs)) if pairs else None,
        )

    def report(self, pairs: int) -> None:
        """Report that this many more pairs are done."""
        with self.lock:
            self.done += pairs
            if pairs and self.progress is not None:
                self.progress(self.done, self.pairs)


def _mapped(rows: LazyRows) -> Tokens:
    """An array for the rows in a temporary file; refused if the disk has no room for it.

    The file has no name: it is gone with the process, however that ends.
    """
    folder, size = tempfile.gettempdir(), rows.array_bytes
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file.fileno(), size)
            return np.memmap(file, rows.dtype, "w+", shape=rows.array_shape)
    except OSError as full:
        free = shutil.disk_usage(folder).free
        raise TooLarge(
            f"known rows of {rows.users:,} users take {size / GIB:.3g} GiB: more than memory has "
            f"room for, and in {folder} {free / GIB:.3g} GiB are free; let TMPDIR name a folder "
            "on a larger disk, or use fewer users or slots",
            code="out-of-disk",
        ) from full


def _reserve(file: int, size: int) -> None:
    """Allocate the file at once.

    Writing to a memory map when the disk is full ends the process with SIGBUS; allocating raises an
    error instead.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
