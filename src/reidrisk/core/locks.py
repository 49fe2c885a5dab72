"""Lock a folder, so that one process works in it at a time.

A lock of the operating system (`flock`) ends with the process that holds it, however it ends, so a
process that is gone keeps nobody out. A note beside it says who holds it, for messages. Where there
is no such lock, on Windows and on some network disks, the note itself is the lock, because only one
process can create it. A note left behind by a process of this machine that is gone is taken over.
Whether a process on another machine still runs cannot be known, so the message says which file to
remove.
"""

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reidrisk.errors import InvalidInput

NOTE = ".reidrisk-lock"
"""The name of the note in the folder."""


@dataclass(frozen=True)
class Lock:
    """A folder that is this process's own.

    Attributes:
        folder: Which.
        state: What it was when it was locked, to know it again.
        said: What the note says.
    """

    folder: Path
    state: os.stat_result
    said: str

    @property
    def holds(self) -> bool:
        """Whether the folder is still where it was, and still this process's own."""
        try:
            return (
                os.path.samestat(self.folder.stat(), self.state)
                and (self.folder / NOTE).read_text(encoding="utf-8") == self.said
            )
        except (OSError, ValueError):
            return False


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Keep others out of a folder, which is there.

    Raises:
        InvalidInput: Somebody else is in it; says who, and since when. Or it cannot be written to.
    """
    try:
        handle = _system_lock(folder)
    except BlockingIOError:
        raise _in_use(folder) from None
    try:
        lock = _noted(folder, alone=handle is not None)
        try:
            yield lock
        finally:
            if lock.holds:
                (folder / NOTE).unlink(missing_ok=True)
    finally:
        if handle is not None:
            os.close(handle)


def _system_lock(folder: Path) -> int | None:
    """A handle that locks the folder until it is closed; None where the system has no such lock.

    Raises:
        BlockingIOError: Somebody else has it.
    """
    try:
        import fcntl  # noqa: PLC0415  Windows has none
    except ImportError:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:  # a network disk
        os.close(handle)
        return None
    return handle


def _noted(folder: Path, *, alone: bool) -> Lock:
    """Write the note; `alone` if the operating system granted the lock."""
    note, state = folder / NOTE, folder.stat()
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    said = json.dumps({"process": os.getpid(), "machine": platform.node(), "since": since})
    try:
        if alone or _left_behind(_read(note)):
            note.unlink(missing_ok=True)
        file = note.open("x", encoding="utf-8")
        try:
            with file:
                file.write(said)
        except OSError:
            note.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise _in_use(folder, f"; if it is gone, remove {note}") from None
    except OSError as wrong:
        raise InvalidInput(
            f"{folder}: cannot be written ({wrong.strerror}); choose a folder that may be written "
            "to",
            code="cannot-write",
        ) from wrong
    return Lock(folder, state, said)


def _in_use(folder: Path, more: str = "") -> InvalidInput:
    holder = _read(folder / NOTE)
    who = "another process"
    if holder:
        who = (
            f"process {holder.get('process')} on {holder.get('machine')}, since "
            f"{holder.get('since')} UTC,"
        )
    return InvalidInput(
        f"{folder} is in use: {who} works there. Wait until it ends, or use another folder{more}",
        code="folder-in-use",
    )


def _read(note: Path) -> dict[str, object]:
    """The content of a note; empty if there is none, or if it is just being written."""
    with suppress(OSError, ValueError):
        said = json.loads(note.read_text(encoding="utf-8"))
        return said if isinstance(said, dict) else {}
    return {}


def _left_behind(holder: dict[str, object]) -> bool:
    """Whether the holder was a process of this machine that is gone."""
    process = holder.get("process")
    if holder.get("machine") != platform.node() or not isinstance(process, int):
        return False
    if os.name == "nt":  # there `os.kill` with signal 0 would end the process
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's
        return False
    return False
