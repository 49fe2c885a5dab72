"""Rows in Parquet files, of which a few row groups are read at a time, whatever a row holds."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.digest import sha256, sha256_file
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import ArrayCodec, ArrayRows, read_only
from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.columns import one_piece, refuse_nulls
from reidrisk.io.labels import refuse_blanks, text_of
from reidrisk.io.parquet_files import SUFFIX
from reidrisk.io.parquet_survey import TEXT, WHOLE, ParquetSurvey
from reidrisk.io.provenance import Origin
from reidrisk.io.shards import USER
from reidrisk.io.tables import AnyPath, files_of

Result = TypeVar("Result")
Array = NDArray[Any]


class ParquetTable:
    """Rows in Parquet files; a kind derives from it and says how it reads a row group.

    A block is read with all row groups that it touches. Several threads may read at a time. It
    travels as names of files: whoever gets it reads for himself, and refuses a file that changed in
    between.
    """

    files: tuple[ParquetSurvey, ...]
    columns: tuple[str, ...]
    """Where rows are."""
    named: str | None
    """What the column of users holds; None if there is none."""
    slots: int
    first: int
    """The number among all rows of the files that row 0 of this handle has."""
    users: int
    starts: NDArray[np.int64]
    """Where each row group begins among all rows, and at last where the last one ends."""
    owners: NDArray[np.int32]
    """The file of each row group."""
    groups: NDArray[np.int32]
    """The number of each row group in its file."""
    before: NDArray[np.int64]
    """Number of rows in all files before each file."""

    def _set_groups(self, files: Sequence[ParquetSurvey], rows: Sequence[Sequence[int]]) -> None:
        """Take files, and the number of rows of each of their row groups."""
        groups = [
            (owner, group, size)
            for owner, sizes in enumerate(rows)
            for group, size in enumerate(sizes)
            if size
        ]
        if not groups:
            raise InvalidInput(
                f"{files[0].path} holds no rows; there is nobody to search", code="empty-table"
            )
        owners, numbers, sizes = zip(*groups, strict=True)
        self._set(
            files=tuple(files),
            first=0,
            users=sum(sizes),
            starts=np.cumsum([0, *sizes]),
            owners=np.array(owners, np.int32),
            groups=np.array(numbers, np.int32),
            before=np.cumsum([0, *map(sum, rows)]),
        )

    def __repr__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        size = " x ".join(map(str, self.shape))
        return f"<{type(self).__name__} {self.files[0].path}{more}: {size}>"

    def __len__(self) -> int:
        return self.users

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of known rows on disk cannot be changed")

    @property
    def codec(self) -> ArrayCodec:
        """How rows of this kind and shape are stored."""
        raise NotImplementedError

    @property
    def kind(self) -> Any:
        """What a row holds."""
        return self.codec.kind

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an entry."""
        return self.codec.dtype

    def present(self) -> NDArray[np.bool_]:
        """Whether something came, users x slots."""
        return self.codec.present(self.block(0, self.users))

    @property
    def shape(self) -> tuple[int, ...]:
        """Users, slots, and the shape of what a slot holds."""
        return self.users, *self.codec.shape

    def prefix(self, slots: int) -> Self:
        """The same users after their first `slots` slots.

        Args:
            slots: How many.
        """
        return self._with(slots=slots)

    def part(self, start: int, stop: int) -> Self:
        """Neighbouring users, still on disk.

        Args:
            start: The first row.
            stop: Behind the last row.
        """
        low, high = self.first + start, self.first + stop
        mine = slice(self._group_of(low), self._group_of(max(high - 1, low)) + 1)
        owners = self.owners[mine]
        first, last = int(owners[0]), int(owners[-1])
        return self._with(
            first=low,
            users=stop - start,
            files=self.files[first : last + 1],
            before=self.before[first : last + 2],
            starts=self.starts[mine.start : mine.stop + 1],
            owners=owners - owners[0],
            groups=self.groups[mine],
        )

    def block(self, start: int, stop: int) -> Array:
        """Rows as a contiguous read-only array.

        Args:
            start: The first row.
            stop: Behind the last row.
        """
        low, high = self.first + start, self.first + min(stop, self.users)
        rows = np.empty((max(high - low, 0), *self.codec.shape), self.dtype)
        for group, begin, end in self._touched(low, high):
            into = rows[max(begin - low, 0) : end - low]
            if low <= begin and end <= high:
                self._read(group, into)
            else:
                into[:] = self._kept(group)[max(low - begin, 0) : high - begin]
        return read_only(rows)

    def take(self, rows: NDArray[np.integer[Any]]) -> Array:
        """Some rows by their numbers, in this order; each row group is read at most once.

        Args:
            rows: Their numbers.
        """
        numbers = np.asarray(rows, np.int64) + self.first
        taken = np.empty((len(numbers), *self.codec.shape), self.dtype)

        def work(group: int, mine: NDArray[np.int64]) -> None:
            taken[mine] = self._whole(group)[numbers[mine] - self.starts[group]]

        self._by_group(numbers, work)
        return taken

    def select(self, rows: NDArray[np.integer[Any]]) -> ArrayRows:
        """Some users by their numbers, in this order, as rows in memory.

        Args:
            rows: Their numbers.
        """
        return self.codec.rows(self.take(rows))

    def ids(self, start: int, stop: int) -> NDArray[Any]:
        """The users of neighbouring rows: whole numbers, or text.

        Args:
            start: The first row.
            stop: Behind the last row.
        """
        low, high = self.first + start, self.first + min(stop, self.users)
        parts = [
            self._users(group)[max(low - begin, 0) : high - begin]
            for group, begin, _ in self._touched(low, high)
        ]
        return np.concatenate([_array(part) for part in parts])

    def ids_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """The users of some rows by their numbers, in this order.

        Args:
            rows: Their numbers.
        """
        numbers = np.asarray(rows, np.int64) + self.first
        taken = np.empty(len(numbers), np.int64 if self.named == WHOLE else object)

        def work(group: int, mine: NDArray[np.int64]) -> None:
            taken[mine] = _array(self._users(group).take(numbers[mine] - self.starts[group]))

        self._by_group(numbers, work)
        return taken

    def over_users(self, work: Callable[[int, pa.Array], Result]) -> list[Result]:
        """Call `work(first row, users)` for all rows, some neighbours at a time, on all cores.

        Args:
            work: Called with the number of a first row and the users from there on.

        Returns:
            What each call returned, in the order of rows.
        """
        low, high = self.first, self.first + self.users
        touched = list(self._touched(low, high))

        def read(at: int, _: int) -> Result:
            group, begin, _end = touched[at]
            some = self._users(group)[max(low - begin, 0) : high - begin]
            return work(max(begin - low, 0), some)

        return over_blocks(read, len(touched), 1)

    def place(self, row: int) -> str:
        """The file and the number of a row, counted from 1.

        Args:
            row: Counted from 0.
        """
        number = self.first + row
        file = int(np.searchsorted(self.before, number, side="right")) - 1
        return f"{self.files[file].path}, row {number - int(self.before[file]) + 1}"

    def fingerprint(self) -> str:
        """A fingerprint of the rows, from checksums of their files; each file is read once."""
        mine = np.unique(self.owners).tolist()
        checks = over_blocks(lambda at, _: self._checksum(mine[at]), len(mine), 1)
        first = self.first - int(self.before[mine[0]])
        return sha256(repr((*self._told(), self.slots, self.users, first, checks)))

    def _told(self) -> tuple[Any, ...]:
        """How the files are read: part of the fingerprint."""
        raise NotImplementedError

    def _read(self, group: int, into: Array) -> None:
        """The rows of a row group."""
        raise NotImplementedError

    def _checksum(self, file: int) -> str:
        self.files[file].check()
        return sha256_file(self.files[file].path, cached=True)

    def _touched(self, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        """The row groups that hold some of these rows, with their first row and their end."""
        if low >= high:
            return
        for group in range(self._group_of(low), self._group_of(high - 1) + 1):
            yield group, int(self.starts[group]), int(self.starts[group + 1])

    def _group_of(self, number: int) -> int:
        return int(np.searchsorted(self.starts, number, side="right")) - 1

    def _by_group(
        self, numbers: NDArray[np.int64], work: Callable[[int, NDArray[np.int64]], None]
    ) -> None:
        """Let `work` see each row group that holds some rows, and which of them; on all cores."""
        groups = np.searchsorted(self.starts, numbers, side="right") - 1
        order = np.argsort(groups, kind="stable")
        touched, starts = np.unique(groups[order], return_index=True)
        mine = np.split(order, starts[1:])
        over_blocks(lambda at, _: work(int(touched[at]), mine[at]), len(touched), 1)

    def _kept(self, group: int) -> Array:
        """A whole row group, which this thread keeps until it asks for another one."""
        file = self._file(group)
        file.check()
        asked = file, int(self.groups[group]), self.columns, self.codec
        held = getattr(_mine, "group", None)
        if held is None or held[0] != asked:
            _mine.group = held = asked, self._whole(group)
        return held[1]

    def _whole(self, group: int) -> Array:
        rows = self._room(group)
        self._read(group, rows)
        return rows

    def _room(self, group: int) -> Array:
        size = int(self.starts[group + 1] - self.starts[group])
        return np.empty((size, *self.codec.shape), self.dtype)

    def _users(self, group: int) -> pa.Array:
        """The users of a row group, as whole numbers or as text."""
        file = self._file(group)
        if self.named not in (WHOLE, TEXT):
            raise InvalidInput(
                f"{file.path}: the column {USER!r} holds {self.named or 'nothing'}, but users are "
                "whole numbers or text; write the column as one of the two",
                code="wrong-column-type",
            )
        column = file.table(int(self.groups[group]), [USER]).column(0)
        start = int(self.starts[group] - self.before[self.owners[group]])
        source = Origin((str(file.path),), (start + len(column),), record=lambda row: start + row)
        refuse_nulls(column, USER, source)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if self.named == WHOLE:
            try:
                return one_piece(column.cast(pa.int64()))
            except pa.ArrowInvalid:
                raise InvalidInput(
                    f"{file.path}: a number of the column {USER!r} does not fit into 64 bits with "
                    "sign; write the users as text",
                    code="id-out-of-range",
                ) from None
        texts = one_piece(text_of(column, USER, source))
        refuse_blanks(texts, USER, source)
        return texts

    def _file(self, group: int) -> ParquetSurvey:
        return self.files[int(self.owners[group])]

    def _set(self, **values: object) -> None:
        self.__dict__.update(values)

    def _with(self, **changes: object) -> Self:
        same = object.__new__(type(self))
        same.__dict__.update(self.__dict__ | changes)
        return same


_mine = threading.local()
"""The row group that this thread read last, if it read a part of it."""


def files_named(path: AnyPath | Sequence[AnyPath]) -> list[Path]:
    """The files in their order; each once.

    Args:
        path: A file, several, or a folder, whose files come in the order of their names.
    """
    if isinstance(path, str | os.PathLike):
        place = Path(path)
        manifest.check_shards(place)
        return files_of(place, (SUFFIX,)) if place.is_dir() else [place]
    files = [Path(one) for one in path]
    if not files:
        raise InvalidInput("there are no files of known rows; name at least one", code="no-files")
    if len({file.resolve() for file in files}) < len(files):
        raise InvalidInput(
            "a file of known rows is named twice; name each once", code="duplicate-file"
        )
    return files


def _array(users: pa.Array) -> NDArray[Any]:
    return users.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
