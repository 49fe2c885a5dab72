"""`SparkEngine`: known rows on the executors, the same kernels, the same answer."""

import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from operator import and_
from typing import Any

from reidrisk.core.machine import GIB, usable_memory
from reidrisk.core.mapreduce import Blocks, Elsewhere, Merge, Result, Work, unit
from reidrisk.core.rows import Codec, Rows
from reidrisk.core.vector_rows import Grid
from reidrisk.engines.local import LocalEngine
from reidrisk.engines.protocol import TOKEN_PAIRS, Engine, Room
from reidrisk.engines.search import Searches
from reidrisk.engines.spark.blocks import Facts
from reidrisk.engines.spark.errors import explaining
from reidrisk.engines.spark.frames import FrameRows, rows_of_frame, vectors_of_frame
from reidrisk.engines.spark.jobs import shipped
from reidrisk.engines.spark.rows import MOST_ROWS, Names, SparkRows, as_sent, cells_made, cells_of
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.releases.lazy_rows import LazyRows

Progress = Callable[[int, int], None]

SMALL = 1 << 22
"""Rows of fewer bytes are worked on by the driver: sending them would take longer."""

_TASKS_PER_CORE = 3
_PARTITION_BYTES = 1 << 26
_TASK_MEMORY = GIB
_SHIFTS = {"": 20, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


@dataclass(frozen=True, eq=False)
class SparkEngine(Searches):
    """An engine for a cluster.

    Args:
        spark: A `SparkSession`.
        partitions: Into how many parts known rows are cut. If not given, three for each core, so
            that one slow executor holds nobody up for long; more if a part would take above 64 MiB;
            never more than there are units of rows, which are not parted. The answer does not
            depend on it.
        progress: Called as `progress(pairs_done, pairs)` now and then.

    Memory of a task is what `spark.executor.pyspark.memory` gives to each core, else
    `spark.executor.memoryOverhead`, else, on this machine, a share of what is free, and on others 1
    GiB. Targets are searched in blocks that fit.

    Example:
        >>> # needs pyspark
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.SparkEngine(spark).search(seen, rr.TokenWeights(np.ones(40)))
        >>> float(found.credit.mean().round(4))
        0.0227
    """

    spark: Any
    partitions: int | None = None
    progress: Progress | None = None
    _sent: "_Sent" = field(default_factory=lambda: _Sent(), init=False, repr=False)  # noqa: PLW0108

    def __post_init__(self) -> None:
        if self.partitions is not None and self.partitions < 1:
            raise InvalidInput(
                f"partitions is at least 1, got {self.partitions}", code="not-a-whole-number"
            )
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            raise InvalidInput(
                "this is a session of Spark Connect, which has no RDDs, so no work on rows can "
                "run there; use a classic session: SparkSession.builder.master(...)",
                code="spark-connect",
            )

    @property
    def room(self) -> Room:
        """What there is to work with in one task."""
        return Room(threads=1, rows=MOST_ROWS, memory=min(self._task_memory(), usable_memory()))

    def hold(self, rows: Rows) -> Rows:
        """The same rows on the executors; a few rows in memory stay here.

        Args:
            rows: Known rows.
        """
        if isinstance(rows, Elsewhere):
            return rows
        return self._sent.get(rows, self._there)

    @contextmanager
    def begin(self, pairs: int) -> Iterator[Engine]:
        """What answers one question, and reports how far it is.

        Args:
            pairs: All pairs of known and anonymous rows of the question.
        """
        asked = _Question(self, pairs)
        yield asked
        asked.report(pairs)

    def rows_of(
        self,
        frame: Any,
        *,
        tokens: int,
        user: str = "user",
        columns: str | Sequence[str] | None = None,
    ) -> FrameRows:
        """Known rows of a DataFrame, in the order of users; nobody comes here.

        Args:
            frame: A Spark DataFrame, one row per user, however cut and shuffled.
            tokens: Size of the alphabet.
            user: The column of ids, text or whole numbers, each once.
            columns: A column of lists, one token for each slot, all of the same length; or columns
                of tokens, one for each slot. Null where nothing came. If not given, `tokens` if
                there is such a column, else all others than `user`.
        """
        tasks = self.partitions or _TASKS_PER_CORE * self._context.defaultParallelism
        return rows_of_frame(frame, tokens=tokens, user=user, columns=columns, partitions=tasks)

    def vectors_of(
        self, frame: Any, *, grid: Grid, user: str = "user", columns: str | Sequence[str] = "vector"
    ) -> FrameRows:
        """Known vectors of a DataFrame, in the order of users; nobody comes here.

        Args:
            frame: A Spark DataFrame, one row per user, however cut and shuffled.
            grid: To which floats are rounded; whole numbers are of this grid already.
            user: The column of ids, text or whole numbers, each once.
            columns: The column of vectors, lists of one length, or one such column for each slot.
                Null where nothing came.
        """
        tasks = self.partitions or _TASKS_PER_CORE * self._context.defaultParallelism
        return vectors_of_frame(frame, grid=grid, user=user, columns=columns, partitions=tasks)

    @property
    def _context(self) -> Any:
        context = self.spark.sparkContext
        with explaining(context):
            return context

    def _there(self, rows: Rows) -> Rows:
        if isinstance(rows, LazyRows):
            return self._made(rows)
        sent, here = as_sent(rows), hasattr(rows, "spread")
        if sent is None and not here:
            return rows
        facts = Facts.of(rows)
        if sent is None:
            return rows if facts.bytes < SMALL else self._kept(rows, facts)
        names = Names(self._context, shipped(sent), facts.users, self._partitions(facts))
        return SparkRows(names, facts, facts)

    def _made(self, rows: LazyRows) -> Rows:
        """Lazy rows, made on the executors.

        What makes them is sent, unless it is larger than the rows themselves.
        """
        facts = Facts.of(rows)
        handle = b"" if facts.bytes < SMALL else shipped(rows)
        # People from a table are as large as their rows: then the rows are made here and sent.
        if not handle or len(handle) > max(facts.bytes, SMALL):
            return self._there(LocalEngine().hold(rows))
        cells = cells_made(self._context, handle, facts, self._partitions(facts))
        there = SparkRows(cells, facts, facts)
        if facts.codec.complete:
            return there
        # Faster strategies need to know that there are no gaps, so one pass looks.
        complete = there.over(partial(_no_gaps, codec=facts.codec), and_)
        facts = replace(facts, codec=facts.codec.certain(complete=complete))
        return SparkRows(cells, facts, facts)

    def _kept(self, rows: Rows, facts: Facts) -> Rows:
        """Rows in memory here, sent to the executors."""
        most = size_of(self._context.getConf().get("spark.driver.memory", "1g")) // 2
        if facts.bytes > most:
            raise TooLarge(
                f"known rows take {facts.bytes / GIB:.3g} GiB of memory here, and at most half of "
                f"spark.driver.memory, {most / GIB:.3g} GiB, can be sent to the executors; raise "
                "it, or let executors read the rows: give Parquet files or a Spark DataFrame",
                code="out-of-memory",
            )
        cells = cells_of(self._context, rows, facts, self._partitions(facts))
        return SparkRows(cells, facts, facts)

    def _partitions(self, facts: Facts) -> int:
        units = -(-facts.users // unit(facts.users))
        tasks = _TASKS_PER_CORE * self._context.defaultParallelism
        wanted = self.partitions or max(tasks, -(-facts.bytes // _PARTITION_BYTES))
        return min(wanted, units)

    def _task_memory(self) -> int:
        """Bytes that one task may take beside the JVM."""
        context = self._context
        settings = context.getConf()
        cores = int(settings.get("spark.executor.cores", "0")) or context.defaultParallelism
        for name in ("spark.executor.pyspark.memory", "spark.executor.memoryOverhead"):
            if settings.get(name):
                return size_of(settings.get(name)) // cores
        return usable_memory() // cores if context.master.startswith("local") else _TASK_MEMORY


@dataclass(slots=True)
class _Question:
    """One question to the engine, and how far its answer is.

    Args:
        engine: Who is asked.
        pairs: All pairs of known and anonymous rows of this question.
    """

    engine: SparkEngine
    pairs: int
    done: int = 0

    @property
    def room(self) -> Room:
        """What there is to work with in one task."""
        return self.engine.room

    def hold(self, rows: Rows) -> Rows:
        """The same rows on the executors."""
        return self.engine.hold(rows)

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
        """Send the work to the rows; merge what it finds there."""
        held, before, mine = self.hold(rows), self.done, pairs * rows.users
        if not isinstance(held, Elsewhere):
            found = LocalEngine().reduce(held, work, merge, step=step, most=most)
        else:
            told = self.engine.progress is not None and mine
            report = (lambda share: self.report(before + int(share * mine))) if told else None
            found = held.over(work, merge, step=step, most=most, report=report)
        self.report(before + mine)
        return found

    def report(self, done: int) -> None:
        """Tell that so many pairs are done, if they are more than before."""
        if done > self.done:
            self.done = done
            if self.engine.progress is not None:
                self.engine.progress(min(done, self.pairs), self.pairs)


def _no_gaps(blocks: Blocks, *, codec: Codec) -> bool:
    return all(codec.filled(rows) for _, rows in blocks)


class _Sent:
    """Rows that are on the executors already, as long as somebody has the handle they came from."""

    def __init__(self) -> None:
        self.held: dict[int, Rows] = {}

    def get(self, rows: Rows, send: Callable[[Rows], Rows]) -> Rows:
        """What was sent of a handle, now or before."""
        key = id(rows)
        if key not in self.held:
            there = send(rows)
            if there is rows:
                return rows
            self.held[key] = there
            # An id may be used again once the handle is gone, so the entry goes with it.
            weakref.finalize(rows, self.held.pop, key, None).atexit = False
        return self.held[key]


def size_of(said: str) -> int:
    """Bytes of a setting of Spark: MiB if it does not say otherwise.

    >>> size_of("2g"), size_of("512"), size_of("64kb")
    (2147483648, 536870912, 65536)
    """
    match = re.fullmatch(r"\s*(\d+)\s*([kmgtp]?)i?b?\s*", said.lower())
    if match is None:
        raise InvalidInput(
            f"{said} is not an amount of memory for Spark; write 512m or 2g", code="invalid-size"
        )
    return int(match[1]) << _SHIFTS[match[2]]
