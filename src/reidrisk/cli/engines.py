"""Options that choose the engine: this machine or a Spark cluster.

Where it runs is no part of a study. So a command does not know of it, what is run does not name it,
and the result is the same: only whoever makes the engine asks here.
"""

import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.core.files import ONLY_ME, append
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.cli.console import Progress
    from reidrisk.engines.search import Searches

ENGINES = ("local", "spark")

LOG = "spark.log"
"""What Spark says of itself, in the folder of a run."""

_UNDER_SUBMIT = "PYSPARK_GATEWAY_PORT"
"""What spark-submit sets for the program that it starts."""

_KEPT = "reidrisk.engine"
_LISTEN = 0.1


@dataclass(frozen=True)
class Place:
    """Where a command runs.

    Attributes:
        engine: One of `ENGINES`.
        master: Of the cluster; None for that of spark-submit, of SPARK_MASTER, or this machine.
        settings: Of Spark, by their names.
    """

    engine: str = "local"
    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, given in (("--master", self.master), ("--spark-setting", self.settings)):
            if given and self.engine != "spark":
                raise InvalidInput(
                    f"{name} is for a cluster, and this would run on this machine alone; add "
                    f"--engine spark, or leave {name} out",
                    code="option-needs-spark",
                )

    @property
    def words(self) -> tuple[str, ...]:
        """The options that say so."""
        if self.engine == "local":
            return ()
        master = () if self.master is None else ("--master", self.master)
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        said = (word for one in settings for word in ("--spark-setting", one))
        return ("--engine", "spark", *master, *said)


def note(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep what an option says of the place."""
    context.meta.setdefault(_KEPT, {})[option.name] = value


def note_settings(context: click.Context, option: click.Parameter, pairs: Any) -> None:
    """Keep settings by their names; the last of a name holds."""
    note(context, option, dict(pairs))


def place() -> Place:
    """Where the command that runs is to run; this machine, if it offers nothing else."""
    context = click.get_current_context(silent=True)
    return Place(**context.meta.get(_KEPT, {})) if context is not None else Place()


@contextmanager
def engine_of(
    progress: "Progress", log: Path | None = None, told: Callable[[str], None] | None = None
) -> "Iterator[Searches]":
    """The engine that the options ask for; a cluster is left at the end, however it ends.

    A session is begun when the engine is first asked: what is refused or found again needs none.

    Args:
        progress: Shows how far it is.
        log: Where Spark writes what it says of itself; nowhere, if not given.
        told: Called with a sentence about the cluster, once there is one.
    """
    from reidrisk.engines import LocalEngine

    chosen = place()
    if chosen.engine == "local":
        yield LocalEngine(progress=progress.pairs)
        return
    from reidrisk.cli.lazy_engine import LazyEngine
    from reidrisk.core.optional import check_guest

    check_guest("pyspark", "spark", "--engine spark")
    with ExitStack() as stack:
        yield LazyEngine(lambda: stack.enter_context(_on_spark(chosen, progress, log, told)))


@contextmanager
def _on_spark(
    chosen: Place, progress: "Progress", log: Path | None, told: Callable[[str], None] | None
) -> "Iterator[Searches]":
    from reidrisk.engines.spark import SparkEngine
    from reidrisk.engines.spark.session import session

    if log is not None:
        append(log, "", mode=ONLY_ME)  # where something goes wrong, it may quote rows
    master = chosen.master
    if master is None and _UNDER_SUBMIT not in os.environ:
        master = os.environ.get("SPARK_MASTER") or "local[*]"
    with _logged(log):
        with progress.waiting("starting Spark" + ("" if master is None else f" at {master}")):
            spark = _interruptible(lambda: session(master, settings=chosen.settings, log=log))
        try:
            if told is not None:
                told(f"Spark {spark.version}, {spark.sparkContext.applicationId}")
            yield SparkEngine(spark, progress=progress.pairs)
        finally:
            with warnings.catch_warnings():
                # An interrupt may come in the midst of a talk with Java, which then ends with us.
                warnings.simplefilter("ignore", RuntimeWarning)
                spark.stop()


@contextmanager
def _logged(log: Path | None) -> Iterator[None]:
    """Write what Python's side of Spark says of itself where Java's side does."""
    handler = logging.NullHandler() if log is None else logging.FileHandler(log, encoding="utf-8")
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


def _interruptible(work: Callable[[], Any]) -> Any:
    """Do some work on a thread of its own, so that whoever stops us is heard at once.

    Where a session begins on the main thread, Spark listens to Ctrl-C itself, in the midst of its
    talk with Java, which breaks both.
    """
    found: list[Any] = []
    wrong: list[BaseException] = []

    def do() -> None:
        try:
            found.append(work())
        except BaseException as one:  # noqa: BLE001  raised again where it was asked
            wrong.append(one)

    thread = threading.Thread(target=copy_context().run, args=(do,), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LISTEN)
    if wrong:
        raise wrong[0]
    return found[0]
