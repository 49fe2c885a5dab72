"""Release: the mean of some of a user's vectors, drawn by chance."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.parallel import kernel
from reidrisk.core.randomness import uniforms
from reidrisk.people.protocol import People
from reidrisk.people.vectors import with_vectors
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import Floats
from reidrisk.releases.vectors import OWN, VectorRelease


@dataclass(frozen=True, slots=True)
class Averaged(VectorRelease):
    """Show each site the mean of some of a user's vectors, such as those of a few items.

    Each site, and each repeated release, draws its own vectors, none twice; a user who has too few
    shows the mean of all.

    Args:
        items: Vectors that are averaged.
        releases: How often a site is shown a mean: one slot each.

    Example:
        >>> people = rr.data.VectorPeople([[1, 0], [0, 1], [1, 1]], ["ann", "bob"], [0, 2, 3])
        >>> rr.Averaged(1).drawn(people, 0, 2, site=2, seed=7).tolist()
        [[[1.0, 0.0]], [[1.0, 1.0]]]
    """

    name: ClassVar[str] = "averaged"

    fixed: ClassVar[bool] = False

    items: int = parameter(
        help="Vectors of a user that are averaged",
        least=1,
        safer_as_it_grows=False,
        search=(1, 100),
        example=8,
    )
    releases: int = parameter(
        1, help="How often a site is shown a mean", least=1, safer_as_it_grows=False, kw_only=True
    )

    def __post_init__(self) -> None:
        for name in ("items", "releases"):
            value = whole_number(name, getattr(self, name), least=1)
            object.__setattr__(self, name, value)

    def slots(self, people: People) -> int:
        """One for each release."""
        return self.releases

    def largest(self, people: People) -> float:
        """The largest number of anybody's vectors."""
        return OWN.largest(people)

    def typical(self, people: People) -> float:
        """That of everybody's vectors."""
        return OWN.typical(people)

    def drawn(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> Floats:
        """The means: users x slots x dimensions."""
        starts, vectors = with_vectors(people, self.name).vectors_of(start, stop)
        purpose = f"averaged/site {site}/again {again}"
        ids, count = people.ids[start:stop], self.releases * self.items
        coins = uniforms(seed=seed, purpose=purpose, users=ids, count=count)
        means = np.zeros((len(ids), self.releases, vectors.shape[1]))
        _average(starts, vectors, coins.reshape(len(ids), self.releases, self.items), means)
        return means


@kernel
def _average(starts: NDArray[np.int64], vectors: Floats, coins: Floats, means: Floats) -> None:
    """Write the mean of vectors of each user and slot that are drawn without replacement."""
    for user in range(means.shape[0]):
        size = starts[user + 1] - starts[user]
        order = np.arange(starts[user], starts[user + 1])
        count = min(size, coins.shape[2])
        for slot in range(means.shape[1]):
            # The first steps of a shuffle; it may begin at any order.
            for place in range(count):
                other = place + int(coins[user, slot, place] * (size - place))
                order[place], order[other] = order[other], order[place]
                means[user, slot] += vectors[order[place]]
            means[user, slot] /= count
