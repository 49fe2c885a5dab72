"""Pieces of rows on a cluster: to bytes and back, joined and cut into blocks."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from reidrisk.core.rows import Codec, HeldRows, Rows

Piece: TypeAlias = tuple[int, HeldRows]
"""Rows in memory, neighbours, with the number of the first."""

Cell: TypeAlias = tuple[int, tuple[bytes, ...]]
"""A piece as bytes: see `Codec.pack`."""

_MOST_BYTES = 1 << 23  # of a cell


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of rows without looking at them.

    Args:
        codec: How they are stored.
        users: Number of rows.
        size: Number of entries of all rows, free places included, but for bags.
    """

    codec: Codec
    users: int
    size: int

    @classmethod
    def of(cls, rows: Rows) -> "Facts":
        """What a handle says of its rows."""
        row = getattr(rows.codec, "shape", None)
        size = rows.size if row is None else rows.users * math.prod(row)  # type: ignore[attr-defined]
        return cls(rows.codec, rows.users, size)

    @property
    def bytes(self) -> int:
        """Bytes of all rows."""
        return self.users * self.row_bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, of bags on average."""
        return self.codec.row_bytes(self.size, self.users)

    def prefix(self, slots: int) -> "Facts":
        """The same after the first `slots` slots."""
        codec = self.codec.prefix(slots)
        return Facts(codec, self.users, self.size // self.codec.slots * codec.slots)

    def rows_in(self, size: int) -> int:
        """How many rows take so many bytes: a power of two, at least 1."""
        return 1 << (max(size // self.row_bytes, 1).bit_length() - 1)

    def cell_rows(self, unit: int) -> int:
        """Rows in a cell: all of a unit, or a power of two that takes a few MiB."""
        return min(unit, self.rows_in(_MOST_BYTES))


class BlockCut(NamedTuple):
    """Which rows a piece of work sees, and in what blocks.

    Args:
        first: The first row, among those that are kept; it is number 0 for the work.
        stop: The row behind the last one.
        slots: How many of the slots.
        step: Rows in a block, exactly, but for the last; None if it does not matter.
        most: Rows in a block at most, if it does not matter.
        loose: Rows are given as rows, not as an array.
    """

    first: int
    stop: int
    slots: int
    step: int | None
    most: int
    loose: bool = False


def cell_of(start: int, rows: HeldRows) -> Cell:
    """Rows as bytes."""
    return start, rows.codec.pack(rows)


def piece_of(cell: Cell, facts: Facts) -> Piece:
    """Bytes as rows, where they lie."""
    start, parts = cell
    return start, facts.codec.unpack(parts)


def blocks_of(pieces: Iterable[Piece], cut: BlockCut) -> Iterator[tuple[int, Any]]:
    """Blocks as work wants them, of pieces in their order."""
    for start, rows in joined_pieces(pieces, cut):
        some = rows.prefix(cut.slots)
        yield start - cut.first, some if cut.loose else some.block(0, some.users)


def joined_pieces(pieces: Iterable[Piece], cut: BlockCut) -> Iterator[Piece]:
    """Neighbours joined and cut so that blocks begin where they must; rows that are cut off go."""
    held: list[HeldRows] = []
    begin = end = cut.first
    for start, rows in pieces:
        done, stop = max(cut.first - start, 0), min(cut.stop - start, len(rows))
        if done < stop and held and start + done != end:
            yield begin, _joined(held)
            held = []
        while done < stop:
            if not held:
                begin = end = start + done
            taken = min(_room(cut, begin, end), stop - done)
            held.append(rows.part(done, done + taken))  # type: ignore[arg-type]
            done, end = done + taken, end + taken
            if not _room(cut, begin, end):
                yield begin, _joined(held)
                held = []
    if held:
        yield begin, _joined(held)


def _joined(parts: list[HeldRows]) -> HeldRows:
    """Rows behind each other."""
    return parts[0] if len(parts) == 1 else parts[0].codec.join(parts)


def _room(cut: BlockCut, begin: int, end: int) -> int:
    """Rows that still go into a block with some rows."""
    if cut.step is None:
        return cut.most - (end - begin)
    whole = begin + cut.step - (begin - cut.first) % cut.step
    return whole - end
