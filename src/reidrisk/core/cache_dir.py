"""A cache folder owned by the user, whose files are checked by owner, mode and checksum.

Compiled kernels and the scripts of pages run with all rights of their user. So a file is used only
if it belongs to this user, nobody else may write to it, and its checksum fits; otherwise it counts
as missing. What cannot be read or written is made again, which costs time and nothing else.
"""

import os
import sys
import tempfile
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from reidrisk.core.digest import sha256_bytes

_CHECKSUM_SIZE = 32
_OTHERS_MAY_WRITE = 0o022


def cache_folder() -> Path | None:
    """The folder of cached files; None if none is safe from changes by other users.

    It is `reidrisk` in `NUMBA_CACHE_DIR`, if that is set, or else in the cache folder of the user.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    places = (
        named and Path(named).absolute() / "reidrisk",
        user_cache_path("reidrisk", appauthor=False),
    )
    return next(filter(None, (_private(place) for place in places if place)), None)


def read_cached(path: Path, stamp: bytes) -> bytes | None:
    """The content of a cached file; None if it is missing, damaged, or made from something else.

    Args:
        path: The file.
        stamp: Identifies what the content was made from.
    """
    try:
        with path.open("rb") as file:
            # The open file is checked, not the path, which could change in between.
            if not _is_ours(os.fstat(file.fileno())):
                return None
            checksum, content = file.read(_CHECKSUM_SIZE), file.read()
    except OSError:
        return None
    return content if checksum == sha256_bytes((stamp, content)) else None


def write_cached(path: Path, stamp: bytes, content: bytes) -> None:
    """Write a cached file, whole or not at all; nothing happens where that is not possible.

    Args:
        path: The file.
        stamp: Identifies what the content was made from.
        content: What to keep.
    """
    try:
        handle, part = tempfile.mkstemp(prefix=".", dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(sha256_bytes((stamp, content)) + content)
        Path(part).replace(path)
    except OSError:
        return
    finally:
        Path(part).unlink(missing_ok=True)


@cache
def _private(folder: Path) -> Path | None:
    """The folder, made if need be, if it belongs to this user alone."""
    if not folder.is_absolute():  # the home folder of this user is unknown
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_ours(folder.lstat()) and os.access(folder, os.W_OK) else None
    except OSError:
        return None


def _is_ours(status: os.stat_result) -> bool:
    """Whether it belongs to this user, and nobody else may write to it."""
    if sys.platform == "win32":  # modes say nothing there, and the folder is in the user's own
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE
