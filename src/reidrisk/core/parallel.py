"""Compile loops with numba and share work among threads.

Kernels release the interpreter lock, so plain threads run them side by side. Work is always cut
into the same blocks, whatever the number of threads, and results come back in block order: no
answer depends on the machine.

The thread that waits hears an interrupt at once; worker threads hear it between two items of work,
or where they call `listen`. Then they are waited for half a second. A thread that is still inside a
kernel is left behind and ends when the kernel returns. See decision 4.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextvars import copy_context
from functools import cached_property, update_wrapper
from itertools import islice
from queue import SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar, cast

from numpy.typing import NDArray

from reidrisk.core.machine import cores

Item = TypeVar("Item")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., object])

Array: TypeAlias = NDArray[Any]
Number: TypeAlias = Any
"""A whole number in a kernel, of the type that the compiler infers."""

_MOMENT = 0.5
"""Seconds that threads are waited for after an interrupt."""

_here = threading.local()


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers on its first call, and keep it on disk."""
    return cast("Function", Kernel(function))


def inlined(function: Function) -> Function:
    """Compile a function into the loops that call it, which else would not be vectorised."""
    return cast("Function", Kernel(function, inline="always"))


class Kernel:
    """A function that numba compiles on its first call, since importing numba takes long.

    Args:
        function: What it does; kernels that it calls are compiled with it.
        options: How numba compiles it for other kernels.
    """

    def __init__(self, function: Callable[..., object], **options: str) -> None:
        update_wrapper(self, function)
        self.py_func, self._options = function, options

    @cached_property
    def compiled(self) -> Any:
        """The compiled function, the same one for all threads."""
        # `setdefault` decides which thread wins if two compile at the same time.
        return self.__dict__.setdefault("compiled", _compiled(self.py_func))

    @cached_property
    def inside(self) -> Any:
        """The compiled function for other kernels only, without wrappers for Python."""
        bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        made = _compiled(self.py_func, **bare, **self._options)
        return self.__dict__.setdefault("inside", made)

    def __call__(self, *arguments: Any) -> Any:
        """Compile it for such arguments, if need be, and run it."""
        return self.compiled(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for when another kernel uses this one as a global."""
        return self.inside._numba_type_

    def __reduce__(self) -> str:
        """Pickle by name: an executor uses the kernel that it has compiled or cached."""
        return self.py_func.__qualname__


def _compiled(function: Callable[..., object], **options: Any) -> Any:
    import numba  # noqa: PLC0415  it takes long, and not every command needs a kernel

    compiled = numba.njit(function, nogil=True, **options)
    try:
        from reidrisk.core.kernel_cache import keep  # noqa: PLC0415  it loads numba too
    except ImportError:  # a numba with other internals: compile anew in each process
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
        What each call returned, in the order of the blocks. Of several errors, the first in this
        order is raised.
    """
    starts = range(0, total, block)
    if len(starts) <= 1:
        return [work(start, total) for start in starts]
    found: dict[int, Result] = {}
    wrong: dict[int, Exception] = {}

    def some(taken: Iterator[int]) -> None:
        for start in taken:
            try:
                found[start] = work(start, min(start + block, total))
            except Exception as error:
                wrong[start] = error
                raise

    try:
        over_queue(some, starts, min(cores(), len(starts)))
    except Exception:
        if wrong:  # blocks are taken in order: all before the first of these were done
            raise wrong[min(wrong)] from None
        raise
    return [found[start] for start in starts]


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items; while one is in use, another thread makes the next, in the same context."""
    # The limit of memory and other settings are context variables, which threads do not inherit.
    context = copy_context()

    def following() -> list[Item]:
        return context.run(lambda: list(islice(items, 1)))

    with _Threads[list[Item]]() as threads:
        threads.start(following)
        while made := threads.outcome():
            threads.start(following)
            yield made[0]


def over_queue(
    work: Callable[[Iterator[Item]], Result], items: Iterable[Item], threads: int
) -> list[Result]:
    """Call `work` on several threads at once; each takes items from one queue until it is empty.

    For work that gathers into something large, which each thread should have only once: there are
    no more threads than items, if these can be counted. An error empties the queue.
    """
    queue, lock = iter(items), threading.Lock()
    count = min(threads, len(items)) if isinstance(items, Sized) else threads

    def take() -> Iterator[Item]:
        while True:
            listen()
            with lock:
                some = list(islice(queue, 1))
            if not some:
                return
            yield some[0]

    with _Threads[Result]() as pool:
        for _ in range(count):
            pool.start(lambda: work(take()))
        try:
            return [pool.outcome() for _ in range(count)]
        except Exception:
            with lock:  # so that the other threads end with the item that they have
                queue = iter(())
            raise


def listen() -> None:
    """End the work of this thread if nobody waits for it any more.

    Work that takes long for one item calls this every few hundred milliseconds.
    """
    stop: _Stop | None = getattr(_here, "stop", None)
    if stop is not None and stop.said:
        raise _Stopped


class _Stopped(BaseException):
    """Raised in a thread for whose result nobody waits any more."""


class _Stop:
    """Whether some threads are to stop, or the thread that started them is."""

    def __init__(self) -> None:
        self.outer: _Stop | None = getattr(_here, "stop", None)
        self.own = False

    @property
    def said(self) -> bool:
        return self.own or (self.outer is not None and self.outer.said)


class _Threads(Generic[Result]):
    """Daemon threads for some work, which do not keep the process from ending."""

    def __init__(self) -> None:
        self.stop = _Stop()
        self.threads: list[threading.Thread] = []
        self.outcomes: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()

    def __enter__(self) -> "_Threads[Result]":
        return self

    def start(self, work: Callable[[], Result]) -> None:
        """Begin some work; a thread that cannot be started is reported as a lack of memory."""

        def run() -> None:
            _here.stop = self.stop
            try:
                outcome: Any = (work(), None)
            except BaseException as wrong:  # noqa: BLE001  raised again by who waits
                outcome = (None, wrong)
            self.outcomes.put(outcome)

        thread = threading.Thread(target=run, daemon=True)
        self.threads.append(thread)
        try:
            thread.start()
        except RuntimeError as wrong:
            raise MemoryError(str(wrong)) from wrong

    def outcome(self) -> Result:
        """Return or raise the outcome of the next thread that is done."""
        found, wrong = self.outcomes.get()
        if wrong is not None:
            raise wrong
        return found  # type: ignore[return-value]

    def __exit__(self, _kind: object, wrong: BaseException | None, _trace: object) -> None:
        """Wait for all; after an interrupt they are told to stop, and not waited for long."""
        self.stop.own = isinstance(wrong, KeyboardInterrupt | _Stopped)
        until = time.monotonic() + _MOMENT
        for thread in self.threads:
            if thread.ident is None:  # it was not started
                continue
            thread.join(max(until - time.monotonic(), 0.0) if self.stop.own else None)
