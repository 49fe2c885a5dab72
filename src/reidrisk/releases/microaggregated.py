"""Release: microaggregation, vectors of groups of similar users who are shown as their mean.

Groups are made by MDAV (Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity
through microaggregation, 2005). Where there are many people they are first cut into halves, so that
the time grows hardly faster than their number. Nothing is random: groups follow from everybody's
vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.machine import check_fits
from reidrisk.core.randomness import uniforms
from reidrisk.core.vector_rows import VectorCodec
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Bound
from reidrisk.people.protocol import People
from reidrisk.people.vectors import with_vectors
from reidrisk.releases.guarantees import k_anonymity
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import Crowd, Floats
from reidrisk.releases.surveys import places_of
from reidrisk.releases.vectors import OWN, VectorRelease, codec_of_vectors

_TOGETHER = 4096
"""Users at most among whom groups are made; more are cut into halves first."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Microaggregated:
    """Show of each user only the mean vector of a group of at least k, the same at every site.

    Groups hold similar users: those around the user who is farthest from the middle are taken
    first. A user with several vectors has their mean.

    Args:
        k: Least number of users in a group; most groups have just as many.

    Example:
        >>> people = rr.data.VectorPeople([[0.0], [0.1], [5.0], [5.3]], ["a", "b", "c", "d"])
        >>> release = rr.releases.prepared(rr.Microaggregated(2), people)
        >>> release.drawn(people, 0, 4, site=2, seed=7).ravel().round(2).tolist()
        [0.05, 0.05, 5.15, 5.15]
    """

    name: ClassVar[str] = "microaggregated"

    k: int = parameter(
        help="Users that each group has at least",
        least=1,
        safer_as_it_grows=True,
        search=(2, 1_000),
        example=5,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number("k", self.k, least=1))

    @property
    def fixed(self) -> bool:
        """Yes: one grouping serves all sites."""
        return True

    def slots(self, people: People) -> int:
        """One: the mean."""
        return 1

    def width(self, people: Any) -> int:
        """That of people's vectors."""
        return OWN.width(people)

    def largest(self, people: People) -> float:
        """The largest number of anybody's vectors."""
        return OWN.largest(people)

    def typical(self, people: People) -> float:
        """That of everybody's vectors."""
        return OWN.typical(people)

    def codec(self, people: People) -> VectorCodec:
        """Vectors of whole numbers, and their grid."""
        return codec_of_vectors(self, people)

    def surveyed(self, people: People) -> "_Groups":
        """The release with its groups."""
        own = with_vectors(people, self.name)
        if own.users < self.k:
            raise InvalidInput(
                f"groups have at least {self.k} users, and there are {own.users} in all; lower k, "
                "or show more people",
                code="too-few-users",
            )
        size = 3 * own.users * own.dimensions * np.dtype(np.float64).itemsize
        check_fits(size, "the vectors that are put into groups", "use fewer users")
        # Sums of floats depend on their order, and groups must not depend on that of people.
        draws = uniforms(seed=0, purpose="microaggregated", users=own.ids, count=1)[:, 0]
        order = np.argsort(draws, kind="stable")
        vectors = own.means(0, own.users)[order]
        groups = list(_groups(vectors, np.arange(own.users), self.k))
        number = np.empty(own.users, np.int64)
        for place, rows in enumerate(groups):
            number[order[rows]] = place
        means = np.stack([vectors[np.sort(rows)].mean(axis=0) for rows in groups])
        by_id = np.argsort(own.ids, kind="stable")
        return _Groups(own.ids[by_id], number[by_id], means, min(map(len, groups)))


@dataclass(frozen=True, eq=False, slots=True)
class _Groups(VectorRelease):
    """Groups of people who were surveyed.

    Attributes:
        ids: The users, sorted.
        groups: The group of each.
        means: The mean of each group.
        least: Users of the smallest.
    """

    name: ClassVar[str] = Microaggregated.name
    fixed: ClassVar[bool] = True

    ids: NDArray[Any]
    groups: Rows
    means: Floats
    least: int

    def largest(self, people: People) -> float:
        """The largest number of anybody's vectors."""
        return OWN.largest(people)

    def typical(self, people: People) -> float:
        """The root of the mean of the squared numbers of all users' means."""
        return float(np.sqrt(np.square(self.means[self.groups]).mean()))

    def drawn(self, people: People, start: int, stop: int, **_how: int) -> Floats:
        """The means of the groups of users `start` to `stop`."""
        places = places_of(self.ids, people.ids[start:stop], "groups")
        return self.means[self.groups[places]][:, None, :]

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """k-anonymity, with k the size of the smallest group less the users who are not there.

        Other sites see the same means, so an attacker who knows them knows no more.
        """
        missing = len(self.ids) - people.users
        # More users than were surveyed are other people, of whom nothing is known.
        return k_anonymity(self.least - missing) if missing >= 0 else ()


def _groups(vectors: Floats, rows: Rows, k: int) -> Iterator[Rows]:
    """Groups of similar rows; many rows are cut where they differ most, into halves."""
    if len(rows) <= max(_TOGETHER, 4 * k):
        yield from _similar(vectors, rows, k)
        return
    column = int(vectors[rows].var(axis=0).argmax())
    order = np.argsort(vectors[rows, column], kind="stable")
    for half in (order[: len(rows) // 2], order[len(rows) // 2 :]):
        yield from _groups(vectors, rows[half], k)


def _similar(vectors: Floats, rows: Rows, k: int) -> Iterator[Rows]:
    """Groups by MDAV: around the row farthest from the middle, and around that farthest from it."""
    while len(rows) >= 3 * k:
        first = _distances(vectors, rows, vectors[rows].mean(axis=0)).argmax()
        from_first = _distances(vectors, rows, vectors[rows[first]])
        second = rows[from_first.argmax()]
        group, rows = _taken(rows, from_first, k)
        yield group
        group, rows = _taken(rows, _distances(vectors, rows, vectors[second]), k)
        yield group
    if len(rows) >= 2 * k:
        far = _distances(vectors, rows, vectors[rows].mean(axis=0)).argmax()
        group, rows = _taken(rows, _distances(vectors, rows, vectors[rows[far]]), k)
        yield group
    yield rows


def _distances(vectors: Floats, rows: Rows, point: Floats) -> Floats:
    """Squared distances of some vectors to a point."""
    return np.asarray(np.square(vectors[rows] - point).sum(axis=1))


def _taken(rows: Rows, distances: Floats, k: int) -> tuple[Rows, Rows]:
    """The k nearest rows, and the others in their order."""
    near = np.zeros(len(rows), np.bool_)
    near[np.argsort(distances, kind="stable")[:k]] = True
    return rows[near], rows[~near]
