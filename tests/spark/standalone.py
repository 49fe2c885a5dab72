"""A standalone Spark cluster of this machine: a master and workers, each a process of its own.

Everything that is started carries a mark in its environment, which executors and their Pythons
inherit. What carries the mark is ended by its process id, whatever happens: by the test that
started it, or, should that be killed, by a guard whose standard input then closes.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

from tests.spark.java import java

MARK = "REIDRISK_TEST_CLUSTER"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
}
"""Two executors of one core, one for each worker, which has room for another application."""

SECONDS = 60
"""A cluster that is not there by then will not come."""


def marked(mark: str) -> set[int]:
    """Ids of the processes that carry this mark; of one that ended, nothing is left to carry it."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.add(int(place.name))
    return found


def stop(mark: str) -> None:
    """End all that carries this mark: asked first, and killed if it does not go."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 10)):
        end = time.monotonic() + patience
        asked: set[int] = set()
        while (left := marked(mark)) and time.monotonic() < end:
            for process in left - asked:
                with suppress(ProcessLookupError):
                    os.kill(process, number)
            asked |= left
            time.sleep(0.05)


@dataclass
class Cluster:
    """A running cluster.

    Args:
        folder: Where its logs and the files of its workers are.
    """

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    address: str = ""
    page: str = ""

    def start_master(self) -> None:
        """Start the master, and wait until it says where it listens."""
        # The port of its REST server is fixed: two clusters would meet there.
        settings = self.folder / "master.conf"
        settings.write_text("spark.master.rest.enabled false\n")
        self._start("master", MASTER, "--port", "0", "--properties-file", str(settings))
        self.address = self._said("master", r"Starting Spark master at (spark://\S+)")
        self.page = self._said("master", r"Bound MasterWebUI .* started at (http://\S+)")

    def start_workers(self, count: int) -> list[str]:
        """Start workers with room for two applications; their names, once the master knows them."""
        there = len(self.workers())
        first = len(list(self.folder.glob("worker-*.log"))) + 1
        names = [f"worker-{number}" for number in range(first, first + count)]
        for name in names:
            room = ("--cores", "2", "--memory", "2g", "--work-dir", str(self.folder / name))
            self._start(name, WORKER, *room, self.address)
        self.wait(lambda: len(self.workers()) >= there + count, "workers that the master knows")
        return names

    def workers(self) -> list[str]:
        """Workers that the master believes to be alive, by their ids."""
        return [one["id"] for one in self.told()["workers"] if one["state"] == "ALIVE"]

    def told(self) -> dict:
        """What the master tells about itself."""
        with urlopen(f"{self.page}/json/", timeout=10) as answer:  # noqa: S310
            return json.load(answer)

    def executors(self, name: str) -> list[int]:
        """Executors that a worker started, by their process ids."""
        return _children(self.started[name].pid)

    def kill(self, name: str) -> None:
        """A worker and its executors are gone, at once and without a word, as if by a power cut."""
        for process in (self.started[name].pid, *self.executors(name)):
            os.kill(process, signal.SIGKILL)
        self.started.pop(name).wait(SECONDS)

    def tail(self, lines: int = 15) -> str:
        """The ends of all logs, for whoever looks for what went wrong."""
        logs = [*self.folder.glob("*.log"), *self.folder.glob("worker-*/app-*/*/std*")]
        return "\n".join(
            f"--- {log.relative_to(self.folder)}\n"
            + "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
            for log in sorted(logs)
        )

    def wait(self, done: Callable[[], object], what: str) -> None:
        """Wait for something that the processes of this cluster bring about."""
        end = time.monotonic() + SECONDS
        while not done():
            ended = [name for name, process in self.started.items() if process.poll() is not None]
            if ended or time.monotonic() > end:
                why = f"{ended[0]} ended" if ended else f"waited {SECONDS} seconds"
                raise RuntimeError(f"no {what}: {why}\n{self.tail()}")
            time.sleep(0.05)

    def _start(self, name: str, what: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.started[name] = subprocess.Popen(
                [java(), "-Xmx256m", "-cp", home() / "jars" / "*", what,
                 "--host", "127.0.0.1", "--webui-port", "0", *arguments],
                env=self._environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        return os.environ | {
            MARK: self.mark,
            "SPARK_HOME": str(home()),
            "SPARK_SCALA_VERSION": "2.13",
            "SPARK_CONF_DIR": str(self.folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(scratch),
            # Quick to start, which is most of what they do; executors inherit it.
            "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }

    def _said(self, name: str, pattern: str) -> str:
        log = self.folder / f"{name}.log"
        self.wait(lambda: re.search(pattern, log.read_text()), f"{pattern!r} in its log")
        return re.search(pattern, log.read_text())[1]


def home() -> Path:
    """Where pyspark keeps its Java part; nothing is loaded."""
    return Path(find_spec("pyspark").origin).parent


def _children(parent: int) -> list[int]:
    """Processes whose parent is this one."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name stands in parentheses and may hold anything.
            state, above = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(above) == parent and state != "Z":
                found.append(int(place.name))
    return found


@contextmanager
def standalone(folder: Path, *, workers: int = 2) -> Iterator[Cluster]:
    """A master and some workers, until the end of the block."""
    cluster = Cluster(folder)
    guard = subprocess.Popen(
        [sys.executable, "-m", "tests.spark.standalone", cluster.mark],
        cwd=Path(__file__).parents[2], stdin=subprocess.PIPE,
    )  # fmt: skip
    try:
        cluster.start_master()
        cluster.start_workers(workers)
        yield cluster
    finally:
        stop(cluster.mark)
        for process in cluster.started.values():
            process.wait(SECONDS)
        guard.communicate(timeout=SECONDS)


if __name__ == "__main__":
    # A guard outlives whoever holds the other end of its standard input, and cannot be interrupted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.read()
    stop(sys.argv[1])
