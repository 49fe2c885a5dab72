"""Known rows in a Parquet file, which is never read as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.files import existing_file
from reidrisk.inputs.formats.parquet import parquet_file, refusing_damage
from reidrisk.inputs.roles import listed
from reidrisk.rows import MISSING, Kind, TokenRows, Tokens, check_block, read_only, smallest_type


@dataclass(frozen=True, eq=False, repr=False)
class ParquetRows:
    """One token for each slot, in a Parquet file, of which a few row groups are read at a time.

    Args:
        path: The file; its tokens are whole numbers, null where nothing came.
        tokens: Size of the alphabet.
        columns: The name of a column of lists, one token for each slot; or the names of columns,
            one for each slot. If not given, `tokens` if there is such a column, else all others
            than `user`.

    The file is read once to check it. A block is read with all row groups that it touches, so row
    groups of about 100,000 rows serve best.
    """

    path: Path
    tokens: int
    columns: str | Sequence[str] | None = None
    slots: int = field(default=0, init=False)
    complete: bool = field(default=True, init=False)
    first: int = field(default=0, init=False)
    users: int = field(default=0, init=False)
    starts: NDArray[np.int64] = field(init=False)

    kind, set_size = Kind.TOKENS, 1

    def __post_init__(self) -> None:
        file = self._open()
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self._set(
            path=Path(self.path),
            columns=self._columns(file.schema_arrow.names),
            starts=np.cumsum([0, *sizes]),
            users=file.metadata.num_rows,
        )
        if not self.users:
            raise InvalidInput(f"{self.path} holds no rows; there is nobody to search")
        complete = True
        for group, size in enumerate(sizes):
            if size:
                rows = self._read([group])
                if self.slots not in (0, rows.shape[1]):
                    raise self._unequal()
                self._set(slots=rows.shape[1])
                start = int(self.starts[group])
                complete = (
                    check_block(str(self.path), rows, self.tokens, start) > MISSING and complete
                )
        self._set(complete=complete)

    def __repr__(self) -> str:
        return f"<ParquetRows {self.path}: {self.users} x {self.slots}>"

    def __len__(self) -> int:
        return self.users

    @property
    def shape(self) -> tuple[int, int]:
        """Users and slots."""
        return self.users, self.slots

    def prefix(self, slots: int) -> Self:
        """The same users after their first `slots` slots."""
        return self._with(slots=slots)

    def part(self, start: int, stop: int) -> Self:
        """Some of the users, neighbours."""
        return self._with(first=self.first + start, users=stop - start)

    def block(self, start: int, stop: int) -> Tokens:
        """Rows as a contiguous read-only array of the smallest type."""
        low, high = self.first + start, self.first + min(stop, self.users)
        from_group = int(np.searchsorted(self.starts, low, side="right")) - 1
        to_group = int(np.searchsorted(self.starts, high, side="left"))
        rows = self._read(range(from_group, to_group))[low - self.starts[from_group] :][
            : high - low
        ]
        rows = rows[:, : self.slots].astype(smallest_type(self.tokens))
        return read_only(np.ascontiguousarray(rows))

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some rows by their numbers, in this order; each row group is read at most once."""
        numbers = np.asarray(rows, np.int64) + self.first
        taken = np.empty((len(numbers), self.slots), smallest_type(self.tokens))
        groups = np.searchsorted(self.starts, numbers, side="right") - 1
        for group in np.unique(groups):
            mine = groups == group
            held = self._read([int(group)])
            taken[mine] = held[numbers[mine] - self.starts[group], : self.slots]
        return taken

    def select(self, rows: NDArray[np.integer[Any]]) -> TokenRows:
        """Some users by their numbers, in this order, as rows in memory."""
        return TokenRows(self.take(rows), tokens=self.tokens)

    def _read(self, groups: Sequence[int]) -> NDArray[np.int64]:
        """All tokens of some row groups, in the file's own order."""
        columns = [self.columns] if isinstance(self.columns, str) else list(self.columns or ())
        opened = self._open()
        with refusing_damage(self.path):
            table = opened.read_row_groups(list(groups), columns=columns)
        if not isinstance(self.columns, str):
            return np.column_stack([self._numbers(column) for column in table.columns])
        lists = table.column(0).combine_chunks()
        if isinstance(lists, pa.ChunkedArray):
            lists = pa.concat_arrays(lists.chunks)
        if not hasattr(lists.type, "value_type"):
            return self._numbers(lists).reshape(-1, 1)  # a column of numbers is one slot
        lists = lists.cast(pa.list_(lists.type.value_type))
        sizes = np.unique(lists.value_lengths().to_numpy(zero_copy_only=False))
        if lists.null_count or len(sizes) != 1:
            raise self._unequal()
        return self._numbers(lists.flatten()).reshape(-1, int(sizes[0]))

    def _unequal(self) -> InvalidInput:
        return InvalidInput(
            f"column {self.columns} of {self.path} holds lists of different lengths; rows are "
            "compared slot by slot: fill the shorter lists with nulls"
        )

    def _numbers(self, column: pa.Array) -> NDArray[np.int64]:
        if not pa.types.is_integer(column.type):
            raise InvalidInput(
                f"{self.path} holds {column.type}: tokens are whole numbers from 0 to "
                f"{self.tokens - 1}; number the tokens first"
            )
        filled = column.cast(pa.int64()).fill_null(MISSING)
        return np.asarray(filled.to_numpy(), np.int64)

    def _columns(self, names: Sequence[str]) -> str | tuple[str, ...]:
        wanted = self.columns
        if wanted is None:
            wanted = "tokens" if "tokens" in names else [name for name in names if name != "user"]
        asked = [wanted] if isinstance(wanted, str) else list(wanted)
        for name in asked:
            if name not in names:
                raise InvalidInput(f"{self.path} has no column {name}; it has {listed(names)}")
        if not asked:
            raise InvalidInput(f"{self.path} has no column of tokens; it has {listed(names)}")
        return wanted if isinstance(wanted, str) else tuple(wanted)

    def _open(self) -> Any:
        return parquet_file(existing_file(self.path), memory_map=True)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _with(self, **changes: object) -> Self:
        same = object.__new__(type(self))
        same.__dict__.update(self.__dict__ | changes)
        return same
