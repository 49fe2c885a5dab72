"""A released folder whose known rows lie in many files; a write that was stopped goes on.

Shards are written side by side, and each has a temporary name until it is whole. A note in the
folder says of which release they are, which of them are done, and their checksums; `release.json`,
the seal, comes last, and then the note goes. So a folder without a seal is not one yet, and whoever
was stopped goes on with the shards that are not done.
"""

import hashlib
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from reidrisk.core.checks import whole_number
from reidrisk.core.files import ONLY_ME, PART, made_folder, written_whole
from reidrisk.core.locks import locked
from reidrisk.core.machine import GIB, cores
from reidrisk.core.mapreduce import unit
from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.formats.parquet import DAMAGED

Progress = Callable[[int, int], None]
"""Is told how many users of how many are written."""
Write = Callable[[Path, Iterator[tuple[int, int]]], None]
"""Writes a shard: the file, and the blocks of known rows in it, first and behind the last."""

BLOCK = 1 << 16
"""Rows that are made, written and forgotten at a time."""

_MOST = 99_999
_NAME = re.compile(r"part-\d{5}\.parquet")
# A shard is at most this part of the mean larger than others, or nearly so.
_EVEN = 8


@dataclass(frozen=True)
class ShardedFolder:
    """What is to be written, and where.

    Attributes:
        place: The folder, which is there.
        identity: Names all that is written together: another one, other rows.
        shards: The known rows of each shard, first and behind the last.
        may_go_on: Whether the identity tells all that the rows came from, so that a shard that is
            done need not be made again.
    """

    place: Path
    identity: str
    shards: tuple[tuple[int, int], ...]
    may_go_on: bool

    @property
    def files(self) -> dict[str, Path]:
        """All shards by their names in the folder."""
        names = (
            f"{manifest.SHARDS}/part-{number:05}.parquet" for number in range(len(self.shards))
        )
        return {name: self.place / name for name in names}

    @contextmanager
    def filled(
        self, write: Write, row_size: float, progress: Progress | None
    ) -> Iterator[dict[str, Path]]:
        """Write the shards that are not done; the seal is written inside, and then it is finished.

        Args:
            write: Writes one.
            row_size: Bytes that a row takes, more or less.
            progress: Is told how far it is.
        """
        with locked(self.place):
            done = self._begin()
            left = [place for place, name in enumerate(self.files) if name not in done]
            sizes = {place: stop - start for place, (start, stop) in enumerate(self.shards)}
            self._check_room(row_size * sum(sizes[place] for place in left), done)
            tally = _Tally(self, done, sum(sizes.values()), progress)
            tally.made(sum(sizes.values()) - sum(sizes[place] for place in left))
            self._write(left, write, tally)
            for file in set(_ours(self.place / manifest.SHARDS)) - set(self.files.values()):
                file.unlink(missing_ok=True)  # of another release, which had more of them
            yield self.files
            _remove(self.place / manifest.WHOLE)
            (self.place / manifest.BEGUN).unlink(missing_ok=True)

    def _begin(self) -> dict[str, str]:
        """The shards that are done, in a folder that may be written to; others are replaced."""
        begun, seal = _begun(self.place), _seal(self.place)
        if begun and begun["id"] != self.identity and begun["sha256"]:
            raise InvalidInput(
                f"{self.place} holds {len(begun['sha256'])} of {begun['shards']} shards of another "
                "release, which was stopped; run that again to its end, name another folder, or "
                "remove this one",
                code="another-run",
            )
        noted = {
            **(seal.files if seal.identity == self.identity else {}),
            **(begun.get("sha256", {}) if begun.get("id") == self.identity else {}),
        }
        done = {
            name: noted[name]
            for name, file in self.files.items()
            if self.may_go_on and file.is_file() and name in noted
            and manifest.digest(file) == noted[name]
        }  # fmt: skip
        folder = self.place / manifest.SHARDS
        _refuse_others(folder, {**seal.files, **begun.get("sha256", {})})
        made_folder(folder).chmod(0o700)
        for part in (*self.place.glob(f".*{PART}"), *folder.glob(f".*{PART}")):
            part.unlink(missing_ok=True)  # of writes that were killed
        return done

    def _check_room(self, size: float, done: Mapping[str, str]) -> None:
        """Refuse what does not fit the disk, before it is full; what is replaced makes room."""
        kept = {self.files[name] for name in done}
        old = sum(file.stat().st_size for file in _ours(self.place / manifest.SHARDS)
                  if file not in kept)  # fmt: skip
        if size > (free := shutil.disk_usage(self.place).free + old):
            raise InvalidInput(
                f"{self.place}: the shards take about {size / GIB:.3g} GiB, and the disk has "
                f"{free / GIB:.3g} GiB left; make room, choose another disk, or show fewer users",
                code="out-of-disk",
            )

    def _write(self, left: list[int], write: Write, tally: "_Tally") -> None:
        """Write shards side by side; whoever stops us is heard after the blocks in hand."""
        halted, files = threading.Event(), list(self.files.items())

        def blocks(start: int, stop: int) -> Iterator[tuple[int, int]]:
            for first in range(start, stop, BLOCK):
                if halted.is_set():
                    raise _Halted
                last = min(first + BLOCK, stop)
                yield first, last
                tally.made(last - first)

        def one(place: int) -> None:
            name, file = files[place]
            with written_whole(file, mode=ONLY_ME) as (part,):
                write(part, blocks(*self.shards[place]))
            tally.finished(name, file)

        with ThreadPoolExecutor(cores()) as pool:
            writing = [pool.submit(copy_context().run, one, place) for place in left]
            try:
                for shard in as_completed(writing):
                    shard.result()
            except BaseException:
                halted.set()
                for shard in writing:
                    shard.cancel()
                raise


class _Halted(Exception):
    """Another shard could not be written, or somebody stopped us."""


class _Tally:
    """How far it is: the note in the folder, and whoever watches."""

    def __init__(
        self, folder: ShardedFolder, done: Mapping[str, str], users: int, progress: Progress | None
    ) -> None:
        self._folder, self._done, self._users = folder, dict(done), users
        self._progress, self._made, self._lock = progress, 0, threading.Lock()

    def made(self, users: int) -> None:
        """So many more users are written."""
        with self._lock:
            self._made += users
            if self._progress is not None:
                self._progress(self._made, self._users)

    def finished(self, name: str, file: Path) -> None:
        """A shard is whole."""
        digest = manifest.digest(file)
        with self._lock:
            self._done[name] = digest
            body = {
                "id": self._folder.identity,
                "shards": len(self._folder.shards),
                "sha256": dict(sorted(self._done.items())),
            }
            note = {**body, "checksum": _checksum(body)}
            with written_whole(self._folder.place / manifest.BEGUN, mode=ONLY_ME) as (part,):
                part.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def cut(users: int, shards: int) -> tuple[tuple[int, int], ...]:
    """The rows of each shard, first and behind the last: about as many each.

    They are cut between units (`passes.unit`) if there are many, so that whoever works unit by unit
    reads one file at a time.
    """
    if whole_number("shards", shards, least=1) > min(users, _MOST):
        raise InvalidInput(
            f"shards is at most the number of users, {users:,}, and at most {_MOST:,}; got "
            f"{shards:,}",
            code="too-many-shards",
        )
    step = unit(users)
    while step > 1 and users < _EVEN * shards * step:
        step //= 2
    steps = -(-users // step)
    edges = [min(step * (steps * shard // shards), users) for shard in range(shards + 1)]
    return tuple(pairwise(edges))


def forget_shards(place: Path) -> None:
    """Remove the shards of a folder that now has its known rows in one file."""
    folder = place / manifest.SHARDS
    for file in _ours(folder):
        file.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    (place / manifest.BEGUN).unlink(missing_ok=True)


def _begun(place: Path) -> dict[str, Any]:
    """What the note says of shards that are done; nothing if it is not there or damaged."""
    try:
        note = json.loads((place / manifest.BEGUN).read_text(encoding="utf-8"))
        body = {name: note[name] for name in ("id", "shards", "sha256")}
        return body if note["checksum"] == _checksum(body) else {}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}


def _seal(place: Path) -> manifest.Seal:
    try:
        return manifest.read_seal(place)
    except InvalidInput:
        return manifest.Seal({}, {})


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _ours(folder: Path) -> list[Path]:
    """Shards in a folder, and what writes of them left behind that were killed."""
    if not folder.is_dir():
        return []
    return [
        file
        for file in sorted(folder.iterdir())
        if _NAME.fullmatch(file.name) or (file.name.startswith(".part-") and file.suffix == PART)
    ]


def _refuse_others(folder: Path, noted: Mapping[str, str]) -> None:
    """Leave alone what nothing shows to be a shard of ours."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidInput(
            f"{folder}: is not a folder, and shards go into one; name another folder",
            code="path-is-file",
        )
    ours = set(_ours(folder))
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        name = f"{manifest.SHARDS}/{file.name}"
        known = file in ours and (name in noted or file.suffix == PART or _marked(file))
        if file.is_symlink() or not (known and file.is_file()):
            raise InvalidInput(
                f"{file}: already exists, and nothing shows that it is a shard of reidrisk; it "
                "is left alone: name another folder",
                code="file-not-ours",
            )


def _marked(file: Path) -> bool:
    """Whether a file itself says that it is of a released folder."""
    from pyarrow import parquet

    try:
        return manifest.FOLDER in (parquet.read_schema(file).metadata or {})
    except MemoryError:
        raise
    except (*DAMAGED, pa.ArrowException):
        return False


def _remove(file: Path) -> None:
    """Remove a file of a released folder, if it is one."""
    if file.is_file() and _marked(file):
        file.unlink()
