"""What an attacker has seen: rows of tokens, some with a name, some without.

Tokens are whole numbers from 0 to `tokens - 1`; `MISSING` marks a slot in which nothing was seen.
Everything is checked here, once: behind this border code trusts its rows and runs without bounds
checks.
"""

from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.errors import InvalidInput

MISSING = -1
SETS = 3  # dimensions of known rows that hold sets of tokens

Tokens: TypeAlias = NDArray[np.integer[Any]]

_ROWS_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False, slots=True)
class Observations:
    """Rows whose user is known, rows whose user is wanted, and the truth.

    Args:
        known: One row of tokens per known user, users x slots; or users x slots x k when up to k
            tokens are known of each slot, the free places filled with `MISSING`.
        anonymous: One row per target, targets x slots.
        truth: For each target the row of `known` that is the same person.
        tokens: Size of the alphabet.
        first: Only for a shard: the row that `known[0]` is among all known rows.
        users: Only for a shard: the number of all known rows. `truth` counts among all of them, so
            a shard need not hold any true row.

    Arrays are held in the smallest type that fits. A memory map stays on disk and is read in
    blocks; a view that already has that type is not copied.
    """

    known: Tokens
    anonymous: Tokens
    truth: NDArray[np.int64]
    tokens: int = field(kw_only=True)
    first: int = field(default=0, kw_only=True)
    users: int = field(default=0, kw_only=True)
    complete: bool = field(default=True, init=False)  # whether no known slot is missing

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise InvalidInput(f"tokens is the size of the alphabet, at least 1; got {self.tokens}")
        known, complete = _rows("known", self.known, self.tokens, dimensions=(2, SETS))
        anonymous, _ = _rows("anonymous", self.anonymous, self.tokens, dimensions=(2,))
        if known.shape[1] != anonymous.shape[1]:
            raise InvalidInput(
                f"known has {known.shape[1]} slots, anonymous {anonymous.shape[1]}: rows are "
                "compared slot by slot; cut the longer side or fill the shorter with -1"
            )
        users = self.users or len(known)
        if not 0 <= self.first <= users - len(known):
            raise InvalidInput(
                f"a shard of {len(known)} rows from row {self.first} does not fit into {users} "
                "users; give the number of all known rows as users"
            )
        self._set(known=known, anonymous=anonymous, users=users, complete=complete)
        self._set(truth=_truth(self.truth, len(anonymous), users))

    def __repr__(self) -> str:
        known, targets = len(self.known), len(self.anonymous)
        return f"<Observations {known:,} known, {targets:,} anonymous, {self.slots} slots>"

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return int(self.known.shape[1])

    @property
    def set_size(self) -> int:
        """How many tokens are known of one slot: 1 unless `known` holds sets."""
        return self.known.shape[2] if self.known.ndim == SETS else 1

    @property
    def true_is_here(self) -> NDArray[np.bool_]:
        """For each target, whether its true row is among these rows: always, but for a shard."""
        return (self.first <= self.truth) & (self.truth < self.first + len(self.known))

    def prefix(self, slots: int) -> Self:
        """The same people after their first `slots` slots."""
        if not 1 <= slots <= self.slots:
            raise InvalidInput(f"a prefix has 1 to {self.slots} slots, got {slots}")
        return self._with(known=self.known[:, :slots], anonymous=self.anonymous[:, :slots])

    def shard(self, start: int, stop: int) -> Self:
        """Only the known rows from `start` to `stop`, against the same targets."""
        if not 0 <= start < stop <= len(self.known):
            raise InvalidInput(f"rows {start} to {stop} are no part of {len(self.known)} rows")
        return self._with(known=self.known[start:stop], first=self.first + start)

    def only(self, targets: slice | NDArray[Any]) -> Self:
        """The same known rows against some of the targets."""
        return self._with(anonymous=self.anonymous[targets], truth=self.truth[targets])

    def rows(self, start: int, stop: int, step: int = 1) -> Tokens:
        """Known rows as a contiguous read-only block of the smallest type."""
        block = np.ascontiguousarray(self.known[start:stop:step], smallest_type(self.tokens))
        return _read_only(block.view(np.ndarray))

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _with(self, **changes: object) -> Self:
        """A copy with other fields, which were checked before."""
        same = object.__new__(type(self))
        for name in self.__slots__:
            object.__setattr__(same, name, changes.get(name, getattr(self, name)))
        return same


def smallest_type(tokens: int) -> np.dtype[Any]:
    """The smallest type for tokens below `tokens` and the missing mark."""
    return np.min_scalar_type(-tokens)


def _rows(
    name: str, values: ArrayLike, tokens: int, dimensions: tuple[int, ...]
) -> tuple[Tokens, bool]:
    """The rows in their smallest type, and whether they are complete."""
    rows = np.asanyarray(values)
    if rows.ndim not in dimensions or rows.size == 0:
        raise InvalidInput(
            f"{name} has one row per user and one column per slot, at least one of each; "
            f"got an array of shape {rows.shape}"
        )
    if not np.issubdtype(rows.dtype, np.integer):
        raise InvalidInput(
            f"{name} holds {rows.dtype}: tokens are whole numbers from 0 to {tokens - 1}, and -1 "
            "where nothing was seen; number the tokens first"
        )
    complete = True
    for start in range(0, len(rows), _ROWS_AT_A_TIME):
        lowest = _check_block(name, rows[start : start + _ROWS_AT_A_TIME], tokens, start)
        complete = complete and lowest > MISSING
    if not isinstance(rows, np.memmap) and rows.itemsize > smallest_type(tokens).itemsize:
        rows = rows.astype(smallest_type(tokens), order="C")
    return _read_only(rows), complete


def _check_block(name: str, block: Tokens, tokens: int, start: int) -> int:
    """The lowest token of a block in which all are allowed."""
    if block.min() >= MISSING and block.max() < tokens:
        return int(block.min())
    row, *column = np.argwhere((block < MISSING) | (block >= tokens))[0]
    place = ", ".join(str(int(index)) for index in (start + row, *column))
    raise InvalidInput(
        f"{name}[{place}] is {block[row, *column]}: tokens are whole numbers from 0 to "
        f"{tokens - 1}, and -1 where nothing was seen; renumber the tokens or raise tokens="
    )


def _truth(values: ArrayLike, targets: int, users: int) -> NDArray[np.int64]:
    truth = np.asarray(values)
    if truth.shape != (targets,) or not np.issubdtype(truth.dtype, np.integer):
        raise InvalidInput(
            f"truth names one row of known for each of the {targets} anonymous rows; "
            f"got {truth.dtype} of shape {truth.shape}"
        )
    if truth.min() < 0 or truth.max() >= users:
        target = int(np.flatnonzero((truth < 0) | (truth >= users))[0])
        raise InvalidInput(
            f"truth[{target}] is {truth[target]}, but known has rows 0 to {users - 1}; leave out "
            "targets whose user is not known, or give users= if this is a shard"
        )
    return _read_only(truth.astype(np.int64))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
