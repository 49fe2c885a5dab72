"""Rows that a release shows of people, made when they are asked for.

People are made, shown and dropped again in chunks, on the machine that works on the rows. The
handle holds only how rows are made, a few numbers, so it is cheap to send to a cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits
from reidrisk.core.parallel import over_blocks
from reidrisk.core.rows import CodecRows, Kind, Rows, TokenCodec, Tokens, read_only
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People, ids_of
from reidrisk.people.sampling import Group, chunk_of, everybody
from reidrisk.people.subset import Subset
from reidrisk.releases.protocol import (
    AlwaysShows,
    Release,
    Reveals,
    Unordered,
    codec_of,
    shown,
)

USERS_AT_A_TIME = 1024
"""Users in memory at a time: their top sets and draws stay in a core's cache."""

# Rows at a time in a search for gaps: it can stop at the first one it finds.
_ROWS_TO_CHECK = 1 << 16

Beside: TypeAlias = Callable[[int, Subset], None]
"""Called with the row of the first of some people and with these people, as they are made."""


@dataclass(frozen=True, eq=False)
class LazyRows(CodecRows):
    """Known rows of people: what some sites were shown, or the secrets that it is drawn from.

    Made by `of`. Pickles are small if those of release and people are.

    Attributes:
        release: The prepared release.
        people: The people whom it shows.
        group: The people whose rows are known.
        sites: Sites that know them; None for secrets.
        seed: Seed of the draws.
        first: Number of the first of these rows among all rows of the group.
        users: Number of rows.
        layout: How rows are stored, cut to their slots.
        whole: The rows with all users and slots, if these are a part of them.
    """

    release: Release
    people: People
    group: Group
    sites: tuple[int, ...] | None
    seed: int
    first: int
    users: int
    layout: Any
    whole: "LazyRows | None" = None

    @classmethod
    def of(
        cls,
        release: Release,
        people: People,
        group: Group | None = None,
        *,
        sites: tuple[int, ...] | None,
        seed: int,
    ) -> Self:
        """The rows of a group of people, or of everybody.

        Args:
            release: A prepared release.
            people: The people whom it shows.
            group: The people whose rows are known; everybody if None.
            sites: Sites that know them; None for the secrets of a release that `Reveals`.
            seed: Seed of the draws.
        """
        layout: Any = codec_of(release, people)
        if sites is None:
            assert isinstance(release, Reveals)
            # Only the release knows how large a secret is, so it is asked for one.
            first = Subset.of(people, np.arange(1))
            layout = _sets(layout, *release.secrets(first, 0, 1, seed=seed).shape[2:])
        elif (size := _together(release) * len(sites)) > 1:
            layout = _sets(layout, size)
        # Rows do not need the list of first members, and the handle is small to send without it.
        known = everybody(people) if group is None else replace(group, first=group.first[:0])
        return cls(release, people, known, sites, seed, 0, known.users, layout)

    def __repr__(self) -> str:
        return f"<LazyRows {self.users} x {' x '.join(map(str, self.layout.shape))}>"

    def __len__(self) -> int:
        return self.users

    @property
    def codec(self) -> Any:
        """How rows are stored; it says complete only if that is known without making rows."""
        return self.layout.certain(complete=self.surely_complete)

    @property
    def surely_complete(self) -> bool:
        """Whether release and people guarantee that no row has a gap."""
        if self.sites is None:
            return self.people.complete
        return isinstance(self.release, AlwaysShows) and self.release.always_shows(self.people)

    @cached_property
    def complete(self) -> bool:
        """Whether no row has a gap: guaranteed, or else found by making all rows once."""
        # Asked of all rows, so that a part and its whole give the same answer.
        if self.whole is not None:
            return self.whole.complete
        starts = range(0, 0 if self.surely_complete else self.users, _ROWS_TO_CHECK)
        return all(self.layout.filled(self.block(at, at + _ROWS_TO_CHECK)) for at in starts)

    def prefix(self, slots: int) -> Self:
        """The same users after their first `slots` slots."""
        return replace(self, layout=self.layout.prefix(slots), whole=self.whole or self)

    def part(self, start: int, stop: int) -> Self:
        """The rows from `start` to `stop`."""
        start, stop, _ = slice(start, stop).indices(self.users)
        users = max(stop - start, 0)
        return replace(self, first=self.first + start, users=users, whole=self.whole or self)

    def block(self, start: int, stop: int) -> Tokens:
        """Rows as a contiguous read-only array of the smallest type."""
        start, stop, _ = slice(start, stop).indices(self.users)
        values = self._empty(max(stop - start, 0))
        self._fill(start, values)
        return read_only(values)

    def take(self, rows: NDArray[np.integer[Any]]) -> Tokens:
        """Some rows by their numbers, in this order, as an array."""
        # Each person is made once, in the order of people, whatever order is asked for.
        people, place = np.unique(self.rows_of_people(rows), return_inverse=True)
        values = self._empty(len(people))

        def work(start: int, stop: int) -> None:
            self._make(Subset.of(self.people, people[start:stop]), values[start:stop])

        over_blocks(work, len(people), USERS_AT_A_TIME)
        return np.asarray(values[place])

    def select(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """Some users by their numbers, in this order, as rows in memory."""
        values = self.take(rows)
        return self.layout.certain(complete=self.layout.filled(values)).rows(values)  # type: ignore[no-any-return]

    def ids(self, start: int, stop: int) -> NDArray[Any]:
        """Ids of the users of rows `start` to `stop`."""
        start, stop, _ = slice(start, stop).indices(self.users)
        return ids_of(self.people, self.rows_of_people(np.arange(start, stop)))

    def ids_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Ids of the users of some rows, in this order."""
        return ids_of(self.people, self.rows_of_people(rows))

    def rows_of_people(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Numbers among all people of the users of some rows."""
        wanted = np.asarray(rows, np.int64)
        # Negative numbers count from the end, as in numpy.
        wanted = np.where(wanted < 0, wanted + self.users, wanted)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.users:
            raise IndexError(f"rows {wanted.min()} to {wanted.max()} of {self.users}")
        return self.group.rows(self.people, wanted + self.first)

    def held(self, values: Tokens | None = None, beside: Beside | None = None) -> Rows:
        """All these rows, made by all cores and kept in an array.

        Args:
            values: The array: users x slots, or users x slots x places, of the smallest type. A new
                one in memory if None.
            beside: Called with all people behind the rows, known or not, as they are made.
        """
        if values is None:
            check_in_memory(self.array_bytes)
            values = self._empty(self.users)
        complete = self._fill(0, values, beside)
        return self.layout.certain(complete=complete).rows(values)  # type: ignore[no-any-return]

    @property
    def array_shape(self) -> tuple[int, ...]:
        """Shape of an array that holds all rows."""
        return self.users, *self.layout.shape

    @property
    def array_bytes(self) -> int:
        """Bytes of an array that holds all rows."""
        # dtype=object multiplies Python's whole numbers, which do not overflow.
        return int(np.prod(self.array_shape, dtype=object)) * self.dtype.itemsize

    def present(self) -> NDArray[np.bool_]:
        """Whether something came, users x slots."""
        return self.layout.present(self.block(0, self.users))  # type: ignore[no-any-return]

    def _empty(self, users: int) -> Tokens:
        return np.empty((users, *self.layout.shape), self.dtype)

    def _fill(self, start: int, values: Tokens, beside: Beside | None = None) -> bool:
        """Make the rows from `start` on by all cores; returns whether none has a gap."""
        low, group = self.first + start, self.group
        chunks = group.chunks(low, low + len(values))
        if beside is not None:  # it sees everybody, also chunks in which nobody is known
            chunks = everybody(self.people).chunks(0, self.people.users)

        def work(place: int, _stop: int) -> bool:
            chunk = int(chunks[place])
            rows = chunk_of(self.people, chunk)
            ids = ids_of(self.people, rows)
            known = group.rule.of(ids)
            # The place of each person in `values`; of others, where they would stand.
            number = group.before_chunk(chunk) - low + np.cumsum(known) - known
            known &= (number >= 0) & (number < len(values))
            complete = True
            for at in range(0, len(rows), USERS_AT_A_TIME):
                here = slice(at, at + USERS_AT_A_TIME)
                mine = np.flatnonzero(known[here])
                if beside is None and mine.size:
                    # Nobody before the first known person or after the last need be made.
                    here = slice(at + mine[0], at + mine[-1] + 1)
                    mine -= mine[0]
                some = Subset(self.people, rows[here], ids[here])
                if mine.size:
                    first = int(number[here][mine[0]])
                    made = values[first : first + len(mine)]
                    self._make(some if len(mine) == some.users else some.only(mine), made)
                    complete &= self.layout.check(made, "known", start + first)
                if beside is not None:
                    beside(int(rows[at]), some)
            return complete

        return all(over_blocks(work, len(chunks), 1))

    def _make(self, some: Subset, values: Tokens) -> None:
        """Write the known rows of some people into `values`."""
        if self.sites is None:
            assert isinstance(self.release, Reveals)
            values[:] = self.release.secrets(some, 0, some.users, seed=self.seed)[:, : self.slots]
            return
        together = _together(self.release)
        for place, site in enumerate(self.sites):
            seen = shown(self.release, some, 0, some.users, site=site, seed=self.seed)
            if self.kind is Kind.SETS:
                places = slice(place * together, (place + 1) * together)
                values[:, :, places] = _spread(np.asarray(seen), together)[:, : self.slots]
            else:
                values[:] = seen.prefix(self.slots).block(0, some.users)


def check_in_memory(size: int) -> None:
    """Refuse known rows that do not fit into memory.

    Args:
        size: Their bytes.
    """
    check_fits(size, "what the sites see", "use fewer users, slots or sites")


def _sets(layout: Any, *size: int) -> TokenCodec:
    """The layout with a set of tokens in each slot, instead of one token."""
    if layout.kind is not Kind.TOKENS:
        raise InvalidInput(
            f"the release shows {layout.kind.value}, of which several sites or slots make no set; "
            "use two sites, and a release that shows one slot at a time",
            code="kind-mismatch",
        )
    return TokenCodec.of((layout.slots, *size), layout.tokens)


def _together(release: Release) -> int:
    return release.together if isinstance(release, Unordered) else 1


def _spread(seen: Tokens, together: int) -> Tokens:
    """Give each slot of a call all tokens of the call: which came first is not known."""
    calls = seen.reshape(len(seen), -1, 1, together)
    shape = len(seen), calls.shape[1], together, together
    return np.broadcast_to(calls, shape).reshape(len(seen), -1, together)
