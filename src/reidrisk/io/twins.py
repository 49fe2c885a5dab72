"""Find duplicate user ids among rows that do not fit into memory.

Where users ascend over all files, as those that we write do, one pass proves that nobody is. Else
every user becomes a number of 64 bits, and the numbers go into buckets by their highest bits: in
memory while they are few, in temporary files if they are many, so that memory does not grow with
users. A number that comes twice in its bucket may be chance: the users of such rows are compared.
"""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.machine import GIB
from reidrisk.core.parallel import kernel
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.io.labels import text_buffers

Hashes = NDArray[np.uint64]
Result = TypeVar("Result")


class Named(Protocol):
    """Rows whose users are read some at a time: `ParquetRows` and its like."""

    @property
    def users(self) -> int:
        """Number of rows."""

    def over_users(self, work: Callable[[int, pa.Array], Result]) -> list[Result]:
        """Call `work(first row, users)` for all rows; what it returned, in the order of rows."""

    def place(self, row: int) -> str:
        """Where a row stands, in words."""


_ADVICE = "a user has one row here: remove one of the two"

BUCKET = 1 << 24
"""Users in a bucket, more or less: it is sorted in memory."""

_BYTES = 8
_AT_ONCE = 1 << 10
_ALL_BITS = 64
# The finaliser of SplitMix64 (Steele et al., OOPSLA 2014), and the prime and the start of FNV-1a.
_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_PRIME, _START = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)


def ascend(users: pa.Array) -> bool:
    """Whether each user comes after the one before, so that none is there twice."""
    return pc.all(pc.greater(users[1:], users[:-1])).as_py() is not False


def refuse_stored_twins(rows: Named, advice: str = _ADVICE) -> None:
    """Name two rows with one user, wherever they are; used if users do not ascend."""
    lock = threading.Lock()
    with _buckets(rows.users) as buckets:

        def add(_: int, users: pa.Array) -> None:
            hashes = hashes_of(users)
            with lock:
                buckets.add(hashes)

        rows.over_users(add)
        for bucket in buckets:
            bucket.sort()
            again = np.unique(bucket[1:][bucket[1:] == bucket[:-1]])
            for start in range(0, len(again), _AT_ONCE):
                _refuse(rows, again[start : start + _AT_ONCE], advice)


def _refuse(rows: Named, suspicious: Hashes, advice: str) -> None:
    """Refuse the first row whose user is that of another, among those with such a number."""

    def find(first: int, users: pa.Array) -> list[tuple[int, Any]]:
        places = np.flatnonzero(np.isin(hashes_of(users), suspicious))
        return list(zip((first + places).tolist(), users.take(places).to_pylist(), strict=True))

    seen: dict[Any, int] = {}
    for row, user in chain.from_iterable(rows.over_users(find)):
        if (before := seen.setdefault(user, row)) != row:
            raise InvalidInput(
                f"{rows.place(row)}: the same user as in {rows.place(before)}; {advice}",
                code="duplicate-user",
            )


def hashes_of(users: pa.Array) -> Hashes:
    """Users as numbers of 64 bits: other whole numbers become other ones, other texts nearly so."""
    if pa.types.is_integer(users.type):
        found = users.to_numpy().astype(np.uint64)
    else:
        offsets, data = text_buffers(users)
        found = np.empty(len(users), np.uint64)
        hash_texts(data, offsets, found)
    found = (found ^ found >> _SHIFTS[0]) * _MIX[0]
    found = (found ^ found >> _SHIFTS[1]) * _MIX[1]
    return np.asarray(found ^ found >> _SHIFTS[2])


@kernel
def hash_texts(data: NDArray[np.uint8], offsets: NDArray[np.int64], found: Hashes) -> None:
    """FNV-1a of each text."""
    for text in range(found.size):
        value = _START
        for place in range(offsets[text], offsets[text + 1]):
            value = (value ^ np.uint64(data[place])) * _PRIME
        found[text] = value


class _Memory:
    """A bucket that is kept."""

    def __init__(self) -> None:
        self._parts: list[Hashes] = []

    def add(self, hashes: Hashes) -> None:
        self._parts.append(hashes)

    def __iter__(self) -> Iterator[Hashes]:
        yield np.concatenate(self._parts)


class _Disk:
    """Buckets in files."""

    def __init__(self, folder: Path, bits: int) -> None:
        self._folder, self._bits = folder, bits

    def _file(self, bucket: int) -> Path:
        return self._folder / f"{bucket:05}"

    def add(self, hashes: Hashes) -> None:
        bucket_of = hashes >> np.uint64(_ALL_BITS - self._bits)
        order = np.argsort(bucket_of, kind="stable")
        buckets, starts = np.unique(bucket_of[order], return_index=True)
        for bucket, some in zip(buckets.tolist(), np.split(hashes[order], starts[1:]), strict=True):
            with self._file(bucket).open("ab") as file:
                some.tofile(file)

    def __iter__(self) -> Iterator[Hashes]:
        for bucket in range(1 << self._bits):
            file = self._file(bucket)
            if file.exists():
                yield np.fromfile(file, np.uint64)
                file.unlink()


@contextmanager
def _buckets(users: int) -> Iterator[_Memory | _Disk]:
    """Where numbers of so many users are gathered; nothing is left of it."""
    bits = max((users - 1) // BUCKET, 0).bit_length()
    if not bits:
        yield _Memory()
        return
    free = shutil.disk_usage(place := tempfile.gettempdir()).free
    if free < _BYTES * users:
        raise TooLarge(
            f"{place}: {_BYTES * users / GIB:.3g} GiB are needed to find users that are there "
            f"twice, and {free / GIB:.3g} GiB are free; sort the files by user, each behind the "
            "one before, or name a folder with more room in TMPDIR",
            code="out-of-disk",
        )
    with tempfile.TemporaryDirectory(prefix="reidrisk-users-") as folder:
        yield _Disk(Path(folder), bits)
