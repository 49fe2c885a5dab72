"""Release: some items of each user, such as purchases, plays or visits.

Paper: section 8.5, the Million Song study.
"""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.observations import MISSING
from reidrisk.core.parallel import kernel
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import TokenRows
from reidrisk.estimates.estimate import Bound
from reidrisk.people.protocol import People
from reidrisk.releases.exact import ExactRows, Shares, check_size, rows_of_users
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.parameters import parameter
from reidrisk.releases.profiles import Items, items_of
from reidrisk.releases.protocol import Crowd, Floats


@dataclass(frozen=True, slots=True)
class ItemSamples:
    """Show each site some of a user's items, drawn by chance.

    All epochs of a user are taken together. Each site draws its own items; a slot is one draw. If a
    user has too few items to draw from, the remaining slots are empty.

    Args:
        samples: Items that a site is shown.
        by_count: Whether an item is drawn in proportion to its weight; else all are alike.
        replacement: Whether an item may be drawn again.

    Example:
        >>> people = rr.data.make_profiles([1, 1, 2, 2], [1, 1, 1, 1], ["tea", "rye", "tea", "oil"])
        >>> release = rr.ItemSamples(samples=2, replacement=False)
        >>> np.sort(release.show(people, 0, 2, site=1, seed=7)).tolist()
        [[1, 2], [0, 2]]
    """

    name: ClassVar[str] = "item-samples"

    samples: int = parameter(
        help="Items that a site is shown",
        least=1,
        safer_as_it_grows=False,
        search=(1, 100),
        example=8,
    )
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
    ) -> TokenRows:
        """What a site is shown of users `start` to `stop`: users x draws."""
        purpose = f"item samples/site {site}/again {again}"
        ids = people.ids[start:stop]
        coins = uniforms(seed=seed, purpose=purpose, users=ids, count=self.samples)
        items = self._items(people, start, stop)
        rows = np.full((stop - start, self.samples), MISSING, np.int32)
        draw = _draw_again if self.replacement else _draw_others
        draw(items.starts, items.members, items.weights, coins, rows)
        return TokenRows.checked(rows, tokens=people.tokens)

    def there(self, people: People, start: int, stop: int) -> NDArray[np.bool_]:
        """Whether there is an item left to draw."""
        sizes = items_of(people, start, stop).sizes[:, None]
        drawn = np.zeros(self.samples, np.int64) if self.replacement else np.arange(self.samples)
        return sizes > drawn

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """None: an item that only one user has identifies that user."""
        return ()

    def gaps(self, known: Floats) -> GapChances:
        """Gaps come from users with few items, so they are the same at both sites."""
        return GapChances.of(known)

    @property
    def independent_sites(self) -> bool:
        """Each site has draws of its own."""
        return True

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """Exactly what a site is shown of each user; all sites are alike."""
        check_size(people.tokens + 1, self.samples, people.users)
        items = self._items(people, 0, people.users)
        cuts = [slice(*ends) for ends in itertools.pairwise(items.starts.tolist())]
        return rows_of_users(
            [self._chances(items.members[mine], items.weights[mine]) for mine in cuts], self.samples
        )

    def _chances(self, members: NDArray[Any], weights: Floats) -> Shares:
        """Chance of each row of one user, draw by draw."""
        weight = dict(zip(members.tolist(), weights.tolist(), strict=True))
        rows: Shares = {(): 1.0}
        for _ in range(self.samples):
            longer: Shares = {}
            for row, chance in rows.items():
                left = {
                    item: one for item, one in weight.items() if self.replacement or item not in row
                }
                total = sum(left.values())
                # With nothing left to draw, a gap is certain.
                for item, one in left.items() if left else [(MISSING, total := 1.0)]:
                    longer[*row, item] = chance * one / total
            rows = longer
        return rows

    def _items(self, people: People, start: int, stop: int) -> Items:
        """Items of users, each with the weight by which it is drawn."""
        items = items_of(people, start, stop)
        if self.by_count:
            return items
        return Items(items.starts, items.members, np.ones_like(items.weights))


@kernel
def _draw_again(
    starts: NDArray[np.int64],
    members: NDArray[Any],
    weights: Floats,
    coins: Floats,
    rows: NDArray[np.int32],
) -> None:
    """Draw items of each user by weight, with replacement: one sum, a search per draw."""
    for user in range(rows.shape[0]):
        first, size = starts[user], starts[user + 1] - starts[user]
        if size == 0:
            continue
        sums = np.cumsum(weights[first : first + size])
        for slot in range(rows.shape[1]):
            goal = coins[user, slot] * sums[size - 1]
            # The first place whose sum is above the goal; rounding may leave none.
            place = np.searchsorted(sums, goal, side="right")
            rows[user, slot] = members[first + min(place, size - 1)]


@kernel
def _draw_others(
    starts: NDArray[np.int64],
    members: NDArray[Any],
    weights: Floats,
    coins: Floats,
    rows: NDArray[np.int32],
) -> None:
    """Draw items of each user by weight, without replacement."""
    for user in range(rows.shape[0]):
        items = members[starts[user] : starts[user + 1]]
        left = weights[starts[user] : starts[user + 1]].copy()
        for slot in range(min(rows.shape[1], items.size)):
            total = left.sum()
            goal, reached, last = coins[user, slot] * total, 0.0, -1
            # Rounding may leave no sum above the goal: then the last item left is drawn.
            for place in range(items.size):
                if left[place] > 0:
                    last = place
                    reached += left[place]
                    if reached > goal:
                        break
            rows[user, slot] = items[last]
            left[last] = 0.0
