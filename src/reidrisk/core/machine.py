"""Cores and memory that this process may use, inside containers and under limits.

Of several limits the tightest holds: what the machine has free, what each control group around the
process leaves, what `ulimit` allows, and what the user said.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from reidrisk.core.settings_syntax import option
from reidrisk.errors import TooLarge

Part = TypeVar("Part")

GIB = 1 << 30

_ROOT = Path("/")
_PLENTY = 1 << 62
# The fraction of free memory that may be taken: estimates are not exact, and others need memory.
_TAKEN = 4, 5
# Address space that libraries need to start, and for the threads of each core: without it they do
# not raise an error but end the process. Measured: see decision 23.
_TO_START, _FOR_A_CORE = 3 * GIB // 2, GIB // 8

# Limits given by the user (`limited`) and by Spark (`take_cores`), for this context only.
_said: ContextVar[int | None] = ContextVar("said", default=None)
_given: ContextVar[int | None] = ContextVar("given", default=None)


def take_cores(count: int | None) -> None:
    """Use so many cores from now on, whatever the machine has; None for all there are."""
    _given.set(count)


def cores(root: Path = _ROOT) -> int:
    """Number of cores this process may use."""
    if (given := _given.get()) is not None:
        return given
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min([here, *map(_cores_of_group, _groups(root, "cpu"))]), 1)


def free_memory(root: Path = _ROOT) -> int:
    """Bytes that this process can still take; a huge number if the system does not say.

    A limit given by the user replaces what the machine and its container have free, but not
    `ulimit`, which the system enforces.
    """
    return max(min(_left(root).values()), 0)


def to_get_more() -> str:
    """Advice how to get more memory, naming the tightest limit."""
    left, (_, memory, _) = _left(_ROOT), _taken(_ROOT)
    name = min(left, key=left.__getitem__)
    return f"raise {name} ({memory / GIB:.2g} GiB are taken already)"


def usable_memory() -> int:
    """Bytes that may be planned for: most of what is free."""
    part, whole = _TAKEN
    return free_memory() * part // whole


@contextmanager
def limited(most: int | None) -> Iterator[None]:
    """Let this process take so many bytes in all, whatever the machine has free."""
    before = _said.set(most)
    try:
        yield
    finally:
        _said.reset(before)


def check_fits(size: int, what: str, advice: str) -> None:
    """Refuse what would take more memory than there is, before it is taken.

    Args:
        size: Bytes.
        what: Needs them.
        advice: What would make it smaller.
    """
    if size > (usable := usable_memory()):
        raise TooLarge(
            f"{what}: this needs {size / GIB:.3g} GiB of memory and {usable / GIB:.3g} GiB can be "
            f"taken; {advice}, or {to_get_more()}",
            code="out-of-memory",
        )


def within_memory(parts: Iterable[Part], what: str) -> Iterator[Part]:
    """The same parts, refused once there is no memory left for as much again.

    Joining the parts at the end takes about as much memory as they take together.
    """
    _, before, _ = _taken(_ROOT)
    try:
        for part in parts:
            _, now, _ = _taken(_ROOT)
            check_fits(now - before, what, "give it fewer rows or columns")
            yield part
    finally:
        # A reader that is left half read keeps its connection busy.
        if isinstance(parts, Generator):
            parts.close()


def check_start() -> None:
    """Refuse limits of address space under which libraries would end the process."""
    needed = _TO_START + _FOR_A_CORE * cores()
    if min(_limits()) < _PLENTY:
        # The default pool of Arrow reserves a GiB of address space before it needs any.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    for limit, flag in zip(_limits(), "vd", strict=True):
        if limit < needed:
            raise TooLarge(
                f"`ulimit -{flag}` allows {limit / GIB:.3g} GiB of address space, and "
                f"{needed / GIB:.3g} GiB are needed to start with {cores()} cores; raise it, and "
                "limit the memory that is really taken with --max-memory",
                code="out-of-address-space",
            )


def check_address_space(size: int, what: str) -> None:
    """Refuse to load a library that ends the process if it cannot reserve this much."""
    address_space, _, _ = _taken(_ROOT)
    limit, _ = _limits()
    if limit - address_space < size:
        raise TooLarge(
            f"{what} reserves {size / GIB:.3g} GiB of address space, though it takes little of it, "
            f"and `ulimit -v` allows {limit / GIB:.3g} GiB; raise it",
            code="out-of-address-space",
        )


def _left(root: Path) -> dict[str, int]:
    """Bytes that can still be taken, by what would have to be raised for more."""
    address_space, memory, data = _taken(root)
    said, (most_space, most_data) = _said.get(), _limits()
    if said is None:
        left = min([_of_machine(root), *map(_of_group, _groups(root, "memory"))])
    else:
        left = said - memory
    return {
        option("max_memory"): left,
        "`ulimit -v`": most_space - address_space,
        "`ulimit -d`": most_data - data,
    }


def _limits() -> tuple[int, int]:
    """Bytes of address space and of data that the system allows."""
    try:
        import resource  # noqa: PLC0415  not on every system
    except ImportError:
        return _PLENTY, _PLENTY
    soft = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    address_space, data = (_PLENTY if one == resource.RLIM_INFINITY else one for one in soft)
    return address_space, data


def _taken(root: Path) -> tuple[int, int, int]:
    """Bytes of address space, of memory and of data that this process has.

    Pages of mapped files do not count as memory: the system drops them when it needs room.
    """
    pages = [int(one) for one in _text(root / "proc/self/statm").split()]
    if not pages:
        return 0, 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return pages[0] * page, (pages[1] - pages[2]) * page, pages[5] * page


def _of_machine(root: Path) -> int:
    """Bytes that the machine has free without swapping, or all its memory if it does not say."""
    lines = _text(root / "proc/meminfo").splitlines()
    if free := [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]:
        return free[0]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return _PLENTY


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The control groups around this process, of both versions, the innermost first."""
    top = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        # Inside a container its own group is mounted at the top, whatever path is named here.
        inside = [part for part in path.split("/") if part not in {"", ".."}]
        for mount in (top / names, top / controller) if names else (top, top / "unified"):
            for depth in range(len(inside), -1, -1):
                yield mount.joinpath(*inside[:depth])


def _of_group(group: Path) -> int:
    """Bytes that a control group leaves; its cached pages of files count as free."""
    names = ("memory.max", "memory.high", "memory.limit_in_bytes")
    limits = [found for name in names if (found := _number(group / name)) is not None]
    if not limits:
        return _PLENTY
    current = _number(group / "memory.current"), _number(group / "memory.usage_in_bytes")
    kept = dict(line.split()[:2] for line in _text(group / "memory.stat").splitlines())
    files = int(kept.get("total_inactive_file", kept.get("inactive_file", "0")))
    return min(limits) - max(max(one or 0 for one in current) - files, 0)


def _cores_of_group(group: Path) -> int:
    """Cores that a control group may use at a time, rounded up."""
    both = _text(group / "cpu.max").split()
    if not both:
        both = [_text(group / name) for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
    quota, period = (int(one) if one.strip().isdecimal() else 0 for one in both)
    return -(-quota // period) if quota and period else _PLENTY


def _number(file: Path) -> int | None:
    text = _text(file).strip()
    return int(text) if text.isdecimal() else None


def _text(file: Path) -> str:
    """The content of a file of the system; empty if it is not there."""
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""
