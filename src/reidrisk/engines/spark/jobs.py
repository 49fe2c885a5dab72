"""Run a job on the cluster: send the work once as bytes, merge the results into one.

A piece of work is a function with all that it has captured: tables, targets and kernels. It is sent
by cloudpickle, so functions without a name travel by value. Kernels travel by name
(`parallel.Kernel`), so that an executor uses those it has compiled or cached. Handles on known rows
arrive as what is known of them, and refuse to be read.
"""

import contextlib
import math
import pickle
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from reidrisk.core.machine import take_cores
from reidrisk.core.mapreduce import Merge, Report, Work
from reidrisk.core.optional import guest
from reidrisk.engines.spark.blocks import BlockCut, Piece, blocks_of
from reidrisk.engines.spark.errors import explaining
from reidrisk.engines.spark.outcomes import found_in, merged, outcome

Found = TypeVar("Found")

# Up to this many results are merged by one task; more, in two rounds.
_FEW = 8
_LISTEN = 0.2  # seconds between looks at a running job


def shipped(thing: Any) -> bytes:
    """The thing as bytes, to be sent to executors, never to be kept."""
    content: bytes = guest("pyspark.cloudpickle", "spark").dumps(thing, pickle.HIGHEST_PROTOCOL)
    return content


def unshipped(content: bytes) -> Any:
    """What the driver sent; unpickling it is safe, since the driver's code runs here anyway."""
    take_cores(1)  # Spark gives each task one core
    return pickle.loads(content)  # noqa: S301


@dataclass(frozen=True, slots=True)
class Task:
    """What all tasks of a job do.

    Args:
        open: Makes pieces of rows of what a partition holds.
        cut: Which rows, in what blocks.
        work: What is done with the blocks.
    """

    open: Callable[[Iterator[Any]], Iterator[Piece]]
    cut: BlockCut
    work: Work[Any]


def run(
    parts: Any, task: Task, merge: Merge[Any], *, report: Report | None = None, what: str
) -> Any:
    """Let the work see all partitions of an RDD, and merge what it finds, on the executors.

    Args:
        parts: An RDD.
        task: What all tasks do.
        merge: Puts two results together.
        report: Told now and then what share is done.
        what: Names the job in Spark.
    """
    context = parts.context
    with explaining(context), _sent(context, task) as work, _sent(context, merge) as merging:
        results = parts.mapPartitionsWithIndex(partial(_worked, work))
        return found_in(one(merged_in_tree(results, partial(_together, merging)), report, what))


def merged_in_tree(results: Any, together: Callable[[Any], Any]) -> Any:
    """An RDD of one result, from an RDD with a result in each partition."""
    count = results.getNumPartitions()
    while count > 1:
        fewer = 1 if count <= _FEW else math.isqrt(count - 1) + 1
        keyed = results.mapPartitionsWithIndex(partial(_keyed, fewer))
        results = keyed.partitionBy(fewer, int).mapPartitions(together)
        count = fewer
    return results


def one(rdd: Any, report: Report | None, what: str) -> bytes:
    """The bytes of an RDD that holds one result; the driver unpickles nothing.

    Args:
        rdd: Holds one result.
        report: Told now and then what share is done.
        what: Names the job in Spark.
    """
    raw = rdd._reserialize(guest("pyspark.serializers", "spark").NoOpSerializer())  # noqa: SLF001
    (content,) = in_group(rdd.context, raw.collect, report=report, what=what)
    return bytes(content)


def in_group(
    context: Any,
    action: Callable[[], Found],
    *,
    report: Report | None = None,
    what: str,
    group: str | None = None,
) -> Found:
    """Carry out an action of Spark; an interrupt ends its jobs, and the session stays usable.

    Args:
        context: The Spark context.
        action: Starts the jobs.
        report: Told now and then what share is done.
        what: Names the job in Spark.
        group: Name of the group of jobs; a new one if not given.
    """
    group = group or f"reidrisk-{uuid.uuid4()}"
    outcomes: list[Any] = []

    def act() -> None:
        try:
            context.setJobGroup(group, f"reidrisk: {what}", interruptOnCancel=False)
            outcomes.append((action(), None))
        except BaseException as wrong:  # noqa: BLE001  raised again where it was asked
            outcomes.append((None, wrong))

    # This thread hears interrupts, so it must not talk to Java while it waits: an interrupted call
    # leaves half an answer in the connection, which the next call would read.
    shares = [0.0]

    def ask() -> None:
        while thread.is_alive():
            with contextlib.suppress(Exception):  # what is wrong is told by who acts
                shares.append(_share_done(context, group))
            thread.join(_LISTEN)

    thread = guest("pyspark", "spark").InheritableThread(target=act)
    thread.start()
    if report is not None:
        threading.Thread(target=ask, daemon=True).start()
    try:
        while thread.is_alive():
            thread.join(_LISTEN)
            if report is not None:
                report(shares[-1])
    except BaseException:
        context.cancelJobGroup(group)
        thread.join()
        raise
    ((found, wrong),) = outcomes
    if wrong is not None:
        raise wrong
    return found  # type: ignore[no-any-return]


def _share_done(context: Any, group: str) -> float:
    """What share of the tasks of the jobs of a group is done."""
    tracker = context.statusTracker()
    stages = [
        tracker.getStageInfo(stage)
        for job in tracker.getJobIdsForGroup(group)
        for stage in (tracker.getJobInfo(job) or guest("pyspark").SparkJobInfo(0, [], "")).stageIds
    ]
    known = [stage for stage in stages if stage is not None]
    tasks = sum(stage.numTasks for stage in known)
    return sum(stage.numCompletedTasks for stage in known) / tasks if tasks else 0.0


@contextlib.contextmanager
def _sent(context: Any, thing: Any) -> Iterator[Any]:
    """Bytes that every executor gets once, gone afterwards."""
    broadcast = context.broadcast(shipped(thing))
    try:
        yield broadcast
    finally:
        with contextlib.suppress(Exception):  # the context may be gone
            broadcast.destroy()


def _worked(sent: Any, place: int, elements: Iterator[Any]) -> Iterator[bytes]:
    def find() -> Any:
        task = unshipped(sent.value)
        return task.work(blocks_of(task.open(elements), task.cut))

    yield outcome(place, find)
    for _ in elements:  # a process that leaves something is ended, and the next one imports anew
        pass


def _keyed(fewer: int, place: int, results: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((place % fewer, result) for result in results)


def _together(sent: Any, results: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    yield merged((result for _, result in results), unshipped(sent.value))
