"""What every benchmark needs: a clock, a table, and a word about the machine."""

import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version

from rich.console import Console
from rich.table import Table


def seconds(function, repeat=5):
    """Best wall time of `repeat` calls, after one call that may compile; and the last answer."""
    answer = function()
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        answer = function()
        best = min(best, time.perf_counter() - start)
    return best, answer


def table(title, rows, goal="at most"):
    """Print rows of (what, our seconds, peer, peer's seconds, limit on ours / peer's)."""
    grid = Table("what", "ours, s", "against", "its s", "ratio", goal, title=title)
    for what, ours, peer, theirs, limit in rows:
        ratio = ours / theirs
        grid.add_row(
            what, f"{ours:.4f}", peer, f"{theirs:.4f}", f"{ratio:.3g}", f"{limit:g}",
            style="" if ratio <= limit else "red",
        )  # fmt: skip
    Console(width=110).print(grid)


@dataclass(frozen=True)
class Spent:
    """What a program took: seconds, seconds of processors, bytes at its peak; and what it said."""

    seconds: float
    processor: float
    peak: int
    said: str


def spent(*words):
    """Run a program, `python ...`, and see what it takes of the machine."""
    start = time.perf_counter()
    command = [sys.executable, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:  # noqa: S603  our own words
        said = program.stdout.read().decode()
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise SystemExit(f"python {' '.join(map(str, words))}: ended with {program.returncode}")
    return Spent(
        time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss << 10, said
    )


def figures(title, headings, rows):
    """Print figures that are compared with nothing."""
    grid = Table(*headings, title=title)
    for row in rows:
        grid.add_row(*map(str, row))
    Console(width=110).print(grid)


def machine():
    """One line: processor, cores, versions."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, {libraries}"
