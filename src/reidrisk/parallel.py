"""Compiled loops on all cores: one decorator, one way to share the work.

Kernels release the interpreter lock, so plain threads run them side by side. Work is always cut
into the same blocks, whatever the number of threads, and results come back in block order: no
answer depends on the machine.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cached_property, update_wrapper
from itertools import islice
from typing import Any, TypeVar, cast

from reidrisk.machine import cores

Item = TypeVar("Item")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers on its first call, and keep it on disk."""
    return cast("Function", Kernel(function))


class Kernel:
    """A function that numba compiles: numba is loaded on the first call, since it takes long.

    Args:
        function: What it does; kernels that it calls are compiled with it.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        update_wrapper(self, function)
        self.py_func = function

    @cached_property
    def compiled(self) -> Any:
        """What numba makes of it: one for all threads, whichever is the first."""
        return self.__dict__.setdefault("compiled", _compiled(self.py_func))

    def __call__(self, *arguments: Any) -> Any:
        """Compile it for such arguments, if need be, and run it."""
        return self.compiled(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks a value for that another kernel names."""
        return self.compiled._numba_type_

    def __reduce__(self) -> str:
        """By its name: whoever gets it uses the one it has compiled or keeps on disk."""
        return self.py_func.__qualname__


def _compiled(function: Callable[..., object]) -> Any:
    import numba  # noqa: PLC0415  only who calls a kernel waits for it

    compiled = numba.njit(function, nogil=True)
    try:
        from reidrisk.kernel_cache import keep  # noqa: PLC0415  it loads numba too
    except ImportError:  # a numba that has other insides: compile anew in each process
        return compiled
    keep(compiled)
    return compiled


def over_blocks(work: Callable[[int, int], Result], total: int, block: int) -> list[Result]:
    """Call `work(start, stop)` for each block of `range(total)`, on all cores.

    Args:
        work: Should spend its time in a kernel or in numpy, which let other threads run.
        total: Number of items.
        block: Items per call. It may depend on the items, never on the number of cores.

    Returns:
        What each call returned, in the order of the blocks.
    """
    starts = range(0, total, block)
    if len(starts) <= 1:
        return [work(start, total) for start in starts]
    with _threads(min(cores(), len(starts))) as threads:
        return list(threads.map(lambda start: work(start, min(start + block, total)), starts))


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items; while one is in use, another thread makes the next, in the same context."""
    context = copy_context()

    def following() -> list[Item]:
        return context.run(lambda: list(islice(items, 1)))

    with _threads(1) as thread:
        coming = thread.submit(following)
        while made := coming.result():
            coming = thread.submit(following)
            yield made[0]


def over_queue(
    work: Callable[[Iterator[Item]], Result], items: Sequence[Item], threads: int
) -> list[Result]:
    """Call `work` on several threads at once; each takes items from one queue until it is empty.

    For work that gathers into something large, which each thread should have only once. An error or
    an interrupt empties the queue, so that it is heard as soon as the items in hand are done.
    """
    queue, lock = list(reversed(items)), threading.Lock()

    def take() -> Iterator[Item]:
        while True:
            with lock:
                if not queue:
                    return
                item = queue.pop()
            yield item

    with _threads(min(threads, len(items))) as pool:
        workers = [pool.submit(work, take()) for _ in range(min(threads, len(items)))]
        try:
            return [worker.result() for worker in workers]
        except BaseException:
            with lock:
                queue.clear()
            raise


@contextmanager
def _threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads; where the system has no room for one more, that is a want of memory."""
    with ThreadPoolExecutor(count) as pool:
        try:
            yield pool
        except RuntimeError as wrong:
            if "start new thread" in str(wrong):
                raise MemoryError(str(wrong)) from wrong
            raise
