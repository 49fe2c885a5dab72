"""Files of known rows as we write them: a column of users, and one per slot.

A shard has a column of users and a column of token numbers for each slot. Few tokens are numbered
in a dictionary, so it is small, any tool reads it, and it loads nearly as fast as plain bytes. Gaps
are null. The metadata says how many slots and tokens there are; the labels of the folder say what
the numbers mean.

The shards of a folder are written side by side, each under a temporary name until it is whole. The
unfinished manifest lists those that are done; `release.json` is written last, and then the
unfinished manifest is removed. So a write that was stopped goes on with the shards that are left.
"""

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.digest import sha256_file
from reidrisk.core.files import ONLY_ME, PART, made_folder, written_whole
from reidrisk.core.locks import locked
from reidrisk.core.machine import GIB, cores
from reidrisk.core.mapreduce import unit
from reidrisk.core.rows import MISSING, Tokens, check_block, smallest_type
from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.parquet_files import DAMAGED, read_back

NUMBERS = b"reidrisk:numbers"
"""The note in Parquet files of which the tokens are numbers: how many slots and tokens, in JSON."""

USER = "user"

GROUP = 1 << 16
"""Rows in a row group: it divides `mapreduce.unit` of many users, and blocks waste little of it."""

Progress = Callable[[int, int], None]
"""Is told how many users of how many are written."""
Write = Callable[[Path, Iterator[tuple[int, int]]], None]
"""Writes a shard: the file, and the blocks of known rows in it, first and behind the last."""

BLOCK = 1 << 16
"""Rows that are made, written and forgotten at a time."""

_MOST = 99_999
_NAME = re.compile(r"part-\d{5}\.parquet")
# The size of a shard differs from the mean by about one part in this at most.
_EVEN = 8


@dataclass(frozen=True, slots=True)
class Numbers:
    """The metadata of a shard."""

    slots: int
    tokens: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of tokens."""
        return tuple(f"slot_{slot}" for slot in range(1, self.slots + 1))

    @property
    def note(self) -> bytes:
        """The metadata as JSON."""
        return json.dumps({"slots": self.slots, "tokens": self.tokens}).encode()


def numbers_of(file: Path, notes: Mapping[bytes, bytes] | None) -> Numbers | None:
    """How many slots and tokens a shard has; None if the file is not a shard.

    Args:
        file: Which.
        notes: The metadata of its schema.
    """
    if notes is None or NUMBERS not in notes:
        return None
    try:
        said = json.loads(notes[NUMBERS])
        found = Numbers(said["slots"], said["tokens"])
    except (ValueError, TypeError, KeyError, RecursionError):
        found = Numbers(0, 0)
    if not all(type(one) is int and one > 0 for one in (found.slots, found.tokens)):
        raise InvalidInput(
            f"{file}: the note {NUMBERS.decode()} is damaged; write the file again with "
            "`reidrisk release`",
            code="damaged-file",
        )
    return found


class ShardWriter:
    """A file of known rows that is written piece by piece; used in a `with` statement.

    Args:
        path: The file. It is there, but not whole, until the end of the statement.
        slots: Number of slots of every row.
        tokens: Size of the alphabet.
        ids: The type of users: of whole numbers or of text.
        notes: What else the file says of itself.
        group: Rows in a row group. Users of a file in a multiple of `mapreduce.unit(all users)` let
            blocks begin where row groups do.
    """

    def __init__(
        self,
        path: Path,
        *,
        slots: int,
        tokens: int,
        ids: pa.DataType,
        notes: Mapping[bytes, bytes] | None = None,
        group: int = GROUP,
    ) -> None:
        self._numbers, self._path, self._group = Numbers(slots, tokens), path, group
        self._type = smallest_type(tokens)
        token = pa.from_numpy_dtype(self._type)
        columns = dict.fromkeys(self._numbers.columns, token)
        self._schema = pa.schema(
            {USER: ids, **columns}, {**(notes or {}), NUMBERS: self._numbers.note}
        )
        self._waiting: list[pa.Table] = []
        self.rows = 0

    def __enter__(self) -> Self:
        from pyarrow import parquet

        slots = self._numbers.columns
        whole = pa.types.is_integer(self._schema.field(USER).type)
        self._file = parquet.ParquetWriter(
            self._path,
            self._schema,
            use_dictionary=list(slots),
            compression={USER: "zstd", **dict.fromkeys(slots, "none")},
            column_encoding={USER: "DELTA_BINARY_PACKED"} if whole else None,
            write_page_checksum=True,
        )
        return self

    def write(self, ids: NDArray[Any], rows: Tokens) -> None:
        """Add users with their rows.

        Args:
            ids: The users.
            rows: Users x slots, -1 in gaps.
        """
        if rows.shape != (len(ids), self._numbers.slots):
            raise InvalidInput(
                f"{len(ids)} users with {self._numbers.slots} slots each have rows of shape "
                f"{(len(ids), self._numbers.slots)}, got {rows.shape}",
                code="wrong-shape",
            )
        if not len(ids):
            return
        gaps = check_block(str(self._path), rows, self._numbers.tokens, self.rows) == MISSING
        columns = np.ascontiguousarray(rows.T, self._type)
        held = [pa.array(column, mask=column == MISSING if gaps else None) for column in columns]
        users = pa.array(ids, self._schema.field(USER).type)
        self._waiting.append(pa.table([users, *held], schema=self._schema))
        self.rows += len(ids)
        self._flush(self.rows // self._group * self._group)

    def _flush(self, until: int) -> None:
        """Write the rows that wait, up to this one."""
        table = pa.concat_tables(self._waiting)
        done = self.rows - table.num_rows
        if until > done:
            self._file.write_table(table.slice(0, until - done), row_group_size=self._group)
            self._waiting = [table.slice(until - done)]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        wrong: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None and self._waiting:
                self._flush(self.rows)
        finally:
            self._file.close()
        if kind is None:
            read_back(self._path, self._schema, self.rows)


@dataclass(frozen=True)
class ShardedFolder:
    """A folder of shards that is to be written.

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
        """Write the shards that are not done; the caller writes the manifest inside.

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
            tally = _Written(self, done, sum(sizes.values()), progress)
            tally.made(sum(sizes.values()) - sum(sizes[place] for place in left))
            self._write(left, write, tally)
            for file in set(_ours(self.place / manifest.SHARDS)) - set(self.files.values()):
                file.unlink(missing_ok=True)  # of another release, which had more of them
            yield self.files
            _remove(self.place / manifest.WHOLE)
            (self.place / manifest.UNFINISHED).unlink(missing_ok=True)

    def _begin(self) -> dict[str, str]:
        """The shards that are done, in a folder that may be written to; others are replaced."""
        finished = manifest.find_manifest(self.place)
        begun = manifest.find_manifest(self.place, manifest.UNFINISHED)
        if begun.files and begun.identity != self.identity:
            raise InvalidInput(
                f"{self.place} holds {len(begun.files)} of {begun.note.get('shards')} shards of "
                "another release, which was stopped; run that again to its end, name another "
                "folder, or remove this one",
                code="another-run",
            )
        noted = {
            name: digest
            for one in (finished, begun)
            if one.identity == self.identity
            for name, digest in one.files.items()
        }
        done = {
            name: noted[name]
            for name, file in self.files.items()
            if self.may_go_on and file.is_file() and name in noted
            and sha256_file(file, cached=True) == noted[name]
        }  # fmt: skip
        folder = self.place / manifest.SHARDS
        _refuse_others(folder, {*finished.files, *begun.files})
        made_folder(folder).chmod(0o700)
        for part in (*self.place.glob(f".*{PART}"), *folder.glob(f".*{PART}")):
            part.unlink(missing_ok=True)  # of writes that were killed
        return done

    def _check_room(self, size: float, done: Mapping[str, str]) -> None:
        """Refuse shards that do not fit on the disk; files that are replaced count as free."""
        kept = {self.files[name] for name in done}
        old = sum(file.stat().st_size for file in _ours(self.place / manifest.SHARDS)
                  if file not in kept)  # fmt: skip
        if size > (free := shutil.disk_usage(self.place).free + old):
            raise InvalidInput(
                f"{self.place}: the shards take about {size / GIB:.3g} GiB, and the disk has "
                f"{free / GIB:.3g} GiB left; make room, choose another disk, or show fewer users",
                code="out-of-disk",
            )

    def _write(self, left: list[int], write: Write, tally: "_Written") -> None:
        """Write shards in threads; an interrupt is heard after the current blocks."""
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
    """Writing was stopped, by an error in another shard or by an interrupt."""


class _Written:
    """Keeps the unfinished manifest, and reports progress."""

    def __init__(
        self, folder: ShardedFolder, done: Mapping[str, str], users: int, progress: Progress | None
    ) -> None:
        self._folder, self._done, self._users = folder, dict(done), users
        self._progress, self._made, self._lock = progress, 0, threading.Lock()

    def made(self, users: int) -> None:
        """Count users that are written."""
        with self._lock:
            self._made += users
            if self._progress is not None:
                self._progress(self._made, self._users)

    def finished(self, name: str, file: Path) -> None:
        """Add a shard to the unfinished manifest."""
        digest = sha256_file(file, cached=True)
        with self._lock:
            self._done[name] = digest
            note = {"shards": len(self._folder.shards)}
            files = dict(sorted(self._done.items()))
            done = manifest.Manifest(note, files, self._folder.identity)
            with written_whole(self._folder.place / manifest.UNFINISHED, mode=ONLY_ME) as (part,):
                part.write_text(done.text, encoding="utf-8")


def cut(users: int, shards: int) -> tuple[tuple[int, int], ...]:
    """The rows of each shard, first and behind the last: about as many each.

    They are cut between units (`mapreduce.unit`) if there are many, so that work on a unit reads
    one file.

    Args:
        users: How many known rows there are.
        shards: How many files.
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
    """Remove the shards of a folder that now has its known rows in one file.

    Args:
        place: The folder.
    """
    folder = place / manifest.SHARDS
    for file in _ours(folder):
        file.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    (place / manifest.UNFINISHED).unlink(missing_ok=True)


def _ours(folder: Path) -> list[Path]:
    """Shards in a folder, and temporary files of writes that were killed."""
    if not folder.is_dir():
        return []
    return [
        file
        for file in sorted(folder.iterdir())
        if _NAME.fullmatch(file.name) or (file.name.startswith(".part-") and file.suffix == PART)
    ]


def _refuse_others(folder: Path, noted: AbstractSet[str]) -> None:
    """Refuse a folder with files that are not shards of reidrisk."""
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
    """Whether the metadata of a file says that it belongs to a released folder."""
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
