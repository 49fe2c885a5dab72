"""The manifest of a released folder: one id, and a checksum of each file.

`release.json` holds it: what showed the rows, the id, a checksum of every other file, and one of
itself. A Parquet file of the folder names the id too, so that it is not taken for an unchecked file
where `release.json` is gone or an older one. Every file of such a folder is compared with the
manifest before it is read: a file that is damaged, or was left by another release that was killed
while it wrote, is refused.

Known rows are one file, `known.parquet`, or many, the shards in the folder `known`. While shards
are written, a manifest of those that are done lies in the folder under another name.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from reidrisk.core.digest import sha256_file, sha256_json
from reidrisk.errors import InvalidInput

AnyPath = str | os.PathLike[str]

MANIFEST = "release.json"
UNFINISHED = ".reidrisk-begun"
"""The manifest of a folder that is being written, shard by shard; see `shards`."""
FOLDER = b"reidrisk:folder"
"""The key of the id in the metadata of Parquet files."""
SHARDS, WHOLE = "known", "known.parquet"
"""Known rows: a folder of shards, or one file."""

_AGAIN = "write the folder again with `reidrisk release` or write_observations"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder says of itself.

    Args:
        note: What showed the rows, if somebody noted it.
        files: The SHA-256 of its files by their names; none if it was written before there were
            checksums.
        identity: The id of all that was written together.
    """

    note: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    identity: str = ""

    @classmethod
    def of_files(cls, note: Mapping[str, Any], identity: str, files: Mapping[str, Path]) -> Self:
        """The manifest of files that are written.

        Args:
            note: What showed the rows.
            identity: The id of all that is written together.
            files: Where they are now, by the names they will have in the folder.
        """
        digests = {name: sha256_file(file, cached=True) for name, file in files.items()}
        return cls(note, digests, identity)

    @property
    def shards(self) -> list[str]:
        """The names of the files of known rows, if they are many."""
        return sorted(name for name in self.files if name.startswith(f"{SHARDS}/"))

    @property
    def text(self) -> str:
        """The content of the file, which ends with a checksum of itself."""
        held = {"id": self.identity, "sha256": dict(self.files)}
        body = {**self.note, "files": held}
        return json.dumps({**body, "files": {**held, "checksum": _checksum(body)}}, indent=1) + "\n"


def read_manifest(folder: Path, name: str = MANIFEST) -> Manifest:
    """The manifest in a folder; an empty one if there is none.

    Args:
        folder: Where it is looked for.
        name: Of its file.

    Raises:
        InvalidInput: It is damaged.
    """
    file = folder / name
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Manifest()
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InvalidInput(
            f"{file} is damaged: it is not a note in JSON; {_AGAIN}", code="damaged-file"
        )
    note = {name: value for name, value in body.items() if name != "files"}
    if "files" not in body:
        return Manifest(note)
    held = body["files"]
    whole = isinstance(held, dict) and isinstance(held.get("sha256"), dict)
    if not whole or held.get("checksum") != _checksum(body):
        raise InvalidInput(
            f"{file} is damaged: its checksum does not match; {_AGAIN}", code="checksum-mismatch"
        )
    return Manifest(note, held["sha256"], str(held.get("id")))


def find_manifest(folder: Path, name: str = MANIFEST) -> Manifest:
    """The manifest in a folder; an empty one if the file is missing, damaged or not one of ours.

    Args:
        folder: Where it is looked for.
        name: Of its file.
    """
    try:
        return read_manifest(folder, name)
    except (InvalidInput, OSError):
        return Manifest()


def known_rows(folder: Path) -> Path:
    """Where the known rows of a released folder are: one file, or a folder of shards.

    Args:
        folder: The released folder.

    Raises:
        InvalidInput: The folder is not written to its end, or a shard is missing.
    """
    shards = read_manifest(folder).shards
    if not shards and (folder / UNFINISHED).exists():
        raise InvalidInput(
            f"{folder}: what is shown was not written to its end: {MANIFEST}, which comes last, is "
            "not there; run the same `reidrisk release` again, and it goes on where it was stopped",
            code="unfinished-folder",
        )
    check_shards(folder / SHARDS)
    return folder / (SHARDS if shards else WHOLE)


def check_shards(known: Path) -> None:
    """Refuse a folder of shards in which one is missing, by the manifest above it.

    Args:
        known: The folder.
    """
    for name in find_manifest(known.resolve().parent).shards if known.name == SHARDS else ():
        if not (known.parent / name).is_file():
            raise InvalidInput(
                f"{known.parent / name}: there is no such file, and {MANIFEST} names it; keep all "
                f"files of the folder together, or {_AGAIN}",
                code="file-not-found",
            )


def check_file(path: AnyPath) -> None:
    """Refuse a file whose checksum is not that in the manifest of its folder, if it has one.

    Args:
        path: The file, which is not opened yet.
    """
    file = Path(path).resolve()
    manifest, name = _manifest_of(file)
    wanted = manifest.files.get(name)
    if wanted is not None and file.is_file() and sha256_file(file, cached=True) != wanted:
        raise InvalidInput(
            f"{path}: the file is damaged, or was written by another release than {MANIFEST} "
            f"beside it: its checksum does not match; {_AGAIN}",
            code="checksum-mismatch",
        )


def check_origin(path: AnyPath, metadata: Mapping[bytes, bytes]) -> None:
    """Refuse a file that belongs to a released folder by its metadata, if no manifest knows it.

    Args:
        path: The file.
        metadata: Of its Parquet schema.
    """
    if FOLDER not in metadata:
        return
    file = Path(path).resolve()
    manifest, name = _manifest_of(file)
    known = manifest.files
    if name not in known and sha256_file(file, cached=True) not in known.values():
        raise InvalidInput(
            f"{path}: the file belongs to a folder with checksums, and {MANIFEST} with them is "
            f"missing, damaged or of another release; keep all files of the folder together, or "
            f"{_AGAIN}",
            code="checksum-mismatch",
        )


def _manifest_of(file: Path) -> tuple[Manifest, str]:
    """The manifest that knows a file, and its name there: beside it, or above a shard."""
    if file.parent.name == SHARDS and (above := find_manifest(file.parent.parent)).shards:
        return above, f"{SHARDS}/{file.name}"
    return find_manifest(file.parent), file.name


def _checksum(body: Mapping[str, Any]) -> str:
    """The SHA-256 of a manifest without its own checksum."""
    held = {name: value for name, value in body["files"].items() if name != "checksum"}
    return sha256_json({**body, "files": held})
