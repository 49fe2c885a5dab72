"""Targets that can be assessed, and known users of whom something was seen.

A target is assessed if both sides saw something of it, and each person counts once: every interval
rests on this, so whatever gives one asks here first. Nobody but a known user of whom something was
seen can be the user of such a target, so some figures choose among these users only. Who is left
out is held as one bit per user, and only where somebody is left out; the rows stay where they are,
and a pass over them skips the others.
"""

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import (
    ROWS_AT_A_TIME,
    Blocks,
    Elsewhere,
    Merge,
    Report,
    Result,
    Work,
    over_rows,
    unit,
)
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Codec, CodecRows, Rows, Tokens, read_only, token_rows
from reidrisk.errors import InvalidInput
from reidrisk.estimates.inputs import refuse_repeats

Mask = NDArray[np.bool_]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UserSubset:
    """Users of whom something is known.

    Attributes:
        everybody: How many users there are.
        bits: For each unit of rows in which somebody is left out, by its first row: a bit for each
            user, 1 for those who are in.
    """

    everybody: int
    bits: Mapping[int, NDArray[np.uint8]]

    @classmethod
    def of(cls, known: Rows) -> Self:
        """In one pass over the known rows, unless they are known to be complete."""
        if known.codec.complete:
            return cls(known.users, {})
        work = partial(_bits, codec=known.codec)
        found = over_rows(known, work, operator.or_, step=unit(known.users))
        return cls(known.users, dict(sorted(found.items())))

    @property
    def are_all(self) -> bool:
        """Whether nobody is left out."""
        return not self.bits

    @property
    def users(self) -> int:
        """How many they are."""
        return int(self._before[-1])

    @property
    def mask(self) -> Mask:
        """Who of all users is in: for few users."""
        return np.concatenate([self.in_unit(start) for start in self._starts])

    def in_unit(self, start: int) -> Mask:
        """Who is in, of the unit of rows that begins here."""
        size = min(self._unit, self.everybody - start)
        if start not in self.bits:
            return np.ones(size, np.bool_)
        return np.unpackbits(self.bits[start], count=size).view(np.bool_)

    def before(self, start: int) -> int:
        """How many of them are before a unit of rows."""
        return int(self._before[start // self._unit])

    def numbers(self, rows: Places) -> Places:
        """Which of them users are, by their rows among all; they are all in."""
        units, place = np.divmod(rows, self._unit)
        numbers = np.empty_like(rows)
        for one in np.unique(units):
            here = units == one
            inside = np.cumsum(self.in_unit(int(one) * self._unit)) - 1
            numbers[here] = self._before[one] + inside[place[here]]
        return numbers

    def rows(self, numbers: Places) -> Places:
        """Rows among all, of some of them by their numbers."""
        units = np.searchsorted(self._before, numbers, side="right") - 1
        rows = np.empty_like(numbers)
        for one in np.unique(units):
            here = units == one
            inside = np.flatnonzero(self.in_unit(int(one) * self._unit))
            rows[here] = one * self._unit + inside[numbers[here] - self._before[one]]
        return rows

    @property
    def _unit(self) -> int:
        return unit(self.everybody)

    @property
    def _starts(self) -> range:
        return range(0, self.everybody, self._unit)

    @cached_property
    def _before(self) -> Places:
        counts = [int(self.in_unit(start).sum()) for start in self._starts]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class SubsetRows(CodecRows):
    """The rows of users of whom something is known, numbered anew; a pass goes to all rows.

    Args:
        rows: All of them.
        traced: Who is in.
    """

    inner: Rows
    traced: UserSubset

    def __len__(self) -> int:
        return self.users

    @property
    def users(self) -> int:
        """Number of rows."""
        return self.traced.users

    @property
    def codec(self) -> Codec:
        """How the rows are stored."""
        return self.inner.codec

    @property
    def complete(self) -> bool:
        """Whether it is certain that nothing is missing in any row, also of those left out."""
        return token_rows(self.inner).complete

    def present(self) -> Mask:
        """Whether something came, users x slots."""
        return self.codec.present(self.block(0, self.users))

    def prefix(self, slots: int) -> Self:
        """The same users after their first `slots` slots."""
        return replace(self, inner=self.inner.prefix(slots))

    def part(self, start: int, stop: int) -> Rows:
        """Some of the users, neighbours: as rows in memory."""
        return self.select(np.arange(start, stop))

    def block(self, start: int, stop: int) -> Tokens:
        """Rows as a contiguous read-only array of the smallest type."""
        return read_only(np.ascontiguousarray(self.take(np.arange(start, stop))))

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some rows by their numbers, in this order, as an array."""
        return self.inner.take(self.traced.rows(np.asarray(rows, np.int64)))

    def select(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """Some users by their numbers, in this order, as rows in memory."""
        return self.inner.select(self.traced.rows(np.asarray(rows, np.int64)))

    def over(
        self,
        work: Work[Result],
        merge: Merge[Result],
        *,
        step: int | None = None,
        most: int = ROWS_AT_A_TIME,
        report: Report | None = None,
    ) -> Result:
        """Let `work` see the rows of all units without those that are left out.

        A step is cut from all rows, so some blocks have fewer: it is the same cut everywhere.
        """
        size = unit(self.inner.users)
        cut = partial(_work, work=work, traced=self.traced, size=min(step or max(most, 1), size))
        if isinstance(self.inner, Elsewhere):
            return self.inner.over(cut, merge, step=size, report=report)  # type: ignore[no-any-return]
        return over_rows(self.inner, cut, merge, step=size)


def _bits(blocks: Blocks, *, codec: Codec) -> dict[int, NDArray[np.uint8]]:
    """A bit for each row of which something is known, where there are others."""
    masks = ((start, codec.present(rows).any(axis=1)) for start, rows in blocks)
    return {start: np.packbits(mask) for start, mask in masks if not mask.all()}


def _work(blocks: Blocks, *, work: Work[Result], traced: UserSubset, size: int) -> Result:
    return work(_without_others(blocks, traced, size))


def _without_others(blocks: Blocks, traced: UserSubset, size: int) -> Iterator[tuple[int, Tokens]]:
    """The rows of units without those that are left out, cut into blocks."""
    for start, rows in blocks:
        mask, number = traced.in_unit(start), traced.before(start)
        for at in range(0, len(rows), size):
            some = rows[at : at + size][mask[at : at + size]]
            if len(some):
                yield number, np.ascontiguousarray(some)
            number += len(some)


def assessed_of(seen: Observations) -> Mask:
    """Targets of whom both sides saw something; refuses two rows of one user."""
    refuse_repeats("targets", seen.truth)
    return _anything(seen.true_rows) & _anything(seen.anonymous)


def something_shown(seen: Observations) -> Mask:
    """Targets of whom the anonymous side saw something, whether they are known or not."""
    return _anything(seen.anonymous)


def assessable(seen: Observations) -> Mask:
    """The same; refuses observations of which nobody can be assessed."""
    mask = assessed_of(seen)
    if not mask.any():
        raise InvalidInput(
            f"in the first {seen.slots} slots one of the two sides saw nothing of any of the "
            f"{len(mask)} targets, so none can be assessed; use more slots or other targets",
            code="nothing-shown",
        )
    return mask


def among(seen: Observations, users: UserSubset, targets: Mask) -> Observations:
    """Only some targets, whose users are among these, and only these users."""
    some = seen if targets.all() else seen.only(targets)
    if users.are_all:
        return some
    known = SubsetRows(seen.known, users)
    return some.changed(known=known, truth=users.numbers(some.truth), users=known.users)


def _anything(rows: Rows) -> Mask:
    return np.asarray(rows.present().any(axis=1))
