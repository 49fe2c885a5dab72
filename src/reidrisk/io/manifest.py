"""The files of a released folder know each other: one id in all of them, and a checksum of each.

`release.json` is the seal. It names the id, and the SHA-256 of every other file and of itself. A
Parquet file of the folder names the id too, so that it is not taken for one that never had a seal
where `release.json` is gone or an older one. Whatever is read of such a folder is compared first:
what is damaged, or was left beside files of another release by a write that was killed, is refused.

Known rows are one file, or many of them in a folder of their own, `known/`, which the seal names
with their folder.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reidrisk.core.files import sha256_of
from reidrisk.errors import InvalidInput

AnyPath = str | os.PathLike[str]

SEAL = "release.json"
FOLDER = b"reidrisk:folder"
"""The note in Parquet files that holds the id."""
BEGUN = ".reidrisk-begun"
"""The note in a folder that is being written, shard by shard; see `sharded_folder`."""
SHARDS, WHOLE = "known", "known.parquet"
"""Known rows: a folder of shards, or one file."""

_AGAIN = "write the folder again with `reidrisk release` or write_observations"

_digests: dict[tuple[Path, int, int, int, int], str] = {}
"""What was read, by the state of the file: it is opened several times until it is read."""


@dataclass(frozen=True, slots=True)
class Seal:
    """What a folder says of itself.

    Args:
        note: What showed the rows, if somebody noted it.
        files: The SHA-256 of its files by their names; none if it was written before there were
            seals.
        identity: The id of all that was written together.
    """

    note: Mapping[str, Any]
    files: Mapping[str, str]
    identity: str = ""

    @property
    def shards(self) -> list[str]:
        """The names of the files of known rows, if they are many."""
        return sorted(name for name in self.files if name.startswith(f"{SHARDS}/"))


_NONE = Seal({}, {})


def sealed(note: Mapping[str, Any], identity: str, files: Mapping[str, Path]) -> str:
    """The text of a seal: the note, the id, and checksums of files by the names they will have."""
    said = {name: digest(file) for name, file in files.items()}
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
        raise InvalidInput(
            f"{file} is damaged: it is not a note in JSON; {_AGAIN}", code="damaged-file"
        )
    note = {name: value for name, value in body.items() if name != "files"}
    if "files" not in body:
        return Seal(note, {})
    held = body["files"]
    whole = isinstance(held, dict) and isinstance(held.get("sha256"), dict)
    if not whole or held.get("checksum") != _own_checksum(body):
        raise InvalidInput(
            f"{file} is damaged: its checksum does not match; {_AGAIN}", code="checksum-mismatch"
        )
    return Seal(note, held["sha256"], str(held.get("id")))


def known_rows(folder: Path) -> Path:
    """Where the known rows of a released folder are: one file, or a folder of shards.

    Raises:
        InvalidInput: The folder is not written to its end, or a shard is gone.
    """
    shards = read_seal(folder).shards
    if not shards and (folder / BEGUN).exists():
        raise InvalidInput(
            f"{folder}: what is shown was not written to its end: {SEAL}, which comes last, is not "
            "there; run the same `reidrisk release` again, and it goes on where it was stopped",
            code="unfinished-folder",
        )
    check_shards(folder / SHARDS)
    return folder / (SHARDS if shards else WHOLE)


def check_shards(known: Path) -> None:
    """Refuse a folder of shards in which one is missing, by the seal above it."""
    for name in _seal_in(known.resolve().parent).shards if known.name == SHARDS else ():
        if not (known.parent / name).is_file():
            raise InvalidInput(
                f"{known.parent / name}: there is no such file, and {SEAL} names it; keep all "
                f"files of the folder together, or {_AGAIN}",
                code="file-not-found",
            )


def check(path: AnyPath) -> None:
    """Refuse a file of a sealed folder that is not what the seal says; before it is opened."""
    file = Path(path).resolve()
    seal, name = _seal_of(file)
    wanted = seal.files.get(name)
    if wanted is not None and file.is_file() and digest(file) != wanted:
        raise InvalidInput(
            f"{path}: the file is damaged, or was written by another release than {SEAL} beside "
            f"it: its checksum does not match; {_AGAIN}",
            code="checksum-mismatch",
        )


def check_origin(path: AnyPath, notes: Mapping[bytes, bytes]) -> None:
    """Refuse a file whose own notes say that it is of a sealed folder, where the seal is gone."""
    if FOLDER not in notes:
        return
    file = Path(path).resolve()
    seal, name = _seal_of(file)
    if name not in seal.files and digest(file) not in seal.files.values():
        raise InvalidInput(
            f"{path}: the file belongs to a folder with checksums, and {SEAL} with them is "
            f"missing, damaged or of another release; keep all files of the folder together, or "
            f"{_AGAIN}",
            code="checksum-mismatch",
        )


def _seal_of(file: Path) -> tuple[Seal, str]:
    """The seal that knows a file, and by which name: it lies beside it, or above a shard."""
    if file.parent.name == SHARDS and (seal := _seal_in(file.parent.parent)).shards:
        return seal, f"{SHARDS}/{file.name}"
    return _seal_in(file.parent), file.name


def _seal_in(folder: Path) -> Seal:
    """The seal in a folder; an empty one if what has its name is damaged or somebody else's."""
    try:
        return read_seal(folder)
    except (InvalidInput, OSError):
        return _NONE


def _own_checksum(body: Mapping[str, Any]) -> str:
    """Of all that a seal says, except this."""
    held = {name: value for name, value in body["files"].items() if name != "checksum"}
    text = json.dumps({**body, "files": held}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def digest(file: Path, *, again: bool = False) -> str:
    """The SHA-256 of a file: read once, as long as the file stays as it is, unless `again`."""
    path, found = file.resolve(), file.stat()
    state = path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    if again or state not in _digests:
        _digests[state] = sha256_of(path)
    return _digests[state]
