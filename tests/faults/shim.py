"""Faults of the machine at the k-th operation of a command, counted from 0.

Python tells an audit hook before it opens, renames, removes or makes anything, however it is asked
to; what the hook raises is what the code sees. Writing itself is told to nobody, so a limit of the
file size stands in for a full disk: the kernel then refuses all but a few bytes, to compiled
libraries too. Flushing to disk and numpy's allocations are counted by functions in their places.
"""

import contextlib
import errno
import functools
import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import numpy as np

How = Literal["once", "gone", "killed"]
"""Once; from now on always, as where a disk is pulled out; or nothing more happens at all."""

CODES = (errno.ENOSPC, errno.EIO, errno.EACCES)
TORN = 5
"""Bytes of a file that still arrive."""
ALLOCATING = (
    "empty", "zeros", "ones", "full", "arange", "concatenate", "stack", "empty_like", "zeros_like",
    "array", "asarray", "repeat", "unique", "bincount", "cumsum", "where", "flatnonzero", "nonzero",
)  # fmt: skip
_CHANGES = {
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.truncate",
    "os.link",
    "os.symlink",
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_UNLIMITED = resource.getrlimit(resource.RLIMIT_FSIZE)


class Killed(BaseException):
    """The process is dead: nobody can catch this and still do anything."""


@dataclass
class Fault:
    """Counts what happens to files below a folder, and lets the k-th of it fail."""

    place: Path
    at: int | None = None
    how: How = "once"
    told: list[str] = field(default_factory=list)

    @property
    def failed(self) -> str | None:
        """What failed; None if the command ended sooner."""
        return self.told[self.at] if self.at is not None and self.at < len(self.told) else None

    def happens(self, what: str, path: Any) -> None:
        """Something is about to be done to a file."""
        _limit(None)
        self._next(what, path)

    def opens(self, path: Any) -> None:
        """A file is opened to be written, and then written."""
        self.happens("open", path)
        self._next("write", path)

    def flushes(self, _number: int) -> None:
        """A file or folder goes to the disk."""
        self._next("fsync", "")

    def _next(self, what: str, path: Any) -> None:
        number = len(self.told)
        self.told.append(f"{what} {Path(os.fsdecode(path)).name}")
        if self.at is None or number < self.at or (number > self.at and self.how == "once"):
            return
        if what == "write":
            _limit(TORN if number == self.at else 0)
            return
        if self.how != "once":
            _limit(0)
        if self.how == "killed":
            raise Killed
        code = CODES[number % 3] if self.how == "once" else errno.EIO
        raise OSError(code, os.strerror(code), os.fsdecode(path) or None)

    def watches(self, path: Any) -> bool:
        """Whether a path is below the folder."""
        if isinstance(path, int) or path is None:
            return False
        return os.path.abspath(os.fsdecode(path)).startswith(f"{self.place}{os.sep}")  # noqa: PTH100


def _limit(size: int | None) -> None:
    soft = _UNLIMITED[0] if size is None else size
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, _UNLIMITED[1]))


_active: list[Fault] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _active or (event != "open" and event not in _CHANGES):
        return
    (fault,) = _active
    if not fault.watches(arguments[0]):
        return
    if event != "open":
        fault.happens(event, arguments[0])
    elif (arguments[2] or 0) & _WRITES:
        fault.opens(arguments[0])


_hooked = functools.cache(lambda: sys.addaudithook(_hook))  # a hook stays as long as the process


@contextlib.contextmanager
def faulty_files(place: Path, at: int | None = None, how: How = "once") -> Iterator[Fault]:
    """Let the k-th operation on files below a folder fail; only count if k is not given."""
    _hooked()
    fault = Fault(place, at, how)
    flush = os.fsync

    def fsync(number: int) -> None:
        fault.flushes(number)
        flush(number)

    _active.append(fault)
    try:
        with mock.patch.object(os, "fsync", fsync):
            yield fault
    finally:
        _active.clear()
        _limit(None)


@contextlib.contextmanager
def faulty_memory(at: int | None = None) -> Iterator[list[str]]:
    """Let the k-th array that our own code asks numpy for find no memory; gives all of them."""
    told: list[str] = []

    def counted(name: str, make: Any) -> Any:
        @functools.wraps(make)
        def instead(*arguments: Any, **options: Any) -> Any:
            caller = sys._getframe(1).f_globals.get("__name__", "")  # noqa: SLF001
            if caller.startswith("reidrisk."):
                told.append(f"{caller}: {name}")
                if len(told) - 1 == at:
                    raise MemoryError(f"Unable to allocate 9.31 GiB for {name}")
            return make(*arguments, **options)

        return instead

    with contextlib.ExitStack() as stack:
        for name in ALLOCATING:
            stack.enter_context(mock.patch.object(np, name, counted(name, getattr(np, name))))
        yield told
