"""Rows that a release shows of people, made when they are asked for.

People are made, shown and forgotten in chunks, where the rows are worked on. A handle holds only
how rows are made, a few numbers, so it is cheap to send to a cluster.
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
"""Users who are made, shown and forgotten at a time."""

_TO_LOOK_AT = 1 << 16

Beside: TypeAlias = Callable[[int, Subset], None]
"""Called with people who were just made and with the row of the first of them."""


@dataclass(frozen=True, eq=False)
class LazyRows(CodecRows):
    """Rows of people that some sites know, or the secrets from which what is shown follows.

    Made by `of`; small when pickled if release and people are.

    Attributes:
        release: What shows them, once it has surveyed them.
        people: Of whom.
        group: Whose rows are known.
        sites: Sites that know them; None for secrets.
        seed: Of the draws.
        first: The first of these rows, among all rows of these people.
        users: How many they are.
        layout: How rows are stored, after as many slots as they have.
        whole: All rows of all slots, if these are some.
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
            people: Whom it shows.
            group: Of whom; everybody if None.
            sites: Sites that know them; None for the secrets of a release that `Reveals`.
            seed: Of the draws.
        """
        layout: Any = codec_of(release, people)
        if sites is None:
            assert isinstance(release, Reveals)
            first = Subset.of(people, np.arange(1))
            layout = _sets(layout, *release.secrets(first, 0, 1, seed=seed).shape[2:])
        elif (size := _together(release) * len(sites)) > 1:
            layout = _sets(layout, size)
        known = everybody(people) if group is None else replace(group, first=group.first[:0])
        return cls(release, people, known, sites, seed, 0, known.users, layout)

    def __repr__(self) -> str:
        return f"<LazyRows {self.users} x {' x '.join(map(str, self.layout.shape))}>"

    def __len__(self) -> int:
        return self.users

    @property
    def codec(self) -> Any:
        """How rows are stored; complete if that is proved without a look at the rows."""
        return self.layout.certain(complete=self.surely_complete)

    @property
    def surely_complete(self) -> bool:
        """Whether it is proved, without a look at the rows, that none has a gap."""
        if self.sites is None:
            return self.people.complete
        return isinstance(self.release, AlwaysShows) and self.release.always_shows(self.people)

    @cached_property
    def complete(self) -> bool:
        """Whether no row of all these people has a gap: by proof, else by making rows once."""
        if self.whole is not None:
            return self.whole.complete
        starts = range(0, 0 if self.surely_complete else self.users, _TO_LOOK_AT)
        return all(self.layout.filled(self.block(at, at + _TO_LOOK_AT)) for at in starts)

    def prefix(self, slots: int) -> Self:
        """The same users after their first `slots` slots."""
        return replace(self, layout=self.layout.prefix(slots), whole=self.whole or self)

    def part(self, start: int, stop: int) -> Self:
        """Some of the users, neighbours."""
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
        """The users of neighbouring rows."""
        start, stop, _ = slice(start, stop).indices(self.users)
        return ids_of(self.people, self.rows_of_people(np.arange(start, stop)))

    def ids_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """The users of some rows, in this order."""
        return ids_of(self.people, self.rows_of_people(rows))

    def rows_of_people(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Known rows as rows of the people."""
        wanted = np.asarray(rows, np.int64)
        wanted = np.where(wanted < 0, wanted + self.users, wanted)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.users:
            raise IndexError(f"rows {wanted.min()} to {wanted.max()} of {self.users}")
        return self.group.rows(self.people, wanted + self.first)

    def held(self, values: Tokens, beside: Beside | None = None) -> Rows:
        """All these rows, made into an array of theirs by all cores.

        Args:
            values: Users x slots, or users x slots x places, of the smallest type.
            beside: Sees the people behind them, whoever is known, while they are there.
        """
        complete = self._fill(0, values, beside)
        return self.layout.certain(complete=complete).rows(values)  # type: ignore[no-any-return]

    @property
    def array_shape(self) -> tuple[int, ...]:
        """Of an array that holds them all."""
        return self.users, *self.layout.shape

    @property
    def array_bytes(self) -> int:
        """Of an array that holds them all."""
        return int(np.prod(self.array_shape, dtype=object)) * self.dtype.itemsize

    def present(self) -> NDArray[np.bool_]:
        """Whether something came, users x slots."""
        return self.layout.present(self.block(0, self.users))  # type: ignore[no-any-return]

    def _empty(self, users: int) -> Tokens:
        return np.empty((users, *self.layout.shape), self.dtype)

    def _fill(self, start: int, values: Tokens, beside: Beside | None = None) -> bool:
        """Make the rows from `start` on by all cores; returns whether nothing is missing."""
        low, group = self.first + start, self.group
        chunks = group.chunks(low, low + len(values))
        if beside is not None:
            chunks = everybody(self.people).chunks(0, self.people.users)

        def work(first: int, last: int) -> bool:
            return min(map(of_chunk, chunks[first:last].tolist()))

        def of_chunk(chunk: int) -> bool:
            rows = chunk_of(self.people, chunk)
            ids = ids_of(self.people, rows)
            known = self.group.rule.of(ids)
            number = group.before_chunk(chunk) - low + np.cumsum(known) - known
            known &= (number >= 0) & (number < len(values))
            complete = True
            for at in range(0, len(rows), USERS_AT_A_TIME):
                here = slice(at, at + USERS_AT_A_TIME)
                mine = np.flatnonzero(known[here])
                if beside is None and mine.size:  # nobody beyond the first and the last is asked
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
        """Write what is known of some people."""
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


def in_memory(rows: LazyRows, beside: Beside | None = None) -> Rows:
    """The same rows, all made and held; see `LazyRows.held`."""
    check_in_memory(rows.array_bytes)
    return rows.held(np.empty(rows.array_shape, rows.dtype), beside)


def check_in_memory(size: int) -> None:
    """Refuse known rows of so many bytes, if they do not fit into memory."""
    check_fits(size, "what the sites see", "use fewer users, slots or sites")


def _sets(layout: Any, *size: int) -> TokenCodec:
    """Sets of tokens in place of one token for each slot."""
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
    """In each of the slots that come at once, all tokens that came."""
    calls = seen.reshape(len(seen), -1, 1, together)
    shape = len(seen), calls.shape[1], together, together
    return np.broadcast_to(calls, shape).reshape(len(seen), -1, together)
