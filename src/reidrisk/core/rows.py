"""Rows of users: handles on rows in memory, memory-mapped, on disk or on a cluster.

Code that works through rows asks for a block of them, or for a few by their numbers, never for all:
ten million users need not fit into memory. What a row holds is its kind: one token for each slot, a
set of tokens for each slot, a bag of tokens without slots, or a kind that a plug-in defines. A kind
says in a `Codec` how its rows are stored, what a gap is and how rows become bytes; what only tokens
have (`tokens`, `set_size`, `complete`, the -1 of a gap) is in `TokenKindRows`.

Rows are checked once, when a handle is made. From then on code trusts them: kernels index arrays by
their tokens without bounds checks.
"""

import math
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeGuard

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.digest import IF_SET
from reidrisk.core.parallel import inlined
from reidrisk.errors import InvalidInput

MISSING = -1
"""The gap of the token kinds: a slot in which nothing came, or a free place of a set or a bag."""

Array: TypeAlias = NDArray[Any]
Mask: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.integer[Any]]
Tokens: TypeAlias = NDArray[np.integer[Any]]

_COUNT = np.dtype(np.int32)
_MOST_TIMES = 2**31 - 1
_TOKEN_BITS = 32
"""In an entry with a count, the token has the lower bits, and the count less 1 those above."""
_ROWS_AT_A_TIME = 1 << 20  # that are checked at a time, so that a memory map stays on disk


class Kind(Enum):
    """What a built-in row holds; plug-ins add kinds as members of an `Enum` of their own."""

    TOKENS = "one token for each slot"
    SETS = "a set of tokens for each slot"
    BAGS = "a bag of tokens, without slots"
    VECTORS = "a vector for each slot"


class Rows(Protocol):
    """Rows of users, wherever they are, of whatever kind."""

    @property
    def kind(self) -> Enum:
        """What a row holds, a member of `Kind` or of another `Enum`; its value says it in words."""

    @property
    def users(self) -> int:
        """Number of rows."""

    @property
    def slots(self) -> int:
        """Number of slots of every row; 1 for bags."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries of a block."""

    @property
    def codec(self) -> "Codec":
        """How rows of this kind and shape are stored."""

    def __len__(self) -> int:
        """Number of rows."""

    def present(self) -> Mask:
        """Whether something came, users x slots; for rows that fit into memory."""

    def prefix(self, slots: int) -> "Rows":
        """The same users after their first `slots` slots."""

    def part(self, start: int, stop: int) -> "Rows":
        """Users `start` to `stop`."""

    def block(self, start: int, stop: int) -> Array:
        """Rows as a contiguous read-only array, users first.

        It is users x slots for tokens, users x slots x set size for sets, and users x size of the
        largest bag of the block for bags.
        """

    def take(self, rows: Numbers) -> Array:
        """Some rows by their numbers, in this order, as an array."""

    def select(self, rows: Numbers) -> "Rows":
        """Some users by their numbers, in this order, as rows in memory."""


class TokenKindRows(Rows, Protocol):
    """Rows of tokens: whole numbers from 0 to `tokens - 1`, and `MISSING` in free places."""

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""

    @property
    def set_size(self) -> int:
        """Most tokens of one slot."""

    @property
    def complete(self) -> bool:
        """Whether it is certain that no place of any row is free; always for bags."""


class HeldRows(Rows, Protocol):
    """Rows in memory, which anonymous rows always are."""

    def __iter__(self) -> Iterator[Array]:
        """Row by row, as a score gets them."""

    def __getitem__(self, place: Any) -> Any:
        """Rows as an array, or as rows where they have no common shape."""

    @property
    def size(self) -> int:
        """Number of entries of all rows."""

    def spread(self, mask: Mask) -> "HeldRows":
        """These rows at the places where a mask is true, and rows of gaps elsewhere."""

    def in_order(self) -> "HeldRows":
        """The same rows, sorted by what they hold."""


class Codec(Protocol):
    """How rows of a kind are stored: their shape, what a gap is, and how they become bytes."""

    @property
    def kind(self) -> Enum:
        """What a row holds."""

    @property
    def slots(self) -> int:
        """Number of slots of every row."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries of a block."""

    @property
    def complete(self) -> bool:
        """Whether it is certain that nothing is missing."""

    def certain(self, *, complete: bool) -> "Codec":
        """The same codec, for rows that were searched for gaps."""

    def prefix(self, slots: int) -> "Codec":
        """The same for the first `slots` slots."""

    def present(self, block: Array) -> Mask:
        """Whether something came in each slot of a block, users x slots."""

    def filled(self, block: Array) -> bool:
        """Whether nothing is missing in a block."""

    def beside(self, shown: Any, name: str) -> HeldRows:
        """Anonymous rows to compare with rows of this kind, checked.

        Args:
            shown: Rows in memory, or what the kind makes them of.
            name: What messages call them.
        """

    def held(self, rows: Rows, start: int, stop: int) -> HeldRows:
        """Rows `start` to `stop` of a handle, in memory."""

    def pack(self, rows: HeldRows) -> tuple[bytes, ...]:
        """Rows in memory as bytes."""

    def unpack(self, parts: Sequence[bytes]) -> HeldRows:
        """Rows from their bytes, without a copy."""

    def join(self, parts: Sequence[HeldRows]) -> HeldRows:
        """Rows one after the other."""

    def row_bytes(self, size: int, users: int) -> int:
        """Bytes of a row in memory, on average, of so many entries of so many users."""


@dataclass(frozen=True, slots=True)
class _MappedArray:
    """The place of a memory-mapped array in its file, to be pickled instead of its content.

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
    def of(cls, values: Tokens) -> "_MappedArray | None":
        """Where an array lies in a file; None if it has none, or if it is copy-on-write."""
        map_, file = getattr(values, "_mmap", None), getattr(values, "filename", None)
        copied = getattr(values, "mode", "c") == "c"
        if map_ is None or file is None or copied or min(values.strides, default=0) < 0:
            return None
        begin = np.frombuffer(map_, np.uint8).ctypes.data
        # A view keeps the offset of the whole map, and a map begins at a page.
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


class CodecRows:
    """Properties that a handle takes from its codec."""

    @property
    def codec(self) -> Any:
        """How the rows are stored."""
        raise NotImplementedError

    @property
    def kind(self) -> Enum:
        """What a row holds."""
        return self.codec.kind  # type: ignore[no-any-return]

    @property
    def slots(self) -> int:
        """Number of slots of every row; 1 for bags."""
        return self.codec.slots  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries of a block."""
        return self.codec.dtype  # type: ignore[no-any-return]

    @property
    def complete(self) -> bool:
        """Whether it is certain that nothing is missing."""
        return self.codec.complete  # type: ignore[no-any-return]

    @property
    def tokens(self) -> int:
        """Size of the alphabet, of rows of tokens."""
        return self.codec.tokens  # type: ignore[no-any-return]

    @property
    def set_size(self) -> int:
        """Most tokens of one slot, of rows of tokens."""
        return self.codec.set_size  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ArrayCodec:
    """Rows of one shape in an array, users first; a kind derives from it.

    Args:
        shape: Slots, and the shape of what a slot holds.
        dtype: Type of an entry.
        complete: Whether it is certain that nothing is missing.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    complete: bool = False

    kind: ClassVar[Enum]
    gap: ClassVar[int]
    """The entry of a place in which nothing came; a slot with nothing else is a gap."""

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return self.shape[0]

    def certain(self, *, complete: bool) -> Self:
        """The same codec, for rows that were searched for gaps."""
        return replace(self, complete=complete)

    def prefix(self, slots: int) -> Self:
        """The same for the first `slots` slots."""
        return replace(self, shape=(slots, *self.shape[1:]))

    def first(self, block: Array, slots: int) -> Array:
        """A block after the first `slots` slots."""
        return block[:, :slots]

    def present(self, block: Array) -> Mask:
        """Whether something came in each slot of a block, users x slots."""
        there = block != self.gap
        return np.asarray(there.reshape(*there.shape[:2], -1).any(axis=2))

    def filled(self, block: Array) -> bool:
        """Whether nothing is missing in a block."""
        return bool((block != self.gap).all())

    def check(self, block: Array, name: str, start: int) -> bool:
        """Refuse entries that this kind does not allow; returns whether nothing is missing.

        Args:
            block: Rows as they were made.
            name: What messages call them.
            start: The number of the first row.
        """
        return self.filled(block)

    def rows(self, block: Array) -> "ArrayRows":
        """Rows in memory, of an array that is known to be right."""
        return ArrayRows(block, self)

    def beside(self, shown: Any, name: str) -> HeldRows:
        """Anonymous rows: rows of the same kind, or an array of them."""
        rows = shown if is_rows(shown) else self.rows(np.asarray(shown, self.dtype))
        if rows.kind is not self.kind:
            raise InvalidInput(
                f"known holds {self.kind.value}, {name} {rows.kind.value}: give rows of one kind",
                code="kind-mismatch",
            )
        _check_slots(self.slots, rows.slots, name)
        return rows  # type: ignore[return-value]

    def held(self, rows: Rows, start: int, stop: int) -> HeldRows:
        """Rows `start` to `stop` of a handle, in memory."""
        return self.rows(rows.block(start, stop))

    def pack(self, rows: HeldRows) -> tuple[bytes, ...]:
        """Rows in memory as bytes."""
        return (rows.block(0, rows.users).tobytes(),)

    def unpack(self, parts: Sequence[bytes]) -> HeldRows:
        """Rows from their bytes, without a copy."""
        return self.rows(np.frombuffer(parts[0], self.dtype).reshape(-1, *self.shape))

    def join(self, parts: Sequence[HeldRows]) -> HeldRows:
        """Rows one after the other."""
        complete = all(part.codec.complete for part in parts)
        values = np.concatenate([part.block(0, part.users) for part in parts])
        return self.certain(complete=complete).rows(values)

    def row_bytes(self, size: int, users: int) -> int:
        """Bytes of a row."""
        return max(size * self.dtype.itemsize // max(users, 1), 1)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ArrayRows(NDArrayOperatorsMixin):
    """Rows in an array, which may be a memory map. They can be used wherever numpy takes an array.

    Args:
        values: Users first, then slots, then what a slot holds.
        codec: Of rows of this kind and shape.
    """

    values: Array
    codec: ArrayCodec

    def __init__(self, values: Array, codec: ArrayCodec) -> None:
        self._fill(read_only(values), codec)

    # Frozen dataclasses that check in `__init__` are also made from values that are known to be
    # right, without a second check: `_fill` and `_with`.
    def _fill(self, values: Array, codec: ArrayCodec) -> Self:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "codec", codec)
        return self

    def _with(self, values: Array, codec: ArrayCodec | None = None) -> Self:
        same: Self = object.__new__(type(self))
        return same._fill(values, self.codec if codec is None else codec)

    def __getstate__(self) -> tuple[Any, ArrayCodec]:
        """A memory map travels as the name of its file, which is opened where it arrives."""
        return _MappedArray.of(self.values) or self.values, self.codec

    def __setstate__(self, state: tuple[Any, ArrayCodec]) -> None:
        values, codec = state
        self._fill(
            read_only(values.opened() if isinstance(values, _MappedArray) else values), codec
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {' x '.join(map(str, self.values.shape))}>"

    @property
    def kind(self) -> Enum:
        """What a row holds."""
        return self.codec.kind

    @property
    def users(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return self.codec.slots

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries of a block."""
        return self.codec.dtype

    @property
    def complete(self) -> bool:
        """Whether it is certain that nothing is missing."""
        return self.codec.complete

    @property
    def size(self) -> int:
        """Number of entries of all rows."""
        return self.values.size

    def present(self) -> Mask:
        """Whether something came, users x slots."""
        return self.codec.present(self.values)

    def prefix(self, slots: int) -> Self:
        """The same users after their first `slots` slots."""
        return self._with(self.codec.first(self.values, slots), self.codec.prefix(slots))

    def part(self, start: int, stop: int) -> Self:
        """Users `start` to `stop`."""
        return self._with(self.values[start:stop])

    def block(self, start: int, stop: int) -> Array:
        """Rows as a contiguous read-only array."""
        rows = np.ascontiguousarray(self.values[start:stop], self.dtype)
        return read_only(rows.view(np.ndarray))

    def take(self, rows: Numbers) -> Array:
        """Some rows by their numbers, in this order, as an array."""
        return np.asarray(self.values[rows], self.dtype)

    def select(self, rows: Numbers) -> Self:
        """Some users by their numbers, or those of a mask, as rows in memory."""
        return self._with(read_only(self.take(rows)))

    def spread(self, mask: Mask) -> Self:
        """These rows at the places where a mask is true, and rows of gaps elsewhere."""
        values = np.full((len(mask), *self.values.shape[1:]), self.codec.gap, self.dtype)
        values[mask] = self.values
        return self._with(read_only(values), self.codec.certain(complete=False))

    def in_order(self) -> Self:
        """The same rows, sorted by what they hold."""
        flat = self.values.reshape(len(self), -1)
        return self._with(read_only(self.values[np.lexsort(flat.T[::-1])]))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]

    def __iter__(self) -> Iterator[Array]:
        return iter(self.values)

    def __array__(self, *arguments: Any, **options: Any) -> Array:
        return self.values.__array__(*arguments, **options)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = (each.values if isinstance(each, ArrayRows) else each for each in inputs)
        return getattr(function, method)(*arrays, **options)

    def __getattr__(self, name: str) -> Any:
        """Whatever else an array has: `shape`, `ravel`, and so on."""
        if name.startswith("_") or name in ("values", "codec"):
            raise AttributeError(name)
        return getattr(self.values, name)


@dataclass(frozen=True)
class TokenCodec(ArrayCodec):
    """One token, or a set of up to k, for each slot.

    Args:
        shape: Slots; or slots and k.
        dtype: The smallest type that holds them.
        complete: Whether it is certain that no place is free.
        tokens: Size of the alphabet.
    """

    tokens: int = 1
    gap: ClassVar[int] = MISSING

    @classmethod
    def of(cls, shape: tuple[int, ...], tokens: int, *, complete: bool = False) -> Self:
        """Rows of this shape, in the smallest type."""
        return cls(shape, smallest_type(tokens), complete, tokens)

    @property
    def kind(self) -> Enum:  # type: ignore[override]
        """Tokens, or sets of them."""
        return Kind.TOKENS if len(self.shape) == 1 else Kind.SETS

    @property
    def set_size(self) -> int:
        """Most tokens of one slot."""
        return self.shape[1] if len(self.shape) > 1 else 1

    def lists(self, rows: Rows) -> tuple[Array, Array, Mask | None]:
        """The tokens of rows one after the other, where each row ends, and which are missing."""
        tokens = rows.block(0, rows.users).ravel()
        ends = np.arange(0, tokens.size + 1, math.prod(self.shape))
        return tokens, ends, tokens == MISSING

    def check(self, block: Array, name: str, start: int) -> bool:
        """Refuse what is no token of the alphabet; returns whether no place is free."""
        return check_block(name, block, self.tokens, start) > MISSING

    def rows(self, block: Array) -> ArrayRows:
        """Rows in memory, of an array that is known to be right."""
        kind = TokenRows if self.kind is Kind.TOKENS else SetRows
        return kind.checked(block, tokens=self.tokens, complete=self.complete)

    def beside(self, shown: Any, name: str) -> HeldRows:
        """One token for each slot, also beside sets."""
        if is_rows(shown) and shown.kind is not Kind.TOKENS:
            raise InvalidInput(
                f"{name} holds {shown.kind.value}; give one token for each slot",
                code="kind-mismatch",
            )
        if is_rows(shown):
            rows: Any = rows_of(shown, tokens=self.tokens, name=name)
        else:
            rows = TokenRows(shown, tokens=self.tokens, name=name)
        _check_slots(self.slots, rows.slots, name)
        return rows  # type: ignore[no-any-return]


class _TokenArrayRows(ArrayRows):
    """Rows of tokens in an array."""

    codec: TokenCodec
    dimensions: ClassVar[int]

    def __init__(self, values: ArrayLike, *, tokens: int, name: str = "known") -> None:
        rows, complete = _checked_array(name, values, tokens, self.dimensions)
        super().__init__(rows, TokenCodec.of(rows.shape[1:], tokens, complete=complete))

    @classmethod
    def checked(cls, values: Tokens, *, tokens: int, complete: bool | None = None) -> Self:
        """Rows whose tokens are known to be of the alphabet.

        Args:
            values: Of the shape of the kind.
            tokens: Size of the alphabet.
            complete: Whether no place is free; looked up if not given.
        """
        filled = bool((values != MISSING).all()) if complete is None else complete
        codec = TokenCodec.of(values.shape[1:], tokens, complete=filled)
        rows: Self = object.__new__(cls)
        return rows._fill(read_only(values), codec)

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return self.codec.tokens

    @property
    def set_size(self) -> int:
        """Most tokens of one slot."""
        return self.codec.set_size


class TokenRows(_TokenArrayRows):
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

    dimensions = 2


class SetRows(_TokenArrayRows):
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

    dimensions = 3


@dataclass(frozen=True)
class _BagCodec:
    """A bag of tokens for each user.

    Args:
        tokens: Size of the alphabet.
        set_size: Entries of the largest bag.
        counted: Whether entries have counts.
    """

    tokens: int
    set_size: int
    counted: bool = False

    kind: ClassVar[Enum] = Kind.BAGS
    slots: ClassVar[int] = 1
    complete: ClassVar[bool] = True

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an entry of a block: of a token, or of a token and its count."""
        return np.dtype(np.int64) if self.counted else smallest_type(self.tokens)

    def certain(self, *, complete: bool) -> Self:
        """Itself: bags have no slots that could be empty."""
        return self

    def prefix(self, slots: int) -> Self:
        """Itself."""
        return self

    def present(self, block: Array) -> Mask:
        """Whether bags of a padded array hold anything, users x 1."""
        return np.asarray((block != MISSING).any(axis=1, keepdims=True))

    def filled(self, block: Array) -> bool:
        """Always: the padding of a bag is no gap."""
        return True

    def beside(self, shown: Any, name: str) -> "BagRows":
        """Bags, or a sequence of tokens for each user."""
        if not isinstance(shown, BagRows):
            return BagRows(shown, tokens=self.tokens, name=name)
        rows_of(shown, tokens=self.tokens, name=name)
        return shown

    def held(self, rows: Rows, start: int, stop: int) -> "BagRows":
        """Bags `start` to `stop` of a handle, in memory."""
        bags = rows.part(start, stop)
        return bags if isinstance(bags, BagRows) else rows.select(np.arange(start, stop))  # type: ignore[return-value]

    def pack(self, rows: Any) -> tuple[bytes, ...]:
        """The tokens of all bags, where each bag begins, and the counts of tokens that have any."""
        counts = () if rows.counts is None else (rows.counts.tobytes(),)
        return rows.values.tobytes(), rows.starts.tobytes(), *counts

    def unpack(self, parts: Sequence[bytes]) -> "BagRows":
        """Bags from their bytes, without a copy."""
        values = np.frombuffer(parts[0], smallest_type(self.tokens))
        starts = np.frombuffer(parts[1], np.int64)
        counts = np.frombuffer(parts[2], np.int32) if self.counted else None
        return BagRows.of(values, starts, tokens=self.tokens, counts=counts)

    def join(self, parts: Sequence[Any]) -> "BagRows":
        """Bags one after the other."""
        values = np.concatenate([part.values for part in parts])
        starts = _starts(np.concatenate([part.sizes for part in parts]))
        counts = None
        if self.counted or any(part.counts is not None for part in parts):
            counts = np.concatenate([part.times for part in parts])
        return BagRows.of(values, starts, tokens=self.tokens, counts=counts)

    def lists(self, rows: Any) -> tuple[Array, Array, Mask | None]:
        """The tokens of bags as often as they came, where each bag ends, and none missing."""
        if rows.counts is None:
            return rows.values, rows.starts, None
        ends = np.concatenate([[0], np.cumsum(rows.counts, dtype=np.int64)])[rows.starts]
        return np.repeat(rows.values, rows.counts), ends, None

    def row_bytes(self, size: int, users: int) -> int:
        """Bytes of a bag and of where it begins."""
        entry = smallest_type(self.tokens).itemsize + (_COUNT.itemsize if self.counted else 0)
        return max(size * entry // max(users, 1), 1) + 8


@dataclass(frozen=True, eq=False, init=False, repr=False)
class BagRows:
    """A bag of tokens for each user, of any size; there are no slots to compare.

    A bag may hold a token several times: as several entries, or as one with a count. Whether that
    matters is for the attack to say. In arrays of bags with counts, each entry is the token and its
    count in one whole number: see `tokens_in` and `counts_in`.

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
    counts: NDArray[np.int32] | None = field(default=None, metadata={IF_SET: True})
    """How often each entry of `values` came; None if each came once."""

    kind, slots, complete = Kind.BAGS, 1, True

    def __init__(self, bags: Sequence[ArrayLike], *, tokens: int, name: str = "known") -> None:
        if not len(bags):
            raise InvalidInput(
                f"{name} has one bag of tokens per user, and holds none", code="empty-table"
            )
        values, sizes = _joined(bags, name)
        self._fill(_checked_bags(name, values, tokens), _starts(sizes), tokens)

    @classmethod
    def of(
        cls,
        values: ArrayLike,
        starts: ArrayLike,
        *,
        tokens: int,
        counts: ArrayLike | None = None,
        name: str = "known",
    ) -> Self:
        """All bags one after the other, as columns of lists are held: no loop over users.

        Args:
            values: The tokens of all users, one user after the other.
            starts: Where each bag begins, and at last where the last one ends.
            tokens: Size of the alphabet.
            counts: How often each of `values` came, whole numbers from 1 on; None if once.
            name: What messages call it.

        Example:
            >>> bags = rr.BagRows.of([1, 3, 0], [0, 2, 3], tokens=4, counts=[2, 1, 7])
            >>> bags.to_csr().toarray().tolist()
            [[0, 2, 0, 1], [7, 0, 0, 0]]
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
        came = None if counts is None else _checked_counts(name, counts, flat, tokens)
        rows._fill(_checked_bags(name, flat, tokens), places.astype(np.int64), tokens, came)
        return rows

    @classmethod
    def beneath(cls, rows: Tokens, *, tokens: int) -> Self:
        """Rows of checked tokens as bags, gaps included, without a copy."""
        flat = rows.reshape(len(rows), -1)
        bags = object.__new__(cls)
        bags._fill(flat.ravel(), np.arange(len(flat) + 1) * flat.shape[1], tokens)
        return bags

    def _fill(
        self,
        values: Tokens,
        starts: NDArray[np.int64],
        tokens: int,
        counts: NDArray[np.int32] | None = None,
    ) -> None:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "starts", read_only(starts))
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "counts", counts)

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
        return self._entries(slice(self.starts[row], self.starts[row + 1]))

    def _entries(self, places: slice = slice(None)) -> Tokens:
        """Entries as scores get them: tokens, with their counts if they have any."""
        values = self.values[places]
        if self.counts is None:
            return values
        return read_only(values + ((self.counts[places].astype(np.int64) - 1) << _TOKEN_BITS))

    @property
    def users(self) -> int:
        """Number of bags."""
        return len(self)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of entries of each bag, each once, whatever its count."""
        return np.diff(self.starts)

    @property
    def size(self) -> int:
        """Number of entries of all bags, each once, whatever its count."""
        return len(self.values)

    @property
    def times(self) -> NDArray[np.int32]:
        """How often each entry of `values` came."""
        return np.ones(self.size, _COUNT) if self.counts is None else self.counts

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of tokens of each bag, each as often as it came."""
        if self.counts is None:
            return self.sizes
        return np.diff(np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])[self.starts])

    @property
    def set_size(self) -> int:
        """Entries of the largest bag, at least 1."""
        return max(int(self.sizes.max(initial=0)), 1)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an entry of a block: of a token, or of a token and its count."""
        return self.codec.dtype

    @property
    def codec(self) -> _BagCodec:
        """How bags are stored."""
        return _BagCodec(self.tokens, self.set_size, self.counts is not None)

    def present(self) -> Mask:
        """Whether a bag holds anything, users x 1."""
        return self.sizes[:, None] > 0

    def prefix(self, slots: int) -> Self:
        """Itself."""
        return self

    def part(self, start: int, stop: int) -> Self:
        """Users `start` to `stop`."""
        starts = self.starts[start : stop + 1]
        return self._with(slice(starts[0], starts[-1]), starts - starts[0])

    def select(self, rows: Numbers) -> Self:
        """Some users by their numbers, or those of a mask."""
        sizes = self.sizes[rows]
        starts = _starts(sizes)
        places = np.arange(starts[-1]) + np.repeat(self.starts[:-1][rows] - starts[:-1], sizes)
        return self._with(places, starts)

    def spread(self, rows: NDArray[np.bool_]) -> Self:
        """These bags at the places where a mask is true, and empty ones elsewhere."""
        sizes = np.zeros(len(rows), np.int64)
        sizes[rows] = self.sizes
        return self._with(slice(None), _starts(sizes))

    def in_order(self) -> Self:
        """The same bags, sorted by what they hold."""
        return self.select(np.array(sorted(range(len(self)), key=lambda row: self[row].tobytes())))

    def _with(self, places: slice | NDArray[np.int64], starts: NDArray[np.int64]) -> Self:
        same = object.__new__(type(self))
        counts = None if self.counts is None else read_only(self.counts[places])
        same._fill(read_only(self.values[places]), starts, self.tokens, counts)
        return same

    def to_csr(self) -> Any:
        """How often each user has each token, a `scipy.sparse.csr_matrix` of whole numbers."""
        from scipy import sparse  # noqa: PLC0415  heavy, and few need it

        parts = self.times.astype(np.int64), self.values.astype(np.int64), self.starts
        held = sparse.csr_matrix(parts, shape=(len(self), self.tokens))
        held.sum_duplicates()
        return held

    def block(self, start: int, stop: int) -> Tokens:
        """Bags as one array, padded with `MISSING`."""
        return read_only(self.part(start, stop).beside())

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some bags by their numbers, in this order, as one padded array."""
        return self.select(rows).beside()

    def beside(self) -> Tokens:
        """All bags as one array, as wide as the largest; the free places hold `MISSING`."""
        held = np.arange(self.set_size) < self.sizes[:, None]
        rows = np.full(held.shape, MISSING, self.dtype)
        rows[held] = self._entries()
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


def _checked_counts(name: str, counts: ArrayLike, values: Tokens, tokens: int) -> NDArray[np.int32]:
    """The counts of bags, if there is a possible one for each entry."""
    came = np.asarray(counts)
    if came.shape != values.shape or (came.size and not np.issubdtype(came.dtype, np.integer)):
        raise InvalidInput(
            f"counts of {name} has a whole number for each of its {len(values)} tokens; got "
            f"{came.dtype} of shape {came.shape}",
            code="invalid-count",
        )
    if came.size and not (came.min() >= 1 and came.max() <= _MOST_TIMES):
        wrong = int(np.flatnonzero((came < 1) | (came > _MOST_TIMES))[0])
        raise InvalidInput(
            f"counts of {name} holds {came[wrong]}: a token comes 1 to {_MOST_TIMES:,} times; "
            "leave out what did not come",
            code="invalid-count",
        )
    if tokens > 1 << (_TOKEN_BITS - 1):
        raise InvalidInput(
            f"{name} has counts and an alphabet of {tokens:,} tokens; counts are kept of up to "
            f"{1 << (_TOKEN_BITS - 1):,}",
            code="alphabet-too-large",
        )
    return read_only(came.astype(_COUNT, copy=False))


def tokens_in(entries: Array) -> Tokens:
    """The tokens of entries of any rows of tokens, without their counts; `MISSING` stays.

    Args:
        entries: What a score gets: tokens, or tokens with counts.

    Example:
        >>> bags = rr.BagRows.of([3, 1, 0], [0, 2, 3], tokens=4, counts=[7, 1, 2])
        >>> rr.core.rows.tokens_in(bags.block(0, 2)).tolist()
        [[3, 1], [0, -1]]
        >>> rr.core.rows.counts_in(bags.block(0, 2)).tolist()
        [[7, 1], [2, 0]]
    """
    # The lower half of an entry is its token, and that of -1 is -1.
    return entries.astype(np.int32) if entries.dtype == np.int64 else entries


def counts_in(entries: Array) -> NDArray[np.int64]:
    """How often each entry of any rows of tokens came: 1 unless it says more, 0 for `MISSING`.

    Args:
        entries: What a score gets: tokens, or tokens with counts.
    """
    return (entries.astype(np.int64) >> _TOKEN_BITS) + 1


@inlined
def entry_of(entry: Any) -> tuple[Any, Any]:
    """The token and the count of an entry, inside of kernels."""
    whole = np.int64(entry)
    return (whole << _TOKEN_BITS) >> _TOKEN_BITS, (whole >> _TOKEN_BITS) + 1


def rows_of(known: "Rows | ArrayLike", *, tokens: int | None = None, name: str = "known") -> Rows:
    """Known rows as a handle: arrays of two dimensions hold tokens, of three sets.

    Args:
        known: A handle, or an array of tokens.
        tokens: Size of the alphabet; rows of another kind have none.
        name: What messages call them.
    """
    if is_rows(known):
        size = getattr(known, "tokens", None)
        if tokens is not None and size != tokens:
            raise InvalidInput(
                f"{name} has an alphabet of {size} tokens, and tokens is {tokens}; give "
                "both the same",
                code="alphabet-mismatch",
            )
        return known
    if tokens is None or tokens < 1:
        raise InvalidInput(
            f"tokens is the size of the alphabet, at least 1; got {tokens}",
            code="not-a-whole-number",
        )
    values = np.asanyarray(known)
    kind = SetRows if values.ndim == SetRows.dimensions else TokenRows
    return kind(values, tokens=tokens)


def is_rows(known: object) -> TypeGuard[Rows]:
    """Whether something is a handle on rows, built-in or of a plug-in."""
    return hasattr(known, "block")


def token_rows(rows: Rows) -> TokenKindRows:
    """The rows as rows of tokens; refuses those of a kind without an alphabet."""
    if not hasattr(rows, "tokens"):
        raise InvalidInput(
            f"known holds {rows.kind.value}, and this needs tokens: give rows of tokens, or use "
            "what rates rows of that kind",
            code="not-tokens",
        )
    return rows  # type: ignore[return-value]


def _check_slots(known: int, shown: int, name: str) -> None:
    """Refuse anonymous rows with another number of slots than known ones."""
    if known != shown:
        raise InvalidInput(
            f"known has {known} slots, {name} {shown}: rows are "
            "compared slot by slot; cut the longer side or fill the shorter with -1",
            code="slot-mismatch",
        )


def smallest_type(tokens: int) -> np.dtype[Any]:
    """The smallest signed type that holds tokens below `tokens`, and -1 for a gap."""
    # The type that holds -tokens also holds tokens - 1: int8 takes 128 tokens.
    return np.min_scalar_type(-tokens)


def _checked_array(
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
    # A memory map stays as it is: blocks of it get the smallest type when they are read.
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
    """A read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view
