"""Sample people by hashes of their ids, without holding a list of everybody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits, cores
from reidrisk.core.parallel import over_queue
from reidrisk.core.randomness import uniforms
from reidrisk.people.bottom_k import BottomK
from reidrisk.people.protocol import People, ids_of

CHUNK = 1 << 12
"""People per chunk. A group holds one count per chunk instead of a list of its members: to find a
member, the rule is applied to one chunk."""

_AT_A_TIME = 16 * CHUNK
# Draw and row of each first member, twice (while cutting), and their order.
_BYTES_OF_FIRST = 40
_NOBODY = np.empty(0), np.empty(0, np.int64)

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Share:
    """Users whose draw is below a share; a larger share only adds users.

    Args:
        purpose: Purpose of the draws; other purposes draw independently.
        share: Share of users, from 0 to 1.
        seed: Seed of the draws.
    """

    purpose: str
    share: float
    seed: int

    def of(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each of these users is in the share."""
        return np.asarray(self.draws(ids) < self.share)

    def draws(self, ids: NDArray[Any]) -> NDArray[np.float64]:
        """The draws of some users."""
        return uniforms(seed=self.seed, purpose=self.purpose, users=ids, count=1)[:, 0]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that selects users: in some shares and outside others; everybody, if none is given.

    Args:
        inside: Shares that the users are in.
        outside: Shares that the users are not in.
    """

    inside: tuple[Share, ...] = ()
    outside: tuple[Share, ...] = ()

    @property
    def everybody(self) -> bool:
        """Whether the rule selects all users."""
        return not self.inside and not self.outside

    def of(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each of these users is selected."""
        chosen = np.ones(len(ids), np.bool_)
        for share in self.inside:
            chosen &= share.of(ids)
        for share in self.outside:
            chosen &= ~share.of(ids)
        return chosen


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """The people whom a rule selects.

    Attributes:
        rule: The rule.
        users: Number of members.
        before: Number of members before each chunk of people, and at the end all of them; None if
            the rule selects everybody.
        first: Rows of the members with the smallest draws, in the order of the draws.
    """

    rule: Rule
    users: int
    before: Counts | None
    first: NDArray[np.int64]

    def before_chunk(self, chunk: int) -> int:
        """Number of members before a chunk of people."""
        return chunk * CHUNK if self.before is None else int(self.before[chunk])

    def chunks(self, start: int, stop: int) -> NDArray[np.int64]:
        """Chunks that hold the members from `start` to `stop`."""
        if self.before is None:
            return np.arange(start // CHUNK, -(-stop // CHUNK)) if start < stop else np.arange(0)
        return np.flatnonzero((self.before[1:] > start) & (self.before[:-1] < stop))

    def places(self, people: People) -> NDArray[np.int64]:
        """Places of the first members among all members, which are in the order of people."""
        chunks, place = np.divmod(self.first, CHUNK)
        places = self.first.copy()
        for chunk, here in _by_chunk(chunks) if self.before is not None else ():
            # Only up to the last member asked for: nobody after it changes a place.
            rows = np.arange(chunk * CHUNK, chunk * CHUNK + place[here].max() + 1)
            before = np.cumsum(self.rule.of(ids_of(people, rows))) - 1
            places[here] = self.before_chunk(chunk) + before[place[here]]
        return places

    def rows(self, people: People, places: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Rows, among all people, of members by their places in the group."""
        wanted = np.asarray(places, np.int64)
        wanted = np.where(wanted < 0, wanted + self.users, wanted)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.users:
            raise IndexError(f"users {wanted.min()} to {wanted.max()} of {self.users}")
        if self.before is None:
            return wanted
        # From the right: chunks without members begin at the same count, and are passed over.
        chunks = np.searchsorted(self.before, wanted, side="right") - 1
        rows = np.empty_like(wanted)
        for chunk, here in _by_chunk(chunks):
            candidates = chunk_of(people, chunk)
            members = candidates[self.rule.of(ids_of(people, candidates))]
            rows[here] = members[wanted[here] - self.before[chunk]]
        return rows


def everybody(people: People) -> Group:
    """A group of all people, with no first members."""
    return Group(Rule(), people.users, None, np.empty(0, np.int64))


def chunk_of(people: People, chunk: int) -> NDArray[np.int64]:
    """The rows of a chunk of people."""
    return np.arange(chunk * CHUNK, min((chunk + 1) * CHUNK, people.users))


def _by_chunk(chunks: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Group users by chunk: each chunk, and where its users are."""
    order = np.argsort(chunks, kind="stable")
    cuts = np.flatnonzero(np.diff(chunks[order])) + 1
    for here in np.split(order, cuts) if len(order) else ():
        yield int(chunks[here[0]]), here


def select(
    people: People, wanted: Sequence[tuple[Rule, int | None]], *, purpose: str, seed: int
) -> list[Group]:
    """Select groups of people by rules, in one pass over their ids.

    Args:
        people: Everybody.
        wanted: The rule of each group, and how many first members to find; all if None.
        purpose: Purpose of the draws that order the first members; equal draws go by row.
        seed: Seed of the draws.
    """
    chunks = -(-people.users // CHUNK)
    held = sum(people.users if first is None else min(first, people.users) for _, first in wanted)
    size = _BYTES_OF_FIRST * held + 16 * chunks * len(wanted)
    check_fits(size, f"{people.users:,} users", "use fewer users or targets")
    counts = np.zeros((len(wanted), chunks + 1), np.int64)

    def work(taken: Iterator[int]) -> list[BottomK]:
        first = [BottomK(number).add(*_NOBODY) for _, number in wanted]
        for start in taken:
            rows = np.arange(start, min(start + _AT_A_TIME, people.users))
            ids = ids_of(people, rows)
            # One place later, so that sums count the members before a chunk. Threads take whole
            # chunks, so no two write to the same count.
            here = slice(start // CHUNK + 1, -(-(rows[-1] + 1) // CHUNK) + 1)
            draws = uniforms(seed=seed, purpose=purpose, users=ids, count=1)[:, 0]
            for place, (rule, _) in enumerate(wanted):
                chosen = rule.of(ids)
                counts[place, here] = np.add.reduceat(chosen, np.arange(0, len(rows), CHUNK))
                first[place].add(draws[chosen], rows[chosen])
        return first

    # Who takes which rows is left to chance: selections merge to the same one in any order.
    parts = over_queue(work, range(0, people.users, _AT_A_TIME), cores())
    merged = reduce(lambda one, two: [a.merge(b) for a, b in zip(one, two, strict=True)], parts)
    before = np.cumsum(counts, axis=1)
    return [
        Group(rule, int(each[-1]), None if rule.everybody else each, kept.kept[1])
        for (rule, _), each, kept in zip(wanted, before, merged, strict=True)
    ]
