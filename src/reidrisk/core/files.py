"""Check files before reading, and write files whole or not at all.

A file is written under another name in the same folder, flushed to disk, and only then moved into
place: whatever happens, there is the old file or the new one. Devices and pipes are written to
directly, and links are refused.
"""

import errno
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reidrisk.errors import InvalidInput

PART = ".reidrisk-part"
"""How the names of our temporary files end, and those of nobody else."""

ONLY_ME = 0o600
"""Mode of files with data of users: only the owner may read them."""

_NO_LINKS_NO_WAITING = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
# Not every file system can flush a folder.
_NO_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM}


@contextmanager
def written_whole(*paths: str | os.PathLike[str], mode: int = 0o666) -> Iterator[tuple[Path, ...]]:
    """Give temporary files beside the wanted ones, and move them there when all are written.

    Args:
        paths: The wanted files.
        mode: Who may read and write them, less what the user's mask takes away. Before they are
            moved, only the owner may.
    """
    wanted = tuple(writable(path) for path in paths)
    # Names are chosen before files are made, so that an interrupt in between leaves none behind.
    parts = tuple(_part(path) for path in wanted)
    try:
        for part in parts:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, ONLY_ME))
        yield parts
        for part in parts:
            _flush(part, os.O_RDWR)
        for part, path in zip(parts, wanted, strict=True):
            if _is_stream(path):
                _pour(part, path)
            else:
                part.chmod(mode & ~_umask())
                part.replace(path)
        for folder in {path.parent for path in wanted if not _is_stream(path)}:
            _flush_folder(folder)
    except OSError as wrong:
        raise InvalidInput(
            f"{wrong.filename or wanted[0]}: cannot be written ({wrong.strerror}); check that the "
            "folder exists, has room and may be written to",
            code="cannot-write",
        ) from wrong
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def writable(path: str | os.PathLike[str]) -> Path:
    """The path, if writing a file there replaces nothing but a file."""
    file = Path(path)
    if file.is_symlink() and not _is_stream(file):
        raise InvalidInput(
            f"{file}: is a link, and what it points to would be lost or left as it is; name the "
            "file itself, or remove the link",
            code="path-is-link",
        )
    if file.is_dir():
        raise InvalidInput(
            f"{file}: cannot be written, it is a folder; name a file", code="path-is-folder"
        )
    if file.exists() and not (file.is_file() or _is_stream(file)):
        raise InvalidInput(
            f"{file}: cannot be written, it is a device or a socket; name a file",
            code="path-is-device",
        )
    return file


def keep_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse an output that is an input, by whatever name or link, or that is named twice."""
    read = {_identity(path): path for path in inputs if path.is_file()}
    written: set[Path] = set()
    for path in outputs:
        if path.is_file() and (same := read.get(_identity(path))) is not None:
            other = "" if same == path else f" as {same}"
            raise InvalidInput(
                f"{path}: is read{other}, and would be lost; give what is written a name of its "
                "own",
                code="overwrites-input",
            )
        if path.resolve() in written:
            raise InvalidInput(
                f"{path}: is to be written twice; name two files", code="duplicate-output"
            )
        written.add(path.resolve())


def left_over(file: Path) -> Iterator[Path]:
    """Temporary files of this file that killed processes left behind."""
    return file.parent.glob(f".{file.name}.*{PART}")


def append(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Add text to a file, which is made with this mode if not there; a link is not followed."""
    # Opening a pipe must fail at once instead of waiting for a reader.
    how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_LINKS_NO_WAITING
    writable(path)
    try:
        handle = os.open(path, how, mode)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as wrong:
        raise InvalidInput(
            f"{path}: cannot be written ({wrong.strerror}); check that it is a file, that there is "
            "room, and that it may be written to",
            code="cannot-write",
        ) from wrong


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The file, if it is there and has content."""
    file = Path(path)
    if not file.is_file():
        raise InvalidInput(f"{file}: there is no such file; check the path", code="file-not-found")
    if not file.stat().st_size:
        raise InvalidInput(f"{file}: the file is empty; write it again", code="empty-file")
    return file


def made_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if it is not there."""
    folder = Path(path)
    try:
        str(folder).encode()
    except UnicodeEncodeError as wrong:
        raise InvalidInput(
            f"{str(folder)!a}: this name is not UTF-8, which files of tables need; choose another",
            code="name-not-utf-8",
        ) from wrong
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise InvalidInput(
            f"{folder}: cannot be made ({wrong.strerror}); choose a folder that may be written to",
            code="cannot-write",
        ) from wrong
    return folder


def _identity(path: Path) -> tuple[int, int]:
    """The same for all names of a file."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _part(path: Path) -> Path:
    """A name that nobody else has, beside the wanted one."""
    folder = Path(tempfile.gettempdir()) if _is_stream(path) else path.parent
    return folder / f".{path.name}.{secrets.token_hex(8)}{PART}"


def _is_stream(path: Path) -> bool:
    """Whether it is a pipe, a terminal or another device, which cannot be replaced."""
    return _descriptor(path) is not None or path.is_fifo() or path.is_char_device()


def _descriptor(path: Path) -> int | None:
    """The file descriptor that a name such as `/dev/fd/3` or `/dev/stdout` stands for."""
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", str(path))
    return int(found[1]) if found else _STREAMS.get(str(path))


def _pour(part: Path, path: Path) -> None:
    number = _descriptor(path)
    sys.stdout.flush()  # what was printed before must come first
    with part.open("rb") as source, open(path if number is None else os.dup(number), "wb") as into:  # noqa: PTH123
        shutil.copyfileobj(source, into)


def _flush(path: Path, how: int) -> None:
    """Write its pages to disk, so that it survives a crash of the machine."""
    handle = os.open(path, how)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(folder: Path) -> None:
    """Have the names on disk, where folders can be flushed."""
    try:
        _flush(folder, os.O_RDONLY)
    except OSError as wrong:
        if wrong.errno not in _NO_FLUSH:
            raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
