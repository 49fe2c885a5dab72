"""Release: cohorts, groups of similar users who are shown as their group.

Users are sorted by a SimHash of their tokens (Charikar 2002), and the sorted list is cut into
groups of at least k: the sorting LSH that was proposed for FLoC. Nothing is random: a user's hash
follows from the user's tokens, and the groups from all users.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.parallel import kernel
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import TokenRows
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Bound
from reidrisk.people.protocol import People
from reidrisk.releases.exact import ExactRows, rows_of_users
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.guarantees import k_anonymity
from reidrisk.releases.parameters import parameter
from reidrisk.releases.profiles import Items, of_everybody
from reidrisk.releases.protocol import Crowd, Floats, Tokens
from reidrisk.releases.surveys import places_of

BITS = 32
"""Bits of a hash: users who agree in all of them count as equally similar."""


@dataclass(frozen=True, slots=True)
class Cohorts:
    """Show of each user only a cohort, shared by at least k users and the same at every site.

    Args:
        users: Least number of users in a cohort, k. With n users there are n // k cohorts, whose
            sizes differ by at most one.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.releases.observe(rr.Cohorts(users=50), people, seed=7)
        >>> print(rr.measure(seen, rr.Hamming()))
        hamming, 1,000 users (guessing 0.001)
          after  1 slots: 2.0000% [1.1382%, 3.2376%] (95%, n=1,000)
    """

    name: ClassVar[str] = "cohorts"

    users: int = parameter(
        help="Users that each cohort has at least",
        least=1,
        safer_as_it_grows=True,
        search=(2, 1_000),
        example=50,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "users", whole_number("users", self.users, least=1))

    def slots(self, people: People) -> int:
        """One: the cohort."""
        return 1

    def surveyed(self, people: People) -> "_CohortsOf":
        """The release with its cohorts."""
        if people.users < self.users:
            raise InvalidInput(
                f"cohorts have at least {self.users} users, and there are {people.users} in all; "
                "lower users, or show more people",
                code="too-few-users",
            )
        hashes, ids = simhashes(people), people.ids
        # Equal hashes are ordered by a draw that belongs to the id, never by row: cohorts must not
        # depend on the order of people.
        ties = uniforms(seed=0, purpose="cohorts/ties", users=ids, count=1)[:, 0]
        rank = np.empty(people.users, np.int64)
        rank[np.lexsort((ties, hashes))] = np.arange(people.users)
        count = people.users // self.users
        cohorts = (rank * count // people.users).astype(np.int32)
        # By id, so that `show` finds people in any chunk and order.
        order = np.argsort(ids, kind="stable")
        least = int(np.bincount(cohorts, minlength=count).min())
        return _CohortsOf(ids[order], cohorts[order], count, least)


@dataclass(frozen=True, eq=False, slots=True)
class _CohortsOf:
    """Cohorts of people who were surveyed.

    Attributes:
        ids: The users, sorted.
        cohorts: The cohort of each.
        count: How many cohorts there are.
        least: Users of the smallest.
    """

    ids: NDArray[Any]
    cohorts: Tokens
    count: int
    least: int

    @property
    def name(self) -> str:
        """Of the release."""
        return Cohorts.name

    def slots(self, people: People) -> int:
        """One: the cohort."""
        return 1

    def tokens(self, people: People) -> int:
        """As many as there are cohorts."""
        return self.count

    @property
    def recoded(self) -> None:
        """A cohort is no token that people have."""
        return

    def always_shows(self, people: People) -> bool:
        """Everybody has a cohort."""
        return True

    def there(self, people: People, start: int, stop: int) -> NDArray[np.bool_]:
        """Always: everybody has a cohort."""
        return np.ones((stop - start, 1), bool)

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> TokenRows:
        """The cohorts of users `start` to `stop`: users x 1."""
        place = places_of(self.ids, people.ids[start:stop], "cohorts")
        return TokenRows.checked(self.cohorts[place][:, None], tokens=self.count, complete=True)

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """k-anonymity, with k the size of the smallest cohort less the users who are not there.

        Other sites see the same cohorts, so an attacker who knows them knows no more.
        """
        missing = len(self.ids) - people.users
        # More users than were surveyed are other people, of whom nothing is known.
        return k_anonymity(self.least - missing) if missing >= 0 else ()

    def gaps(self, known: Floats) -> GapChances:
        """There are none."""
        return GapChances.of(known)

    @property
    def independent_sites(self) -> bool:
        """Given the people, nothing is left to chance at any site."""
        return True

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """One row of each user, for sure."""
        shown = self.show(people, 0, people.users, site=site, seed=seed)
        return rows_of_users([{(int(cohort),): 1.0} for cohort in shown[:, 0]], 1)


def simhashes(people: People) -> NDArray[np.int64]:
    """A hash of each user's tokens; users with similar tokens have similar hashes.

    Every token has a random sign for each bit. A bit is set if the sum of the user's weights, with
    the signs of their tokens, is above zero.
    """
    tokens = np.arange(people.tokens)
    # The same signs in every study: a hash follows from a user's tokens alone.
    coins = uniforms(seed=0, purpose="cohorts/signs", users=tokens, count=BITS)
    signs = np.where(coins < 0.5, -1, 1).astype(np.int8)  # noqa: PLR2004  a fair coin

    def hashes(items: Items) -> NDArray[np.int64]:
        found = np.zeros(len(items.sizes), np.int64)
        _fill_hashes(items.starts, items.members, items.weights, signs, found)
        return found

    return np.concatenate(list(of_everybody(people, hashes)))


@kernel
def _fill_hashes(
    starts: NDArray[np.int64],
    members: NDArray[Any],
    weights: Floats,
    signs: NDArray[np.int8],
    hashes: NDArray[np.int64],
) -> None:
    """Write the hash of each user."""
    bits = signs.shape[1]
    for user in range(hashes.size):
        sums = np.zeros(bits)
        for place in range(starts[user], starts[user + 1]):
            for bit in range(bits):
                sums[bit] += weights[place] * signs[members[place], bit]
        for bit in range(bits):
            hashes[user] = hashes[user] * 2 + (sums[bit] > 0)
