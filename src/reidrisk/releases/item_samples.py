"""Some items of a user: purchases, plays, visits.  Paper: section 8.5, the Million Song study."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reidrisk.checks import whole_number
from reidrisk.estimates.estimate import Bound
from reidrisk.observations import MISSING
from reidrisk.parallel import kernel
from reidrisk.people.people import People
from reidrisk.randomness import uniforms
from reidrisk.releases.exact import ExactRows, check_size
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.parameters import parameter
from reidrisk.releases.release import Crowd, Floats, Rows

Shares = dict[tuple[int, ...], float]
"""Chances of what was drawn so far."""


@dataclass(frozen=True, slots=True)
class ItemSamples:
    """Show each site some of a user's items, drawn by chance.

    All epochs of a user are taken together. Each site draws its own items; a slot is a draw. A
    user who has too few items to draw from shows nothing in the slots that are left.

    Args:
        samples: Items that a site is shown.
        by_count: Whether an item is drawn in proportion to its weight; else all are alike.
        replacement: Whether an item may be drawn again.
    """

    name: ClassVar[str] = "item-samples"

    samples: int = parameter(help="Items that a site is shown", least=1)
    by_count: bool = parameter(
        default=True, help="Whether items are drawn in proportion to their weights"
    )
    replacement: bool = parameter(default=True, help="Whether an item may be drawn again")

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", whole_number("samples", self.samples, least=1))

    def slots(self, people: People) -> int:
        """One for each draw."""
        return self.samples

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> Rows:
        """What a site is shown of users `start` to `stop`: users x draws."""
        purpose = f"item samples/site {site}/again {again}"
        ids = people.ids[start:stop]
        coins = uniforms(seed=seed, purpose=purpose, users=ids, count=self.samples)
        items = self._items(people, start, stop)
        rows = np.full((stop - start, self.samples), MISSING, np.int32)
        draw(items.indptr, items.indices, items.data, coins, self.replacement, rows)
        return rows

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """None: an item that only one user has names that user."""
        return ()

    def gaps(self, known: Floats) -> GapChances:
        """How many items a user has is the same at both sites, and so are gaps."""
        return GapChances.of(known)

    @property
    def independent_sites(self) -> bool:
        """Each site has draws of its own."""
        return True

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """Exactly what a site is shown of each user; all sites are alike."""
        check_size(people.tokens + 1, self.samples, people.users)
        items = self._items(people, 0, people.users)
        found = [self._chances(items[[user]]) for user in range(people.users)]
        outcomes = sorted({row for one in found for row in one})
        place = {row: column for column, row in enumerate(outcomes)}
        entries = [
            (chance, user, place[row])
            for user, one in enumerate(found)
            for row, chance in one.items()
        ]
        chances, users, columns = (np.array(part) for part in zip(*entries, strict=True))
        shape = (people.users, len(outcomes))
        return ExactRows(
            sp.coo_array((chances, (users, columns)), shape=shape).tocsr(),
            np.array(outcomes, np.int32).reshape(len(outcomes), self.samples),
        )

    def _chances(self, items: sp.csr_array) -> Shares:
        """Chance of each row of one user, draw by draw."""
        weight = dict(zip(items.indices.tolist(), items.data.tolist(), strict=True))
        rows: Shares = {(): 1.0}
        for _ in range(self.samples):
            longer: Shares = {}
            for row, chance in rows.items():
                left = {
                    item: one for item, one in weight.items() if self.replacement or item not in row
                }
                total = sum(left.values())
                for item, one in left.items() if left else [(MISSING, total := 1.0)]:
                    longer[*row, item] = chance * one / total
            rows = longer
        return rows

    def _items(self, people: People, start: int, stop: int) -> sp.csr_array:
        """Weights of items, users x tokens, all epochs together."""
        cells = people.cells(start, stop)
        users = np.repeat(np.arange(stop - start), people.epochs).repeat(np.diff(cells.starts))
        weights = np.asarray(cells.weights, np.float64)
        shape = (stop - start, people.tokens)
        items = sp.coo_array((weights, (users, cells.members)), shape=shape).tocsr()
        items.sort_indices()
        if not self.by_count:
            items.data[:] = 1.0
        return items


@kernel
def draw(
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    weights: Floats,
    coins: Floats,
    replacement: bool,
    rows: NDArray[np.int32],
) -> None:
    """Draw items of each user by weight, one coin for each draw."""
    for user in range(rows.shape[0]):
        items = members[starts[user] : starts[user + 1]]
        left = weights[starts[user] : starts[user + 1]].copy()
        for slot in range(rows.shape[1]):
            total = left.sum()
            if total <= 0:
                break
            goal, reached, last = coins[user, slot] * total, 0.0, -1
            for place in range(items.size):
                if left[place] > 0:
                    last = place
                    reached += left[place]
                    if reached > goal:
                        break
            rows[user, slot] = items[last]
            if not replacement:
                left[last] = 0.0
