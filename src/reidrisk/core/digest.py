"""SHA-256 of bytes, JSON values and files: every checksum and fingerprint of the package."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

Data: TypeAlias = bytes | bytearray | memoryview | str

_of_files: dict[tuple[Path, int, int, int, int], str] = {}
"""Digests of files by their state: one file is opened several times before it is read."""


IF_SET = "described if set"
"""Marks a field of a later version: what does not use it is described as before."""


def sha256(*parts: Data) -> str:
    """The SHA-256 of parts one after the other, in hexadecimal digits.

    Args:
        parts: Bytes, or text, which is taken as UTF-8.
    """
    return sha256_bytes(parts).hex()


def sha256_bytes(parts: Iterable[Data]) -> bytes:
    """The SHA-256 of parts one after the other, as 32 bytes.

    Args:
        parts: Bytes, or text, which is taken as UTF-8; perhaps made one by one.
    """
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.digest()


def sha256_json(value: Any) -> str:
    """The SHA-256 of a value as JSON with sorted keys: the same on every machine.

    Args:
        value: Whatever JSON knows.
    """
    return sha256(json.dumps(value, sort_keys=True))


def sha256_file(file: Path, *, cached: bool = False) -> str:
    """The SHA-256 of a file.

    Args:
        file: Which.
        cached: Whether a digest of before may be taken, if identity, size and times of the file
            are still the same.
    """
    path, found = file.resolve(), file.stat()
    # A file that was replaced or written to since has another inode, size or time.
    state = path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    if not cached or state not in _of_files:
        with path.open("rb") as content:
            _of_files[state] = hashlib.file_digest(content, "sha256").hexdigest()
    return _of_files[state]
