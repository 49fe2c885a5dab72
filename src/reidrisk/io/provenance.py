"""Where rows came from, for messages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True, slots=True)
class Origin:
    """One file or several, with the number of rows of each.

    Args:
        files: Their names.
        rows: How many rows or records each gave; those of all files are counted in one go.
        unit: "row" of a table, its header not counted, or "record" of a TFRecord file.
        record: Which record a row came from, if the rows are parts of records.
        notes: What was left out or seems odd in them, a sentence each.
        warnings: Likewise, where figures may be far off for it.
    """

    files: tuple[str, ...]
    rows: tuple[int, ...]
    unit: str = "row"
    record: Callable[[int], int] = int
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @classmethod
    def memory(cls, rows: int) -> Self:
        """A table that was given as arrays.

        Args:
            rows: How many.
        """
        return cls(("the table",), (rows,))

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.files[0]}{more}"

    def place(self, row: int) -> str:
        """The file and the number of a row, counted from 1.

        Args:
            row: Counted from 0.
        """
        number, ends = self.record(row), np.cumsum(self.rows)
        file = int(np.searchsorted(ends, number, side="right"))
        return f"{self.files[file]}, {self.unit} {number - int(ends[file]) + self.rows[file] + 1}"
