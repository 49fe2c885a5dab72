"""Options that choose the engine: this machine or a Spark cluster.

Where a study runs is not part of the study, and results do not depend on it. So these options are
kept in click's context instead of being passed to commands, and `engine_of` reads them there.
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
class _Place:
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
    """Callback of an option: keep its value in click's context.

    Args:
        context: Of the command that runs.
        option: One of those that choose the engine.
        value: As it was given.
    """
    context.meta.setdefault(_KEPT, {})[option.name] = value


def note_settings(context: click.Context, option: click.Parameter, pairs: Any) -> None:
    """Callback of `--spark-setting`: keep settings by name; the last of a name counts.

    Args:
        context: Of the command that runs.
        option: The option.
        pairs: Names and values.
    """
    note(context, option, dict(pairs))


def place() -> _Place:
    """Where the command that runs is to run; this machine, if it offers nothing else."""
    context = click.get_current_context(silent=True)
    return _Place(**context.meta.get(_KEPT, {})) if context is not None else _Place()


@contextmanager
def engine_of(
    progress: "Progress", log: Path | None = None, told: Callable[[str], None] | None = None
) -> "Iterator[Searches]":
    """The engine that the options ask for; a Spark session is stopped at the end in any case.

    The session starts when the engine is first used: a study that is refused, or already finished,
    needs none.

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
    chosen: _Place, progress: "Progress", log: Path | None, told: Callable[[str], None] | None
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
                # An interrupt may have cut a message to Java, which pyspark warns of here.
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
    """Do some work on another thread, so that Ctrl-C interrupts it at once.

    On the main thread Spark would install a handler of its own for Ctrl-C, which interrupts its
    messages to Java and leaves both sides broken.
    """
    found: list[Any] = []
    wrong: list[BaseException] = []

    def do() -> None:
        try:
            found.append(work())
        except BaseException as one:  # noqa: BLE001  raised again where it was asked
            wrong.append(one)

    # A daemon, so that a cluster that never answers cannot keep a stopped command alive.
    thread = threading.Thread(target=copy_context().run, args=(do,), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LISTEN)
    if wrong:
        raise wrong[0]
    return found[0]
