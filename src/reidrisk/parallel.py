"""Compiled loops on all cores: one decorator, one way to share the work.

Kernels release the interpreter lock, so plain threads run them side by side. Work is always cut
into the same blocks, whatever the number of threads, and results come back in block order: no
answer depends on the machine.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numba

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers on its first call, and keep it on disk."""
    try:
        return numba.njit(function, nogil=True, cache=True)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder can be written to: compile anew in each process
        return numba.njit(function, nogil=True)  # type: ignore[no-any-return]


def cores() -> int:
    """Number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    with ThreadPoolExecutor(min(cores(), len(starts))) as threads:
        return list(threads.map(lambda start: work(start, min(start + block, total)), starts))
