"""Files of known rows as we write them: a column of users, and one of token numbers for each slot.

A column for each slot, its few tokens numbered in a dictionary, is small, can be read by any tool
that reads Parquet, and comes into memory nearly as fast as bytes would. Gaps are
null. A note in the file says that it holds numbers, how many slots, and of how many tokens; what
the numbers mean stands in the labels of the folder.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.rows import MISSING, Tokens, check_block, smallest_type
from reidrisk.errors import InvalidInput
from reidrisk.io.formats.parquet import read_back

NUMBERS = b"reidrisk:numbers"
"""The note in Parquet files of which the tokens are numbers: how many slots and tokens, in JSON."""

USER = "user"

GROUP = 1 << 16
"""Rows in a row group: it divides `passes.unit` of many users, and blocks waste little of it."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a file of numbers says of itself."""

    slots: int
    tokens: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of tokens."""
        return tuple(f"slot_{slot}" for slot in range(1, self.slots + 1))

    @property
    def note(self) -> bytes:
        """The note in a file."""
        return json.dumps({"slots": self.slots, "tokens": self.tokens}).encode()


def numbers_of(file: Path, notes: Mapping[bytes, bytes] | None) -> Numbers | None:
    """What a file says of its numbers; None if nobody noted that it holds any."""
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
        group: Rows in a row group. Users of a file in a multiple of `passes.unit(all users)` let
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
        """Add some users with their rows, users x slots, -1 where nothing came."""
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
        self._pour(self.rows // self._group * self._group)

    def _pour(self, until: int) -> None:
        """Write what waits, up to this row."""
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
                self._pour(self.rows)
        finally:
            self._file.close()
        if kind is None:
            read_back(self._path, self._schema, self.rows)
