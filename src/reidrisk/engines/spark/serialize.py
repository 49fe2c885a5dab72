"""Work as bytes that executors load.

A piece of work is a function with all that it has seen: tables, targets, and kernels. Functions go
by value where they have no name. Kernels go by theirs (`parallel.Kernel`), so that an executor uses
those it has compiled or keeps on disk. Known rows go as what is known of them, and refuse to be
read.
"""

import pickle
from typing import Any

from reidrisk.core.machine import take_cores
from reidrisk.core.optional import guest


def shipped(thing: Any) -> bytes:
    """The thing as bytes, to be sent to executors, never to be kept."""
    content: bytes = guest("pyspark.cloudpickle", "spark").dumps(thing, pickle.HIGHEST_PROTOCOL)
    return content


def unshipped(content: bytes) -> Any:
    """What was sent by the driver, whose code runs here anyway, to be done on a task's one core."""
    take_cores(1)
    return pickle.loads(content)  # noqa: S301
