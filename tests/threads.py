"""Threads that tests start: all end, if not at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def all_ending() -> Iterator[None]:
    """Threads begun in here end: one that is in a kernel when it is told to stop, behind it."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
        assert not thread.is_alive()
