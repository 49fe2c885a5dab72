"""Release: a random projection of vectors, the same for all sites."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from reidrisk.core.checks import whole_number
from reidrisk.core.parallel import kernel
from reidrisk.core.randomness import uniforms
from reidrisk.people.protocol import People
from reidrisk.people.vectors import with_vectors
from reidrisk.releases.noise import inside
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import AnyRelease, Floats
from reidrisk.releases.vectors import VectorRelease, check_inner, inner


@dataclass(frozen=True, slots=True)
class Projected(VectorRelease):
    """Show vectors in fewer dimensions, by a random projection that is the same for all sites.

    Distances and inner products stay about the same, the better the more dimensions there are
    (Johnson and Lindenstrauss 1984). Nothing is proved of it: sites can compare what they see. What
    another release promises still holds.

    Args:
        dimensions: Numbers of a vector that is shown.
        seed: Seed of the projection, which is the same whatever the seed of the study.
        of: The release whose vectors are projected; people's own vectors if not given.

    Example:
        >>> people = rr.data.VectorPeople(np.eye(50), np.arange(50))
        >>> rr.Projected(8).show(people, 0, 50, site=2, seed=7)
        <VectorRows 50 x 1 x 8>
    """

    name: ClassVar[str] = "projected"

    dimensions: int = parameter(
        help="Numbers of a vector that is shown",
        least=1,
        safer_as_it_grows=False,
        search=(1, 1_000),
        example=16,
    )
    seed: int = parameter(0, help="Seed of the projection", least=0)
    of: AnyRelease | None = parameter(
        None, help="The release whose vectors are projected", kw_only=True
    )

    def __post_init__(self) -> None:
        for name, least in (("dimensions", 1), ("seed", 0)):
            value = whole_number(name, getattr(self, name), least=least)
            object.__setattr__(self, name, value)
        check_inner(self.of, self.name)

    @property
    def fixed(self) -> bool:
        """Whether the other release shows the same of a user each time."""
        return bool(inner(self).fixed)

    def width(self, people: Any) -> int:
        """As many as were asked for."""
        return self.dimensions

    def largest(self, people: People) -> float:
        """What the longest vector could be projected to, if its direction were the worst."""
        before = int(inner(self).width(people))
        matrix = _projection(before, self.dimensions, self.seed)
        return float(inner(self).largest(people)) * float(np.abs(matrix).sum(axis=0).max())

    def typical(self, people: People) -> float:
        """That of the other release, spread over fewer numbers: lengths stay about the same."""
        of = inner(self)
        return float(of.typical(people)) * math.sqrt(of.width(people) / self.dimensions)

    def drawn(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> Floats:
        """The projections: users x slots x dimensions."""
        own = with_vectors(people, self.name)
        before = inner(self).drawn(own, start, stop, site=site, seed=seed, again=again)
        matrix = _projection(before.shape[2], self.dimensions, self.seed)
        flat = np.ascontiguousarray(before).reshape(-1, before.shape[2])
        found = np.zeros((len(flat), self.dimensions))
        _project(flat, matrix, found)
        return found.reshape(*before.shape[:2], self.dimensions)


@lru_cache(maxsize=8)
def _projection(before: int, after: int, seed: int) -> Floats:
    """A matrix, before x after, of Gaussian numbers that keeps squared lengths on average."""
    from scipy.special import ndtri  # noqa: PLC0415  heavy, and few need it

    coins = uniforms(seed=seed, purpose="projected", users=np.arange(before), count=after)
    matrix: Floats = ndtri(inside(coins)) / np.sqrt(after)
    matrix.flags.writeable = False
    return matrix


@kernel
def _project(vectors: Floats, matrix: Floats, found: Floats) -> None:
    """Add the products of vectors and a matrix, in the order of the dimensions: always the same."""
    for row in range(vectors.shape[0]):
        for before in range(vectors.shape[1]):
            for after in range(matrix.shape[1]):
                found[row, after] += vectors[row, before] * matrix[before, after]
