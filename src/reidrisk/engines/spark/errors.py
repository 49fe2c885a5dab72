"""Turn errors of Spark into one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reidrisk.errors import InvalidInput, ReidriskError, TooLarge

_MORE_MEMORY = (
    "raise spark.executor.memory (rows that are kept) or spark.executor.memoryOverhead and "
    "spark.executor.pyspark.memory (work on them; it limits address space, of which libraries take "
    "0.6 GiB: at least 1536m for each core), or give SparkEngine more partitions"
)
OUT_OF_MEMORY = f"an executor ran out of memory; {_MORE_MEMORY}"
_STOPPED = "the Spark session has ended; start one and make the engine and its rows anew"
TO_SEND = "install it on all nodes (pip install), or send an environment with --archives"

# What is looked for in Spark's words, and what it means; the first that is found counts.
_MEANINGS: tuple[tuple[str, type[ReidriskError], str, str], ...] = (
    (
        r"No module named '([\w.]+)'",
        InvalidInput,
        "module-not-on-executor",
        (
            f"the Python of an executor has no {{}}; {TO_SEND}, and name its Python in "
            "PYSPARK_PYTHON"
        ),
    ),
    (
        r"PYTHON_VERSION_MISMATCH\] (.*?)\. ",
        InvalidInput,
        "executor-differs",
        "{}; name a Python of the same version in PYSPARK_PYTHON",
    ),
    (
        r'Cannot run program "(.*?)"',
        InvalidInput,
        "no-python-on-executor",
        "an executor has no {}; name its Python in PYSPARK_PYTHON",
    ),
    (
        (
            r"java\.lang\.OutOfMemoryError|SparkOutOfMemoryError|[Cc]ontainer killed|code 137|"
            r"exceeding (?:physical |virtual )?memory limits|MemoryError|OOMKilled"
        ),
        TooLarge,
        "out-of-memory",
        OUT_OF_MEMORY,
    ),
    (
        r"Python worker exited unexpectedly|Python worker process .*crash",
        TooLarge,
        "out-of-memory",
        (
            f"a Python process of an executor was ended, as the system does for want of memory; "
            f"{_MORE_MEMORY}; else the log of the executor says why"
        ),
    ),
    (
        r"ExecutorLostFailure|executor \S+ exited",
        TooLarge,
        "out-of-memory",
        (
            "executors were lost again and again, most often for want of memory; "
            f"{_MORE_MEMORY}; else their logs say why"
        ),
    ),
    (
        r"maxResultSize|message\.maxSize",
        TooLarge,
        "too-much-comes-back",
        (
            "what comes back from the executors is larger than Spark allows; use fewer targets or "
            "slots, or raise spark.driver.maxResultSize and spark.rpc.message.maxSize"
        ),
    ),
    (
        r"[Nn]o space left on device",
        TooLarge,
        "out-of-disk",
        "a disk of an executor is full; see spark.local.dir",
    ),
    (
        (
            r"stopped SparkContext|SparkContext was shut down|SparkContext has been shut ?down|"
            r"Py4JNetworkError|Answer from Java side is empty|Connection refused"
        ),
        InvalidInput,
        "spark-stopped",
        _STOPPED,
    ),
    (
        r"(?:PATH_NOT_FOUND|FAILED_READ_FILE|CANNOT_READ_FILE)[\w.]*\] (.*?)(?: SQLSTATE|\n|$)",
        InvalidInput,
        "file-not-found",
        "{}",
    ),
)


@contextmanager
def explaining(context: Any = None) -> Iterator[None]:
    """Say in one line what Spark says in many, and that a context has ended before it is asked."""
    if context is not None and context._jsc is None:  # noqa: SLF001  there is no other sign
        raise InvalidInput(_STOPPED, code="spark-stopped")
    try:
        yield
    except ReidriskError:
        raise
    except Exception as wrong:
        meant = explained(wrong)
        if meant is wrong:
            raise
        raise meant from wrong


def explained(wrong: BaseException) -> BaseException:
    """An error of ours for one of Spark's; what is not known stays as it is."""
    said = f"{type(wrong).__name__}: {wrong} {getattr(wrong, 'java_exception', '')}"
    for pattern, kind, code, message in _MEANINGS:
        if found := re.search(pattern, said):
            return kind(message.format(*found.groups()), code=code)
    return wrong
