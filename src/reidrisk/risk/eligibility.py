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
        everybody: Number of all users.
        bits: For each unit of rows in which somebody is left out, by the unit's first row: one bit
            per user, 1 for those who are in.
    """

    everybody: int
    bits: Mapping[int, NDArray[np.uint8]]

    @classmethod
    def of(cls, known: Rows) -> Self:
        """Find them in one pass over the known rows; complete rows need none."""
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
        """Number of users who are in."""
        return int(self._before[-1])

    @property
    def mask(self) -> Mask:
        """Whether each of all users is in; only for few users, since it takes a byte for each."""
        return np.concatenate([self.in_unit(start) for start in self._starts])

    def in_unit(self, start: int) -> Mask:
        """Whether each user of the unit of rows that begins at `start` is in."""
        size = min(self._unit, self.everybody - start)
        if start not in self.bits:
            return np.ones(size, np.bool_)
        # The last byte may hold more bits than there are users.
        return np.unpackbits(self.bits[start], count=size).view(np.bool_)

    def before(self, start: int) -> int:
        """Number of users who are in before the unit of rows that begins at `start`."""
        return int(self._before[start // self._unit])

    def numbers(self, rows: Places) -> Places:
        """Numbers among those who are in, of users by their rows among all; all must be in."""
        units, place = np.divmod(rows, self._unit)
        numbers = np.empty_like(rows)
        for one in np.unique(units):
            here = units == one
            inside = np.cumsum(self.in_unit(int(one) * self._unit)) - 1
            numbers[here] = self._before[one] + inside[place[here]]
        return numbers

    def rows(self, numbers: Places) -> Places:
        """Rows among all users, of users by their numbers among those who are in."""
        # A unit without anybody begins at the same number as the next: "right" skips it.
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
    """The rows of users of whom something is known, numbered from 0.

    Args:
        inner: All rows.
        traced: The users who are in.
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
        """Pass over all rows, and give `work` only those of users who are in.

        Steps are cut from all rows, so blocks may be smaller than a step. In this way the cut does
        not depend on where rows are: sums of floats are the same on one machine and on a cluster.
        """
        size = unit(self.inner.users)
        cut = partial(_work, work=work, traced=self.traced, size=min(step or max(most, 1), size))
        if isinstance(self.inner, Elsewhere):
            return self.inner.over(cut, merge, step=size, report=report)  # type: ignore[no-any-return]
        return over_rows(self.inner, cut, merge, step=size)


def _bits(blocks: Blocks, *, codec: Codec) -> dict[int, NDArray[np.uint8]]:
    """One bit per row, 1 if something is known; only of blocks in which something is not."""
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
    # Intervals are of independent people: two rows of one person would count as two.
    refuse_repeats("targets", seen.truth)
    return _anything(seen.true_rows) & _anything(seen.anonymous)


def something_shown(seen: Observations) -> Mask:
    """Targets of whom the anonymous side saw something, whether they are known or not."""
    return _anything(seen.anonymous)


def assessable(seen: Observations) -> Mask:
    """Targets of whom both sides saw something; refuses observations without any."""
    mask = assessed_of(seen)
    if not mask.any():
        raise InvalidInput(
            f"in the first {seen.slots} slots one of the two sides saw nothing of any of the "
            f"{len(mask)} targets, so none can be assessed; use more slots or other targets",
            code="nothing-shown",
        )
    return mask


def among(seen: Observations, users: UserSubset, targets: Mask) -> Observations:
    """Observations of some targets and some known users, who include the users of the targets."""
    some = seen if targets.all() else seen.only(targets)
    if users.are_all:
        return some
    known = SubsetRows(seen.known, users)
    return some.changed(known=known, truth=users.numbers(some.truth), users=known.users)


def _anything(rows: Rows) -> Mask:
    return np.asarray(rows.present().any(axis=1))
