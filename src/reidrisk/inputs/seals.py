"""The files of a released folder know each other: one id in all of them, and a checksum of each.

`release.json` is the seal. It names the id, and the SHA-256 of every other file and of itself. A
Parquet file of the folder names the id too, so that it is not taken for one that never had a seal
where `release.json` is gone or an older one. Whatever is read of such a folder is compared first:
what is damaged, or was left beside files of another release by a write that was killed, is refused.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from reidrisk.errors import InvalidInput
from reidrisk.files import sha256_of

AnyPath = str | os.PathLike[str]

SEAL = "release.json"
FOLDER = b"reidrisk:folder"
"""The note in Parquet files that holds the id."""

_AGAIN = "write the folder again with `reidrisk release` or write_observations"


@dataclass(frozen=True, slots=True)
class Seal:
    """What a folder says of itself.

    Args:
        note: What showed the rows, if somebody noted it.
        files: The SHA-256 of its files by their names; none if it was written before there were
            seals.
    """

    note: Mapping[str, Any]
    files: Mapping[str, str]


_NONE = Seal({}, {})


def sealed(note: Mapping[str, Any], identity: str, files: Mapping[str, Path]) -> str:
    """The text of a seal: the note, the id, and checksums of files by the names they will have."""
    said = {name: _digest(file) for name, file in files.items()}
    body = {**note, "files": {"id": identity, "sha256": said}}
    body["files"]["checksum"] = _own_checksum(body)
    return json.dumps(body, indent=1) + "\n"


def read_seal(folder: Path) -> Seal:
    """The seal of a folder; an empty one if there is none."""
    file = folder / SEAL
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return _NONE
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InvalidInput(f"{file} is damaged: it is no note in JSON; {_AGAIN}")
    note = {name: value for name, value in body.items() if name != "files"}
    if "files" not in body:
        return Seal(note, {})
    held = body["files"]
    whole = isinstance(held, dict) and isinstance(held.get("sha256"), dict)
    if not whole or held.get("checksum") != _own_checksum(body):
        raise InvalidInput(f"{file} is damaged: its checksum is another; {_AGAIN}")
    return Seal(note, held["sha256"])


def check(path: AnyPath) -> None:
    """Refuse a file of a sealed folder that is not what the seal says; before it is opened."""
    file = Path(path).resolve()
    wanted = _beside(file).files.get(file.name)
    if wanted is not None and file.is_file() and _digest(file) != wanted:
        raise InvalidInput(
            f"{path}: the file is damaged, or was written by another release than {SEAL} beside "
            f"it: its checksum is another; {_AGAIN}"
        )


def check_origin(path: AnyPath, notes: Mapping[bytes, bytes]) -> None:
    """Refuse a file whose own notes say that it is of a sealed folder, where the seal is gone."""
    if FOLDER not in notes:
        return
    file = Path(path).resolve()
    seal = _beside(file)
    if file.name not in seal.files and _digest(file) not in seal.files.values():
        raise InvalidInput(
            f"{path}: the file belongs to a folder with checksums, and {SEAL} with them is "
            f"missing, damaged or of another release; keep all files of the folder together, or "
            f"{_AGAIN}"
        )


def _beside(file: Path) -> Seal:
    """The seal beside a file; an empty one if what has its name is damaged or somebody else's."""
    try:
        return read_seal(file.parent)
    except (InvalidInput, OSError):
        return _NONE


def _own_checksum(body: Mapping[str, Any]) -> str:
    """Of all that a seal says, except this."""
    held = {name: value for name, value in body["files"].items() if name != "checksum"}
    text = json.dumps({**body, "files": held}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(file: Path) -> str:
    found = file.stat()
    return _digest_of(file, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@lru_cache(maxsize=16)
def _digest_of(file: Path, *_state: int) -> str:
    """Once for a file as it is: it is opened several times until it is read."""
    return sha256_of(file)
