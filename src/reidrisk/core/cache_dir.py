"""A cache folder owned by the user, whose files are checked by owner, mode and checksum.

Compiled kernels and the scripts of pages run with all that their reader may do. So a file is used
only if it belongs to us, nobody else may write to it, and its checksum fits; anything else is a
file that is not there yet. What cannot be read or written costs the time to make it again, and
nothing else.
"""

import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

_DIGEST = hashlib.sha256().digest_size
_OTHERS_MAY_WRITE = 0o022


def own_folder() -> Path | None:
    """Where things are kept; None if there is no place to which nobody else may write."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    places = (named and Path(named).absolute() / "reidrisk", _of_this_user())
    return next(filter(None, (_private(place) for place in places if place)), None)


def found(path: Path, stamp: bytes) -> bytes | None:
    """What is kept there, if it is ours, whole, and made from what the stamp tells."""
    try:
        with path.open("rb") as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            checksum, content = file.read(_DIGEST), file.read()
    except OSError:
        return None
    return content if checksum == _checksum(stamp, content) else None


def keep(path: Path, stamp: bytes, content: bytes) -> None:
    """Write a file that is there whole or not at all, whoever else writes it; or not at all."""
    try:
        handle, part = tempfile.mkstemp(prefix=".", dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_checksum(stamp, content) + content)
        Path(part).replace(path)
    except OSError:
        return
    finally:
        Path(part).unlink(missing_ok=True)


def _of_this_user() -> Path | None:
    """The folder of this user for what can be made again; None if nobody knows their home."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
        return Path(base) / "reidrisk" / "Cache" if base else None
    usual = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    asked = None if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME")
    place = Path(asked or os.path.expanduser(usual)) / "reidrisk"  # noqa: PTH111  does not raise
    return place if place.is_absolute() else None


@cache
def _private(folder: Path) -> Path | None:
    """The folder, made if need be, if it is ours alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_ours(folder.lstat()) and os.access(folder, os.W_OK) else None
    except OSError:
        return None


def _is_ours(status: os.stat_result) -> bool:
    """Whether it belongs to this user, and nobody else may write to it."""
    if sys.platform == "win32":  # the folder is one of the user's own, and modes say nothing
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE


def _checksum(stamp: bytes, content: bytes) -> bytes:
    digest = hashlib.sha256(stamp)
    digest.update(content)
    return digest.digest()
