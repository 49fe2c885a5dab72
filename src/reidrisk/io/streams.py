"""Unpack compressed files as streams.

Nothing is trusted: a packed file may end early or be far larger than it looks, and a file may
change while it is read.
"""

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from reidrisk.core.files import existing_file
from reidrisk.errors import InvalidInput, TooLarge

Progress = Callable[[int, int], None]
"""Told how many bytes of the file have been read, and how many there are."""

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
DAMAGED = (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, NotImplementedError)
# Tables as people write them shrink to a tenth, logs of one and the same line to a hundredth.
MOST_TIMES, ANY_TIMES_UNTIL = 200, 1 << 28
_ALLOWED = "REIDRISK_MOST_EXPANSION"
# Read between two looks at how far it is.
PORTION = 1 << 24
GIBIBYTE, MEBIBYTE = 1 << 30, 1 << 20


@dataclass(frozen=True, slots=True)
class Packing:
    """How the bytes of a file are packed, and the name of what is inside."""

    kind: str
    name: str


class Stream:
    """A file, opened to be read from front to back."""

    def __init__(self, file: Path, progress: Progress | None = None) -> None:
        self.file, self._progress = existing_file(file), progress
        self.size, self._given = self.file.stat().st_size, 0
        self._stack = ExitStack()
        self._raw: Any = self._stack.enter_context(self.file.open("rb"))
        start = self._raw.read(len(ZIP))
        self._raw.seek(0)
        self.packing: Packing | None = None
        self._unpacked: Any = self._raw
        try:
            self._unpack(start)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self, count: int) -> bytes:
        """The next bytes, fewer only at the end."""
        room = bytearray(count)
        return bytes(memoryview(room)[: self.fill(memoryview(room))])

    def fill(self, room: memoryview) -> int:
        """Put the next bytes there; returns how many, fewer than there is room only at the end."""
        count = 0
        while count < len(room):
            try:
                got = self._unpacked.readinto(room[count : count + PORTION])
            except DAMAGED as wrong:
                raise _damaged(self.file) from wrong
            self._given += got
            count += got
            taken = min(self._raw.tell(), self.size)
            if self.packing is not None:
                refuse_expansion(self.file, self._given, taken)
            if self._progress is not None:
                self._progress(taken if got else self.size, self.size)
            if not got:
                break
        return count

    def _unpack(self, start: bytes) -> None:
        name = self.file.name
        if start.startswith(GZIP):
            self.packing = Packing("gzip", name.removesuffix(".gz").removesuffix(".GZ"))
            self._unpacked = self._stack.enter_context(pa.CompressedInputStream(self._raw, "gzip"))
        elif start == ZIP:
            self._open_zip()
        elif name.lower().endswith((".gz", ".zip")):
            raise InvalidInput(
                f"{self.file}: this is not a {name.rpartition('.')[2]} file, whatever its name "
                "says; copy it again, or give it the name of what it is",
                code="wrong-packing",
            )

    def _open_zip(self) -> None:
        try:
            archive = self._stack.enter_context(zipfile.ZipFile(self._raw))
            inside = [one for one in archive.infolist() if _is_content(one)]
            if len(inside) == 1:
                self.packing = Packing("zip", Path(inside[0].filename).name)
                self._unpacked = self._stack.enter_context(archive.open(inside[0]))
                return
        except RuntimeError:
            raise InvalidInput(
                f"{self.file}: what is inside needs a password; unpack it first",
                code="encrypted-file",
            ) from None
        except DAMAGED as wrong:
            raise _damaged(self.file) from wrong
        names = ", ".join(sorted(one.filename for one in inside)[:8]) or "nothing"
        more = f" and {len(inside) - 8} more" if len(inside) > 8 else ""  # noqa: PLR2004
        raise InvalidInput(
            f"{self.file}: there must be one file inside, and there are {names}{more}; unpack it, "
            "and give the file you want",
            code="several-files",
        )


def refuse_expansion(file: Path, given: int, taken: int) -> None:
    """Refuse what is far larger than it looks: so many bytes come out of so many."""
    if given > most_from(taken):
        times = given // max(taken, 1)
        raise TooLarge(
            f"{file}: {_amount(given)} and more come out of {_amount(taken)}, {times:,} times as "
            "much; tables seldom shrink so far. If it is one, unpack it or write it otherwise, or "
            f"allow more than {_most_times()} times with {_ALLOWED}={2 * times} in the environment",
            code="suspicious-expansion",
        )


def most_from(taken: int) -> int:
    """How many bytes may come out of so many."""
    return max(ANY_TIMES_UNTIL, _most_times() * max(taken, 1))


@contextmanager
def unchanged(file: Path) -> Iterator[None]:
    """Refuse what was read if the file is another one afterwards."""
    before, failed = _state(file), None
    try:
        yield
    except InvalidInput as wrong:
        if _state(file) == before:
            raise
        failed = wrong
    if _state(file) != before:
        raise InvalidInput(
            f"{file}: the file changed while it was read, so the rows do not come from one state "
            "of it; read it again when nobody is writing to it",
            code="file-changed",
        ) from failed


def _state(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns


def _is_content(entry: zipfile.ZipInfo) -> bool:
    name = Path(entry.filename)
    return not (entry.is_dir() or name.name.startswith(".") or "__MACOSX" in name.parts)


def _most_times() -> int:
    said = os.environ.get(_ALLOWED, "")
    if said and not said.isdecimal():
        raise InvalidInput(
            f"{_ALLOWED} in the environment is a whole number, got {said!r}",
            code="not-a-whole-number",
        )
    return int(said or MOST_TIMES)


def _amount(size: int) -> str:
    if size >= GIBIBYTE:
        return f"{size / GIBIBYTE:.1f} GiB"
    return f"{size / MEBIBYTE:.1f} MiB"


def _damaged(file: Path) -> InvalidInput:
    return InvalidInput(
        f"{file}: the file cannot be read to its end; copy it again, it is damaged",
        code="damaged-file",
    )
