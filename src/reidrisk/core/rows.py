"""Rows of users, read in blocks: in memory, memory-mapped or on disk.

Whoever works through rows asks for a block of them, or for a few by their numbers, and never for
all: so ten million users need not fit into memory. What a row holds is its kind: one token for each
slot, a set of tokens for each slot, or a bag of tokens without slots.

Tokens are whole numbers from 0 to `tokens - 1`; `MISSING` marks a gap, a slot in which nothing
came. Rows are checked once, when a handle is made: behind this border code trusts them and runs
without bounds checks.
"""

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeGuard

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, NDArray

from reidrisk.errors import InvalidInput

MISSING = -1

Tokens: TypeAlias = NDArray[np.integer[Any]]

_ROWS_AT_A_TIME = 1 << 20


class Kind(Enum):
    """What a known row holds."""

    TOKENS = "one token for each slot"
    SETS = "a set of tokens for each slot"
    BAGS = "a bag of tokens, without slots"


class Rows(Protocol):
    """Known rows, wherever they are."""

    @property
    def kind(self) -> Kind:
        """What a row holds."""

    @property
    def users(self) -> int:
        """Number of rows."""

    @property
    def slots(self) -> int:
        """Number of slots of every row; 1 for bags."""

    @property
    def set_size(self) -> int:
        """Most tokens of one slot."""

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""

    @property
    def complete(self) -> bool:
        """Whether no row has a gap."""

    def __len__(self) -> int:
        """Number of rows."""

    def prefix(self, slots: int) -> "Rows":
        """The same users after their first `slots` slots."""

    def part(self, start: int, stop: int) -> "Rows":
        """Some of the users, neighbours."""

    def block(self, start: int, stop: int) -> Tokens:
        """Rows as a contiguous read-only array of the smallest type.

        It is users x slots for tokens, users x slots x set size for sets, and users x size of the
        largest bag of the block for bags; free places hold `MISSING`.
        """

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some rows by their numbers, in this order, as an array."""

    def select(self, rows: NDArray[np.integer[Any]]) -> "Rows":
        """Some users by their numbers, in this order, as rows in memory."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A part of a file that is mapped into memory: where it is, instead of what it holds.

    Args:
        file: Its name.
        state: Its size and when it was last written to.
        offset: Where the first entry is.
        shape: Of the array.
        strides: Bytes from one entry to the next, for each dimension.
        kind: The type of entries.
    """

    file: str
    state: tuple[int, int]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str

    @classmethod
    def of(cls, values: Tokens) -> "Mapped | None":
        """Where an array lies in a file; None if not, or if written entries are copies."""
        map_, file = getattr(values, "_mmap", None), getattr(values, "filename", None)
        copied = getattr(values, "mode", "c") == "c"
        if map_ is None or file is None or copied or min(values.strides, default=0) < 0:
            return None
        begin = np.frombuffer(map_, np.uint8).ctypes.data
        # A view says the offset of the whole map, which begins at a page.
        before = values.offset - values.offset % mmap.ALLOCATIONGRANULARITY  # type: ignore[attr-defined]
        place = before + values.ctypes.data - begin
        return cls(
            str(file), _state(str(file)), place, values.shape, values.strides, values.dtype.str
        )

    def opened(self) -> Tokens:
        """The same part of the file, if it is the same file."""
        if _state(self.file) != self.state:
            raise InvalidInput(
                f"{self.file}: the file changed since it was looked at, so that its rows are not "
                "those that were checked; read it again when nobody is writing to it",
                code="file-changed",
            )
        kind = np.dtype(self.kind)
        reach = sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        part: Any = np.memmap(
            self.file, kind, "r", self.offset, shape=(reach // kind.itemsize + 1,)
        )
        return np.lib.stride_tricks.as_strided(
            part, self.shape, self.strides, subok=True, writeable=False
        )


def _state(file: str) -> tuple[int, int]:
    try:
        found = Path(file).stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


@dataclass(frozen=True, eq=False, init=False, repr=False)
class _ArrayRows(NDArrayOperatorsMixin):
    """Rows in an array, which may be a memory map. They serve as an array wherever one is asked."""

    values: Tokens
    tokens: int
    complete: bool

    dimensions: ClassVar[int]

    def __init__(self, values: ArrayLike, *, tokens: int, name: str = "known") -> None:
        rows, complete = checked_array(name, values, tokens, self.dimensions)
        self._fill(rows, tokens, complete)

    @classmethod
    def checked(cls, values: Tokens, *, tokens: int, complete: bool) -> Self:
        """Rows that were checked when they were made, and are of the smallest type."""
        rows = object.__new__(cls)
        rows._fill(read_only(values), tokens, complete)
        return rows

    def _fill(self, values: Tokens, tokens: int, complete: bool) -> None:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "complete", complete)

    def _with(self, values: Tokens) -> Self:
        same = object.__new__(type(self))
        same._fill(values, self.tokens, self.complete)
        return same

    def __getstate__(self) -> tuple[Any, int, bool]:
        """A memory map travels as the name of its file; whoever gets it reads for himself."""
        return Mapped.of(self.values) or self.values, self.tokens, self.complete

    def __setstate__(self, state: tuple[Any, int, bool]) -> None:
        values, tokens, complete = state
        values = values.opened() if isinstance(values, Mapped) else values
        self._fill(read_only(values), tokens, complete)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {' x '.join(map(str, self.values.shape))}>"

    @property
    def users(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return int(self.values.shape[1])

    def prefix(self, slots: int) -> Self:
        """The same users after their first `slots` slots."""
        return self._with(self.values[:, :slots])

    def part(self, start: int, stop: int) -> Self:
        """Some of the users, neighbours."""
        return self._with(self.values[start:stop])

    def block(self, start: int, stop: int) -> Tokens:
        """Rows as a contiguous read-only array of the smallest type."""
        rows = np.ascontiguousarray(self.values[start:stop], smallest_type(self.tokens))
        return read_only(rows.view(np.ndarray))

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some rows by their numbers, in this order, as an array."""
        return np.asarray(self.values[rows], smallest_type(self.tokens))

    def select(self, rows: NDArray[np.integer[Any]]) -> Self:
        """Some users by their numbers, in this order, as rows in memory."""
        return self._with(read_only(self.take(rows)))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]

    def __iter__(self) -> Iterator[Tokens]:
        return iter(self.values)

    def __array__(self, *arguments: Any, **options: Any) -> NDArray[Any]:
        return self.values.__array__(*arguments, **options)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = (each.values if isinstance(each, _ArrayRows) else each for each in inputs)
        return getattr(function, method)(*arrays, **options)

    def __getattr__(self, name: str) -> Any:
        """Whatever else an array has: `shape`, `dtype`, `ravel`, and so on."""
        if name.startswith("_") or name == "values":
            raise AttributeError(name)
        return getattr(self.values, name)


class TokenRows(_ArrayRows):
    """One token for each slot.

    Args:
        values: Users x slots, in memory or a memory map.
        tokens: Size of the alphabet.
        name: What messages call it.

    Example:
        >>> rows = rr.TokenRows([[3, 1], [0, -1], [2, 2]], tokens=4)
        >>> rows, rows.complete
        (<TokenRows 3 x 2>, False)
        >>> rows.block(0, 2).tolist()
        [[3, 1], [0, -1]]
    """

    kind, set_size, dimensions = Kind.TOKENS, 1, 2


class SetRows(_ArrayRows):
    """A set of tokens for each slot.

    Args:
        values: Users x slots x k, the free places of a set filled with `MISSING`; a slot is a gap
            if all its places are free.
        tokens: Size of the alphabet.
        name: What messages call it.

    Example:
        >>> rows = rr.SetRows([[[3, 1], [0, -1]], [[2, 0], [2, 3]]], tokens=4)
        >>> rows.users, rows.slots, rows.set_size
        (2, 2, 2)
    """

    kind, dimensions = Kind.SETS, 3

    @property
    def set_size(self) -> int:
        """Most tokens of one slot."""
        return int(self.values.shape[2])


@dataclass(frozen=True, eq=False, init=False, repr=False)
class BagRows:
    """A bag of tokens for each user, of any size; there are no slots to compare.

    A bag may hold a token several times: whether that counts is for the attack to say.

    Args:
        bags: A sequence of tokens for each user.
        tokens: Size of the alphabet.
        name: What messages call it.

    Example:
        >>> bags = rr.BagRows([[3, 1, 1], [0]], tokens=4)
        >>> bags
        <BagRows 2 bags of up to 3 tokens>
        >>> bags[0].tolist()
        [3, 1, 1]
    """

    values: Tokens
    starts: NDArray[np.int64]
    """Where the bag of each row begins in `values`, and at last where the last one ends."""
    tokens: int

    kind, slots, complete = Kind.BAGS, 1, True

    def __init__(self, bags: Sequence[ArrayLike], *, tokens: int, name: str = "known") -> None:
        if not len(bags):
            raise InvalidInput(
                f"{name} has one bag of tokens per user, and holds none", code="empty-table"
            )
        values, sizes = _joined(bags, name)
        self._fill(_checked_bags(name, values, tokens), _starts(sizes), tokens)

    @classmethod
    def of(cls, values: ArrayLike, starts: ArrayLike, *, tokens: int, name: str = "known") -> Self:
        """All bags one after the other, as columns of lists are held: no loop over users.

        Args:
            values: The tokens of all users, one user after the other.
            starts: Where each bag begins, and at last where the last one ends.
            tokens: Size of the alphabet.
            name: What messages call it.
        """
        flat, places = np.asarray(values), np.asarray(starts)
        if flat.ndim != 1 or (flat.size and not np.issubdtype(flat.dtype, np.integer)):
            raise InvalidInput(
                f"{name} is not a list of whole numbers, but {flat.dtype} of shape {flat.shape}; "
                "number the tokens first",
                code="not-tokens",
            )
        if places.ndim != 1 or not np.issubdtype(places.dtype, np.integer) or not len(places[1:]):
            raise InvalidInput(
                f"starts of {name} is where each bag begins and where the last one ends, whole "
                f"numbers, one more than users; got {places.dtype} of shape {places.shape}",
                code="invalid-starts",
            )
        if places[0] != 0 or places[-1] != len(flat) or (np.diff(places) < 0).any():
            raise InvalidInput(
                f"starts of {name} begins with 0, never falls and ends with the {len(flat)} tokens "
                f"there are; it goes from {places[0]} to {places[-1]}",
                code="invalid-starts",
            )
        rows = object.__new__(cls)
        rows._fill(_checked_bags(name, flat, tokens), places.astype(np.int64), tokens)
        return rows

    @classmethod
    def beneath(cls, rows: Tokens, *, tokens: int) -> Self:
        """Rows of checked tokens as bags that still hold their gaps, without a copy."""
        flat = rows.reshape(len(rows), -1)
        bags = object.__new__(cls)
        bags._fill(flat.ravel(), np.arange(len(flat) + 1) * flat.shape[1], tokens)
        return bags

    def _fill(self, values: Tokens, starts: NDArray[np.int64], tokens: int) -> None:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "starts", read_only(starts))
        object.__setattr__(self, "tokens", tokens)

    def __repr__(self) -> str:
        return f"<BagRows {self.users} bags of up to {self.set_size} tokens>"

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Tokens]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, rows: Any) -> Any:
        """The bag of a row; with a slice, a mask or row numbers, these users as rows."""
        if isinstance(rows, slice | list | np.ndarray):
            return self.select(np.arange(len(self))[rows])
        row = range(len(self))[rows]
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def users(self) -> int:
        """Number of bags."""
        return len(self)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of tokens of each bag."""
        return np.diff(self.starts)

    @property
    def size(self) -> int:
        """Number of tokens of all bags."""
        return len(self.values)

    @property
    def set_size(self) -> int:
        """Size of the largest bag, at least 1."""
        return max(int(self.sizes.max(initial=0)), 1)

    def prefix(self, slots: int) -> Self:
        """Itself."""
        return self

    def part(self, start: int, stop: int) -> Self:
        """Some of the users, neighbours."""
        starts = self.starts[start : stop + 1]
        return self._with(self.values[starts[0] : starts[-1]], starts - starts[0])

    def select(self, rows: NDArray[np.integer[Any]]) -> Self:
        """Some users by their numbers, in this order."""
        sizes = self.sizes[rows]
        starts = _starts(sizes)
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], sizes)
        return self._with(read_only(self.values[places]), starts)

    def spread(self, rows: NDArray[np.bool_]) -> Self:
        """These bags at the places where a mask is true, and empty ones elsewhere."""
        sizes = np.zeros(len(rows), np.int64)
        sizes[rows] = self.sizes
        return self._with(self.values, _starts(sizes))

    def followed_by(self, others: Self) -> Self:
        """These bags, and behind them others of the same alphabet."""
        values = read_only(np.concatenate([self.values, others.values]))
        return self._with(values, _starts(np.concatenate([self.sizes, others.sizes])))

    def _with(self, values: Tokens, starts: NDArray[np.int64]) -> Self:
        same = object.__new__(type(self))
        same._fill(values, starts, self.tokens)
        return same

    def block(self, start: int, stop: int) -> Tokens:
        """Bags beside each other, the free places filled with `MISSING`."""
        return read_only(self.part(start, stop).beside())

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some bags by their numbers, in this order, beside each other."""
        return self.select(rows).beside()

    def beside(self) -> Tokens:
        """All bags as one array, as wide as the largest; the free places hold `MISSING`."""
        held = np.arange(self.set_size) < self.sizes[:, None]
        rows = np.full(held.shape, MISSING, smallest_type(self.tokens))
        rows[held] = self.values
        return rows

    def __array__(self, *arguments: Any, **options: Any) -> NDArray[Any]:
        return self.beside().__array__(*arguments, **options)


def _joined(bags: Sequence[ArrayLike], name: str) -> tuple[Tokens, NDArray[np.int64]]:
    """All tokens one after the other, and the size of each bag."""
    arrays = [np.asarray(bag, dtype=None if np.size(bag) else np.int64) for bag in bags]
    for user, bag in enumerate(arrays):
        if bag.ndim != 1 or not np.issubdtype(bag.dtype, np.integer):
            raise InvalidInput(
                f"{name}[{user}] is not a list of whole numbers, but {bag.dtype} of shape "
                f"{bag.shape}; number the tokens first",
                code="not-tokens",
            )
    return np.concatenate(arrays), np.fromiter(map(len, arrays), np.int64)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)])


def _checked_bags(name: str, values: Tokens, tokens: int) -> Tokens:
    """The tokens of bags in their smallest type, if all are allowed."""
    if values.size and (values.min() < 0 or values.max() >= tokens):
        wrong = int(np.flatnonzero((values < 0) | (values >= tokens))[0])
        raise InvalidInput(
            f"{name} holds the token {values[wrong]}: tokens are whole numbers from 0 to "
            f"{tokens - 1}; renumber the tokens or raise tokens=",
            code="token-out-of-range",
        )
    return read_only(values.astype(smallest_type(tokens), copy=False))


def rows_of(known: "Rows | ArrayLike", *, tokens: int, name: str = "known") -> Rows:
    """Known rows as a handle: arrays of two dimensions hold tokens, of three sets."""
    if is_rows(known):
        rows = known
        if rows.tokens != tokens:
            raise InvalidInput(
                f"{name} has an alphabet of {rows.tokens} tokens, and tokens is {tokens}; give "
                "both the same",
                code="alphabet-mismatch",
            )
        return rows
    values = np.asanyarray(known)
    kind = SetRows if values.ndim == SetRows.dimensions else TokenRows
    return kind(values, tokens=tokens)


def is_rows(known: object) -> TypeGuard[Rows]:
    """Whether something is a handle, of whatever make."""
    return hasattr(known, "block")


def one_after_other(rows: Any, others: Any) -> Any:
    """Anonymous rows, an array or bags, and behind them others of the same form."""
    if not isinstance(rows, BagRows):
        return read_only(np.concatenate([rows, others]))
    return rows.followed_by(others)


def smallest_type(tokens: int) -> np.dtype[Any]:
    """The smallest type for tokens below `tokens` and the mark of a gap."""
    return np.min_scalar_type(-tokens)


def checked_array(
    name: str, values: ArrayLike, tokens: int, dimensions: int
) -> tuple[Tokens, bool]:
    """The rows in their smallest type, and whether they are complete."""
    rows = np.asanyarray(values)
    if rows.ndim != dimensions or rows.size == 0:
        raise InvalidInput(
            f"{name} has one row per user and one column per slot, at least one of each; "
            f"got an array of shape {rows.shape}",
            code="wrong-shape",
        )
    if not np.issubdtype(rows.dtype, np.integer):
        raise InvalidInput(
            f"{name} holds {rows.dtype}: tokens are whole numbers from 0 to {tokens - 1}, and -1 "
            "where nothing was seen; number the tokens first",
            code="not-tokens",
        )
    complete = True
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        lowest = check_block(name, rows[start : start + _ROWS_AT_A_TIME], tokens, start)
        complete = complete and lowest > MISSING
    if not isinstance(rows, np.memmap) and rows.itemsize > smallest_type(tokens).itemsize:
        rows = rows.astype(smallest_type(tokens), order="C")
    return read_only(rows), complete


def check_block(name: str, block: Tokens, tokens: int, start: int) -> int:
    """The lowest token of a block in which all are allowed."""
    if block.min() >= MISSING and block.max() < tokens:
        return int(block.min())
    row, *column = np.argwhere((block < MISSING) | (block >= tokens))[0]
    place = ", ".join(str(int(index)) for index in (start + row, *column))
    raise InvalidInput(
        f"{name}[{place}] is {block[row, *column]}: tokens are whole numbers from 0 to "
        f"{tokens - 1}, and -1 where nothing was seen; renumber the tokens or raise tokens=",
        code="token-out-of-range",
    )


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that nobody writes to."""
    view = array.view()
    view.flags.writeable = False
    return view
