"""Pieces of rows on a cluster: to bytes and back, joined and cut into blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from reidrisk.core.rows import BagRows, Kind, Rows, Tokens, read_only, smallest_type

Held: TypeAlias = Tokens | BagRows
Piece: TypeAlias = tuple[int, Held]
"""Rows in memory, neighbours, with the number of the first."""

Cell: TypeAlias = tuple[int, tuple[bytes, bytes]]
"""A piece as bytes: its tokens, and where bags begin."""

_MOST_BYTES = 1 << 23


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of rows without looking at them.

    Args:
        kind: What a row holds.
        users: Number of rows.
        slots: Number of slots of every row.
        set_size: Most tokens of one slot.
        tokens: Size of the alphabet.
        complete: Whether no row has a gap.
        size: Number of tokens of all rows, free places included, but for bags.
    """

    kind: Kind
    users: int
    slots: int
    set_size: int
    tokens: int
    complete: bool
    size: int

    @classmethod
    def of(cls, rows: Rows, *, complete: bool | None = None) -> "Facts":
        """What a handle says of its rows; whether they are complete, only if nobody else says."""
        size = rows.size if isinstance(rows, BagRows) else rows.users * rows.slots * rows.set_size
        known = rows.complete if complete is None else complete
        return cls(rows.kind, rows.users, rows.slots, rows.set_size, rows.tokens, known, size)

    @property
    def bytes(self) -> int:
        """Bytes of all rows."""
        return self.users * self.row_bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, of bags on average."""
        starts = 8 if self.kind is Kind.BAGS else 0
        return max(self.size * self.type.itemsize // max(self.users, 1), 1) + starts

    @property
    def type(self) -> np.dtype[Any]:
        """What a token is held in."""
        return smallest_type(self.tokens)

    def rows_in(self, size: int) -> int:
        """How many rows take so many bytes: a power of two, at least 1."""
        return 1 << (max(size // self.row_bytes, 1).bit_length() - 1)

    def cell_rows(self, unit: int) -> int:
        """Rows in a cell: all of a unit, or a power of two that takes a few MiB."""
        return min(unit, self.rows_in(_MOST_BYTES))


class Cut(NamedTuple):
    """Which rows a piece of work sees, and in what blocks.

    Args:
        first: The first row, among those that are kept; it is number 0 for the work.
        stop: The row behind the last one.
        slots: How many of the slots.
        step: Rows in a block, exactly, but for the last; None if it does not matter.
        most: Rows in a block at most, if it does not matter.
        loose: Bags are given as they are, not beside each other.
    """

    first: int
    stop: int
    slots: int
    step: int | None
    most: int
    loose: bool = False


def cell_of(start: int, rows: Held) -> Cell:
    """Rows as bytes."""
    if isinstance(rows, BagRows):
        return start, (rows.values.tobytes(), rows.starts.tobytes())
    return start, (rows.tobytes(), b"")


def piece_of(cell: Cell, facts: Facts) -> Piece:
    """Bytes as rows, where they lie."""
    start, (values, starts) = cell
    tokens = np.frombuffer(values, facts.type)
    if facts.kind is Kind.BAGS:
        return start, BagRows.of(tokens, np.frombuffer(starts, np.int64), tokens=facts.tokens)
    sets = (facts.set_size,) if facts.kind is Kind.SETS else ()
    return start, tokens.reshape(-1, facts.slots, *sets)


def some_of(rows: Held, start: int, stop: int) -> Held:
    """Neighbours among rows in memory, without a copy.

    Args:
        rows: Rows in memory.
        start: The first row.
        stop: The row behind the last one.
    """
    return rows.part(start, stop) if isinstance(rows, BagRows) else rows[start:stop]


def read_piece(rows: Rows, start: int, stop: int) -> Held:
    """Rows of a handle in memory.

    Args:
        rows: Known rows.
        start: The first row.
        stop: The row behind the last one.
    """
    return rows.part(start, stop) if isinstance(rows, BagRows) else rows.block(start, stop)


def blocks_of(pieces: Iterable[Piece], cut: Cut) -> Iterator[tuple[int, Any]]:
    """Blocks as work wants them, of pieces in their order."""
    for start, rows in joined_pieces(pieces, cut):
        if isinstance(rows, BagRows):
            yield start - cut.first, rows if cut.loose else read_only(rows.beside())
        else:
            yield start - cut.first, read_only(np.ascontiguousarray(rows[:, : cut.slots]))


def joined_pieces(pieces: Iterable[Piece], cut: Cut) -> Iterator[Piece]:
    """Neighbours joined and cut so that blocks begin where they must; rows that are cut off go."""
    held: list[Held] = []
    begin = end = cut.first
    for start, rows in pieces:
        done, stop = max(cut.first - start, 0), min(cut.stop - start, len(rows))
        if done < stop and held and start + done != end:
            yield begin, joined(held)
            held = []
        while done < stop:
            if not held:
                begin = end = start + done
            taken = min(_room(cut, begin, end), stop - done)
            held.append(some_of(rows, done, done + taken))
            done, end = done + taken, end + taken
            if not _room(cut, begin, end):
                yield begin, joined(held)
                held = []
    if held:
        yield begin, joined(held)


def joined(parts: list[Held]) -> Held:
    """Rows behind each other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if not isinstance(first, BagRows):
        return np.concatenate([np.asarray(part) for part in parts])
    bags = [part for part in parts if isinstance(part, BagRows)]
    sizes = np.concatenate([part.sizes for part in bags])
    values = np.concatenate([part.values for part in bags])
    return BagRows.of(values, np.concatenate([[0], np.cumsum(sizes)]), tokens=first.tokens)


def _room(cut: Cut, begin: int, end: int) -> int:
    """Rows that still go into a block with some rows."""
    if cut.step is None:
        return cut.most - (end - begin)
    whole = begin + cut.step - (begin - cut.first) % cut.step
    return whole - end
