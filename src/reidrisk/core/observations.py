"""Observations, what an attacker has seen: known rows, anonymous rows and the truth.

Everything is checked once, here and in `rows.py`. From then on code trusts its rows and runs
without bounds checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.rows import (
    MISSING,
    HeldRows,
    Rows,
    Tokens,
    read_only,
    rows_of,
    smallest_type,
    token_rows,
)
from reidrisk.errors import InvalidInput

__all__ = ["MISSING", "Observations", "Tokens", "smallest_type"]

_NO_ROW = -1
"""Instead of a row of `known`, in the truth of a stranger."""


class KnownShape:
    """The shape of known rows, for a class that holds them as `known`."""

    __slots__ = ()
    known: Rows

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return self.known.slots

    @property
    def tokens(self) -> int:
        """Size of the alphabet, of rows of tokens."""
        return token_rows(self.known).tokens

    @property
    def set_size(self) -> int:
        """How many tokens are known of one slot: 1 unless `known` holds sets."""
        return token_rows(self.known).set_size

    @property
    def dimensions(self) -> int | None:
        """Numbers of a vector; None for rows of another kind."""
        return getattr(self.known.codec, "dimensions", None)

    @property
    def complete(self) -> bool:
        """Whether it is certain that no place of a known row of tokens is free."""
        return token_rows(self.known).complete


@dataclass(frozen=True, eq=False, slots=True, init=False)
class Observations(KnownShape):
    """Rows whose user is known, rows whose user is wanted, and the truth.

    Args:
        known: Known rows, a handle or an array: one row of tokens per known user, users x slots; or
            users x slots x k when up to k tokens are known of each slot, the free places filled
            with `MISSING`. An array is held in the smallest type that fits. A memory map stays on
            disk and is read in blocks; a view that already has that type is not copied.
        anonymous: One row per target, rows or an array: targets x slots, or a bag of tokens for
            each if known are bags. They are held as rows in memory, which serve as an array.
        truth: For each target the row of `known` that is the same person. A row may come again
            where rows are only searched; whatever gives an interval refuses two of one person.
        tokens: Size of the alphabet; None if `known` are rows that know it, or have none.
        first: Only for a shard: the row that `known[0]` is among all known rows.
        users: Only for a shard: the number of all known rows. `truth` counts among all of them, so
            a shard need not hold any true row.
        strangers: Anonymous rows of people who are not known, one of each person, in the form of
            `anonymous`; None if there are none. They are no targets, and no figure of targets
            depends on them; `of_strangers` makes them targets.

    Example:
        >>> known = [[3, 1], [0, 1], [2, 2]]
        >>> seen = rr.Observations(known, anonymous=[[0, 1], [2, 0]], truth=[1, 2], tokens=4)
        >>> seen.users, seen.slots, seen.truth.tolist()
        (3, 2, [1, 2])
        >>> print(rr.measure(seen, rr.Hamming()))
        hamming, 3 users (guessing 0.33)
          after  2 slots: 100.0000% [11.1803%, 100.0000%] (95%, n=2)
    """

    known: Rows
    anonymous: Any
    truth: NDArray[np.int64]
    true_rows: Any
    """The targets' own known rows, in memory; rows of gaps where they are in another shard."""
    first: int
    users: int
    strangers: Any

    def __init__(
        self,
        known: Rows | ArrayLike,
        anonymous: ArrayLike | Rows | Sequence[ArrayLike],
        truth: ArrayLike,
        *,
        tokens: int | None = None,
        first: int = 0,
        users: int = 0,
        strangers: ArrayLike | Rows | Sequence[ArrayLike] | None = None,
    ) -> None:
        rows = rows_of(known, tokens=tokens)
        shown = rows.codec.beside(anonymous, "anonymous")
        others = None if strangers is None else rows.codec.beside(strangers, "strangers")
        users = users or rows.users
        if not 0 <= first <= users - rows.users:
            raise InvalidInput(
                f"a shard of {rows.users} rows from row {first} does not fit into {users} "
                "users; give the number of all known rows as users",
                code="shard-out-of-range",
            )
        self._set(known=rows, anonymous=shown, first=first, users=users)
        self._set(strangers=others)
        self._set(truth=_truth(truth, len(shown), users))
        self._set(true_rows=_true_rows(rows, self.truth - first, self.true_is_here))

    def __repr__(self) -> str:
        known, targets = self.known.users, len(self.anonymous)
        others = "" if self.strangers is None else f", {len(self.strangers):,} strangers"
        return f"<Observations {known:,} known, {targets:,} anonymous{others}, {self.slots} slots>"

    @property
    def true_is_here(self) -> NDArray[np.bool_]:
        """For each target, whether its true row is among these rows.

        Always, but for a shard; never if strangers are the targets.
        """
        return (self.first <= self.truth) & (self.truth < self.first + self.known.users)

    def prefix(self, slots: int) -> Self:
        """The same people after their first `slots` slots."""
        if not 1 <= slots <= self.slots:
            raise InvalidInput(
                f"a prefix has 1 to {self.slots} slots, got {slots}", code="slot-out-of-range"
            )
        if slots == self.slots:  # always so for bags, which have one slot
            return self
        return self.changed(
            known=self.known.prefix(slots),
            anonymous=self.anonymous.prefix(slots),
            true_rows=self.true_rows.prefix(slots),
            strangers=None if self.strangers is None else self.strangers.prefix(slots),
        )

    def shard(self, start: int, stop: int) -> Self:
        """Only the known rows from `start` to `stop`, against the same targets."""
        if not 0 <= start < stop <= self.known.users:
            raise InvalidInput(
                f"rows {start} to {stop} are not among {self.known.users} rows",
                code="row-out-of-range",
            )
        return self.changed(known=self.known.part(start, stop), first=self.first + start)

    def only(self, targets: slice | NDArray[Any]) -> Self:
        """The same known rows against some of the targets.

        Args:
            targets: Which targets: a slice, a mask or numbers.
        """
        return self.changed(
            anonymous=_some(self.anonymous, targets),
            truth=self.truth[targets],
            true_rows=_some(self.true_rows, targets),
        )

    def of_strangers(self) -> Self:
        """The same known rows against the strangers: targets who have no true row."""
        if self.strangers is None:
            raise InvalidInput(
                "everybody whom these observations meet is known; give strangers=, anonymous rows "
                "of people who are not",
                code="no-strangers",
            )
        nobody = np.full(len(self.strangers), _NO_ROW, np.int64)
        nowhere = np.zeros(len(nobody), np.bool_)
        return self.changed(
            anonymous=self.strangers,
            truth=read_only(nobody),
            true_rows=_true_rows(self.known, nobody, nowhere),
            strangers=None,
        )

    def changed(self, **fields: object) -> Self:
        """A copy with some fields replaced, without checking them again."""
        # `__init__` would check all rows again.
        same = object.__new__(type(self))
        for name in self.__slots__:
            object.__setattr__(same, name, fields.get(name, getattr(self, name)))
        return same

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _some(rows: HeldRows, which: slice | NDArray[Any]) -> Rows:
    """Some rows by a slice, a mask or their numbers; neighbours without a copy."""
    if isinstance(which, slice) and which.step in (None, 1):
        start, stop, _ = which.indices(len(rows))
        return rows.part(start, stop)
    return rows.select(np.arange(len(rows))[which])


def _truth(values: ArrayLike, targets: int, users: int) -> NDArray[np.int64]:
    truth = np.asarray(values)
    if truth.shape != (targets,) or not np.issubdtype(truth.dtype, np.integer):
        raise InvalidInput(
            f"truth names one row of known for each of the {targets} anonymous rows; "
            f"got {truth.dtype} of shape {truth.shape}",
            code="wrong-shape",
        )
    if truth.min() < 0 or truth.max() >= users:
        target = int(np.flatnonzero((truth < 0) | (truth >= users))[0])
        raise InvalidInput(
            f"truth[{target}] is {truth[target]}, but known has rows 0 to {users - 1}; give rows "
            "whose user is not known as strangers=, or give users= if this is a shard",
            code="row-out-of-range",
        )
    return read_only(truth.astype(np.int64))


def _true_rows(known: Rows, places: NDArray[np.int64], here: NDArray[np.bool_]) -> Rows:
    if here.all():
        return known.select(places)
    # One row at least is selected, so that there is something to take kind and shape from.
    one: Any = known.select(places[here] if here.any() else np.zeros(1, np.int64))
    return one.part(0, int(here.sum())).spread(here)  # type: ignore[no-any-return]
