"""Who of many people is meant: by draws that belong to ids, so nobody holds a list of everybody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits, cores
from reidrisk.core.parallel import over_queue
from reidrisk.core.randomness import uniforms
from reidrisk.people.bottom_k import Smallest
from reidrisk.people.protocol import People, ids_of

CHUNK = 1 << 12
"""People before each so many of whom the others are counted."""

_AT_A_TIME = 16 * CHUNK
# Draw and row of those who are wanted first, twice, and their order.
_BYTES_OF_FIRST = 40
_NOBODY = np.empty(0), np.empty(0, np.int64)

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Share:
    """Users whose draw is below a share: with a larger share they still are.

    Args:
        purpose: Of the draw.
        share: From 0 to 1.
        seed: Of the draw.
    """

    purpose: str
    share: float
    seed: int

    def of(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of some users are meant."""
        return np.asarray(self.draws(ids) < self.share)

    def draws(self, ids: NDArray[Any]) -> NDArray[np.float64]:
        """The draws of some users."""
        return uniforms(seed=self.seed, purpose=self.purpose, users=ids, count=1)[:, 0]


@dataclass(frozen=True, slots=True)
class Whom:
    """Users who are within some shares and outside of others; everybody, if there are none.

    Args:
        inside: Shares that hold them.
        outside: Shares that do not.
    """

    inside: tuple[Share, ...] = ()
    outside: tuple[Share, ...] = ()

    @property
    def everybody(self) -> bool:
        """Whether all users are meant."""
        return not self.inside and not self.outside

    def of(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of some users are meant."""
        meant = np.ones(len(ids), np.bool_)
        for share in self.inside:
            meant &= share.of(ids)
        for share in self.outside:
            meant &= ~share.of(ids)
        return meant


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """Some of the people.

    Attributes:
        whom: Who they are.
        users: How many they are.
        before: How many of them are before each chunk of people, and at last how many they are;
            None if everybody is meant.
        first: Rows of those with the smallest draws, in the order of the draws.
    """

    whom: Whom
    users: int
    before: Counts | None
    first: NDArray[np.int64]

    def before_chunk(self, chunk: int) -> int:
        """How many of them are before a chunk of people."""
        return chunk * CHUNK if self.before is None else int(self.before[chunk])

    def chunks(self, start: int, stop: int) -> NDArray[np.int64]:
        """Chunks of people with those of them from `start` to `stop`."""
        if self.before is None:
            return np.arange(start // CHUNK, -(-stop // CHUNK)) if start < stop else np.arange(0)
        return np.flatnonzero((self.before[1:] > start) & (self.before[:-1] < stop))

    def places(self, people: People) -> NDArray[np.int64]:
        """Which of all of them the first are, counted in the order of people."""
        chunks, place = np.divmod(self.first, CHUNK)
        places = self.first.copy()
        for chunk, here in by_chunk(chunks) if self.before is not None else ():
            rows = np.arange(chunk * CHUNK, chunk * CHUNK + place[here].max() + 1)
            before = np.cumsum(self.whom.of(ids_of(people, rows))) - 1
            places[here] = self.before_chunk(chunk) + before[place[here]]
        return places

    def rows(self, people: People, places: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Rows of people, of some of them by their places among all of them."""
        wanted = np.asarray(places, np.int64)
        wanted = np.where(wanted < 0, wanted + self.users, wanted)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.users:
            raise IndexError(f"users {wanted.min()} to {wanted.max()} of {self.users}")
        if self.before is None:
            return wanted
        chunks = np.searchsorted(self.before, wanted, side="right") - 1
        rows = np.empty_like(wanted)
        for chunk, here in by_chunk(chunks):
            candidates = chunk_of(people, chunk)
            meant = candidates[self.whom.of(ids_of(people, candidates))]
            rows[here] = meant[wanted[here] - self.before[chunk]]
        return rows


def everybody(people: People) -> Group:
    """All people, nobody of them first."""
    return Group(Whom(), people.users, None, np.empty(0, np.int64))


def chunk_of(people: People, chunk: int) -> NDArray[np.int64]:
    """The rows of a chunk of people."""
    return np.arange(chunk * CHUNK, min((chunk + 1) * CHUNK, people.users))


def by_chunk(chunks: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each chunk that some users are in, and where these are among the users."""
    order = np.argsort(chunks, kind="stable")
    cuts = np.flatnonzero(np.diff(chunks[order])) + 1
    for here in np.split(order, cuts) if len(order) else ():
        yield int(chunks[here[0]]), here


def census(
    people: People, wanted: Sequence[tuple[Whom, int | None]], *, purpose: str, seed: int
) -> list[Group]:
    """Count groups of people and choose the first of each, in one pass over their ids.

    Args:
        people: Everybody.
        wanted: The groups, and how many are wanted first of each; all if None.
        purpose: Of the draws by which the first are chosen; users with equal draws come by row.
        seed: Of the draws.
    """
    chunks = -(-people.users // CHUNK)
    held = sum(people.users if first is None else min(first, people.users) for _, first in wanted)
    size = _BYTES_OF_FIRST * held + 16 * chunks * len(wanted)
    check_fits(size, f"{people.users:,} users", "use fewer users or targets")
    counts = np.zeros((len(wanted), chunks + 1), np.int64)

    def work(taken: Iterator[int]) -> list[Smallest]:
        first = [Smallest(number).add(*_NOBODY) for _, number in wanted]
        for start in taken:
            rows = np.arange(start, min(start + _AT_A_TIME, people.users))
            ids = ids_of(people, rows)
            here = slice(start // CHUNK + 1, -(-(rows[-1] + 1) // CHUNK) + 1)
            draws = uniforms(seed=seed, purpose=purpose, users=ids, count=1)[:, 0]
            for place, (whom, _) in enumerate(wanted):
                meant = whom.of(ids)
                counts[place, here] = np.add.reduceat(meant, np.arange(0, len(rows), CHUNK))
                first[place].add(draws[meant], rows[meant])
        return first

    parts = over_queue(work, range(0, people.users, _AT_A_TIME), cores())
    merged = reduce(lambda one, two: [a.merge(b) for a, b in zip(one, two, strict=True)], parts)
    before = np.cumsum(counts, axis=1)
    return [
        Group(whom, int(each[-1]), None if whom.everybody else each, kept.kept[1])
        for (whom, _), each, kept in zip(wanted, before, merged, strict=True)
    ]
