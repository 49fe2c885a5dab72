"""Known rows in Parquet files, of which a few row groups are read at a time."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.digest import sha256, sha256_file
from reidrisk.core.machine import check_fits, cores
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import (
    MISSING,
    Kind,
    TokenCodec,
    TokenRows,
    Tokens,
    check_block,
    read_only,
    smallest_type,
)
from reidrisk.errors import InvalidInput
from reidrisk.io import manifest
from reidrisk.io.columns import one_piece, refuse_nulls
from reidrisk.io.labels import refuse_blanks, text_of
from reidrisk.io.parquet_files import SUFFIX
from reidrisk.io.parquet_survey import TEXT, WHOLE, Held, ParquetSurvey, refuse_difference, survey
from reidrisk.io.provenance import Origin
from reidrisk.io.shards import USER
from reidrisk.io.tables import AnyPath, files_of
from reidrisk.io.unpacking import Progress

Result = TypeVar("Result")

_WIDEST = 8  # bytes of a token in a file, at most


class ParquetRows:
    """One token for each slot, in Parquet files, of which a few row groups are read at a time.

    Args:
        path: A file, several, or a folder, whose files come in the order of their names. Tokens are
            whole numbers, null where nothing came.
        tokens: Size of the alphabet; files that `reidrisk release` wrote say it themselves.
        columns: The name of a column of lists, one token for each slot; or the names of columns,
            one for each slot. If not given, `tokens` if there is such a column, else all others
            than `user`.
        progress: Called as `progress(rows_done, rows)` while rows are checked, from any thread.

    What the notes of the files do not prove is read once to check it. A block is read with all row
    groups that it touches, so row groups of 50,000 to 500,000 rows serve best. Several threads may
    read at a time. It travels as names of files: whoever gets it reads for himself, and refuses a
    file that changed in between.

    Example:
        >>> import pyarrow as pa
        >>> import pyarrow.parquet as pq
        >>> pq.write_table(pa.table({"age": [3, 0, 2], "town": [1, None, 2]}), "known.parquet")
        >>> rows = rr.ParquetRows("known.parquet", tokens=4, columns=["age", "town"])
        >>> rows.users, rows.slots, rows.block(0, 2).tolist()
        (3, 2, [[3, 1], [0, -1]])
    """

    kind: ClassVar[Kind] = Kind.TOKENS
    set_size: ClassVar[int] = 1

    files: tuple[ParquetSurvey, ...]
    columns: tuple[str, ...]
    """Where the tokens are: a column of lists, or a column for each slot."""
    held: Held
    named: str | None
    """What the column of users holds; None if there is none."""
    tokens: int
    width: int
    """Number of slots in the files."""
    slots: int
    complete: bool
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

    def __init__(
        self,
        path: AnyPath | Sequence[AnyPath],
        tokens: int | None = None,
        columns: str | Sequence[str] | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        paths = _files(path)
        found = over_blocks(lambda at, _: survey(paths[at], tokens, columns), len(paths), 1)
        for one in found[1:]:
            refuse_difference(found[0], one)
        groups = [
            (owner, group, rows, lowest)
            for owner, one in enumerate(found)
            for group, (rows, lowest) in enumerate(zip(one.rows, one.lowest, strict=True))
            if rows
        ]
        if not groups:
            raise InvalidInput(
                f"{paths[0]} holds no rows; there is nobody to search", code="empty-table"
            )
        owners, numbers, rows, lowest = zip(*groups, strict=True)
        told = found[0]
        self._set(
            files=tuple(one.file for one in found),
            columns=told.names,
            held=told.held,
            named=told.users,
            tokens=told.tokens,
            width=len(told.names),
            slots=len(told.names),
            complete=all(one is None or one > MISSING for one in lowest),
            first=0,
            users=sum(rows),
            starts=np.cumsum([0, *rows]),
            owners=np.array(owners, np.int32),
            groups=np.array(numbers, np.int32),
            before=np.cumsum([0, *(sum(one.rows) for one in found)]),
        )
        unproven = [group for group, one in enumerate(lowest) if one is None]
        if unproven:
            self._check(unproven, progress)

    def __repr__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"<ParquetRows {self.files[0].path}{more}: {self.users} x {self.slots}>"

    def __len__(self) -> int:
        return self.users

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of known rows on disk cannot be changed")

    @property
    def codec(self) -> TokenCodec:
        """How rows of one token for each slot are stored."""
        return TokenCodec.of((self.slots,), self.tokens, complete=self.complete)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of a token."""
        return smallest_type(self.tokens)

    def present(self) -> NDArray[np.bool_]:
        """Whether something came, users x slots."""
        return self.codec.present(self.block(0, self.users))

    @property
    def shape(self) -> tuple[int, int]:
        """Users and slots."""
        return self.users, self.slots

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

    def block(self, start: int, stop: int) -> Tokens:
        """Rows as a contiguous read-only array of the smallest type.

        Args:
            start: The first row.
            stop: Behind the last row.
        """
        low, high = self.first + start, self.first + min(stop, self.users)
        rows = np.empty((max(high - low, 0), self.slots), smallest_type(self.tokens))
        for group, begin, end in self._touched(low, high):
            into = rows[max(begin - low, 0) : end - low]
            if low <= begin and end <= high:
                self._read(group, into)
            else:
                into[:] = self._kept(group)[max(low - begin, 0) : high - begin]
        return read_only(rows)

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some rows by their numbers, in this order; each row group is read at most once.

        Args:
            rows: Their numbers.
        """
        numbers = np.asarray(rows, np.int64) + self.first
        taken = np.empty((len(numbers), self.slots), smallest_type(self.tokens))

        def work(group: int, mine: NDArray[np.int64]) -> None:
            taken[mine] = self._whole(group)[numbers[mine] - self.starts[group]]

        self._by_group(numbers, work)
        return taken

    def select(self, rows: NDArray[np.integer[Any]]) -> TokenRows:
        """Some users by their numbers, in this order, as rows in memory.

        Args:
            rows: Their numbers.
        """
        return TokenRows(self.take(rows), tokens=self.tokens)

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
        said = (self.columns, self.held, self.tokens, self.slots, self.users,
                self.first - int(self.before[mine[0]]), checks)  # fmt: skip
        return sha256(repr(said))

    def _checksum(self, file: int) -> str:
        self.files[file].check()
        return sha256_file(self.files[file].path, cached=True)

    def _check(self, unproven: Sequence[int], progress: Progress | None) -> None:
        """Check tokens that the statistics of files do not prove to be valid, on all cores."""
        largest = max(int(self.starts[group + 1] - self.starts[group]) for group in unproven)
        sizes = np.diff(self.starts)
        done, lock, rows = 0, threading.Lock(), int(sizes[unproven].sum())
        if self.held == "lists":
            width = self._list_width(unproven[0])
            self._set(width=width, slots=width)
        check_fits(
            largest * self.slots * _WIDEST * 2 * cores(),
            f"{self.files[0].path}: {largest:,} rows in one row group",
            "write row groups of about 100,000 rows",
        )

        def work(at: int, _: int) -> int:
            nonlocal done
            group = unproven[at]
            lowest = self._decode(group, self._room(group))
            with lock:
                done += int(sizes[group])
                if progress is not None:
                    progress(done, rows)
            return lowest

        lowest = over_blocks(work, len(unproven), 1)
        self._set(complete=self.complete and min(lowest) > MISSING)

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

    def _kept(self, group: int) -> Tokens:
        """A whole row group, which this thread keeps until it asks for another one."""
        file = self._file(group)
        file.check()
        asked = file, int(self.groups[group]), self.columns, self.slots, self.tokens
        held = getattr(_mine, "group", None)
        if held is None or held[0] != asked:
            _mine.group = held = asked, self._whole(group)
        return held[1]

    def _whole(self, group: int) -> Tokens:
        rows = self._room(group)
        self._read(group, rows)
        return rows

    def _room(self, group: int) -> Tokens:
        size = int(self.starts[group + 1] - self.starts[group])
        return np.empty((size, self.slots), smallest_type(self.tokens))

    def _read(self, group: int, into: Tokens) -> None:
        """The tokens of a row group, checked against the statistics of the file."""
        if self._decode(group, into) == MISSING and self.complete:
            raise InvalidInput(
                f"{self._file(group).path}: its notes say that nothing is missing, and there are "
                "gaps; the file is damaged: write it again",
                code="damaged-file",
            )

    def _decode(self, group: int, into: Tokens) -> int:
        """The tokens of a row group, if all are allowed; returns the lowest."""
        file, rows = self._file(group), into
        columns = file.table(int(self.groups[group]), self.columns[: self.slots]).columns
        start = int(self.starts[group] - self.before[self.owners[group]])
        if self.held == "lists":
            columns = [self._flat(columns[0], file.path)]
            rows = np.empty((len(into), self.width), into.dtype)
        try:
            # All tokens of lists are one column, one row after the other.
            for column, place in zip(columns, rows.T if self.held == "numbers" else [rows.ravel()],
                                     strict=True):  # fmt: skip
                _fill(column, place)
        except pa.ArrowInvalid:  # a number too large for the type of our tokens
            wide = np.column_stack([_wide(column) for column in columns])
            check_block(str(file.path), wide.reshape(len(into), -1), self.tokens, start)
            raise
        lowest = check_block(str(file.path), rows, self.tokens, start)
        if rows is not into:
            into[:] = rows[:, : self.slots]
        return lowest

    def _flat(self, column: pa.ChunkedArray, path: Path) -> pa.ChunkedArray:
        """The entries of lists, one list after the other."""
        for chunk in column.chunks:
            lengths = chunk.value_lengths()
            if chunk.null_count or pc.min_max(lengths).as_py() != dict.fromkeys(
                ("min", "max"), self.width
            ):
                raise InvalidInput(
                    f"column {self.columns[0]} of {path} holds lists of different lengths; rows "
                    "are compared slot by slot: fill the shorter lists with nulls",
                    code="unequal-lists",
                )
        return pa.chunked_array([chunk.flatten() for chunk in column.chunks])

    def _list_width(self, group: int) -> int:
        """How many entries the first list of a row group has."""
        lists = self._file(group).table(int(self.groups[group]), self.columns).column(0)
        first = lists[0].as_py()
        if not first:
            raise InvalidInput(
                f"{self._file(group).path}: the first list of column {self.columns[0]} is empty; "
                "give each row one entry for each slot",
                code="empty-lists",
            )
        return len(first)

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


def _files(path: AnyPath | Sequence[AnyPath]) -> list[Path]:
    """The files in their order; each once."""
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


def _fill(column: pa.ChunkedArray, into: Tokens) -> None:
    """Copy a column into an array, gaps as `MISSING`."""
    start, kind = 0, pa.from_numpy_dtype(into.dtype)
    for chunk in column.chunks:
        same = chunk if chunk.type == kind else chunk.cast(kind)
        filled = same.fill_null(MISSING) if same.null_count else same
        into[start : start + len(chunk)] = filled.to_numpy()
        start += len(chunk)


def _wide(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """A column of numbers of any type; those beyond 64 bits with sign as the largest."""
    values = column.fill_null(0).to_numpy()
    largest = np.iinfo(np.int64).max
    whole = np.minimum(values, values.dtype.type(largest)) if values.dtype == "u8" else values
    return np.where(column.is_valid().to_numpy(), whole.astype(np.int64), MISSING)


def _array(users: pa.Array) -> NDArray[Any]:
    return users.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
