"""What every benchmark needs: a clock, a table, and a word about the machine."""

import os
import platform
import time
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


def machine():
    """One line: processor, cores, versions."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, {libraries}"
