"""Release: withhold tokens that too few users hold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.core.checks import whole_number
from reidrisk.core.observations import MISSING
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People
from reidrisk.releases.item_samples import ItemSamples
from reidrisk.releases.parameters import parameter
from reidrisk.releases.postprocess import Mapped, labels_of, mapped
from reidrisk.releases.protocol import AnyRelease, alphabet, prepared
from reidrisk.releases.support import holders_of, tokens_of


@dataclass(frozen=True, slots=True)
class MinimumUsers:
    """Show what another release shows, but no token that fewer users hold.

    A gap takes its place, which an attacker sees. What is left may still be a combination that only
    one user has.

    Args:
        users: Number of users who must hold a token, in any epoch.
        of: The release that shows the tokens.

    Example:
        >>> people = rr.data.make_profiles([1, 1, 2, 2], [1, 1, 1, 1], ["tea", "rye", "tea", "oil"])
        >>> release = rr.MinimumUsers(2, of=rr.ItemSamples(samples=2, replacement=False))
        >>> shows = rr.releases.prepared(release, people)
        >>> np.sort(shows.show(people, 0, 2, site=1, seed=7)).tolist()
        [[-1, 0], [-1, 0]]
    """

    name: ClassVar[str] = "minimum-users"

    users: int = parameter(
        help="Tokens that fewer users hold are withheld",
        least=1,
        safer_as_it_grows=True,
        search=(2, 1_000),
        example=30,
    )
    of: AnyRelease = parameter(
        ItemSamples(samples=8), help="The release that shows the tokens", kw_only=True
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "users", whole_number("users", self.users, least=1))

    def slots(self, people: People) -> int:
        """Slots of the other release."""
        return self.of.slots(people)

    def surveyed(self, people: People) -> Mapped:
        """The release with only those tokens that enough users hold."""
        of = prepared(self.of, people)
        own, tokens = tokens_of(of, people, self.name), alphabet(of, people)
        kept = holders_of(people, own, tokens) >= self.users
        if not kept.any():
            raise InvalidInput(
                f"no token is held by {self.users} users, so nothing would be shown of anybody; "
                "lower users, or show more people",
                code="too-few-users",
            )
        # What is kept is numbered anew, without holes: the alphabet is what may be shown.
        table = np.where(kept, np.cumsum(kept) - 1, MISSING).astype(np.int32)
        labels = labels_of(of, people)
        names = np.flatnonzero(kept) if labels is None else labels[kept]
        return mapped(self.name, of, people, table, names)
