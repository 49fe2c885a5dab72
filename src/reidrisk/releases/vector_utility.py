"""How useful vectors are that a release shows: inner products and nearest neighbours it keeps."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.randomness import uniforms
from reidrisk.people.protocol import People
from reidrisk.people.subset import Subset
from reidrisk.people.vectors import with_vectors
from reidrisk.releases._observe import ANONYMOUS
from reidrisk.releases.protocol import Floats, Release, shown

_TOGETHER = 20
"""People who are compared with each other: a group, which is one independent number."""

_MOST_GROUPS, _AT_A_TIME = 500, 50
_FEWEST = 3
"""Of whom one has a nearer and a farther neighbour."""


def kept(release: Release, people: People, *, seed: int) -> tuple[Floats, Floats]:
    """Shares of products and of neighbours that are kept, in random groups of people.

    Of products, how often the greater of two is still the greater; of neighbours, how often the
    nearest of 19 others is still the nearest. Ties count as they would if one were chosen at
    random. Both are means over a group, and groups share nobody.

    Args:
        release: A prepared release of vectors.
        people: The people.
        seed: Seed of the draws, and of the groups.
    """
    found = [(_products(*one), _neighbours(*one)) for one in _groups(release, people, seed)]
    both = np.array(found).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _groups(release: Release, people: People, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Vectors of people in groups, as they are and as they are shown."""
    draws = uniforms(seed=seed, purpose="utility/groups", users=people.ids, count=1)[:, 0]
    size = min(_TOGETHER, people.users)
    count = min(people.users // size, _MOST_GROUPS) if size >= _FEWEST else 0
    rows = np.argsort(draws, kind="stable")[: count * size]
    for start in range(0, len(rows), _AT_A_TIME * size):
        some = rows[start : start + _AT_A_TIME * size]
        places = np.argsort(np.argsort(some))
        own, seen = _vectors(release, Subset.of(people, np.sort(some)), seed)
        for first in range(0, len(some), size):
            here = places[first : first + size]
            yield own[here], seen[here]


def _vectors(release: Release, some: Subset, seed: int) -> tuple[Floats, Floats]:
    """Of some people: the means of their own vectors, and sums of those shown."""
    own = with_vectors(some, "utility").means(0, some.users)
    rows: Any = shown(release, some, 0, some.users, site=ANONYMOUS, seed=seed)
    return own, rows.block(0, some.users).sum(axis=1, dtype=np.float64)


def _products(own: Floats, seen: Floats) -> float:
    """How often the greater of two products is still the greater; one half if all are equal."""
    one, other = np.triu_indices(len(own), 1)
    before, after = (
        np.sign(np.diff(np.einsum("ij,ij->i", vectors[one], vectors[other])))
        for vectors in (own, seen)
    )
    return float((1 + before * after).mean() / 2)


def _neighbours(own: Floats, seen: Floats) -> float:
    """How often the nearest neighbour is still the nearest."""
    before, after = _nearest(own), _nearest(seen)
    return float(((before & after).sum(axis=1) / after.sum(axis=1)).mean())


def _nearest(vectors: Floats) -> NDArray[np.bool_]:
    """Whether each of some people is nearest to each other, ties included."""
    distances = np.square(vectors[:, None] - vectors).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances == distances.min(axis=1, keepdims=True))
