"""Threads that tests start and interrupt."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from reidrisk.core.parallel import listen


def interrupt_main() -> None:
    """What Ctrl-C does: unlike `_thread.interrupt_main`, it also wakes a main thread that waits."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def listen_for_ever(*_) -> None:
    """Work that ends when it is told to stop, and never before."""
    while True:
        listen()
        time.sleep(0.001)


@contextmanager
def all_ending() -> Iterator[None]:
    """Threads begun in here end: one that is in a kernel when it is told to stop, behind it."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
        assert not thread.is_alive()
