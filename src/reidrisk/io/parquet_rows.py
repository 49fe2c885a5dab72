"""Known rows in Parquet files, of which a few row groups are read at a time."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits, cores
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import (
    MISSING,
    TokenCodec,
    TokenRows,
    Tokens,
    check_block,
)
from reidrisk.errors import InvalidInput
from reidrisk.io.parquet_survey import Held, refuse_difference, survey
from reidrisk.io.parquet_table import ParquetTable, files_named
from reidrisk.io.tables import AnyPath
from reidrisk.io.unpacking import Progress

_WIDEST = 8  # bytes of a token in a file, at most


class ParquetRows(ParquetTable):
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

    set_size: ClassVar[int] = 1

    held: Held
    """Whether there is a column of lists, or a column for each slot."""
    tokens: int
    width: int
    """Number of slots in the files."""
    complete: bool

    def __init__(
        self,
        path: AnyPath | Sequence[AnyPath],
        tokens: int | None = None,
        columns: str | Sequence[str] | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        paths = files_named(path)
        found = over_blocks(lambda at, _: survey(paths[at], tokens, columns), len(paths), 1)
        for one in found[1:]:
            refuse_difference(found[0], one)
        told = found[0]
        self._set_groups([one.file for one in found], [one.rows for one in found])
        lowest = [
            least for one in found for rows, least in zip(one.rows, one.lowest, strict=True) if rows
        ]
        self._set(
            columns=told.names,
            held=told.held,
            named=told.users,
            tokens=told.tokens,
            width=len(told.names),
            slots=len(told.names),
            complete=all(one is None or one > MISSING for one in lowest),
        )
        unproven = [group for group, one in enumerate(lowest) if one is None]
        if unproven:
            self._check(unproven, progress)

    @property
    def codec(self) -> TokenCodec:
        """How rows of one token for each slot are stored."""
        return TokenCodec.of((self.slots,), self.tokens, complete=self.complete)

    def select(self, rows: NDArray[np.integer[Any]]) -> TokenRows:
        """Some users by their numbers, in this order, as rows in memory.

        Args:
            rows: Their numbers.
        """
        return TokenRows(self.take(rows), tokens=self.tokens)

    def _told(self) -> tuple[Any, ...]:
        return self.columns, self.held, self.tokens

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
