"""Unpack and recode files with the standard library.

Nothing is trusted: a packed file may end early or be far larger than it looks, and a file may
change while it is read.
"""

import bz2
import codecs
import lzma
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from reidrisk.core.files import existing_file
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput, TooLarge

Progress = Callable[[int, int], None]
"""Told how many bytes of the file have been read, and how many there are."""

_ZIP = b"PK\x03\x04"
# What a packed file begins with, its kind, and the suffix it usually has.
MAGIC = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"BZh": ("bz2", ".bz2"),
    b"\xfd7zXZ\0": ("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst"),
    _ZIP: ("zip", ".zip"),
}
_OLD_SHEET = b"\xd0\xcf\x11\xe0"
# Files inside of a workbook by which it is known.
_WORKBOOKS = {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}
SUFFIXES = tuple(suffix for _, suffix in MAGIC.values())
DAMAGED = (
    OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    NotImplementedError,
)  # fmt: skip
UTF_8 = "utf-8"
# Tables as people write them shrink to a tenth, logs of one and the same line to a hundredth.
MOST_TIMES, ANY_TIMES_UNTIL = 200, 1 << 28
_ALLOWED = "REIDRISK_MOST_EXPANSION"
# Read between two looks at how far it is.
PORTION = 1 << 24
GIBIBYTE, MEBIBYTE = 1 << 30, 1 << 20


@dataclass(frozen=True, slots=True)
class _Packing:
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
        start = self._raw.read(max(map(len, MAGIC)))
        self._raw.seek(0)
        self.packing: _Packing | None = None
        self.sheet = start.startswith(_OLD_SHEET)
        """Whether it is a workbook of a spreadsheet, which is not unpacked."""
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
        kind, suffix = next(
            (found for sign, found in MAGIC.items() if start.startswith(sign)), ("", "")
        )
        if kind == "zip":
            self._open_zip()
        elif kind:
            inside = name[: -len(suffix)] if name.lower().endswith(suffix) else name
            self.packing = _Packing(kind, inside)
            # Arrow reads gzip and zstd several times as fast as the standard library.
            opened = (
                bz2.BZ2File(self._raw) if kind == "bz2"
                else lzma.LZMAFile(self._raw) if kind == "xz"  # noqa: SIM115  the stack closes it
                else pa.CompressedInputStream(self._raw, kind)
            )  # fmt: skip
            self._unpacked = self._stack.enter_context(opened)
        elif name.lower().endswith(SUFFIXES):
            raise InvalidInput(
                f"{self.file}: this is not a {name.rpartition('.')[2]} file, whatever its name "
                "says; copy it again, or give it the name of what it is",
                code="wrong-packing",
            )

    def _open_zip(self) -> None:
        try:
            archive = self._stack.enter_context(zipfile.ZipFile(self._raw))
            if _WORKBOOKS & {*archive.namelist()}:
                self.sheet = True
                self._raw.seek(0)
                return
            inside = [one for one in archive.infolist() if _is_content(one)]
            if len(inside) == 1:
                self.packing = _Packing("zip", Path(inside[0].filename).name)
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


def plain_copy(file: Path, target: Path, encoding: str) -> Path:
    """Write the text of a file, unpacked and as UTF-8 without a mark, to another file.

    Args:
        file: The file, packed or not.
        target: Is written; its folder is private.
        encoding: Of the text.
    """
    read = None if encoding == UTF_8 else codecs.getincrementaldecoder(encoding)()
    with Stream(file) as stream, target.open("xb") as copy:
        while data := stream.read(PORTION):
            _refuse_full(target, len(data))
            text = data if read is None else _recoded(file, read, data, final=False)
            copy.write(text if copy.tell() else text.removeprefix(codecs.BOM_UTF8))
        if read is not None:
            copy.write(_recoded(file, read, b"", final=True))
    return target


def _recoded(file: Path, read: codecs.IncrementalDecoder, data: bytes, *, final: bool) -> bytes:
    try:
        return read.decode(data, final).encode()
    except UnicodeError:
        raise InvalidInput(
            f"{file}: the file is not in the encoding that it was said to have; say another one "
            f"with {setting('encoding')}, or convert it to UTF-8",
            code="not-utf8",
        ) from None


def has_mixed_ends(file: Path) -> bool:
    """Whether some lines of a file end as those of Windows and others do not.

    Args:
        file: A plain text.
    """
    pairs = feeds = 0
    last = b""
    with file.open("rb") as text:
        while data := text.read(PORTION):
            feeds += data.count(b"\n")
            pairs += data.count(b"\r\n") + (last == b"\r" and data.startswith(b"\n"))
            last = data[-1:]
    return 0 < pairs < feeds


def write_one_line_end(target: Path) -> None:
    """Replace line ends of Windows within a private copy; it only gets shorter.

    Args:
        target: The copy.
    """
    with target.open("r+b") as copy, target.open("rb") as old:
        rest = b""
        while data := old.read(PORTION):
            # A line end that is cut in two goes to the next portion.
            data, rest = rest + data, b"\r" if data.endswith(b"\r") else b""
            copy.write(data[: len(data) - len(rest)].replace(b"\r\n", b"\n"))
        copy.write(rest)
        copy.truncate()


def _refuse_full(target: Path, size: int) -> None:
    if shutil.disk_usage(target.parent).free < size:
        raise TooLarge(
            f"{target.parent}: the disk has no room for what is unpacked; make room, or name a "
            "folder with more room in TMPDIR",
            code="out-of-disk",
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
