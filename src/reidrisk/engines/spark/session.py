"""Start and check a Spark session.

We set: batches of 10,000 rows between Java and Python, so that a batch of long rows still fits; no
progress bars of Spark itself; and, if Spark runs on this machine, the Python that runs this and
loopback addresses. Everything else is left to the cluster and the user.
"""

import contextlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reidrisk.core.optional import check_guest, guest
from reidrisk.engines.spark.errors import TO_SEND, explaining
from reidrisk.engines.spark.jobs import in_group
from reidrisk.errors import InvalidInput, MissingExtra

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""What spark-submit sets for the program that it starts."""

_OLDEST_JAVA = 17
ANSWER_WITHIN = 20.0
MASTER_WITHIN = 35.0
"""Spark itself asks three times, for a minute and more."""
_EXECUTORS_WITHIN = 60.0

_CHOSEN = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.ui.showConsoleProgress": "false",
}
_HERE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_MASTERS = r"local(\[.+\])?|local-cluster\[.+\]|yarn|k8s://.+|spark://.+"
_LOOPBACK = ("localhost", "127.0.0.1")
_LISTEN = 1.0
_NOTES = r"WARNING|Picked up |Using Spark's default"
COMPARED = ("reidrisk", "numpy", "numba", "pyarrow")


def session(
    master: str | None,
    *,
    app: str = "reidrisk",
    settings: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> Any:
    """A `SparkSession` whose executors can do our work.

    Args:
        master: Where the cluster is: `spark://host:7077`, `local[4]`, `yarn`, ...; None is that of
            spark-submit, which started this program.
        app: What the cluster calls it.
        settings: Spark's settings by name, beside ours and above them.
        log: A file to which Java adds what it says of itself; nowhere, if not given. Under
            spark-submit, Java runs already, and speaks where it was told.
    """
    check_java_and_python()
    if master is not None:
        check_master(master)
    sql = guest("pyspark.sql", "spark")
    running = sql.SparkSession.getActiveSession()
    if running is not None and master not in (None, running.sparkContext.master):
        raise InvalidInput(
            f"this process has a Spark session on {running.sparkContext.master} already, and has "
            f"only one at a time; stop it, or use it instead of {master}",
            code="spark-session-exists",
        )
    here, said = master is not None and _is_here(master), dict(settings or {})
    python = said.get("spark.pyspark.python", sys.executable if here else None)
    if python is not None:
        os.environ.setdefault("PYSPARK_PYTHON", python)  # what Spark looks at, and at nothing else
    builder = sql.SparkSession.builder.appName(app)
    if master is not None:
        builder = builder.master(master)
    for name, value in {**_CHOSEN, **(_HERE if here else {}), **said}.items():
        builder = builder.config(name, value)
    with explaining():
        _start_java(said, log)
        spark = answered(master, builder.getOrCreate)
    try:
        check_executors(spark)
    except BaseException:
        spark.stop()
        raise
    return spark


def _start_java(settings: Mapping[str, str], log: Path | None) -> None:
    """Start Java, unless it runs, and let it speak to a file: its words are not for a terminal."""
    pyspark = guest("pyspark", "spark")
    if pyspark.SparkContext._gateway is not None or _SUBMITTED in os.environ:  # noqa: SLF001
        return
    settled = pyspark.SparkConf(loadDefaults=False).setAll(list(settings.items()))
    start = guest("pyspark.java_gateway", "spark").launch_gateway
    with tempfile.TemporaryFile("a+b") if log is None else Path(log).open("a+b") as file:
        before = file.seek(0, os.SEEK_END)
        try:
            gateway = start(settled, {"stdout": file, "stderr": file})
        except Exception as wrong:
            if "JAVA_GATEWAY_EXITED" not in str(wrong):
                raise
            file.seek(before)
            raise InvalidInput(
                not_started(file.read().decode(errors="replace")), code="spark-did-not-start"
            ) from wrong
    pyspark.SparkContext._ensure_initialized(gateway=gateway, conf=settled)  # noqa: SLF001


def not_started(said: str) -> str:
    """Why Java did not start, by the first line that it wrote, but for notes."""
    lines = (line.strip() for line in said.splitlines() if not re.match(_NOTES, line))
    why = next(filter(None, lines), "it does not say why")
    return f"Java did not start: {why}; look at the settings of Spark"


def answered(master: str | None, start: Callable[[], Any]) -> Any:
    """A session; of one whom a master does not answer, Java is ended."""
    if not (master and master.startswith("spark://")):
        return start()
    context, late = guest("pyspark", "spark").SparkContext, threading.Event()
    java: Any = getattr(context._gateway, "proc", None)  # noqa: SLF001  ours, if there is one

    def give_up() -> None:
        begun = context._active_spark_context  # noqa: SLF001  has Java's, once a master answered
        if getattr(begun, "_jsc", None) is None:
            late.set()
            java.kill()

    timer = threading.Timer(MASTER_WITHIN, give_up)
    timer.daemon = True
    if java is not None:
        timer.start()
    try:
        return start()
    except Exception as wrong:
        if late.is_set() or "SparkContext" in str(wrong):
            raise InvalidInput(_no_master(master), code="spark-unreachable") from wrong
        raise
    finally:
        timer.cancel()
        if late.is_set():  # the next session starts a Java of its own
            java.stdin.close()
            java.wait()
            context._gateway = context._jvm = None  # noqa: SLF001


def check_java_and_python() -> None:
    """Say which of pyspark, its pandas and Java is missing or does not fit."""
    check_guest("pyspark", "spark", "Spark")
    try:
        pandas = importlib.metadata.version("pandas")
    except importlib.metadata.PackageNotFoundError:
        pandas = "0"
    if int(pandas.split(".")[0]) > 2:  # noqa: PLR2004
        raise MissingExtra(
            f"pandas {pandas} is installed, and pyspark needs one below 3: pip install "
            "'reidrisk[spark]'",
            code="wrong-version",
        )
    java = _java()
    if java is None:
        said = os.environ.get("JAVA_HOME")
        where = f"JAVA_HOME is {said}, which has no bin/java" if said else "none is on the PATH"
        raise InvalidInput(
            f"Spark needs Java {_OLDEST_JAVA} or newer, and {where}; install it (apt install "
            f"openjdk-{_OLDEST_JAVA}-jre-headless) or set JAVA_HOME",
            code="java-missing",
        )
    version = _java_version(java)
    if version < _OLDEST_JAVA:
        raise InvalidInput(
            f"Spark needs Java {_OLDEST_JAVA} or newer, and {java} is "
            f"{f'Java {version}' if version else 'no Java'}; install it, or set JAVA_HOME",
            code="java-missing",
        )


def check_master(master: str) -> None:
    """Say what is wrong with the address of a master, or that nobody answers there."""
    if not re.fullmatch(_MASTERS, master):
        raise InvalidInput(
            f"{master} is not a Spark master; write spark://host:7077, local[2], yarn or "
            "k8s://https://host:port",
            code="invalid-spark-master",
        )
    if not master.startswith("spark://"):
        return
    places = [_place(each, master) for each in master.removeprefix("spark://").split(",")]
    wrongs = [
        wrong
        for host, port in places
        if (wrong := _unreachable(host, port, ANSWER_WITHIN / len(places))) is not None
    ]
    if len(wrongs) == len(places):
        raise InvalidInput(
            f"no Spark master can be reached at {master}: {'; '.join(wrongs)}; is it running, and "
            "is this the address that its page shows?",
            code="spark-unreachable",
        )


def check_executors(spark: Any, within: float = _EXECUTORS_WITHIN) -> None:
    """Say what the executors lack, or that there are none.

    Args:
        spark: A session.
        within: Seconds to wait for executors.
    """
    context = spark.sparkContext
    tasks = max(context.defaultParallelism, 2)
    late = threading.Event()
    group = f"reidrisk-look-{id(late)}"

    def give_up() -> None:
        late.set()
        context.cancelJobGroup(group)

    timer = threading.Timer(within, give_up)
    timer.daemon = True
    timer.start()
    try:
        with explaining():
            look = context.parallelize(range(tasks), tasks).mapPartitions(looking(COMPARED))
            told = in_group(context, look.collect, what="a look at the executors", group=group)
    except Exception as wrong:
        if late.is_set():
            raise InvalidInput(_no_executors(context, within), code="no-executors") from wrong
        raise
    finally:
        timer.cancel()
    here = json.loads(next(looking(COMPARED)(iter(()))))
    for there in map(json.loads, sorted(set(told))):
        for name in ("Python", *COMPARED):  # whoever installs reidrisk has those behind it too
            version, found = here["versions"][name], there["versions"][name]
            if found != version:
                said = f"has {name} {found}" if found else f"has no {name}"
                raise InvalidInput(
                    f"the Python of executor {there['host']} ({there['python']}) {said}, and here "
                    f"is {version}; {TO_SEND}: pip install {name}=={version}",
                    code="executor-differs",
                )


def looking(names: tuple[str, ...]) -> Any:
    """What looks at the versions of an executor; it travels by value, needing nothing of ours."""

    def look(_: Iterator[Any]) -> Iterator[str]:
        import importlib  # noqa: PLC0415
        import json  # noqa: PLC0415
        import platform  # noqa: PLC0415
        import sys  # noqa: PLC0415

        versions = {"Python": ".".join(platform.python_version_tuple()[:2])}
        for name in names:
            try:
                versions[name] = importlib.import_module(name).__version__
            except ImportError:
                versions[name] = ""
        told = {"host": platform.node(), "python": sys.executable, "versions": versions}
        yield json.dumps(told, sort_keys=True)

    return look


def _is_here(master: str) -> bool:
    """Whether executors run on this machine."""
    places = [each.split(":")[0] for each in master.removeprefix("spark://").split(",")]
    return master.startswith("local") or all(place in _LOOPBACK for place in places)


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        found = Path(home) / "bin" / "java"
        return str(found) if found.exists() else None
    return shutil.which("java")


def _java_version(java: str) -> int:
    """The version of a Java; 0 if it does not say."""
    try:
        said = subprocess.run(  # noqa: S603  the Java that Spark would start
            [java, "-version"], capture_output=True, text=True, timeout=ANSWER_WITHIN, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return int(found[1]) if found else 0


def _place(said: str, master: str) -> tuple[str, int]:
    host, colon, port = said.rpartition(":")
    if not (colon and host and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise InvalidInput(
            f"{master} names no host and port; write spark://host:7077", code="invalid-spark-master"
        )
    return host.strip("[]"), int(port)


def _unreachable(host: str, port: int, within: float) -> str | None:
    """Why nobody can be reached there; None if somebody can."""
    try:
        with socket.create_connection((host, port), timeout=within) as connection:
            connection.settimeout(_LISTEN)
            with contextlib.suppress(TimeoutError):  # a master waits for us to speak
                said = connection.recv(1)
                return f"{host}:{port} {'speaks otherwise' if said else 'hangs up at once'}"
    except socket.gaierror:
        return f"the host {host} is unknown"
    except TimeoutError:
        return f"{host}:{port} does not answer within {within:.0f} s"
    except OSError as wrong:
        return f"{host}:{port}: {wrong.strerror or wrong}"
    return None


def _no_master(master: str) -> str:
    version = importlib.metadata.version("pyspark")
    return (
        f"whoever answers at {master} is not a Spark master for this pyspark ({version}); the page "
        "of the master shows its address and version"
    )


def _no_executors(context: Any, within: float) -> str:
    memory = context.getConf().get("spark.executor.memory", "1g")
    return (
        f"{context.master} gave no executors within {within:.0f} s; look at its page whether "
        f"workers are there and have cores and memory free (an executor wants {memory}, "
        "spark.executor.memory), and whether they reach this machine "
        f"({context.getConf().get('spark.driver.host', platform.node())}, spark.driver.host)"
    )
