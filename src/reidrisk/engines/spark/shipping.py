"""Work as bytes that executors load.

A piece of work is a function with all that it has seen: tables, targets, and kernels. Kernels go by
their names, so that an executor uses those it has compiled or keeps on disk; sent by value, each
task would compile its own. Known rows go as what is known of them, and refuse to be read.
"""

import importlib
import io
import pickle
from functools import cache
from operator import attrgetter
from typing import Any

from numba.core.dispatcher import Dispatcher

from reidrisk.guests import guest
from reidrisk.machine import take_cores


@cache
def _shipper() -> Any:
    """What pickles functions by value where they have no name, and kernels never."""
    pickler: Any = guest("pyspark.cloudpickle", "spark").CloudPickler

    class Shipper(pickler):  # type: ignore[misc]
        """Made when it is first used: only then is pyspark there."""

        def reducer_override(self, thing: Any) -> Any:
            """How a thing is made again."""
            if isinstance(thing, Dispatcher) and _is_named(thing):
                return kernel_named, (thing.py_func.__module__, thing.py_func.__qualname__)
            return super().reducer_override(thing)

    return Shipper


def shipped(thing: Any) -> bytes:
    """The thing as bytes, to be sent to executors, never to be kept."""
    content = io.BytesIO()
    _shipper()(content, protocol=pickle.HIGHEST_PROTOCOL).dump(thing)
    return content.getvalue()


def unshipped(content: bytes) -> Any:
    """What was sent by the driver, whose code runs here anyway, to be done on a task's one core."""
    take_cores(1)
    return pickle.loads(content)  # noqa: S301


def kernel_named(module: str, name: str) -> Any:
    """The kernel of this name, compiled here."""
    return attrgetter(name)(importlib.import_module(module))


def _is_named(compiled: Any) -> bool:
    function = compiled.py_func
    try:
        return kernel_named(function.__module__, function.__qualname__) is compiled
    except (ImportError, AttributeError):
        return False
